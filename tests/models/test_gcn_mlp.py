from copy import copy

import pytest
import torch
from ncgnn.baselines import Settings, fit, run

from ncgnn.errors import InputError
from ncgnn.train import Epoch, accuracy

SMALL = Settings(width=8, epochs=30, patience=5)


def epochs(*losses: float) -> list[Epoch]:
    return [Epoch(i + 1, 1.0, loss, 0.5) for i, loss in enumerate(losses)]


def test_the_same_seed_gives_the_same_scores_whatever_was_drawn_before(karate):
    first = fit(karate, SMALL)
    torch.rand(100)
    state = torch.get_rng_state()
    second = fit(karate, SMALL)
    assert torch.equal(first.scores, second.scores)
    assert torch.equal(state, torch.get_rng_state())
    assert not torch.equal(first.scores, fit(karate, SMALL.model_copy(update={"seed": 1})).scores)


def test_patience_keeps_the_best_weights_by_accuracy_then_loss(karate):
    result = fit(karate, SMALL)
    assert result.best == max(result.history, key=lambda epoch: (epoch.val_accuracy, -epoch.val_loss))
    assert accuracy(result.scores, karate.y, karate.val_mask) == result.best.val_accuracy
    assert len(result.history) in (result.best.epoch + SMALL.patience, SMALL.epochs)


def test_a_window_keeps_the_last_weights(karate):
    result = fit(karate, SMALL.model_copy(update={"stop": "window", "patience": 3, "lr": 0.3, "epochs": 100}))
    assert len(result.history) < 100
    assert result.best == result.history[-1]
    assert accuracy(result.scores, karate.y, karate.val_mask) == result.best.val_accuracy


def test_a_window_ends_a_run_whose_loss_is_above_the_mean_of_those_before():
    rule = Settings(stop="window", patience=3)
    for losses, over in (
        ((3, 2, 1, 2.1), True),
        ((3, 2, 1, 1.9), False),
        ((9, 3, 2, 1, 2.1), True),
        ((1, 2, 3), False),
    ):
        history = epochs(*losses)
        assert rule.stopping.is_over(history, history[-1]) == over


def test_a_gcn_learns_and_does_not_look_at_test_labels(karate):
    hidden = copy(karate)
    hidden.y = karate.y.clone()
    hidden.y[karate.test_mask] = -1
    quick = SMALL.model_copy(update={"lr": 0.1})
    seen, unseen = fit(karate, quick), fit(hidden, quick)
    assert seen.history == unseen.history
    assert torch.equal(seen.scores, unseen.scores)
    assert seen.history[-1].train_loss < 0.8 * seen.history[0].train_loss


def test_weight_decay_of_the_first_layer_leaves_the_others_alone(karate):
    strong = SMALL.model_copy(
        update={"weight_decay": 100.0, "lr": 0.05, "epochs": 20, "patience": 20, "stop": "window"}
    )
    first, second = fit(karate, strong.model_copy(update={"decay": "first"})).model.weights
    assert first.norm() < 0.3 * second.norm()
    assert fit(karate, strong).model.weights[1].norm() < 0.3 * second.norm()


def test_an_mlp_is_a_function_of_the_features_alone(karate):
    other = copy(karate)
    other.edge_index = karate.edge_index.flip(0)[:, :0]
    mlp = SMALL.model_copy(update={"model": "mlp"})
    assert torch.equal(fit(karate, mlp).scores, fit(other, mlp).scores)
    assert not torch.equal(fit(karate, SMALL).scores, fit(other, SMALL).scores)


def test_an_mlp_reads_the_features_of_known_nodes_until_it_scores_all(karate):
    mlp = SMALL.model_copy(update={"model": "mlp"})
    dense, other = copy(karate), copy(karate)
    dense.x = karate.x.to_dense()
    other.x = dense.x.where(~karate.test_mask.unsqueeze(1), -2)
    first, second = fit(dense, mlp), fit(other, mlp)
    assert first.history == second.history
    assert not torch.equal(first.scores, second.scores)
    assert torch.equal(first.scores[~karate.test_mask], second.scores[~karate.test_mask])
    assert torch.equal(first.scores, fit(karate, mlp).scores)


def test_an_mlp_learns_from_known_nodes_what_it_would_from_all(karate, monkeypatch):
    mlp = SMALL.model_copy(update={"model": "mlp", "dropout": 0.0})
    known = fit(karate, mlp).scores
    monkeypatch.setattr(run, "_known_nodes", lambda data: data)
    torch.testing.assert_close(known, fit(karate, mlp).scores)


def test_a_run_that_diverges_says_so(karate):
    huge = copy(karate)
    huge.x = torch.full((34, 34), 3e38)
    with pytest.raises(InputError, match=r"diverged.*lower lr"):
        fit(huge, SMALL.model_copy(update={"normalize_features": False}))
