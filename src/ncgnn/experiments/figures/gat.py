"""GAT, for the one figure that shows it."""

import numpy as np
import torch
import torch.nn.functional as F
from torch_geometric.data import Data

from ncgnn.baselines import Settings
from ncgnn.baselines.run import class_scores
from ncgnn.bench.peers import GAT, dense
from ncgnn.data.splits import hide_test_labels
from ncgnn.experiments.figures.models import Shown, describe
from ncgnn.models.base.features import prepare_features
from ncgnn.train.loop import Training, train
from ncgnn.train.objectives import CrossEntropy
from ncgnn.train.reproducible import seeded

SETTINGS = Settings.make({"lr": 0.005, "dropout": 0.6, "epochs": 200, "patience": 200})
"""Those of Veličković et al., whose layers are eight heads of eight, then one; of 200 epochs, the weights that are best
on validation."""


def show_gat(data: Data) -> Shown:
    """Eight heads of eight, then one, in PyG."""
    x = dense(prepare_features(data.x, SETTINGS.normalize_features))
    inputs = x, data.edge_index
    with seeded(SETTINGS.seed):
        model = GAT(x.shape[1], len(data.class_names))
        optimizer = torch.optim.Adam(model.parameters(), lr=SETTINGS.lr, weight_decay=SETTINGS.weight_decay)
        how = Training(CrossEntropy(), optimizer, SETTINGS.stopping, SETTINGS.epochs)
        best = train(model, inputs, hide_test_labels(data), how).best
    probabilities = class_scores(model, inputs).softmax(dim=1).numpy()
    used = SETTINGS.model_dump(mode="json", include={"lr", "weight_decay", "epochs", "normalize_features", "seed"})
    return Shown(model, probabilities, SETTINGS.normalize_features, describe("GAT", data, used, best, probabilities))


@torch.no_grad()
def gat_hidden(data: Data, shown: Shown) -> np.ndarray:
    """What the eight heads of the first layer say, side by side [N, 64]."""
    x = dense(prepare_features(data.x, shown.normalize_features))
    hidden: np.ndarray = F.elu(shown.model.first(x, data.edge_index)).numpy()
    return hidden
