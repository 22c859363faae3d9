"""A graph with the scores that a model gave its nodes: what explanations, reports, pages and servers read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.calibration import Calibration
from ncgnn.data.graph import SPLITS
from ncgnn.data.splits import roles
from ncgnn.errors import InputError
from ncgnn.nn import Routing
from ncgnn.train.inputs import Inputs

NOT_CALIBRATED = "the model is not calibrated: train it with held-out nodes for calibration"
_FEW = 8  # names that can be listed, all of them, in a message


@dataclass(frozen=True, eq=False)
class Scored:
    """One forward pass.

    Attributes:
        model: what to call the model.
        module: the trained module.
        data: the complete graph.
        inputs: what the module was given of it.
        scores: class scores [N, C].
        shares: the same as shares of one, before calibration.
        routing: the routing behind the scores; None for models that cannot be explained.
        classes: names of the classes, in the order of the scores.
        calibration: makes the shares probabilities; None if no nodes were set aside for it.
        linked: ids of the nodes that columns of links stand for; None for those of the graph.
        whole: names in the graph that this is a part of.
    """

    model: str
    module: nn.Module
    data: Data
    inputs: Inputs
    scores: Tensor
    shares: Tensor
    routing: Routing | None
    classes: Sequence[str]
    calibration: Calibration | None
    linked: Sequence[str] | None = None
    whole: "Names | None" = None

    def part(self, nodes: slice) -> "Scored":
        """The scores of some nodes, for tables of them."""
        parts = {"data": part_of(self.data, nodes), "scores": self.scores[nodes], "shares": self.shares[nodes]}
        return replace(self, routing=None, **parts)

    @cached_property
    def names(self) -> "Names":
        data = self.data
        labels = [data.class_names[label] if label >= 0 else None for label in data.y.tolist()]
        titles = data.get("node_titles")
        known = data.feature_names, labels, roles(data), titles, self.linked
        return Names(data.node_ids, self.classes, *known, self.whole)

    @cached_property
    def probabilities(self) -> Tensor:
        """Of each class [N, C]; uncalibrated without :attr:`calibration`."""
        if self.calibration is None:
            return self.shares
        return torch.from_numpy(self.calibration.probabilities(self.shares.numpy()))

    @property
    def predicted(self) -> np.ndarray:
        """The number of each node's class [N]."""
        best: np.ndarray = self.scores.argmax(dim=1).numpy()
        return best

    def class_sets(self, coverage: float, by_class: bool = False) -> np.ndarray:
        """Which classes each node may belong to [N, C], with this coverage overall or in every class."""
        if self.calibration is None:
            raise InputError(NOT_CALIBRATED, "calibrate")
        sets = self.calibration.sets_by_class if by_class else self.calibration.sets
        return sets(self.shares.numpy(), coverage)


def part_of(data: Data, nodes: slice | np.ndarray) -> Data:
    """Names, labels and split of some nodes, without features and edges."""
    keys = [key for key in ("node_ids", "node_titles", "y", *SPLITS, "calibration_mask") if key in data]
    kept = {key: _taken(data[key], nodes) for key in keys}
    return Data(num_nodes=len(kept["y"]), class_names=data.class_names, feature_names=data.feature_names, **kept)


def _taken(values: Any, nodes: slice | np.ndarray) -> Any:
    if isinstance(nodes, slice) or isinstance(values, Tensor):
        return values[nodes]
    return [values[number] for number in nodes.tolist()]


@dataclass(frozen=True)
class Names:
    """What the numbers of one model and one graph stand for."""

    nodes: Sequence[str]
    classes: Sequence[str]
    features: Sequence[str]
    labels: Sequence[str | None]
    splits: Sequence[str] | None
    titles: Sequence[str] | None
    linked: Sequence[str] | None = None
    whole: "Names | None" = None

    def linked_node(self, number: int) -> tuple[str, str | None]:
        """Id of the node that a column of links stands for, and its display name if the graph has it."""
        if self.whole is not None:
            return self.whole.linked_node(number)
        if self.linked is None:
            return self.nodes[number], self.title(number)
        place = self._places.get(self.linked[number])
        return self.linked[number], None if place is None else self.title(place)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.nodes)}

    def title(self, number: int) -> str | None:
        """The display name of a node, if any."""
        return self.titles[number] or None if self.titles is not None else None

    def split(self, number: int) -> str | None:
        """The role of a node in the split, if known."""
        return self.splits[number] or None if self.splits is not None else None

    def class_number(self, name: object) -> int:
        return find([name], self.classes, "class")[0]

    def node_numbers(self, ids: Sequence[object]) -> list[int]:
        return find(ids, self.nodes, "node", self.titles or ())


def find(wanted: Sequence[object], known: Sequence[str], kind: str, titles: Sequence[str] = ()) -> list[int]:
    """The positions of names; for an unknown name, an error with the closest names or the node with this title."""
    asked = {str(name) for name in wanted}
    places = {name: place for place, name in enumerate(known) if name in asked}
    missing = next((str(name) for name in wanted if str(name) not in places), None)
    if missing is None:
        return [places[str(name)] for name in wanted]
    if missing and missing in titles:
        raise InputError(f"{missing!r} is the title of {kind} {known[titles.index(missing)]!r}: use its id")
    raise InputError(f"there is no {kind} {missing!r}; {_others(missing, known)}")


def _others(missing: str, known: Sequence[str]) -> str:
    if len(known) <= _FEW:
        return f"there are {', '.join(map(repr, known))}"
    near = get_close_matches(missing, known, n=3, cutoff=0.5)
    return f"{'closest:' if near else 'for example:'} {', '.join(map(repr, near or known[:3]))}"
