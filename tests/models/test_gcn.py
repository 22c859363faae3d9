from copy import copy

import optuna
import pytest
import torch
from optuna.trial import FixedTrial

from helpers.fitting import fit
from ncgnn.errors import InputError
from ncgnn.models.base import presets
from ncgnn.models.gcn import MODEL, GCNSettings
from ncgnn.train import accuracy

SMALL = GCNSettings(width=8, epochs=30, patience=5)


def test_the_same_seed_gives_the_same_scores_whatever_was_drawn_before(karate):
    first = fit(MODEL, karate, SMALL)
    torch.rand(100)
    state = torch.get_rng_state()
    second = fit(MODEL, karate, SMALL)
    assert torch.equal(first.scores, second.scores)
    assert torch.equal(state, torch.get_rng_state())
    assert not torch.equal(first.scores, fit(MODEL, karate, SMALL.model_copy(update={"seed": 1})).scores)


def test_patience_keeps_the_best_weights_by_accuracy_then_loss(karate):
    result = fit(MODEL, karate, SMALL)
    assert result.best == max(result.history, key=lambda epoch: (epoch.val_accuracy, -epoch.val_loss))
    assert accuracy(result.scores, karate.y, karate.val_mask) == result.best.val_accuracy
    assert len(result.history) in (result.best.epoch + SMALL.patience, SMALL.epochs)


def test_a_window_keeps_the_last_weights(karate):
    short = SMALL.model_copy(update={"stop": "window", "patience": 3, "lr": 0.3, "epochs": 100})
    result = fit(MODEL, karate, short)
    assert len(result.history) < 100
    assert result.best == result.history[-1]
    assert accuracy(result.scores, karate.y, karate.val_mask) == result.best.val_accuracy


def test_a_gcn_learns_and_does_not_look_at_test_labels(karate):
    hidden = copy(karate)
    hidden.y = karate.y.clone()
    hidden.y[karate.test_mask] = -1
    quick = SMALL.model_copy(update={"lr": 0.1})
    seen, unseen = fit(MODEL, karate, quick), fit(MODEL, hidden, quick)
    assert seen.history == unseen.history
    assert torch.equal(seen.scores, unseen.scores)
    assert seen.history[-1].train_loss < 0.8 * seen.history[0].train_loss


def test_a_gcn_looks_at_edges(karate):
    other = copy(karate)
    other.edge_index = karate.edge_index.flip(0)[:, :0]
    assert not torch.equal(fit(MODEL, karate, SMALL).scores, fit(MODEL, other, SMALL).scores)


def test_weight_decay_of_the_first_layer_leaves_the_others_alone(karate):
    strong = SMALL.model_copy(
        update={"weight_decay": 100.0, "lr": 0.05, "epochs": 20, "patience": 20, "stop": "window"}
    )
    first, second = fit(MODEL, karate, strong.model_copy(update={"decay": "first"})).module.weights
    assert first.norm() < 0.3 * second.norm()
    assert fit(MODEL, karate, strong).module.weights[1].norm() < 0.3 * second.norm()


def test_a_run_that_diverges_says_so(karate):
    huge = copy(karate)
    huge.x = torch.full((34, 34), 3e38)
    with pytest.raises(InputError, match=r"diverged.*lower lr"):
        fit(MODEL, huge, SMALL.model_copy(update={"normalize_features": False}))


def test_citation_and_synthetic_graphs_have_kipfs_settings():
    for graph in ("cora", "amazon-photo", "syn-cora:0.3"):
        gcn = MODEL.published(graph)
        assert (gcn.layers, gcn.width, gcn.dropout, gcn.lr, gcn.weight_decay) == (2, 16, 0.5, 0.01, 5e-4)
        assert (gcn.decay, gcn.epochs, gcn.stop, gcn.patience) == ("first", 200, "window", 10)
        assert gcn.normalize_features


def test_graphs_with_published_splits_have_the_wider_one():
    gcn = MODEL.published("texas")
    assert (gcn.width, gcn.epochs, gcn.patience) == (64, 2000, 100)


def test_other_depths_keep_their_best_weights_and_nothing_else_changes():
    changed = {"layers": 5, "stop": "patience", "patience": 100}
    assert MODEL.published("cora", 5) == MODEL.published("cora").model_copy(update=changed)


def test_a_preset_is_read_where_it_was_searched(tmp_path, monkeypatch):
    monkeypatch.setattr(presets, "preset_folder", lambda model: tmp_path / model)
    (tmp_path / "gcn").mkdir()
    (tmp_path / "gcn" / "cora.toml").write_text("# found by a search\nlayers = 3\nlr = 0.02\n")
    assert MODEL.preset("cora") == GCNSettings(layers=3, lr=0.02)
    assert MODEL.preset("citeseer") is None


def test_all_syn_cora_graphs_share_one_search():
    assert presets.preset_path("gcn", "syn-cora:0.1") == presets.preset_path("gcn", "syn-cora:0.9")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"layers": 0}, "layers = 0: "),
        ({"dropout": 1.0}, "dropout = 1.0: "),
        ({"depth": 3}, "unknown key 'depth'; known keys: model, layers"),
        ({"stop": "never"}, "stop = 'never': "),
    ],
)
def test_a_wrong_setting_is_named(values, message):
    with pytest.raises(InputError, match=f"here.toml: {message}"):
        GCNSettings.make(values, where="here.toml")


def test_whatever_is_suggested_is_valid():
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    for _ in range(30):
        assert GCNSettings.make(MODEL.space(study.ask(), "cora")).model == "gcn"


@pytest.mark.parametrize("graph", ["cora", "texas", "mine", "amazon-photo"])
def test_known_points_lie_in_the_space(graph):
    for point in MODEL.points(graph):
        assert MODEL.space(FixedTrial(point), graph) == point
