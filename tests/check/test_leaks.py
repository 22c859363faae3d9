import numpy as np
import pytest
import scipy.sparse as sp
import torch

from ncgnn.check.leaks import find_leaks, leak_findings
from ncgnn.check.view import View

Y = np.random.default_rng(1).permutation(np.arange(300) % 3)
NOISE = np.random.default_rng(2).standard_normal((300, 6)).astype(np.float32)
CODES = np.array([7.0, 3.0, 5.0])


@pytest.mark.parametrize(
    ("planted", "classes"),
    [
        (Y == 1, {1}),  # a mark of one class
        (Y, {0, 1, 2}),  # the number of the class
        (CODES[Y] + 0.1 * NOISE[:, 0], {0, 1, 2}),  # a code, with noise
        (np.where(Y == 2, 10 + NOISE[:, 0], NOISE[:, 1]), {2}),  # high for one class
        (Y != 0, {0}),  # a mark that one class lacks
    ],
)
def test_a_feature_that_gives_a_class_away_is_found(planted, classes):
    x = NOISE.copy()
    x[:, 4] = planted
    found = find_leaks(sp.csr_array(x), Y)
    assert {(leak.feature, leak.label) for leak in found} == {(4, c) for c in classes}


def test_a_leak_is_found_with_few_labels_and_a_few_mistakes():
    known = np.where(np.random.default_rng(3).random(300) < 0.3, Y, -1)
    x = NOISE.copy()
    x[:, 2] = Y == 1
    x[np.flatnonzero(known == 0)[0], 2] = 1
    assert {leak.feature for leak in find_leaks(sp.csr_array(x), known)} == {2}


def test_a_telling_feature_is_no_leak():
    x = NOISE.copy()
    x[:, 0] += 2 * (Y == 1)  # two standard deviations
    assert find_leaks(sp.csr_array(x), Y) == []


@pytest.mark.parametrize("y", [np.full(300, -1), np.zeros(300, int), np.arange(300) % 100])
def test_no_labels_one_class_and_tiny_classes_give_nothing_away(y):
    assert find_leaks(sp.csr_array(NOISE), y) == []


def test_a_graph_that_was_shuffled_with_a_small_seed_is_no_leak():
    y = np.zeros(300, int)
    y[np.random.default_rng(0).permutation(300)[:60]] = 1
    assert find_leaks(sp.csr_array((300, 2), dtype=np.float32), y) == []


def test_the_finding_names_feature_and_class(clean):
    clean.feature_names = [f"f{i}" for i in range(12)]
    clean.feature_names[7] = "decision"
    clean.x[:, 7] = (clean.y == 3).to(torch.float)
    (finding,) = leak_findings(View.of(clean))
    assert (finding.level, finding.first) == ("serious", ["decision"])
    assert "'decision' predicts '3'" in finding.what
