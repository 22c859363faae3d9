"""A tiny graph and a model of it, in files that hostile ones are made from."""

from pathlib import Path

import numpy as np
import torch

from helpers.small_models import SMALL
from ncgnn.classifier import NCGNNClassifier, NodeClassifier
from ncgnn.data import save_graph, split_per_class
from ncgnn.data.graph import make_graph
from ncgnn.data.npz import read_npz

NODES = 24
CHEAP = ["--epochs", "1", "--search", "none", "--no-refit", "--set", "num_capsules=2", "--set", "primary_channels=4"]


def write_sound(folder: Path) -> None:
    """``graph.npz``, and models trained on it."""
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
    NCGNNClassifier(**SMALL, hops=2, epochs=2).fit(data).save(folder / "ncgnn.safetensors")
    NodeClassifier("gcn", {"epochs": 2, "width": 4}).fit(data).save(folder / "gcn.safetensors")
    NodeClassifier("boosting", {}).fit(data).save(folder / "boosting.safetensors")
