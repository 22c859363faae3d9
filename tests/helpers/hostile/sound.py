"""A tiny graph and models of it, in files that hostile ones are made from."""

import os
import sys
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch_geometric.data import Data

from helpers.ogb_folders import write_arrays as write_ogb_arrays
from helpers.ogb_folders import write_tables as write_ogb_tables
from helpers.papers import write_csv
from helpers.small_models import SMALL
from ncgnn.batches import map_graph
from ncgnn.classifier import NCGNNClassifier, NodeClassifier
from ncgnn.classifier.run_folder import write_description, write_run
from ncgnn.cli.app import main
from ncgnn.cli.graph import GraphOptions
from ncgnn.cli.remembered import KEY, source
from ncgnn.compare import rivals
from ncgnn.data import complete, save_graph, split_per_class, usual_split
from ncgnn.data.graph import make_graph
from ncgnn.data.npz import read_npz
from ncgnn.models import PreparedGraph, find_model
from ncgnn.search import search
from ncgnn.train import checkpoint
from ncgnn.train.checkpoint import Checkpoint

NODES = 24
SEARCHED = "sgc"
"""The model of the search: a quick one."""
_SMALL = ["--search", "none", "--no-refit", "--set", "num_capsules=2", "--set", "primary_channels=4"]
CHEAP = ["--epochs", "1", *_SMALL]
CONTINUED = ["train", "graph.npz", "--epochs", "4", *_SMALL, "--out", "made"]
"""The command of which ``stopped`` is what was made when it was stopped."""


def write_sound(folder: Path) -> None:
    """``graph.npz`` and models trained on it, the same graph as OGB folders, and the two folders below."""
    drawn = np.random.default_rng(0)
    y = np.arange(NODES) % 2
    x = torch.from_numpy(drawn.normal(size=(NODES, 3)).astype(np.float32))
    ends = np.stack([np.arange(NODES), (np.arange(NODES) + 2) % NODES])
    ends = np.concatenate([ends, ends[::-1]], axis=1)
    names = {"node_ids": [f"n{i}" for i in range(NODES)], "node_titles": [f"Node {i}" for i in range(NODES)]}
    graph = make_graph(
        "tiny",
        x,
        torch.from_numpy(ends),
        torch.from_numpy(y),
        class_names=["a", "b"],
        feature_names=list("xyz"),
        **names,
    )
    save_graph(split_per_class(graph, train=4, val=6), folder / "graph.npz")
    data = read_npz(folder / "graph.npz")
    write_ogb_tables(folder / "ogb-tables", data)
    write_ogb_arrays(folder / "ogb-arrays", data)
    map_graph(folder / "mapped", data)
    _write_own(folder / "own")
    _write_stored(folder, data)
    _write_stopped(folder)
    NCGNNClassifier(**SMALL, hops=2, epochs=2).fit(data).save(folder / "ncgnn.safetensors")
    NodeClassifier("gcn", {"epochs": 2, "width": 4}).fit(data).save(folder / "gcn.safetensors")
    NodeClassifier("boosting", {}).fit(data).save(folder / "boosting.safetensors")


def _write_own(folder: Path) -> None:
    """A node table with vectors beside it, two edge tables, and a run that remembers them."""
    folder.mkdir()
    write_csv(folder / "nodes.csv", [{"id": f"n{i}", "size": str(i), "topic": "ab"[i % 2]} for i in range(NODES)])
    np.save(folder / "nodes.npy", np.random.default_rng(0).normal(size=(NODES, 3)))
    for name, step in (("cites", 2), ("likes", 4)):
        rows = [{"source": f"n{i}", "target": f"n{(i + step) % NODES}", "kind": "->"} for i in range(NODES)]
        write_csv(folder / f"{name}.csv", rows)
    graph = GraphOptions(
        nodes=folder / "nodes.csv", edges=[folder / "cites.csv", folder / "likes.csv"], directed=True, label="topic"
    )
    data = split_per_class(graph.find(), train=4, val=6)
    classifier = NCGNNClassifier(**SMALL, hops=2, epochs=2)
    run = write_run(folder / "run", classifier, classifier.fit_scored(data), 0)
    write_description(folder / "run", run | {KEY: source(graph, folder / "run")})


def _write_stored(folder: Path, data: Data) -> None:
    """``cache`` with filters, ``search`` with the trainings of a search, and models that use the cache."""
    before = os.environ.get("NCGNN_CACHE")
    os.environ["NCGNN_CACHE"] = str(folder / "cache")
    try:
        for name, more in (("whole", {}), ("batched", {"batch": 8})):
            NCGNNClassifier(**SMALL, hops=2, epochs=2, top_k=3, **more).fit(data).save(folder / f"{name}.safetensors")
    finally:
        os.environ.update({} if before is None else {"NCGNN_CACHE": before})
    graph = PreparedGraph.of_complete(usual_split(complete(data)))
    search(graph, find_model(SEARCHED), "quick", 0, rivals(SEARCHED, of_search=True), folder / "search")


def _write_stopped(folder: Path) -> None:
    """``stopped``: a run that was stopped after its second epoch."""
    write, given = Checkpoint.write, [*CONTINUED[2:-1], str(folder / "stopped")]

    def stop(self: Checkpoint, state: dict[str, Any]) -> None:
        write(self, state)
        if len(state["history"]) == 2:
            raise KeyboardInterrupt

    with (
        patch.object(checkpoint, "PAUSE", 0.0),
        patch.object(checkpoint, "SHARE", inf),
        patch.object(Checkpoint, "write", stop),
        patch.object(sys, "argv", ["ncgnn", "train", str(folder / "graph.npz"), *given]),
        suppress(SystemExit),
    ):
        main()
    assert (folder / "stopped/checkpoint/training-1.pt").is_file()
