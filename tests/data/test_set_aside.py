import pytest

from ncgnn.data import set_aside, split_per_class, syn_cora
from ncgnn.data import splits as module
from ncgnn.errors import InputError


@pytest.fixture(scope="module")
def data():
    return split_per_class(syn_cora(0.7, num_nodes=400), train=10, val=100)


def test_validation_nodes_are_divided_and_the_others_stay(data):
    out = set_aside(data, 0.3, seed=1)
    assert int(out.calibration_mask.sum()) == 30
    assert not (out.calibration_mask & out.val_mask).any()
    assert bool(((out.calibration_mask | out.val_mask) == data.val_mask).all())
    assert bool((out.train_mask == data.train_mask).all())
    assert bool((out.test_mask == data.test_mask).all())
    assert int(data.val_mask.sum()) == 100  # the graph that was given is as it was


def test_the_seed_decides(data):
    first, same, other = (set_aside(data, 0.5, seed).calibration_mask for seed in (1, 1, 2))
    assert bool((first == same).all())
    assert bool((first != other).any())


def test_more_than_enough_is_not_taken(data, monkeypatch):
    monkeypatch.setattr(module, "MOST_ASIDE", 25)
    assert int(set_aside(data, 0.9).calibration_mask.sum()) == 25


def test_too_few_are_refused(data):
    remedy = "hold out a fraction of 0.2, use at least 200 valid"
    with pytest.raises(InputError, match=rf"0.1 of 100 validation nodes is 10, .* needs at least 20: {remedy}"):
        set_aside(data, 0.1)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, 2.0])
def test_a_share_is_between_none_and_all(data, share):
    with pytest.raises(InputError, match="above 0 and below 1"):
        set_aside(data, share)
