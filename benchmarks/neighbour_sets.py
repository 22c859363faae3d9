"""Prediction sets with scores that are smoothed over neighbours, beside ours: results/calibration/neighbours.csv.

``python -m benchmarks.neighbour_sets`` runs missing splits and can be interrupted and resumed at any time. All methods
see the same probabilities, scaled by a temperature from the nodes for early stopping, and the same calibration nodes.

- ``ours``: one minus the probability; ``ours by class``: with a threshold for each class.
- ``APS``: the probability of all classes up to this one (Romano et al., 2020).
- ``DAPS``: APS mixed with the mean over neighbours (Zargarbashi et al., "Conformal prediction sets for graph neural
  networks", 2023).
- ``SNAPS``: also mixed with the mean over the nodes with the most similar features (Song et al., "Similarity-navigated
  conformal prediction for graph neural networks", 2024).

Where torchcp is installed, its sets are judged too: DAPS and SNAPS from the same scores of APS, and RAPS (Angelopoulos
et al., "Uncertainty sets for image classifiers using conformal prediction", 2021). It is no dependency, because it
imports torchsort, which has to be compiled, and transformers.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from sklearn.preprocessing import normalize
from torch_geometric.data import Data

from benchmarks import table
from benchmarks.table import Row
from ncgnn.calibration.calibration import fit_temperature, heat, limit
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, set_aside, usual_split
from ncgnn.data.graph import feature_matrix
from ncgnn.models.ncgnn.config import Config, preset
from ncgnn.provenance import machine
from ncgnn.train.reproducible import use_threads

RESULTS = Path(__file__).parents[1] / "results/calibration/neighbours.csv"
GRAPHS, SPLITS = ("cora", "amazon-photo"), 3
COVERAGE, SHARE = 0.9, 0.5
OF_NEIGHBOURS, OF_SIMILAR, SIMILAR = 0.5, 1 / 3, 20
"""Share of the neighbours in DAPS, of each of the two means in SNAPS, and number of similar nodes."""
KEY = ("graph", "split", "method")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, default=GRAPHS)
    parser.add_argument("--splits", type=int, default=SPLITS)
    options = parser.parse_args()
    for graph in options.graphs:
        config = Config.make(preset(graph))
        for split in range(options.splits):
            order = {"graph": graph, "split": split, "config": config.hash}
            if not table.holds(table.read(RESULTS), order):
                table.keep(RESULTS, [order | row | machine() for row in measure(graph, split, config)], KEY)


def measure(graph: str, split: int, config: Config) -> list[Row]:
    """Train on one split, and judge the sets of each method on the test nodes."""
    data = set_aside(usual_split(load_dataset(graph), split), SHARE, split)
    with use_threads(1):
        shares = NCGNNClassifier.from_config(config).fit(data).scored(data).shares.numpy()
    val, y = data.val_mask.numpy(), data.y.numpy()
    probabilities = heat(shares, fit_temperature(shares[val], y[val]))
    ours = dict(sets(data, probabilities, split))
    rows: list[Row] = [{"method": name, "same": ""} | judge(data, inside) for name, inside in ours.items()]
    for name, inside in sets_of_torchcp(data, probabilities, split):
        alike = same(data, inside, ours[name]) if name in ours else ""
        rows.append({"method": f"{name}, torchcp", "same": alike} | judge(data, inside))
    return rows


def sets(data: Data, probabilities: np.ndarray, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """The sets of each method [N, C]."""
    near, alike = mean_of_neighbours(data), mean_of_similar(data)
    plain, aps = 1 - probabilities, adaptive(probabilities, np.random.default_rng(seed))
    own, rest = 1 - OF_NEIGHBOURS, 1 - 2 * OF_SIMILAR
    yield "ours", below(data, plain)
    yield "ours by class", below(data, plain, by_class=True)
    yield "ours, neighbours", below(data, own * plain + OF_NEIGHBOURS * (near @ plain))
    yield "APS", below(data, aps)
    yield "DAPS", below(data, own * aps + OF_NEIGHBOURS * (near @ aps))
    yield "SNAPS", below(data, rest * aps + OF_SIMILAR * (near @ aps) + OF_SIMILAR * (alike @ aps))


def adaptive(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Randomised scores [N, C]: the probability of all likelier classes, and a random share of the class's own."""
    order = np.argsort(-probabilities, axis=1)
    ranked = np.take_along_axis(probabilities, order, axis=1)
    summed = np.cumsum(ranked, axis=1) - ranked * rng.random((len(ranked), 1))
    out = np.empty_like(summed)
    np.put_along_axis(out, order, summed, axis=1)
    return out


