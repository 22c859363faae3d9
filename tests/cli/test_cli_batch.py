import json

import pytest


def test_a_model_trained_in_batches_predicts_and_explains(ncgnn, here):
    done = ncgnn("train", "karate", "--epochs", 3, "--batch", 8, "--out", "run")
    assert done.code == 0
    assert "batches of 8 target nodes, as asked" in done.err
    written = json.loads((here / "run/run.json").read_text("utf-8"))
    assert (written["config"]["batch"], written["config"]["top_k"]) == (8, 32)
    assert written["batch"].startswith("batches of 8 target nodes")
    predicted = ncgnn("predict", "run", "karate")
    assert predicted.code == 0
    assert len(predicted.out.splitlines()) == 35
    explained = ncgnn("explain", "run", "karate", "--node", 3)
    assert explained.code == 0
    assert "by hop" in explained.out


def test_the_full_batch_says_so_in_run_json(ncgnn, here):
    done = ncgnn("train", "karate", "--epochs", 1, "--out", "run")
    assert "batch" not in done.err
    assert json.loads((here / "run/run.json").read_text("utf-8"))["batch"].startswith("full batch")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--batch", "many"], "--batch"),
        (["--batch", "8", "--picture"], "--batch full"),
        (["--batch", "8", "--search", "quick"], "--batch"),
        (["--batch", "8", "--model", "gcn"], "--batch"),
    ],
)
def test_refusals_are_one_line(ncgnn, arguments, text):
    done = ncgnn("train", "karate", *arguments)
    assert done.code == 2
    assert text in done.err
    assert "Traceback" not in done.err
