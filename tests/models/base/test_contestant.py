import pytest
import torch

from ncgnn.errors import InputError
from ncgnn.models.base.contestant import enter, measured_models
from ncgnn.models.ncgnn import Config


@pytest.mark.parametrize("model", measured_models())
def test_steps_train_and_predictions_score_every_class(karate, model):
    contestant = enter(model, karate, Config(hops=2))
    assert contestant.predict().shape == (34, 4)
    before = contestant.predict().clone()
    losses = [contestant.step() for _ in range(2)]
    assert all(torch.isfinite(torch.tensor(losses)))
    after = contestant.predict()
    assert not after.requires_grad
    assert not torch.equal(before, after)


def test_entering_leaves_the_random_state_of_the_caller(karate):
    state = torch.get_rng_state()
    enter("ncgnn", karate, Config())
    assert torch.equal(torch.get_rng_state(), state)


def test_an_unknown_model_is_named(karate):
    with pytest.raises(InputError, match=r"unknown model 'SVM'; known: .*appnp, .*, ncgnn, "):
        enter("SVM", karate, Config())
