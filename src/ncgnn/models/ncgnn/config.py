"""The settings of NCGNN: validated, read from and written to TOML."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ncgnn.batches import BatchRouting
from ncgnn.models.base.chosen_edges import ALL
from ncgnn.models.base.presets import read_preset
from ncgnn.models.base.settings import RunSettings, Seed
from ncgnn.nn import (
    NCGNN,
    AttentionFilter,
    Beliefs,
    CapsuleGroup,
    DiffusionFilter,
    GraphFilter,
    PrimaryCapsules,
)
from ncgnn.sparse import Sparsify, Threshold, TopK

Hop = Annotated[int, Field(ge=0, le=100)]
Size = Annotated[int, Field(ge=1, le=4096)]
Rate = Annotated[float, Field(ge=0, lt=1)]
Zeta = Annotated[float, Field(ge=-1e6, le=1e6)]
Share = Annotated[float, Field(gt=0, lt=1)]

_OF_FILTER = {
    "attention": frozenset({"hops", "zeta_prior", "zeta_lr"}),
    "diffusion": frozenset({"diffusion", "alpha", "time", "steps", "tolerance"}),
}


Reads = Literal["features", "links"]
Edges = Annotated[str, Field(min_length=1)]


class Group(BaseModel):
    """A further group of capsules, routed together with the others."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    reads: Reads | Literal["beliefs"] = Field(
        "features", description="what its capsules read: features, links, or the predicted classes of neighbours"
    )
    hops: list[Hop] = Field([0], description="hops of its filter; beliefs: always 1, without the node itself")
    edges: Edges = Field(ALL, description="edges of its filter and links: all, in, out, or of one table")
    num_capsules: Size = Field(4, description="primary capsules per node; beliefs: one per class")
    scale: float = Field(1.0, gt=0, le=100, description="beliefs: factor of the votes")

    @model_validator(mode="after")
    def _check_hops(self) -> Self:
        if not self.hops or len(set(self.hops)) < len(self.hops):
            raise ValueError("hops must be a non-empty list without duplicates")
        return self


