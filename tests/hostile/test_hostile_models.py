"""Model files that say what is not so."""

import json
from collections.abc import Callable

import pytest
import torch
from safetensors.torch import load, save

from helpers.hostile.headers import metadata


@pytest.fixture
def altered(sound, tmp_path) -> Callable[..., str]:
    """A model file with another header, other settings or other weights."""

    def write(weights=lambda state: None, config=None, **header) -> str:
        content = (sound / "ncgnn.safetensors").read_bytes()
        state, found = load(content), json.loads(metadata(content)["ncgnn"])
        weights(state)
        found |= header
        found["config"] |= config or {}
        (tmp_path / "bad.safetensors").write_bytes(save(state, {"ncgnn": json.dumps(found)}))
        return "bad.safetensors"

    return write


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("verb", ["predict", "explain", "serve"])
def test_weights_that_are_not_finite(refuses, altered, sound, verb, value):
    def spoil(state):
        state[sorted(state)[0]].view(-1)[0] = value

    message = r"bad.safetensors: damaged model file: tensor '.*' holds values that are not finite"
    more = {"predict": [], "explain": ["--node", "n1"], "serve": ["--port", "0"]}
    refuses(verb, altered(spoil), sound / "graph.npz", *more[verb], message=message)


def test_weights_that_are_finite_only_in_double_precision(refuses, altered, sound):
    def spoil(state):
        name = sorted(state)[0]
        state[name] = torch.full_like(state[name], 1e300, dtype=torch.float64)

    refuses("predict", altered(spoil), sound / "graph.npz", message="tensor '.*' holds values that are not finite")


def test_weights_at_which_scores_overflow(refuses, altered, sound):
    def spoil(state):
        for tensor in state.values():
            tensor.fill_(3e38)

    refuses("predict", altered(spoil), sound / "graph.npz", message="NCGNN gives scores that are not finite")


@pytest.mark.parametrize("key", ["beta", "zeta_prior", "lam"])
def test_settings_at_which_scores_overflow(refuses, altered, sound, key):
    value = [1e300, 1e300] if key == "zeta_prior" else 1e300
    refuses("predict", altered(config={key: value}), sound / "graph.npz", message=f"bad.safetensors: {key}")


@pytest.mark.parametrize(
    "config", [{"hidden": [[4096, 4096]]}, {"num_capsules": 4096, "primary_channels": 4096}, {"class_channels": 4096}]
)
def test_a_small_file_that_describes_a_large_model(refuses, altered, sound, config):
    refuses("predict", altered(config=config), sound / "graph.npz", message="tensor '.*' has shape .*, not")


def test_a_small_file_that_describes_links_to_many_nodes(refuses, altered, sound):
    model = altered(config={"reads": "links"}, nodes=2**31, linked=["n1"])
    refuses("predict", model, sound / "graph.npz", message="tensor '.*' has shape .*, not")


def test_two_classes_of_one_name(refuses, altered, sound):
    model = altered(class_names=["a", "a"])
    refuses("predict", model, sound / "graph.npz", message="class_names: .*two classes are called 'a'")


def test_two_of_very_many_classes_of_one_name(refuses, altered, sound):
    model = altered(class_names=[*map(str, range(300_000)), "299999"])
    refuses("predict", model, sound / "graph.npz", message="class_names: .*two classes are called '299999'")
