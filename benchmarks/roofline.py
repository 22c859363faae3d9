"""Roofline of a training step: bytes and operations per stage, compared with the machine peak.

Each stage reads its inputs once and writes its results once, as if the cache were infinite; entries zeroed by dropout
or ReLU are not counted. The lower bound for a stage is the time for its bytes at the bandwidth of a large copy, or for
its flops at the rate of a large matrix product, whichever is longer.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch_geometric.data import Data

from benchmarks.table import Row
from ncgnn.bench import enter, interleaved
from ncgnn.data.graph import num_classes
from ncgnn.models.ncgnn.config import Config
from ncgnn.sparse import CSR, cheaper_operator

REAL, INDEX = 4, 4  # bytes
_POSITIVE = 0.5  # share of entries that ReLU leaves


class Cost(NamedTuple):
    bytes: float
    flops: float


class Peak(NamedTuple):
    """Gigabytes and gigaflops a second."""

    bandwidth: float
    flops: float

    def least_ms(self, cost: Cost) -> float:
        return max(cost.bytes / self.bandwidth, cost.flops / self.flops) / 1e6


@dataclass(frozen=True)
class Sizes:
    """Nodes, features and their bytes, entries of the features, of the adjacency matrix; the model's numbers."""

    n: int
    f: int
    x_bytes: int
    x_entries: int
    a_entries: int
    classes: int
    config: Config

    @classmethod
    def of(cls, data: Data, config: Config) -> "Sizes":
        n, f = data.x.shape
        x = cheaper_operator(data.x)
        entries = x.values.numel() if isinstance(x, CSR) else n * f
        x_bytes = entries * (REAL + INDEX) + n * INDEX if isinstance(x, CSR) else entries * REAL
        return cls(n, f, x_bytes, entries, data.edge_index.shape[1] + n, num_classes(data), config)

    @property
    def capsules(self) -> int:
        """Entries of the primary capsules of all nodes, N K f_p."""
        return self.n * self.config.num_capsules * self.config.primary_channels

    @property
    def messages(self) -> int:
        """N C f_c."""
        return self.n * self.classes * self.config.class_channels

    @property
    def votes(self) -> int:
        """N K C f_c."""
        return self.config.num_capsules * self.messages

    @property
    def couplings(self) -> int:
        """N K C."""
        return self.n * self.config.num_capsules * self.classes

    @property
    def first_weights(self) -> int:
        return self.f * self.config.num_capsules * self.config.primary_channels

    @property
    def class_weights(self) -> int:
        c = self.config
        return c.num_capsules * c.primary_channels * self.classes * c.class_channels


def stages(s: Sizes) -> dict[str, Cost]:
    """Bytes and flops of every stage of a training step."""
    return forward(s) | backward(s) | {"optimiser": adam(s)}


def forward(s: Sizes) -> dict[str, Cost]:
    t, hops = s.config.iterations, max(s.config.hop_set)
    return {
        "first product": Cost(s.x_bytes + REAL * (s.first_weights + s.capsules), 2 * s.x_entries * hidden(s)),
        "votes": Cost(REAL * (s.capsules + s.class_weights + s.votes), 3 * s.capsules + 2 * kept_products(s)),
        "mean": Cost(REAL * (s.votes + s.couplings + s.messages), 2 * s.votes),
        "agree and select": Cost(
            (t - 1) * REAL * (s.votes + 3 * s.couplings + 3 * s.messages),
            (t - 1) * (4 * s.votes + 5 * s.couplings + 5 * s.messages),
        ),
        "propagate": Cost(t * hops * (graph_bytes(s) + 2 * REAL * s.messages), 2 * t * hops * width(s) * s.a_entries),
        "squash": Cost(3 * REAL * s.messages, 5 * s.messages),
    }


