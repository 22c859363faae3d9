import csv
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest


@contextmanager
def serving(command: str, run: Path, here: Path) -> Iterator[tuple[subprocess.Popen, str]]:
    """A process that serves a model of the karate club, and its address."""
    arguments = [command, "serve", str(run), "karate", "--port", "0"]
    process = subprocess.Popen(arguments, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        said = process.stdout.readline()
        assert said.startswith("serving karate at http://127.0.0.1:")
        yield process, said.split()[-1]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.long
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_server_says_its_address_answers_and_ends_when_told_to(command, karate_run, here, stop):
    with serving(command, karate_run, here) as (process, address):
        with urlopen(f"{address}api/predict?node=33", timeout=60) as answer:
            assert json.load(answer)["split"] in ("train", "val", "test")
        process.send_signal(stop)
        assert process.wait(60) == 0
        assert (process.stdout.read(), process.stderr.read()) == ("", "")


@pytest.mark.long
def test_a_model_without_reasons_is_served(ncgnn, command, here):
    assert ncgnn("train", "karate", "--model", "gcn", "--epochs", 5, "--out", "runs/gcn").code == 0
    rows = csv.DictReader((here / "runs/gcn/predictions.csv").read_text("utf-8").splitlines())
    predicted = {row["id"]: row["predicted"] for row in rows}
    with serving(command, here / "runs/gcn", here) as (_, address):
        with urlopen(f"{address}api/predict?node=33", timeout=60) as answer:
            assert json.load(answer)["predicted"] == predicted["33"]
        with pytest.raises(HTTPError, match="422") as refused:
            urlopen(f"{address}api/explain?node=33", timeout=60)
        with refused.value as answer:
            assert json.load(answer)["detail"].startswith("GCN cannot be explained: ")


def test_the_packages_it_needs_are_named(ncgnn, karate_run, monkeypatch):
    monkeypatch.setattr(sys.modules["ncgnn.cli.serve"], "find_spec", lambda name: None)
    done = ncgnn("serve", karate_run, "karate")
    assert done.code == 2
    assert done.err.startswith("ncgnn: ncgnn serve requires fastapi and uvicorn: pip install 'fastapi")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give one graph"),
        (("nowhere",), "unknown graph 'nowhere'"),
        (("karate", "--host", "no.such.host.invalid"), "cannot listen on host no.such.host.invalid"),
    ],
)
def test_a_mistake_is_one_line(ncgnn, karate_run, arguments, message):
    done = ncgnn("serve", karate_run, *arguments, "--port", 0)
    assert done.code == 2
    assert done.err.startswith(f"ncgnn: {message}")
    assert done.err.count("\n") == 1