def sets_of_torchcp(data: Data, probabilities: np.ndarray, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """The sets that torchcp makes of the scores of APS, and of those of RAPS with draws of its own [N, C]; none where
    it is not installed."""
    try:
        from torchcp.classification.score import RAPS
        from torchcp.graph.predictor import SplitPredictor
        from torchcp.graph.score import DAPS, SNAPS
    except ImportError:
        return
    torch.manual_seed(seed)
    aps = torch.from_numpy(adaptive(probabilities, np.random.default_rng(seed))).float()
    raps = RAPS(score_type="identity", penalty=0.1, kreg=1)(torch.from_numpy(probabilities).float())
    features = torch.from_numpy(feature_matrix(data.x).toarray())
    scores = {
        "APS": aps,
        "RAPS": raps,
        "DAPS": DAPS(data, _as_given, OF_NEIGHBOURS)(aps),
        "SNAPS": SNAPS(data, _as_given, OF_SIMILAR, OF_SIMILAR, features=features, k=SIMILAR)(aps),
    }
    predictor = SplitPredictor(data, _as_given, alpha=1 - COVERAGE)
    for name, found in scores.items():
        predictor.calculate_threshold(found, data.calibration_mask, F.one_hot(data.y).bool())
        yield name, predictor.predict_with_logits(found, slice(None)).bool().numpy()


def _as_given(scores: torch.Tensor) -> torch.Tensor:
    return scores


def same(data: Data, one: np.ndarray, other: np.ndarray) -> float:
    """The share of the test nodes that have the same set."""
    return round(float((one == other).all(axis=1)[data.test_mask.numpy()].mean()), 4)


def below(data: Data, scores: np.ndarray, by_class: bool = False) -> np.ndarray:
    """The classes with scores up to the threshold of the calibration nodes [N, C]."""
    aside, y = data.calibration_mask.numpy(), data.y.numpy()
    own = scores[np.arange(len(y)), y]
    groups = [aside & (y == one) if by_class else aside for one in range(scores.shape[1])]
    inside: np.ndarray = scores <= np.array([limit(own[group], COVERAGE) for group in groups])
    return inside


def mean_of_neighbours(data: Data) -> sp.csr_array:
    """The mean over neighbours as a matrix [N, N]; an isolated node is its own neighbour."""
    nodes = len(data.y)
    a = sp.csr_array((np.ones(data.edge_index.shape[1]), tuple(data.edge_index.numpy())), shape=(nodes, nodes))
    alone = np.asarray(a.sum(axis=1)).ravel() == 0
    return sp.csr_array(normalize(a + sp.diags_array(alone.astype(float)), norm="l1"))


def mean_of_similar(data: Data) -> sp.csr_array:
    """The mean over the nodes with the most similar features, weighted by cosine similarity, as a matrix [N, N]."""
    x = normalize(feature_matrix(data.x))
    rows, columns, values = [], [], []
    for start in range(0, x.shape[0], 1000):
        similar = (x[start : start + 1000] @ x.T).toarray()
        similar[np.arange(len(similar)), np.arange(start, start + len(similar))] = 0
        best = np.argpartition(-similar, SIMILAR, axis=1)[:, :SIMILAR]
        rows.append(np.repeat(np.arange(start, start + len(similar)), SIMILAR))
        columns.append(best.ravel())
        values.append(np.take_along_axis(similar, best, axis=1).ravel())
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_array(normalize(sp.csr_array(entries, shape=(x.shape[0], x.shape[0])), norm="l1"))


def judge(data: Data, inside: np.ndarray) -> Row:
    """Coverage overall and of the least covered class, and the size of the sets, on test nodes."""
    test, y = data.test_mask.numpy(), data.y.numpy()
    right, sizes = inside[np.arange(len(y)), y], inside.sum(axis=1)
    by_class = [right[test & (y == one)].mean() for one in np.unique(y[test])]
    return {
        "coverage": round(float(right[test].mean()), 4),
        "least_class": round(float(min(by_class)), 4),
        "size": round(float(sizes[test].mean()), 4),
        "single_right": round(float((right & (sizes == 1))[test].mean()), 4),
        "aside": int(data.calibration_mask.sum()),
        "tested": int(test.sum()),
    }


if __name__ == "__main__":
    main()
