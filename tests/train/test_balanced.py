import pytest
import torch
import torch.nn.functional as F
from torch_geometric.data import Data

from ncgnn.errors import InputError
from ncgnn.models.grand import Consistent
from ncgnn.train.balanced import Balanced, balanced
from ncgnn.train.inputs import Inputs
from ncgnn.train.objectives import CrossEntropy, Margin
from ncgnn.train.soft_targets import SelfTaught, Taught

SCORES = torch.tensor([[2.0, 0.0, 0.1], [0.3, 0.2, 0.1], [0.0, 1.0, 0.5], [1.0, 0.2, 0.4], [0.1, 0.4, 0.3]])
Y = torch.tensor([0, 0, 0, 1, 2])


def test_the_loss_is_that_of_weights_inverse_to_the_size_of_the_class():
    weights = len(Y) / (3 * torch.bincount(Y))
    torch.testing.assert_close(
        Balanced(CrossEntropy()).of(SCORES, Y), F.cross_entropy(SCORES, Y, weights, reduction="sum") / len(Y)
    )


def test_equal_classes_change_nothing():
    margin, two = Margin(0.9, 0.2, 0.5), torch.tensor([0, 1, 2, 2, 0])
    torch.testing.assert_close(Balanced(margin).of(SCORES[:3], two[:3]), margin.of(SCORES[:3], two[:3]))


def test_epochs_are_compared_by_mean_recall():
    mask = torch.tensor([True, True, True, True, False])
    assert Balanced(CrossEntropy()).quality(SCORES, Y, mask) == pytest.approx(1 / 3)
    taught = balanced(Taught(CrossEntropy(), SCORES))
    assert taught.quality(SCORES, Y, mask) == pytest.approx(1 / 3)


def test_what_an_objective_adds_stays_with_balanced_classes():
    rare = Data(train_mask=torch.ones(5, dtype=torch.bool), y=Y)
    own, even = Consistent(CrossEntropy(), 2, 1.0, 0.5), balanced(Consistent(CrossEntropy(), 2, 1.0, 0.5))
    plain, weighted = (one.loss(lambda _: SCORES, Inputs(()), rare) for one in (own, even))
    expected = plain - CrossEntropy().of(SCORES, Y) + Balanced(CrossEntropy()).of(SCORES, Y)
    torch.testing.assert_close(weighted, expected)


def test_a_loss_of_its_own_is_not_dropped():
    class Own(CrossEntropy):
        def loss(self, forward, inputs, split):
            return forward(inputs).sum()

    with pytest.raises(InputError, match="Own has a loss of its own, in which classes cannot be balanced"):
        balanced(Own())


def test_what_wraps_an_objective_stays_outside():
    found = balanced(SelfTaught(CrossEntropy()))
    assert isinstance(found, SelfTaught)
    assert isinstance(found.base, Balanced)
    assert isinstance(found.base.base, CrossEntropy)
