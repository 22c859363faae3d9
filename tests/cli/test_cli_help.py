import re
import shlex
import subprocess

import pytest

from helpers.papers import FILES, write_tables

VERBS = ("example", "datasets", "models", "check", "train", "predict", "explain", "serve", "tune", "reproduce", "bench")


def examples(ncgnn, verb: str) -> list[str]:
    """The commands that the help of a verb gives as examples."""
    return [line.strip() for line in re.findall(r"Example: (ncgnn .*)", ncgnn(verb, "--help").out)]


def test_help_lists_every_verb(ncgnn):
    done = ncgnn("--help")
    assert (done.code, done.err) == (0, "")
    assert re.findall(r"│ (\w+) +[A-Z]", done.out) == list(VERBS)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_of_every_verb_has_an_example(ncgnn, verb, option):
    done = ncgnn(verb, option)
    assert (done.code, done.err) == (0, "")
    assert f"Example: ncgnn {verb}" in done.out
    assert "[b]" not in done.out
    assert "<bool>" not in done.out  # a flag takes no value


@pytest.mark.long
def test_the_examples_work_as_written(ncgnn, command, here):
    """Those that need no files of one's own, one after another in processes of their own."""
    ending = [verb for verb in VERBS if verb != "serve"]  # which runs until it is stopped
    found = [line for verb in ending for line in examples(ncgnn, verb) if "--nodes" not in line]
    assert found == [
        "ncgnn example",
        "ncgnn datasets",
        "ncgnn models",
        "ncgnn models gcn",
        "ncgnn check karate",
        "ncgnn train karate --epochs 50",
        "ncgnn predict runs/karate",
        "ncgnn explain runs/karate --node 0 --node 33",
        "ncgnn explain runs/karate --node 0 --what-if",
        "ncgnn explain runs/karate --page report.html",
        "ncgnn explain runs/karate --evaluate --sample 2",
        "ncgnn tune karate --trials 3 --confirm 1",
        "ncgnn reproduce table6 --models MLP --datasets syn-cora:0.5",
        "ncgnn bench karate --models ncgnn --models gat",
    ]
    notes_of = {"predict": "note: probabilities are uncalibrated", "--evaluate": "note: 2 nodes is too small a sample"}
    printed = {}
    for line in found:
        program, *arguments = shlex.split(line)
        assert program == "ncgnn"
        done = subprocess.run([command, *arguments], cwd=here, capture_output=True, text=True, timeout=300)
        said = next((note for word, note in notes_of.items() if word in arguments), "")
        notes = "".join(note for note in done.stderr.splitlines() if not note.startswith("... "))  # how far it is
        assert (done.returncode, notes[: len(said) or None]) == (0, said), line
        printed[line] = done.stdout
    assert all(printed.values())
    assert sorted(path.name for path in (here / "runs/karate").iterdir()) == FILES
    assert printed["ncgnn predict runs/karate"].startswith("id,label,predicted,probability,margin\n")
    # another process and this one agree to the last bit
    written = {name: (here / "runs/karate" / name).read_bytes() for name in FILES if name != "run.json"}
    ncgnn("train", "karate", "--epochs", 50)
    assert {name: (here / "runs/karate" / name).read_bytes() for name in written} == written


def test_the_examples_with_tables_work_as_written(ncgnn, here):
    write_tables(here, range(40))
    for verb in ("check", "train", "predict", "explain"):
        lines = [line for line in examples(ncgnn, verb) if "--nodes" in line]
        assert len(lines) == 1
        # the groups of these papers give their topics away, as check finds
        assert ncgnn(*shlex.split(lines[0])[1:]).code == (1 if verb == "check" else 0)
    assert (here / "predictions.csv").read_text().count("\n") == 41


def test_version(ncgnn):
    done = ncgnn("--version")
    assert done.code == 0
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", done.out)


def test_no_verb_is_help_too(ncgnn):
    done = ncgnn()
    assert done.code == 2
    assert all(verb in done.out for verb in VERBS)
