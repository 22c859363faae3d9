"""``ncgnn train`` by several processes that torchrun starts."""

import json

import pandas as pd
import pytest
import torch

from helpers.papers import QUICK, contents
from helpers.torchrun import run, weights

pytestmark = pytest.mark.long

TEN_STEPS = ["train", "karate", "--batch", 4, "--epochs", 2, *QUICK, "--set", "dropout=0"]


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_several_processes_equal_one_with_the_same_batches(here, processes):
    """Five steps an epoch; with three processes, one of them has no target in the last batch of the validation."""
    exact = [*TEN_STEPS, "--set", "batch_routing=exact"]
    assert run([*exact, "--out", "one"], here).returncode == 0
    done = run([*exact, "--out", "several"], here, processes)
    assert done.returncode == 0, done.stderr
    one, several = weights(here / "one"), weights(here / "several")
    for name, expected in one.items():
        torch.testing.assert_close(several[name], expected, atol=1e-5, rtol=0)
    for name in ("history.csv", "predictions.csv"):
        expected, found = (pd.read_csv(here / run / name) for run in ("one", "several"))
        pd.testing.assert_frame_equal(found, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("routing", ["local", "history"])
def test_other_modes_train_and_only_the_first_process_writes_and_speaks(here, routing):
    done = run([*TEN_STEPS, "--set", f"batch_routing={routing}", "--out", "run", "--refit"], here, 2)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Written to run") == 1
    assert done.stderr.count("note: batches of 4") == 1
    assert "run/model.safetensors" in contents(here)
    assert not [name for name in contents(here) if ".ncgnn-" in name or "checkpoint" in name]
    assert json.loads((here / "run/run.json").read_text("utf-8"))["refit"]["epochs"] > 0


def test_predictions_and_explanations_are_shared_out(here):
    graph = "large:5000,features=8,classes=3"
    small = ["num_capsules=2", "primary_channels=4", "class_channels=4", "top_k=4", "hops=[0,1]"]
    train = ["train", graph, "--batch", 64, "--epochs", 1, "--fractions", 0.01, 0.01, "--out", "run"]
    assert run([*train, *(word for setting in small for word in ("--set", setting))], here).returncode == 0
    for verb in ("predict", "explain"):
        assert run([verb, "run", "--out", f"{verb}-one.parquet"], here).returncode == 0
        done = run([verb, "run", "--out", f"{verb}-two.parquet"], here, 2)
        assert done.returncode == 0, done.stderr
        one, two = (pd.read_parquet(here / f"{verb}-{name}.parquet") for name in ("one", "two"))
        pd.testing.assert_frame_equal(two, one, atol=1e-5, rtol=0)
    assert not [name for name in contents(here) if "ncgnn-" in name]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["train", "karate", "--batch", "full"], "several processes share batches: give a number"),
        (["train", "karate", "--model", "gcn"], "only NCGNN is trained by several processes"),
        (["check", "karate"], "ncgnn check runs in a single process"),
        (["train", "no-such-graph"], "no-such-graph"),
    ],
)
def test_refusals_are_said_once(here, arguments, text):
    done = run(arguments, here, 2)
    assert done.returncode == 1
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("ncgnn: ")]
    assert text in said
    assert "ncgnn/cli" not in done.stderr  # the traceback is that of torchrun alone
