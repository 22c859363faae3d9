"""The named graphs: what the paper says of each, and how PyG downloads it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from ncgnn.errors import InputError


@dataclass(frozen=True)
class Published:
    """A graph's column of the paper's table 1. The paper's H is the share of edges within a class."""

    nodes: int
    edges: int
    features: int
    classes: int
    edge_homophily: float


@dataclass(frozen=True)
class DatasetInfo:
    """A named graph.

    Attributes:
        name: what :func:`load_dataset` calls it.
        note: one line about it.
        paper: the paper's statistics, for graphs in the paper's table 1.
        pyg: class in ``torch_geometric.datasets`` that downloads it, or None.
        options: arguments of that class.
        keep_splits: whether the downloaded splits are those of the benchmark.
        drop_isolated: whether nodes without an edge are dropped, as in the paper.
        elsewhere: what to do instead, for graphs that PyG cannot download.
    """

    name: str
    note: str
    paper: Published | None = None
    pyg: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    keep_splits: bool = True
    drop_isolated: bool = False
    elsewhere: str = ""


def _planetoid(name: str, note: str, title: str, paper: Published | None) -> DatasetInfo:
    # Planetoid's one split is not kept: the paper draws its own, and no other source of these graphs has it
    return DatasetInfo(name, note, paper, "Planetoid", {"name": title}, keep_splits=False)


def _amazon(name: str, title: str, paper: Published) -> DatasetInfo:
    return DatasetInfo(
        name, "co-purchases, isolated nodes dropped", paper, "Amazon", {"name": title}, drop_isolated=True
    )


def _wikipedia(name: str, paper: Published) -> DatasetInfo:
    options = {"name": name, "geom_gcn_preprocess": True}
    return DatasetInfo(name, "Wikipedia pages; many nodes are duplicates", paper, "WikipediaNetwork", options)


def _web(name: str, title: str, paper: Published | None, note: str = "web pages of a university") -> DatasetInfo:
    return DatasetInfo(name, note, paper, "WebKB", {"name": title})


def _filtered(original: str) -> DatasetInfo:
    name = f"{original}-filtered"
    where = f"PyG has no loader for it: put {name}.npz (Platonov et al.) into the folder that NCGNN_DATA names"
    return DatasetInfo(name, f"{original} without its duplicate nodes", elsewhere=where)


def _platonov(name: str, note: str) -> DatasetInfo:
    return DatasetInfo(name, note, pyg="HeterophilousGraphDataset", options={"name": name})


def _synthetic(homophily: str) -> DatasetInfo:
    return DatasetInfo(f"syn-cora:{homophily}", "synthetic, 1490 nodes, 2965 to 2968 edges, 1433 features, 5 classes")


_ALL = (
    _planetoid("cora", "citations", "Cora", Published(2708, 5278, 1433, 7, 0.81)),
    DatasetInfo(
        "citeseer",
        "citations, Shchur et al.'s version",
        Published(3312, 4536, 3703, 6, 0.74),
        elsewhere="PyG does not have this 3312-node graph of Shchur et al.: put citeseer.npz into the folder that"
        " NCGNN_DATA names, or load 'citeseer-planetoid', which can be downloaded but differs (3327 nodes, 15 of them"
        " without features, and 4552 edges)",
    ),
    _planetoid("citeseer-planetoid", "citations, Planetoid's version", "CiteSeer", None),
    _planetoid("pubmed", "citations", "PubMed", Published(19717, 44324, 500, 3, 0.80)),
    DatasetInfo("cora-ml", "citations", Published(2995, 8158, 2879, 7, 0.79), "CitationFull", {"name": "Cora_ML"}),
    _amazon("amazon-photo", "Photo", Published(7535, 119081, 745, 8, 0.83)),
    _amazon("amazon-computers", "Computers", Published(13471, 245861, 767, 10, 0.78)),
    _wikipedia("squirrel", Published(5201, 198353, 2089, 5, 0.22)),
    _wikipedia("chameleon", Published(2277, 31371, 2325, 5, 0.23)),
    DatasetInfo("actor", "actors on one Wikipedia page", Published(7600, 26659, 932, 5, 0.22), "Actor"),
    _web("texas", "Texas", Published(183, 279, 1703, 5, 0.06)),
    DatasetInfo(
        "cornell",
        "web pages of a university, as published until 2022: Texas's features and labels on Cornell's edges",
        Published(183, 277, 1703, 5, 0.30),
        elsewhere="the version the paper used is no longer published: put cornell.npz into the folder that NCGNN_DATA"
        " names, or load 'cornell-fixed', the repaired graph, which is a different task",
    ),
    _web("wisconsin", "Wisconsin", Published(251, 450, 1703, 5, 0.18)),
    _web("cornell-fixed", "Cornell", None, "web pages of a university, with its own features and labels"),
    _filtered("squirrel"),
    _filtered("chameleon"),
    _platonov("roman-empire", "words of an article"),
    _platonov("amazon-ratings", "products and their ratings"),
    _platonov("minesweeper", "cells of a game; scored by ROC-AUC"),
    _platonov("tolokers", "workers of a crowd-sourcing platform; scored by ROC-AUC"),
    _platonov("questions", "users of a question-answering site; scored by ROC-AUC"),
    DatasetInfo("karate", "34 members of a karate club"),
    DatasetInfo("planted", "generated; it is known which neighbours and features carry the signal of a class"),
    *(_synthetic(f"0.{tenth}") for tenth in range(1, 10)),
)

DATASETS: dict[str, DatasetInfo] = {info.name: info for info in _ALL}


def dataset_info(name: str) -> DatasetInfo:
    """What is known of the graph called ``name``; ``syn-cora:H`` is known for every H from 0 to 1."""
    if name in DATASETS:
        return DATASETS[name]
    if name.startswith("syn-cora:"):
        return _synthetic(f"{_homophily(name):g}")
    near = get_close_matches(name.lower(), DATASETS, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(DATASETS)}"
    raise InputError(f"there is no graph called {name!r}; {hint}")


def _homophily(name: str) -> float:
    try:
        value = float(name.partition(":")[2])
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise InputError(f"{name!r}: after 'syn-cora:' comes a homophily from 0 to 1, as in 'syn-cora:0.5'")
    return value
