"""Hostile TOML: settings of models, and roles of columns."""

from pathlib import Path
from random import Random

from helpers.hostile.odd import damaged
from helpers.hostile.sound import CHEAP
from ncgnn.models.ncgnn.config import Config

_VALUES = (
    *(
        "0",
        "-1",
        "1",
        "4096",
        "1000000000",
        "1" + "0" * 21,
        "9" * 5000,
        "1e300",
        "-1e300",
        "1e-300",
        "1e-12",
        "nan",
        "inf",
    ),
    *(
        "true",
        '""',
        '"attention"',
        '"diffusion"',
        '"links"',
        '"in"',
        "[]",
        "[1, 2]",
        "[[4096, 4096]]",
        "{}",
        "1979-05-27",
    ),
    *("[" * 3000 + "]" * 3000, "{a = " * 2000 + "1" + "}" * 2000, '"' + "x" * 100_000 + '"', "[{reads = 'beliefs'}]"),
)
_SOUND = {"num_capsules": "2", "primary_channels": "4"}


def make(drawn: Random, folder: Path, sound: Path) -> list[str]:
    keys = drawn.sample(sorted(Config.model_fields), drawn.randint(1, 3))
    values = _SOUND | {key: drawn.choice(_VALUES) for key in keys}
    if drawn.random() < 0.1:
        values["num_capsules"] = values["primary_channels"] = "4096"
    content = "".join(f"{key} = {value}\n" for key, value in values.items()).encode()
    content = damaged(drawn, content) if drawn.random() < 0.2 else content
    (folder / "bad.toml").write_bytes(content)
    graph = str(sound / "graph.npz")
    if drawn.random() < 0.2:
        key = drawn.choice(keys)
        return ["train", graph, *CHEAP, "--set", f"{key}={values[key][:2000]}", "--epochs", "1", "--out", "made"]
    return ["train", graph, "--config", "bad.toml", "--search", "none", "--no-refit", "--epochs", "1", "--out", "made"]
