"""NCGNN as a model of the registry; the network itself is :class:`ncgnn.NCGNN`."""

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.models.base.model import Fitted, Model, OnEpoch, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.ncgnn.config import Config, preset
from ncgnn.models.ncgnn.points import known_points
from ncgnn.models.ncgnn.space import suggest
from ncgnn.nn import NCGNN, GraphFilter, Routing, proportions
from ncgnn.sparse import Reused
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training
from ncgnn.train.objectives import Margin
from ncgnn.train.optimiser import adam
from ncgnn.train.soft_targets import SelfTaught
from ncgnn.train.stopping import Patience

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

__all__ = ["MODEL", "Config", "NCGNNModel", "preset"]


class NCGNNModel(Model[Config]):
    """Node-level capsule graph neural network; its variants are the paper's NCGNN-A and NCGNN-D."""

    name, title, settings_class = "ncgnn", "NCGNN", Config
    variants = ("attention", "diffusion")
    has_reasons = True
    measured = 1

    def prepare(self, graph: PreparedGraph, settings: Config) -> Inputs:
        return Inputs((graph.features(settings.normalize_features), graph.filter(self.graph_filter(settings))))

    def graph_filter(self, settings: Config) -> GraphFilter:
        """The graph filter; a subclass may return its own."""
        return settings.make_filter()

    def build(self, sizes: Sizes, settings: Config) -> NCGNN:
        return settings.make_model(sizes.features, sizes.classes, self.graph_filter(settings))

    def fit(self, inputs: Inputs, split: Data, settings: Config, on_epoch: OnEpoch = lambda epoch: None) -> Fitted:
        x, prepared = inputs.arguments
        meets_again = not settings.feature_dropout and not settings.averaging  # a step and the validation before it
        reused = Inputs((Reused(x), prepared)) if meets_again else inputs
        return super().fit(reused, split, settings, on_epoch)

    def training(self, module: nn.Module, settings: Config) -> Training:
        """The margin loss, and Adam with a rate of its own and no weight decay for what the filter learns, zeta."""
        network = cast(NCGNN, module)
        of_filter = {id(parameter) for parameter in network.filter.parameters()}
        weights = [p for p in module.parameters() if id(p) not in of_filter]
        decayed = {id(network.primary.weight)} if settings.decay == "first" else {id(p) for p in weights}
        groups = [
            {"params": [p for p in weights if id(p) in decayed], "weight_decay": settings.weight_decay},
            {"params": [p for p in weights if id(p) not in decayed], "weight_decay": 0.0},
            {"params": list(network.filter.parameters()), "lr": settings.zeta_lr, "weight_decay": 0.0},
        ]
        margins = settings.m_plus, settings.m_minus, settings.lam
        objective = SelfTaught(*margins) if settings.self_taught else Margin(*margins)
        optimizer = adam(groups, settings.lr, fused=True)
        stopping = Patience(settings.patience)
        return Training(objective, optimizer, stopping, settings.epochs, "lower lr or beta", settings.averaging)

    @torch.no_grad()
    def scores(self, module: nn.Module, inputs: Inputs) -> tuple[Tensor, Routing | None]:
        found: tuple[Tensor, Routing] = module.eval()(*inputs.arguments, return_routing=True)
        return found

    def hidden(self, module: nn.Module, inputs: Inputs) -> Tensor:
        """Each node's class capsule of the greatest length [N, f_c]."""
        scores, routing = self.scores(module, inputs)
        assert routing is not None
        return routing.capsules[torch.arange(len(scores)), scores.argmax(dim=1)]

    def probabilities(self, scores: Tensor) -> Tensor:
        return proportions(scores)

    def of_variant(self, variant: str) -> dict[str, Any]:
        return {"filter": variant} if variant else {}

    def within(self, settings: Config, hops: int | None) -> Config:
        """The hops of the attention filter cut or continued, and the initial zeta of each.

        Always a list, even if a number would be equivalent, so that equal settings have equal hashes.
        """
        if settings.filter != self.variants[0]:
            return super().within(settings, hops)
        found, farthest = settings.hop_set, max(settings.hop_set)
        most = hops or farthest
        kept = sorted({hop for hop in found if hop <= most} | set(range(farthest + 1, most + 1)) | {most})
        changes: dict[str, Any] = {"hops": kept}
        if settings.zeta_prior is not None:
            prior = dict(zip(found, settings.zeta_prior, strict=True))
            changes["zeta_prior"] = [prior.get(hop, prior[farthest]) for hop in kept]
        return Config.make(settings.model_dump() | changes)

    def label(self, variant: str = "") -> str:
        return variant or self.name if self.name == NCGNNModel.name else super().label(variant)

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return suggest(trial, graph, variant)

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        return known_points(graph, variant)


MODEL = NCGNNModel()