class Config(RunSettings):
    """The settings of one run; the defaults are for unknown graphs, presets for named ones."""

    identity: ClassVar[str] = "Config"
    # fmt: off
    always_counted: ClassVar[frozenset[str]] = frozenset({  # the fields of the first release
        "filter", "hops", "zeta_prior", "diffusion", "alpha", "time", "steps", "top_k", "epsilon", "tolerance",
        "num_capsules", "primary_channels", "class_channels", "iterations", "beta", "dropout", "hidden", "init",
        "m_plus", "m_minus", "lam", "lr", "zeta_lr", "weight_decay", "epochs", "patience", "normalize_features",
    })
    # fmt: on

    filter: Literal["attention", "diffusion"] = Field("attention", description="graph filter (eq. 5 or eq. 6)")
    hops: Hop | list[Hop] = Field(
        [0, 1, 2, 3], description="attention: hops to use, as a list; a number n means 1 to n"
    )
    zeta_prior: list[Zeta] | None = Field(None, description="attention: initial zeta, one value per hop")
    diffusion: Literal["ppr", "heat"] = Field("ppr", description="diffusion: personalised PageRank or heat kernel")
    alpha: float = Field(0.1, ge=1e-4, lt=1, description="diffusion: teleport probability of PageRank")
    time: float = Field(5.0, gt=0, le=1000, description="diffusion: time t of the heat kernel")
    steps: Annotated[int, Field(ge=0, le=1000)] | None = Field(
        None, description="diffusion: truncation P of eq. 7; none: exact"
    )
    top_k: Annotated[int, Field(ge=1, le=10**9)] | None = Field(
        None, description="keep the k largest entries per row of the filter"
    )
    epsilon: Annotated[float, Field(gt=0)] | None = Field(
        None, description="keep filter entries of at least this value"
    )
    tolerance: float = Field(1e-6, ge=1e-12, le=1, description="diffusion: tolerance of PageRank on large graphs")

    reads: Reads = Field("features", description="what the capsules read: features or links")
    edges: Edges = Field(ALL, description="edges of filter and links: all, in, out, or of one table")
    groups: list[Group] = Field([], max_length=32, description="further groups of capsules, routed together with these")
    num_capsules: Size = Field(4, description="primary capsules per node, K")
    primary_channels: Size = Field(32, description="size of a primary capsule, f_p")
    class_channels: Size = Field(16, description="size of a class capsule, f_c")
    iterations: Annotated[int, Field(ge=1, le=100)] = Field(3, description="routing iterations, T")
    beta: float = Field(2.8, ge=0, le=1000, description="scale of the agreement in eq. 13")
    dropout: Rate = Field(0.8, description="dropout rate on the primary capsules")
    early_dropout: Rate = Field(0.0, description="dropout rate on the primary capsules before their normalisation")
    feature_dropout: Rate = Field(0.0, description="dropout rate on the features")
    hidden: list[tuple[Size, Size]] = Field(
        [], max_length=32, description="hidden capsule layers, each as [capsules, channels]"
    )

    init: Literal["uniform", "glorot"] = Field("glorot", description="weight initialisation")
    m_plus: Share = Field(0.9, description="margin for the true class (eq. 11)")
    m_minus: Share = Field(0.2, description="margin for the other classes (eq. 11)")
    lam: float = Field(0.5, ge=0, le=1e6, description="loss weight of the other classes (eq. 11)")
    lr: float = Field(5.6e-3, gt=0, le=100, description="learning rate")
    zeta_lr: float = Field(0.1, ge=0, le=100, description="attention: learning rate of zeta, without weight decay")
    weight_decay: float = Field(8.8e-3, ge=0, le=100, description="weight decay, never on zeta")
    decay: Literal["first", "all"] = Field("all", description="weights with weight decay: the first layer's, or all")
    self_taught: bool = Field(False, description="train again towards the first model's predictions for all nodes")
    averaging: Rate = Field(0.0, description="decay of the moving average of the weights that is validated and kept")
    epochs: Annotated[int, Field(ge=1)] = Field(500, description="maximum number of epochs")
    patience: Annotated[int, Field(ge=1)] = Field(
        100, description="epochs without improvement on validation before stopping"
    )
    normalize_features: bool = Field(False, description="divide each feature row by its L1 norm")
    balance: bool = Field(False, description="give all classes the same weight, however many nodes they have")
    batch: Annotated[int, Field(ge=1, le=10**9)] | None = Field(
        None, description="target nodes per step; none: the full batch"
    )
    batch_routing: BatchRouting = Field(
        "local",
        description="batches: exact routes all nodes that matter, local the nearby ones, history remembers these",
    )
    batch_age: Annotated[int, Field(ge=1, le=10**9)] = Field(
        10, description="batches: epochs after which remembered couplings are computed again"
    )
    seed: Seed = 0

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.top_k is not None and self.epsilon is not None:
            raise ValueError("top_k and epsilon are mutually exclusive: keep one")
        if self.m_minus >= self.m_plus:
            raise ValueError(f"m_minus = {self.m_minus} must be below m_plus = {self.m_plus}")
        if isinstance(self.hops, list) and (not self.hops or len(set(self.hops)) < len(self.hops)):
            raise ValueError("hops must be a non-empty list without duplicates")
        if any(group.reads == "beliefs" for group in self.groups[:-1]):
            raise ValueError("groups: beliefs come from all other groups, so put them last")
        if self.groups and self.hidden:
            raise ValueError("groups and hidden are mutually exclusive: keep one")
        if self.batch is not None and any(group.reads == "beliefs" for group in self.groups):
            raise ValueError("batch: beliefs need the full batch, so remove one of them")
        if self.batch is not None and self.hidden and self.batch_routing == "history":
            raise ValueError("batch_routing = 'history' needs a single capsule layer: remove hidden, or choose another")
        if self.hops == 0:
            raise ValueError("hops = 0 is not valid: write hops = [0] for the node itself")
        if self.zeta_prior is not None and len(self.zeta_prior) != len(self.hop_set):
            raise ValueError(f"zeta_prior has {len(self.zeta_prior)} values for {len(self.hop_set)} hops")
        return self

    @property
    def hop_set(self) -> list[int]:
        return list(range(1, self.hops + 1)) if isinstance(self.hops, int) else self.hops

    @property
    def ignored(self) -> frozenset[str]:
        """The settings that this filter does not use."""
        found = frozenset().union(*(keys for filter, keys in _OF_FILTER.items() if filter != self.filter))
        return found - {"zeta_lr"} if self.groups else found

    def sparsify(self) -> Sparsify | None:
        if self.top_k is not None:
            return TopK(self.top_k)
        return None if self.epsilon is None else Threshold(self.epsilon)

    def make_filter(self) -> GraphFilter:
        if self.filter == "attention":
            return AttentionFilter(self.hop_set, self.sparsify(), self.zeta_prior)
        return DiffusionFilter(
            self.alpha, self.steps, self.diffusion, self.time, sparsify=self.sparsify(), tolerance=self.tolerance
        )

    def make_model(
        self, in_channels: int, out_channels: int, filter: GraphFilter | None = None, num_nodes: int = 0
    ) -> NCGNN:
        """The network for graphs of ``in_channels`` features and ``num_nodes`` nodes, which rows of links refer to."""
        return NCGNN(
            in_channels if self.reads == "features" else num_nodes,
            out_channels,
            filter or self.make_filter(),
            num_capsules=self.num_capsules,
            primary_channels=self.primary_channels,
            class_channels=self.class_channels,
            iterations=self.iterations,
            beta=self.beta,
            dropout=self.dropout,
            hidden=self.hidden,
            init=self.init,
            early_dropout=self.early_dropout,
            feature_dropout=self.feature_dropout,
            groups=[self._make_group(group, in_channels, out_channels, num_nodes) for group in self.groups],
            name=group_name(self.reads, self.edges),
        )

    def group_filter(self, group: Group) -> GraphFilter:
        """The filter of a further group."""
        return AttentionFilter([1], has_loops=False) if group.reads == "beliefs" else AttentionFilter(group.hops)

    def _make_group(self, group: Group, in_channels: int, out_channels: int, num_nodes: int) -> CapsuleGroup | Beliefs:
        name, filter = group_name(group.reads, group.edges), self.group_filter(group)
        if group.reads == "beliefs":
            return Beliefs(out_channels, self.class_channels, filter, scale=group.scale, name=name)
        columns = in_channels if group.reads == "features" else num_nodes
        sizes = columns, group.num_capsules, self.primary_channels
        rates = self.early_dropout, self.feature_dropout
        return CapsuleGroup(name, PrimaryCapsules(*sizes, self.dropout, self.init, *rates), filter)


def group_name(reads: str, edges: str) -> str:
    """What explanations call a group, such as ``links (out)``."""
    return reads if edges == ALL else f"{reads} ({edges})"


def preset(graph: str, filter: str = "attention") -> dict[str, Any]:
    """The settings for a named graph and a filter; for an unknown graph the filter alone."""
    return {"filter": filter} | (read_preset("ncgnn", graph, filter) or {})
