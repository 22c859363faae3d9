import json
import sys

import pytest

from ncgnn.cli.app import main
from ncgnn.models import model_names


@pytest.fixture
def ncgnn(capsys, monkeypatch):
    """Exit code, output and errors of a command, through the real entry point."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ncgnn", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return run


def test_a_table_of_models(ncgnn, monkeypatch):
    peaks = [{"graph": "karate", "model": "NCGNN", "before_mb": 500.0, "peak_mb": 1.5, "steps": 2}]
    monkeypatch.setattr("ncgnn.bench.measure_memory", lambda *arguments: peaks)
    code, out, err = ncgnn("bench", "karate", "--models", "ncgnn", "--hops", "1", "--repeats", "1", "--threads", "1")
    first, *others = err.splitlines()
    assert (code, first) == (0, "... karate: measuring NCGNN")
    assert all(line.startswith("... karate: ") and "NCGNN" in line for line in others)  # on a slow machine
    assert "34 nodes, 78 edges, 34 features, 4 classes; 1 threads" in out
    assert "│ NCGNN │" in out


def test_the_same_as_json_with_memory_from_a_process_of_its_own(ncgnn):
    code, out, err = ncgnn("bench", "karate", "--models", "GCN", "--repeats", "2", "--threads", "1", "--json")
    assert (code, err.splitlines()[0]) == (0, "... karate: measuring GCN")
    result = json.loads(out)
    (model,) = result["models"]
    assert list(model) == ["model", "step", "predict", "peak_mb"]
    assert model["step"]["repeats"] == 2
    assert model["peak_mb"] >= 0
    assert (result["graph"], result["hops"], result["machine"]["threads"]) == ("karate", 5, 1)


def test_mistakes_are_named_before_anything_is_measured(ncgnn):
    code, _, err = ncgnn("bench", "karate", "--models", "SVM")
    assert code == 2
    assert err == f"ncgnn: unknown model 'SVM'; known: {', '.join(model_names())} (--models)\n"
    assert ncgnn("bench")[0] == 2
    code, _, err = ncgnn("bench", "--nodes", "n.csv", "--edges", "e.csv")
    assert (code, err) == (2, "ncgnn: --label is required: the column of the node table with the classes to predict\n")
