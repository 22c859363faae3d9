import json

import pytest
import torch

from helpers.papers import QUICK


def test_the_cpu_is_the_default_device(ncgnn, here):
    options = ["train", "karate", "--epochs", 2, *QUICK, "--json"]
    runs = [json.loads(ncgnn(*options, *more).out) for more in ([], ["--device", "cpu", "--overwrite"])]
    assert runs[0]["metrics"] == runs[1]["metrics"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_device_that_is_not_there_is_one_line_before_any_work(ncgnn, here):
    done = ncgnn("train", "karate", "--device", "cuda")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("ncgnn: there is no device 'cuda': ")
    assert done.err.endswith(" (--device)\n")
    assert list(here.iterdir()) == []


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_model_trained_on_a_gpu_predicts_on_the_cpu(ncgnn):
    assert ncgnn("train", "karate", "--epochs", 2, *QUICK, "--device", "cuda").code == 0
    assert ncgnn("predict", "runs/karate").code == 0


def test_models_without_epochs_stay_on_the_cpu(ncgnn, monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    done = ncgnn("train", "karate", "--model", "label-propagation", "--device", "mps")
    assert done.err == "ncgnn: --device mps: label propagation is trained on the CPU: remove the option\n"


def test_batches_stay_on_the_cpu(ncgnn, here, monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    done = ncgnn("train", "karate", "--batch", 8, "--device", "mps")
    assert (done.code, list(here.iterdir())) == (2, [])
    assert done.err == "ncgnn: --device mps: batches are computed on the CPU: remove it, or add --batch full\n"
