"""Hostile model files: other headers, other weights, damaged bytes."""

import json
from pathlib import Path
from random import Random
from typing import Any

import torch
from safetensors.torch import load, save

from helpers.hostile.odd import ODD_NAMES, damaged

_MODELS = ("ncgnn", "ncgnn", "gcn", "boosting")
_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 4096, 10**9, 10**21, 1e300, 1e-300, "", "x", [], [1], {}, [[4096, 4096]], ["a", "a"]),
    *("x" * 50_000, "attention", "diffusion", "links", [[]] * 50, {"reads": "beliefs"}, [{"reads": "links"}]),
)
_WEIGHTS = (float("nan"), float("inf"), 1e38, -1e38, 0.0, 10**9, -1)


def make(drawn: Random, folder: Path, sound: Path) -> list[str]:
    content = (sound / f"{drawn.choice(_MODELS)}.safetensors").read_bytes()
    state = load(content)
    header = json.loads(metadata(content)["ncgnn"])
    for _ in range(drawn.randint(1, 2)):
        if drawn.random() < 0.6:
            _change(drawn, header)
        elif state:
            name = drawn.choice(sorted(state))
            state[name] = changed(drawn, state[name])
    written = save(state, {"ncgnn": json.dumps(header)})
    written = damaged(drawn, written) if drawn.random() < 0.15 else written
    (folder / "bad.safetensors").write_bytes(written)
    verb, *more = drawn.choice(
        (["predict"], ["predict"], ["explain", "--node", "n1", "--what-if"], ["serve", "--port", "0"])
    )
    return [verb, "bad.safetensors", str(sound / "graph.npz"), *more]


def metadata(content: bytes) -> dict[str, str]:
    found: dict[str, str] = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
    return found


def _change(drawn: Random, header: dict[str, Any]) -> None:
    config = header["config"]
    place = config if drawn.random() < 0.6 and isinstance(config, dict) and config else header
    key = drawn.choice(sorted(place))
    if isinstance(place[key], list) and place[key] and drawn.random() < 0.5:
        place[key][drawn.randrange(len(place[key]))] = drawn.choice((*_VALUES, *ODD_NAMES))
    else:
        place[key] = drawn.choice(_VALUES)


def changed(drawn: Random, tensor: torch.Tensor) -> torch.Tensor:
    """Of another shape or type, or with an odd value."""
    match drawn.randrange(3):
        case 0:
            return torch.zeros([*tensor.shape, 2]) if drawn.random() < 0.5 else tensor.flatten()[:1]
        case 1:
            return tensor.to(drawn.choice((torch.float16, torch.float64, torch.int64, torch.bool, torch.bfloat16)))
        case _:
            out = tensor.clone(memory_format=torch.contiguous_format)
            value = drawn.choice(_WEIGHTS)
            if out.numel() and (out.is_floating_point() or (value == value and abs(value) < 100)):
                out.view(-1)[drawn.randrange(out.numel())] = value
            return out
