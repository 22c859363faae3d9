"""NCGNN as a model of the registry; the network itself is :class:`ncgnn.NCGNN`."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.batches import Batches, FullBatch, Read
from ncgnn.models.base.memory import COPIES
from ncgnn.models.base.model import Change, Fitted, Model, OnEpoch, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.row_files import rows_folder
from ncgnn.models.ncgnn.config import Config, Group, preset
from ncgnn.models.ncgnn.memory import capsule_bytes, is_large
from ncgnn.models.ncgnn.points import known_points
from ncgnn.models.ncgnn.portfolio import AVERAGED, settings_to_try
from ncgnn.models.ncgnn.space import suggest
from ncgnn.nn import NCGNN, Beliefs, GraphFilter, Routing, proportions
from ncgnn.sparse import LinearOperator, Reused
from ncgnn.train.device import CPU, chosen_device
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training, class_scores
from ncgnn.train.objectives import Margin
from ncgnn.train.optimiser import adam
from ncgnn.train.soft_targets import SelfTaught
from ncgnn.train.stopping import Patience

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

VALIDATE_EVERY = 5
"""Epochs from one validation to the next in batches, where validation takes a quarter of the time or more."""

__all__ = ["MODEL", "VALIDATE_EVERY", "Config", "Group", "NCGNNModel", "preset"]


class NCGNNModel(Model[Config]):
    """Node-level capsule graph neural network; its variants are the paper's NCGNN-A and NCGNN-D."""

    name, title, settings_class = "ncgnn", "NCGNN", Config
    variants = ("attention", "diffusion")
    has_reasons = True
    measured = 1
    sized_by = ("num_capsules", "primary_channels")

    def prepare(self, graph: PreparedGraph, settings: Config) -> Inputs:
        if settings.batch is not None:
            return self._batches(graph, settings, settings.batch)
        full = FullBatch if is_large(Sizes.of(graph.data), settings) else Inputs
        own = self._read(graph, settings, settings), graph.filter(self.graph_filter(settings), settings.edges)
        if not settings.groups:
            return full(own)
        further = [
            (self._read(graph, group, settings), graph.filter(settings.group_filter(group), group.edges))
            for group in settings.groups
        ]
        return full(tuple(map(list, zip(own, *further, strict=True))))

    def _batches(self, graph: PreparedGraph, settings: Config, size: int) -> Batches:
        filters = [self.graph_filter(settings), *map(settings.group_filter, settings.groups)]
        groups: list[Config | Group] = [settings, *settings.groups]
        return Batches(
            arguments=(),
            read=[self._reader(graph, group, settings) for group in groups],
            rows=[graph.filter_rows(one, group.edges) for one, group in zip(filters, groups, strict=True)],
            size=size,
            routing=settings.batch_routing,
            steps=settings.iterations * (1 + len(settings.hidden)),
            max_age=settings.batch_age,
            folder=rows_folder(),
        )

    def _reader(self, graph: PreparedGraph, group: Config | Group, settings: Config) -> Read:
        """What reads the input of a group for some nodes."""
        if group.reads == "features":
            return partial(graph.feature_rows, settings.normalize_features)
        links = graph.links(group.edges)
        return lambda nodes: links.take(torch.from_numpy(nodes))

    def _read(self, graph: PreparedGraph, group: Config | Group, settings: Config) -> LinearOperator:
        """The input of a group."""
        if group.reads == "features":
            return graph.features(settings.normalize_features)
        return graph.known_classes if group.reads == "beliefs" else graph.links(group.edges)

    def graph_filter(self, settings: Config) -> GraphFilter:
        """The graph filter; a subclass may return its own."""
        return settings.make_filter()

    def build(self, sizes: Sizes, settings: Config) -> NCGNN:
        return settings.make_model(sizes.features, sizes.classes, self.graph_filter(settings), sizes.nodes)

    def memory(self, data: Data, settings: Config, copies: int = COPIES) -> float:
        sizes = Sizes.of(data)
        if settings.batch is not None:  # targets, and for each at most so many neighbours a hop
            most = settings.batch * (1 + (settings.top_k or sizes.nodes) * len(settings.hop_set))
            sizes = sizes._replace(nodes=min(sizes.nodes, most))
        return capsule_bytes(sizes, data.edge_index.shape[1], settings, copies)

    def fit(
        self,
        inputs: Inputs,
        split: Data,
        settings: Config,
        on_epoch: OnEpoch = lambda epoch: None,
        change: Change = lambda how: how,
    ) -> Fitted:
        if isinstance(inputs, Batches):
            return super().fit(inputs, split, settings, on_epoch, change)
        x, prepared = inputs.arguments
        meets_again = not settings.feature_dropout and not settings.averaging  # a step and the validation before it
        meets_again = meets_again and chosen_device() == CPU
        x = Reused(x) if not settings.groups else [Reused(one) for one in x]
        reused = replace(inputs, arguments=(x, prepared)) if meets_again else inputs
        return super().fit(reused, split, settings, on_epoch, change)

    def training(self, module: nn.Module, settings: Config) -> Training:
        """The margin loss, and Adam with a rate of its own and no weight decay for what the filters learn, zeta, and
        for beliefs."""
        network = cast(NCGNN, module)
        quick = [p for group in network.groups for p in group.filter.parameters()]
        quick += [] if network.beliefs is None else [network.beliefs.weight]
        weights = [p for p in module.parameters() if not any(p is one for one in quick)]
        first = {id(g.primary.weight) for g in network.groups if not isinstance(g, Beliefs)}
        decayed = first if settings.decay == "first" else {id(p) for p in weights}
        groups = [
            {"params": [p for p in weights if id(p) in decayed], "weight_decay": settings.weight_decay},
            {"params": [p for p in weights if id(p) not in decayed], "weight_decay": 0.0},
            {"params": quick, "lr": settings.zeta_lr, "weight_decay": 0.0},
        ]
        margin = Margin(settings.m_plus, settings.m_minus, settings.lam)
        objective = SelfTaught(margin) if settings.self_taught else margin
        optimizer = adam(groups, settings.lr, fused=True)
        return Training(
            objective,
            optimizer,
            Patience(settings.patience),
            settings.epochs,
            "lower lr or beta",
            settings.averaging,
            validate_every=1 if settings.batch is None else VALIDATE_EVERY,
        )

    @torch.no_grad()
    def scores(self, module: nn.Module, inputs: Inputs) -> tuple[Tensor, Routing | None]:
        if isinstance(inputs, Batches):
            return class_scores(module, inputs), None
        found: tuple[Tensor, Routing] = module.eval()(*inputs.arguments, return_routing=True)
        return found

    def hidden(self, module: nn.Module, inputs: Inputs) -> Tensor:
        """Each node's class capsule of the greatest length [N, f_c]."""
        scores, routing = self.scores(module, inputs)
        assert routing is not None
        return routing.capsules[torch.arange(len(scores)), scores.argmax(dim=1)]

    def probabilities(self, scores: Tensor) -> Tensor:
        return proportions(scores)

    def restart(self, settings: Config) -> Config | None:
        """With dropout that does not change the network: the one after normalisation can leave too little to learn."""
        return None if settings.averaging else settings.model_copy(update=AVERAGED)

    def reads_links(self, settings: Config) -> bool:
        return "links" in {settings.reads, *(group.reads for group in settings.groups)}

    def reads_labels(self, settings: Config) -> bool:
        return any(group.reads == "beliefs" for group in settings.groups)

    def of_variant(self, variant: str) -> dict[str, Any]:
        return {"filter": variant} if variant else {}

    def portfolio(self, graph: PreparedGraph) -> dict[str, Config]:
        return settings_to_try(graph)

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
