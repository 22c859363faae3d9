import json
import signal
import subprocess
import sys
from urllib.request import urlopen

import pytest


@pytest.mark.long
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_server_says_its_address_answers_and_ends_when_told_to(command, karate_run, here, stop):
    arguments = [command, "serve", str(karate_run), "karate", "--port", "0"]
    process = subprocess.Popen(arguments, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        said = process.stdout.readline()
        assert said.startswith("serving karate at http://127.0.0.1:")
        with urlopen(f"{said.split()[-1]}api/predict?node=33", timeout=60) as answer:
            assert json.load(answer)["split"] in ("train", "val", "test")
        process.send_signal(stop)
        assert process.wait(60) == 0
        assert (process.stdout.read(), process.stderr.read()) == ("", "")
    finally:
        process.kill()
        process.communicate()


def test_the_packages_it_needs_are_named(ncgnn, karate_run, monkeypatch):
    monkeypatch.setattr(sys.modules["ncgnn.cli.serve"], "find_spec", lambda name: None)
    done = ncgnn("serve", karate_run, "karate")
    assert done.code == 2
    assert done.err == "ncgnn: ncgnn serve requires fastapi and uvicorn: pip install 'ncgnn[serve]'\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give one graph"),
        (("nowhere",), "there is no graph called 'nowhere'"),
        (("karate", "--host", "no.such.host.invalid"), "cannot listen on host no.such.host.invalid"),
    ],
)
def test_a_mistake_is_one_line(ncgnn, karate_run, arguments, message):
    done = ncgnn("serve", karate_run, *arguments, "--port", 0)
    assert done.code == 2
    assert done.err.startswith(f"ncgnn: {message}")
    assert done.err.count("\n") == 1
