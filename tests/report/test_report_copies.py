"""What a report says of test nodes that have a copy among the training nodes."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from ncgnn.classifier import NCGNNClassifier
from ncgnn.data.graph import both_directions, make_graph
from ncgnn.report import report
from ncgnn.report.copies import Copies, copies

HUBS, PAIRS = 6, 12


def graph(pairs: int = PAIRS) -> Data:
    """Each of the first ``pairs`` training nodes and a test node have the same three hubs as neighbours; other test
    nodes hang on the hubs like leaves."""
    rng, first, second = np.random.default_rng(0), range(HUBS, HUBS + PAIRS), range(HUBS + PAIRS, 40)
    edges = [(hub, (hub + 1) % HUBS) for hub in range(HUBS)]
    chosen = {tuple(sorted(rng.choice(HUBS, 3, replace=False).tolist())) for _ in range(500)}
    for number, (one, other, hubs) in enumerate(zip(first, second, sorted(chosen), strict=False)):
        edges += [(one, hub) for hub in hubs]
        edges += [(other, hub) for hub in hubs] if number < pairs else [(other, hubs[0])]
    edges += [(node, node % HUBS) for node in range(HUBS + 2 * PAIRS, 40)]
    x = torch.from_numpy(rng.random((40, 4)).astype(np.float32))
    data = make_graph("pairs", x, both_directions(np.array(edges))[0], torch.arange(40) % 2)
    numbers = torch.arange(40)
    data.train_mask = (numbers >= HUBS) & (numbers < HUBS + PAIRS)
    data.val_mask = numbers < HUBS
    data.test_mask = numbers >= HUBS + PAIRS
    return data


def test_accuracy_on_copies_and_on_the_others_by_hand():
    data = graph()
    predicted = data.y.numpy().copy()
    predicted[HUBS + PAIRS : HUBS + PAIRS + 3] ^= 1  # three of the twelve copies are wrong
    predicted[30:35] ^= 1  # and five of the ten others
    assert copies(data, predicted) == Copies(12, 0.75, 0.5)


def test_few_copies_are_not_worth_a_line():
    data = graph(pairs=5)
    assert copies(data, data.y.numpy()) is None
    del data["test_mask"]
    assert copies(data, data.y.numpy()) is None


@pytest.mark.parametrize(("pairs", "is_said"), [(PAIRS, True), (5, False)])
def test_the_report_says_it(pairs, is_said):
    data = graph(pairs)
    classifier = NCGNNClassifier(hops=1, num_capsules=2, primary_channels=8, class_channels=4, epochs=2).fit(data)
    text = report(classifier, classifier.scored(data))
    said = "12 of the test nodes have a copy with the same neighbours in training or validation: "
    assert (said in text) == is_said