def backward(s: Sizes) -> dict[str, Cost]:
    t, hops = s.config.iterations, max(s.config.hop_set)
    spread = t * (hops * (graph_bytes(s) + 2 * REAL * s.messages) + REAL * (hops + 1) * s.messages)
    return {
        "squash, backward": Cost(3 * REAL * s.messages, 8 * s.messages),
        "propagate, backward": Cost(spread, 2 * t * hops * (width(s) * s.a_entries + 2 * s.messages)),
        "agree and select, backward": Cost(
            (t - 1) * REAL * (s.votes + 3 * s.couplings + 3 * s.messages),
            (t - 1) * (4 * s.votes + 5 * s.couplings + 8 * s.messages),
        ),
        "gradient of the votes": Cost(
            REAL * ((2 * t - 1) * (s.couplings + s.messages) + s.votes), 2 * (2 * t - 1) * s.votes
        ),
        "votes, backward": Cost(
            REAL * (2 * s.capsules + 2 * s.class_weights + s.votes), 6 * s.capsules + 4 * kept_products(s)
        ),
        "first product, backward": Cost(s.x_bytes + REAL * (s.first_weights + s.capsules), 2 * s.x_entries * hidden(s)),
    }


def adam(s: Sizes) -> Cost:
    """Reads weight, gradient and both moments; writes weight and moments."""
    weights = s.first_weights + s.class_weights
    return Cost(7 * REAL * weights, 12 * weights)


def graph_bytes(s: Sizes) -> int:
    return s.a_entries * (REAL + INDEX) + s.n * INDEX


def width(s: Sizes) -> int:
    return s.classes * s.config.class_channels


def hidden(s: Sizes) -> int:
    return s.config.num_capsules * s.config.primary_channels


def kept_products(s: Sizes) -> float:
    """Multiplications of the votes that are left after ReLU and dropout."""
    return s.capsules * width(s) * (1 - s.config.dropout) * _POSITIVE


def measure_peak(tell: Callable[[str], None], size: int = 4096, megabytes: int = 512) -> Peak:
    """Bandwidth of a copy far larger than the cache, and the rate of a large product in single precision."""
    left, right, out = (torch.rand(size, size) for _ in range(3))
    source = torch.rand(megabytes * 2**20 // REAL)
    target = torch.empty_like(source)
    tasks = {"copy": lambda: target.copy_(source), "product": lambda: torch.mm(left, right, out=out)}
    timings = interleaved(tasks, 5, lambda text: tell(f"peak of the machine: {text}"))
    seconds = {key: min(timing.wall) / 1000 for key, timing in timings.items()}
    return Peak(2 * REAL * source.numel() / seconds["copy"] / 1e9, 2 * size**3 / seconds["product"] / 1e9)


def measure(data: Data, config: Config, peak: Peak, repeats: int, tell: Callable[[str], None]) -> list[Row]:
    """A row for each stage, and one for the whole step with the time it takes and the share it reaches."""
    costs = stages(Sizes.of(data, config))
    least = {name: peak.least_ms(cost) for name, cost in costs.items()}
    step = interleaved({"step": enter("ncgnn", data, config).step}, repeats, tell, 10)["step"].row()["wall_median_ms"]
    whole = Cost(sum(c.bytes for c in costs.values()), sum(c.flops for c in costs.values()))
    rows: list[tuple[str, Cost, float, float | str, float | str]]
    rows = [(name, costs[name], least[name], "", "") for name in costs]
    rows.append(("whole step", whole, sum(least.values()), step, round(sum(least.values()) / step, 4)))
    return [
        {
            "graph": data.name,
            "stage": name,
            "megabytes": round(cost.bytes / 1e6, 2),
            "megaflops": round(cost.flops / 1e6, 2),
            "least_ms": round(ms, 4),
            "step_ms": step_ms,
            "share": share,
            "peak_gbs": round(peak.bandwidth, 2),
            "peak_gflops": round(peak.flops, 1),
        }
        for name, cost, ms, step_ms, share in rows
    ]
