import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from helpers.papers import write_tables
from ncgnn.cli.app import main


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    """An empty working folder, and a screen wide enough that no line is broken."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "250")
    return folder


@pytest.fixture
def ncgnn(capsys, monkeypatch) -> Callable[..., Outcome]:
    """The entry point of the command ``ncgnn``, called in this process."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["ncgnn", *map(str, arguments)])
        monkeypatch.setattr(sys, "warnoptions", ["error"])  # as pytest has it
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Outcome(ended.value.code or 0, captured.out, captured.err)

    return run


@pytest.fixture
def command() -> str:
    """The installed command, for processes of their own."""
    found = shutil.which("ncgnn", path=os.path.dirname(sys.executable))
    assert found, "ncgnn is not installed beside this Python"
    return found


@pytest.fixture
def tables(here) -> list[str]:
    """Two tables in the working folder, and the options that read them."""
    write_tables(here, range(60))
    return ["--nodes", "nodes.csv", "--edges", "edges.csv", "--ignore", "note", "--categorical", "group"]


@pytest.fixture(scope="session")
def karate_run(tmp_path_factory) -> Path:
    """A run folder of the karate club; not to be changed."""
    from ncgnn.classifier import NCGNNClassifier
    from ncgnn.classifier.run_folder import write_run
    from ncgnn.data import load_dataset, usual_split
    from ncgnn.report import report, write_report

    data = usual_split(load_dataset("karate"))
    classifier = NCGNNClassifier(hops=2, num_capsules=2, primary_channels=8, class_channels=4, epochs=5)
    scored = classifier.fit_scored(data)
    folder = tmp_path_factory.mktemp("runs") / "karate"
    write_run(folder, classifier, scored, 0)
    write_report(folder, "karate split 0", report(classifier, scored))
    return folder


@pytest.fixture
def old_run(here, karate_run) -> Path:
    """An older run folder below the working folder, with a picture."""
    shutil.copytree(karate_run, here / "runs" / "old")
    (here / "runs" / "old" / "capsules.png").write_bytes(b"an older picture")
    return here / "runs" / "old"
