"""Small models of all kinds that are trained in batches."""

import torch

from ncgnn.batches import Batches
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.ncgnn import MODEL, Config

SETTINGS = {"num_capsules": 3, "primary_channels": 8, "class_channels": 4, "beta": 5.0, "dropout": 0.0, "top_k": 6}
FILTERS = {
    "attention": {"hops": [0, 1, 2]},
    "truncated": {"filter": "diffusion", "steps": 3},
    "PageRank": {"filter": "diffusion"},
    "threshold": {"hops": [1, 2], "top_k": None, "epsilon": 0.05},
    "groups": {"hops": [1], "groups": [{"hops": [0]}, {"reads": "links", "hops": [0, 1]}]},
    "hidden": {"hidden": [[2, 5]], "hops": [0, 1]},
}


def config(**changes) -> Config:
    return Config.make(SETTINGS | changes)


def module_for(graph: PreparedGraph, settings: Config):
    torch.manual_seed(0)
    module = MODEL.build(Sizes.of(graph.data), settings)
    for layer in module.capsule_layers:  # a bias of zero would hide nodes without messages
        torch.nn.init.normal_(layer.bias, std=0.3)
    return module


def batches_of(graph: PreparedGraph, settings: Config) -> Batches:
    found = MODEL.prepare(graph, settings)
    assert isinstance(found, Batches)
    return found
