"""Inputs of NCGNN that are read batch by batch."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from weakref import ref

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.batches.filter_rows import FilterRows
from ncgnn.batches.history import History
from ncgnn.batches.neighbourhood import BatchRouting, Neighbourhood, neighbourhood
from ncgnn.batches.targets import restricted
from ncgnn.batches.whole import Read, Whole, sweep
from ncgnn.nn import NCGNN, lengths
from ncgnn.sparse import pool
from ncgnn.train.inputs import Inputs
from ncgnn.train.processes import agreed, gathered, original, share


@dataclass(frozen=True, eq=False)
class Batches(Inputs):
    """All nodes of a graph, as target nodes of batches.

    Scores of all nodes are computed exactly, iteration by iteration. Batches, for training and validation, are routed
    as ``routing`` says.

    Attributes:
        read: the input of each group of capsules, for some nodes.
        rows: the filter of each group.
        size: target nodes per batch.
        routing: ``exact``, ``local`` or ``history``.
        steps: iterations of routing in all layers.
        max_age: number of epochs after which remembered couplings are computed again.
        folder: for intermediate results of all nodes.
    """

    read: Sequence[Read]
    rows: Sequence[FilterRows]
    size: int
    routing: BatchRouting
    steps: int
    max_age: int
    folder: Path
    memory: "Memory" = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "memory", Memory(self.whole, self.max_age))

    @property
    def whole(self) -> Whole:
        return Whole(self.read, self.rows, self.folder)

    def batches(self, epoch: int, split: Data, nodes: Tensor) -> Iterator[tuple[Inputs, Data]]:
        found = nodes.nonzero().flatten()
        order = agreed(torch.randperm(len(found))) if len(found) > self.size else torch.arange(len(found))
        for part in self._ahead(found[order].numpy(), epoch):
            yield part, restricted(split, torch.from_numpy(part.targets))

    def only(self, split: Data, nodes: Tensor) -> tuple[Inputs, Data]:
        found = nodes.nonzero().flatten()
        return Several((), self, found.numpy()), restricted(split, found)

    def scores(self, module: nn.Module) -> Tensor:
        """Class scores of all nodes [N, C]."""
        blocks = sweep(cast(NCGNN, module), self.whole)
        return torch.cat([gathered(lengths(block.capsules)) for block in blocks])

    def parts_of_scores(self, module: nn.Module, size: int, first: int = 0) -> Iterator[Tensor]:
        """The same from node ``first`` on, ``size`` nodes at a time, of which only one part is in memory."""
        waiting, skipped = torch.empty(0), first
        for block in sweep(cast(NCGNN, module.eval()), self.whole):
            found = gathered(lengths(block.capsules))
            skip, skipped = min(skipped, len(found)), max(0, skipped - len(found))
            waiting = torch.cat([waiting.to(found), found[skip:]]) if len(waiting) else found[skip:]
            while len(waiting) >= size:
                yield waiting[:size]
                waiting = waiting[size:]
        if len(waiting):
            yield waiting

    def state(self, module: nn.Module) -> dict[str, Any]:
        return self.memory.state(module) if self.routing == "history" else {}

    def restore(self, module: nn.Module, state: dict[str, Any]) -> None:
        if state:
            self.memory.restore(cast(NCGNN, module), state)

    def parts(self, targets: np.ndarray) -> "Iterator[Part]":
        """Batches of these nodes, in their order."""
        return self._ahead(targets, None)

    def _ahead(self, targets: np.ndarray, epoch: int | None) -> "Iterator[Part]":
        """The next batch is read while the last one is computed."""
        wholes = [np.sort(targets[start : start + self.size]) for start in range(0, len(targets), self.size)]
        chunks = [(whole, share(whole), epoch) for whole in wholes]
        with ThreadPoolExecutor(1, thread_name_prefix="ncgnn-batches") as reader:
            coming = [reader.submit(self._part, *chunks[0])] if chunks else []
            for chunk in chunks[1:]:
                part = coming.pop().result()
                coming.append(reader.submit(self._part, *chunk))
                yield part
                pool.clear()  # the next batch has another size, so its blocks would be kept beside these
            for last in coming:
                yield last.result()

    def _part(self, targets: np.ndarray, own: np.ndarray, epoch: int | None) -> "Part":
        around = neighbourhood(self.rows, own, self.routing, self.steps)
        arguments = [read(around.nodes) for read in self.read], around.filters
        return Part(arguments, targets, own, around, self.memory if self.routing == "history" else None, epoch)


@dataclass(frozen=True, eq=False)
class Part(Inputs):
    """A batch.

    Attributes:
        targets: its target nodes, ascending.
        own: those of them that this process computes.
        around: the graph of these.
        memory: where couplings are remembered; None to route all nodes.
        epoch: in training, the number of the epoch.
    """

    targets: np.ndarray
    own: np.ndarray
    around: Neighbourhood
    memory: "Memory | None"
    epoch: int | None

    def scores(self, module: nn.Module) -> Tensor:
        """Class scores of the target nodes [n, C]."""
        targets = torch.from_numpy(self.around.targets)
        changed: dict[str, Any] = {"targets": targets}
        if self.memory is not None:
            self.memory.refresh(cast(NCGNN, original(module)), self.epoch)
            changed["couplings"] = self._couplings
        scores: Tensor = module(*self.arguments, **changed)
        return gathered(scores)

    def _couplings(self, iteration: int, c: Tensor) -> Tensor:
        """Couplings of the target nodes as they are, of the others as remembered."""
        assert self.memory is not None
        if iteration == 0:  # nothing has agreed yet, so all are known
            return c
        own, nodes = torch.from_numpy(self.around.targets), self.around.nodes
        if self.epoch is not None:
            self.memory.push(iteration, self.own, c[own])
        return self.memory.history.pull(iteration, nodes).to(c).index_copy(0, own, c[own])


@dataclass(frozen=True, eq=False)
class Several(Inputs):
    """Target nodes that are evaluated batch by batch."""

    all: Batches
    targets: np.ndarray

    def scores(self, module: nn.Module) -> Tensor:
        """Class scores of the target nodes [n, C]."""
        return torch.cat([part.scores(module) for part in self.all.parts(self.targets)])


class Memory:
    """The history of a training.

    Attributes:
        refreshed: the epoch in which all couplings were computed last.
    """

    def __init__(self, whole: Whole, max_age: int) -> None:
        self.whole, self.max_age = whole, max_age
        self._trained: ref[nn.Module] | None = None
        self.refreshed = 0

    def refresh(self, module: NCGNN, epoch: int | None) -> None:
        """Compute all couplings again if they are of another module, or too old; outside of training (no epoch) only if
        there are none."""
        is_same = self._trained is not None and self._trained() is module
        if self._trained is not None and epoch is None:
            return
        epoch = epoch or 0
        if is_same and epoch - self.refreshed < self.max_age:
            return
        if not is_same:
            self._begin(module)
        self.refreshed = epoch
        was_training = module.training
        for _ in sweep(module.eval(), self.whole, self.push):
            pass
        module.train(was_training)

    def push(self, iteration: int, nodes: np.ndarray, c: Tensor) -> None:
        """Remember the couplings of these nodes, and of those of the other processes."""
        self.history.push(iteration, gathered(torch.from_numpy(nodes)).numpy(), gathered(c.detach()))

    def _begin(self, module: NCGNN) -> None:
        layer = module.capsule_layers[-1]
        sizes = layer.iterations, layer.in_capsules, layer.out_capsules
        self.history = History(self.whole.rows[0].num_nodes, *sizes, self.whole.folder)
        self._trained = ref(module)

    def state(self, module: nn.Module) -> dict[str, Any]:
        """For a checkpoint of the training of a module."""
        is_begun = self._trained is not None and self._trained() is module
        return {"couplings": self.history.couplings, "refreshed": self.refreshed} if is_begun else {}

    def restore(self, module: NCGNN, state: dict[str, Any]) -> None:
        self._begin(module)
        self.history.couplings.copy_(state["couplings"])
        self.refreshed = state["refreshed"]
