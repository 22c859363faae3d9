"""Label propagation (Zhou et al., 2004): uses only the graph and the labels."""

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.errors import InputError
from ncgnn.models.base.model import Change, Fitted, Model, OnEpoch, Sizes, in_one_epoch
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import RunSettings, Seed, stepped
from ncgnn.nn import proportions
from ncgnn.sparse import LinearOperator
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import class_scores

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class PropagationSettings(RunSettings):
    """The settings of label propagation. Nothing is random, so the seed has no effect."""

    share: float = Field(0.9, gt=0, lt=1, description="share of a node's labels that comes from its neighbours, alpha")
    steps: int = Field(50, ge=1, le=10_000, description="propagation steps")
    seed: Seed = 0


class Propagation(nn.Module):
    r""":math:`\mathbf{F} \leftarrow \alpha \tilde{\mathbf{A}} \mathbf{F} + (1 - \alpha) \mathbf{Y}`, where
    :math:`\mathbf{Y}` are the known labels. A node that no label reaches gets the class frequencies of known nodes."""

    known: Tensor
    labels: Tensor
    graph: Tensor

    def __init__(
        self, known: Tensor, labels: Tensor, graph: Tensor, sizes: Sizes, settings: PropagationSettings
    ) -> None:
        super().__init__()
        self.sizes, self.share, self.steps = sizes, settings.share, settings.steps
        self.register_buffer("known", known)
        self.register_buffer("labels", labels)
        self.register_buffer("graph", graph)

    def forward(self, a: LinearOperator, graph: Tensor) -> Tensor:
        if not torch.equal(graph, self.graph):
            raise InputError("label propagation predicts only the graph it was trained on, and this is another")
        start = torch.zeros(self.sizes.nodes, self.sizes.classes)
        start[self.known] = F.one_hot(self.labels, self.sizes.classes).to(start.dtype)
        f = start
        for _ in range(self.steps):
            f = self.share * (a @ f) + (1 - self.share) * start
        return torch.where(f.any(dim=1, keepdim=True), f, start.mean(dim=0))


class LabelPropagation(Model[PropagationSettings]):
    """Nothing is trained; how far labels spread is selected on validation nodes."""

    name, title, settings_class = "label-propagation", "label propagation", PropagationSettings
    knows = "graph"
    takes_targets = False
    rival = 1
    in_search = True

    def prepare(self, graph: PreparedGraph, settings: PropagationSettings) -> Inputs:
        return Inputs((graph.adjacency, digest(graph.data)))

    def build(self, sizes: Sizes, settings: PropagationSettings) -> Propagation:
        none = torch.empty(0, dtype=torch.int64)
        return Propagation(none, none, none, sizes, settings)

    def fit(
        self,
        inputs: Inputs,
        split: Data,
        settings: PropagationSettings,
        on_epoch: OnEpoch = lambda epoch: None,
        change: Change = lambda how: how,
    ) -> Fitted:
        known = split.train_mask.nonzero().squeeze(1)
        module = Propagation(known, split.y[known], inputs.arguments[1], Sizes.of(split), settings)
        return in_one_epoch(module, self.probabilities(class_scores(module, inputs)), split, on_epoch)

    def probabilities(self, scores: Tensor) -> Tensor:
        return proportions(scores)

    def restore(self, state: Mapping[str, Tensor], sizes: Sizes, settings: PropagationSettings) -> Propagation:
        if set(state) != {"known", "labels", "graph"}:
            raise ValueError("it holds no known labels")
        return Propagation(state["known"], state["labels"], state["graph"], sizes, settings)

    def candidates(self) -> list[PropagationSettings]:
        return [PropagationSettings.make({"share": share}) for share in (0.5, 0.9, 0.99)]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return {"share": stepped(trial, "share", 0.05, 0.95, 0.05)}

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        return [{"share": 0.5}, {"share": 0.9}]


def digest(data: Data) -> Tensor:
    """A number for the nodes and edges of a graph, in their order."""
    found = hashlib.sha256("\n".join(data.node_ids).encode())
    found.update(data.edge_index.cpu().numpy().tobytes())
    return torch.tensor(int.from_bytes(found.digest()[:7], "little"))


MODEL = LabelPropagation()
