"""The named graphs and their properties."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from ncgnn.errors import InputError
from ncgnn.text import did_you_mean

SYN_CORA = "syn-cora"
LARGE = "large"
FAR, NEAR, NEAREST = 5, 3, 2  # hops
SplitRule = Literal["20 per class", "25/25/50", "48/32/20", "published splits", "60/20/20"]


@dataclass(frozen=True)
class Published:
    """A column of the paper's table 1. The paper's H is the fraction of edges within a class."""

    nodes: int
    edges: int
    features: int
    classes: int
    edge_homophily: float


@dataclass(frozen=True)
class DatasetInfo:
    """A named graph.

    Attributes:
        name: name for :func:`load_dataset`.
        note: one-line description.
        paper: the paper's statistics, for graphs in the paper's table 1.
        pyg: class in ``torch_geometric.datasets`` that downloads it, or None.
        options: arguments of that class.
        keep_splits: whether the downloaded splits are those of the benchmark.
        drop_isolated: whether nodes without edges are dropped, as in the paper.
        elsewhere: what to do instead, for graphs that PyG cannot download.
        family: group of graphs that need similar settings; "" for none.
        split: the usual split, as named in the tables.
        is_generated: whether it is generated if there is no file.
        is_extra: whether it is in the table of extra graphs, which are not in the paper.
        is_swept: whether it is in the paper's figure 4.
        is_ablated: whether it is in the table of ablations.
        has_few_test_nodes: whether it has few test nodes, so that single runs vary a lot.
        cost: rank by cost among the graphs of the tables, cheapest first; -1 for others.
        max_hop: the maximum hop in a search.
        measured_hops: hops of the attention filter in benchmarks; fewer on larger or denser graphs.
        pagerank_steps: steps of truncated PageRank on large graphs; None for exact PageRank.
    """

    name: str
    note: str
    paper: Published | None = None
    pyg: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    keep_splits: bool = True
    drop_isolated: bool = False
    elsewhere: str = ""
    family: str = ""
    split: SplitRule = "60/20/20"
    is_generated: bool = False
    is_extra: bool = False
    is_swept: bool = False
    is_ablated: bool = False
    has_few_test_nodes: bool = False
    cost: int = -1
    max_hop: int = FAR
    measured_hops: int = FAR
    pagerank_steps: int | None = None


def _planetoid(name: str, note: str, title: str, paper: Published | None) -> DatasetInfo:
    # Planetoid's split is dropped: the paper draws its own, and other sources of these graphs do not include it
    options = {"name": title}
    return DatasetInfo(
        name, note, paper, "Planetoid", options, keep_splits=False, family="citation", split="20 per class"
    )


def _amazon(name: str, title: str, paper: Published) -> DatasetInfo:
    return DatasetInfo(
        name,
        "co-purchases, isolated nodes dropped",
        paper,
        "Amazon",
        {"name": title},
        drop_isolated=True,
        family="co-purchase",
        split="20 per class",
        max_hop=NEAREST,
        pagerank_steps=5,
    )


def _wikipedia(name: str, paper: Published) -> DatasetInfo:
    options = {"name": name, "geom_gcn_preprocess": True}
    note = "Wikipedia pages; many nodes are duplicates"
    return DatasetInfo(
        name, note, paper, "WikipediaNetwork", options, family="wikipedia", split="48/32/20", max_hop=NEAR
    )


def _web(name: str, title: str, paper: Published) -> DatasetInfo:
    note = "web pages of a university"
    return DatasetInfo(
        name,
        note,
        paper,
        "WebKB",
        {"name": title},
        family="web",
        split="48/32/20",
        has_few_test_nodes=True,
        max_hop=NEAR,
    )


def _filtered(original: str) -> DatasetInfo:
    name = f"{original}-filtered"
    where = f"PyG has no loader for it: put {name}.npz (Platonov et al.) into the NCGNN_DATA folder"
    note = f"{original} without its duplicate nodes"
    return DatasetInfo(name, note, elsewhere=where, family="wikipedia", split="published splits", max_hop=NEAR)


def _platonov(name: str, note: str) -> DatasetInfo:
    loader = "HeterophilousGraphDataset"
    return DatasetInfo(name, note, pyg=loader, options={"name": name}, split="published splits", max_hop=NEAR)


def _synthetic(homophily: str) -> DatasetInfo:
    note = "synthetic, 1490 nodes, 2965 to 2968 edges, 1433 features, 5 classes"
    name = f"{SYN_CORA}:{homophily}"
    return DatasetInfo(name, note, family=SYN_CORA, split="25/25/50", is_generated=True, max_hop=NEAR, cost=3)


def _large(name: str) -> DatasetInfo:
    note = "generated; of any size, as large:1000000, homophily and law of degrees"
    return DatasetInfo(name, note, is_generated=True)


_ALL = (
    replace(
        _planetoid("cora", "citations", "Cora", Published(2708, 5278, 1433, 7, 0.81)),
        cost=4,
        is_swept=True,
        is_ablated=True,
    ),
    DatasetInfo(
        "citeseer",
        "citations, Shchur et al.'s version",
        Published(3312, 4536, 3703, 6, 0.74),
        elsewhere="PyG does not have this 3312-node graph of Shchur et al.: put citeseer.npz into the NCGNN_DATA"
        " folder, or load 'citeseer-planetoid', which can be downloaded but differs (3327 nodes, 15 of them"
        " without features, and 4552 edges)",
        family="citation",
        split="20 per class",
        is_swept=True,
        is_ablated=True,
        cost=5,
    ),
    _planetoid("citeseer-planetoid", "citations, Planetoid's version", "CiteSeer", None),
    replace(
        _planetoid("pubmed", "citations", "PubMed", Published(19717, 44324, 500, 3, 0.80)),
        family="large citation",
        cost=13,
        measured_hops=NEAR,
        pagerank_steps=5,
    ),
    DatasetInfo(
        "cora-ml",
        "citations",
        Published(2995, 8158, 2879, 7, 0.79),
        "CitationFull",
        {"name": "Cora_ML"},
        family="citation",
        split="20 per class",
        cost=6,
    ),
    replace(_amazon("amazon-photo", "Photo", Published(7535, 119081, 745, 8, 0.83)), cost=12),
    replace(
        _amazon("amazon-computers", "Computers", Published(13471, 245861, 767, 10, 0.78)),
        cost=14,
        measured_hops=NEAREST,
    ),
    replace(_wikipedia("squirrel", Published(5201, 198353, 2089, 5, 0.22)), cost=11, measured_hops=NEAR),
    replace(_wikipedia("chameleon", Published(2277, 31371, 2325, 5, 0.23)), cost=7, is_ablated=True),
    DatasetInfo(
        "actor",
        "actors on one Wikipedia page",
        Published(7600, 26659, 932, 5, 0.22),
        "Actor",
        family="film",
        split="48/32/20",
        max_hop=NEAR,
        cost=9,
    ),
    replace(_web("texas", "Texas", Published(183, 279, 1703, 5, 0.06)), cost=0, is_ablated=True),
    DatasetInfo(
        "cornell",
        "web pages of a university, as published until 2022: Texas's features and labels on Cornell's edges",
        Published(183, 277, 1703, 5, 0.30),
        elsewhere="the version used in the paper is no longer published: put cornell.npz into the NCGNN_DATA"
        " folder, or load 'cornell-fixed', the corrected graph, which is a different task",
        family="web",
        split="48/32/20",
        has_few_test_nodes=True,
        max_hop=NEAR,
        cost=1,
    ),
    replace(_web("wisconsin", "Wisconsin", Published(251, 450, 1703, 5, 0.18)), cost=2),
    DatasetInfo(
        "cornell-fixed",
        "web pages of a university, with its own features and labels",
        pyg="WebKB",
        options={"name": "Cornell"},
        family="web",
        split="48/32/20",
        max_hop=NEAR,
    ),
    replace(_filtered("squirrel"), is_extra=True, cost=8),
    _filtered("chameleon"),
    _platonov("roman-empire", "words of an article"),
    _platonov("amazon-ratings", "products and their ratings"),
    replace(_platonov("minesweeper", "cells of a game; scored by ROC-AUC"), family="game", is_extra=True, cost=10),
    _platonov("tolokers", "workers of a crowd-sourcing platform; scored by ROC-AUC"),
    _platonov("questions", "users of a question-answering site; scored by ROC-AUC"),
    DatasetInfo("karate", "34 members of a karate club"),
    DatasetInfo(
        "planted", "generated; it is known which neighbours and features carry the signal of a class", is_generated=True
    ),
    _large(f"{LARGE}:10000"),
    *(_synthetic(f"0.{tenth}") for tenth in range(1, 10)),
)

DATASETS: dict[str, DatasetInfo] = {info.name: info for info in _ALL}

ANY = "default"
"""Name of the group of graphs used to tune the default settings for unknown graphs."""

GROUPS = {
    SYN_CORA: tuple(f"{SYN_CORA}:{homophily}" for homophily in ("0.1", "0.3", "0.5", "0.7", "0.9")),
    ANY: ("texas", "wisconsin", "cora", "citeseer", "chameleon", "amazon-photo"),
}
"""Groups of graphs that are tuned together."""


def dataset_info(name: str) -> DatasetInfo:
    """The properties of the graph called ``name``; ``syn-cora:H`` is valid for every H from 0 to 1, ``large:N``
    for every number of nodes, with further parameters as in :func:`ncgnn.data.large_graph`."""
    if name in DATASETS:
        return DATASETS[name]
    if name.startswith("syn-cora:"):
        return _synthetic(f"{_homophily(name):g}")
    if name.startswith(f"{LARGE}:"):
        return _large(name)
    known = f"known: {', '.join(DATASETS)}"
    raise InputError(f"unknown graph {name!r}; {did_you_mean(name, DATASETS, known)}")


def find_info(name: str) -> DatasetInfo | None:
    """The properties of a named graph, or of all Syn-Cora graphs; None for the user's own graph."""
    return _synthetic("H") if name.partition(":")[0] == SYN_CORA else DATASETS.get(name)


def usual_rule(name: str) -> SplitRule:
    """The usual split of the graph called ``name`` if it has no published splits."""
    if name.startswith(SYN_CORA):
        return "25/25/50"
    info = find_info(name)
    return "60/20/20" if info is None else info.split


def _homophily(name: str) -> float:
    try:
        value = float(name.partition(":")[2])
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise InputError(f"{name!r}: 'syn-cora:' must be followed by a homophily from 0 to 1, as in 'syn-cora:0.5'")
    return value
