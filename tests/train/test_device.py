import pytest
import torch

from ncgnn.data import load_dataset, usual_split
from ncgnn.errors import InputError
from ncgnn.models import PreparedGraph, find_model
from ncgnn.train.device import CPU, chosen_device, find_device, moved, on_device


@pytest.mark.parametrize(("name", "said"), [("gpu", "choose cpu, cuda or mps"), ("cuda:x", "choose cpu, cuda or mps")])
def test_unknown_devices_are_refused(name, said):
    with pytest.raises(InputError, match=said):
        find_device(name)


def test_cuda_that_is_not_there_is_refused_with_the_reason(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert find_device("cuda") == torch.device("cuda")
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    with pytest.raises(InputError, match="there is no device 'cuda:1': PyTorch finds 1 NVIDIA GPUs"):
        find_device("cuda:1")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: False)
    with pytest.raises(InputError, match="is built without CUDA"):
        find_device("cuda")


def test_the_device_is_chosen_inside_a_block_only():
    assert chosen_device() == CPU
    with on_device(torch.device("meta")):
        assert chosen_device().type == "meta"
    assert chosen_device() == CPU


@pytest.mark.parametrize("model", ["ncgnn", "gcn", "gat", "appnp", "linkx", "mlp"])
def test_all_that_a_training_reads_goes_to_the_device(model):
    graph = PreparedGraph.of(usual_split(load_dataset("karate")))
    definition = find_model(model)
    inputs, split = moved(
        definition.prepare(graph, definition.settings_class.make({})), graph.data, torch.device("meta")
    )
    assert {tensor.device.type for tensor in tensors(inputs.arguments)} == {"meta"}
    assert {split[key].device.type for key in ("y", "train_mask", "val_mask", "test_mask")} == {"meta"}
    assert graph.data.y.device == CPU


def tensors(value):
    """All tensors in arguments, also those inside operators."""
    if isinstance(value, torch.Tensor):
        return [value]
    parts = value if isinstance(value, list | tuple) else getattr(value, "__dict__", {}).values()
    return [tensor for part in parts for tensor in tensors(part)]


def test_an_operation_that_the_device_lacks_is_one_line():
    with pytest.raises(InputError, match="meta cannot train this model: no product"), on_device(torch.device("meta")):
        raise NotImplementedError("no product\nmore")
