from copy import copy

import torch

from helpers.fitting import fit
from ncgnn.models import mlp
from ncgnn.models.mlp import MODEL, MLPSettings

SMALL = MLPSettings(width=8, epochs=30, patience=5)


def test_an_mlp_is_a_function_of_the_features_alone(karate):
    other = copy(karate)
    other.edge_index = karate.edge_index.flip(0)[:, :0]
    assert torch.equal(fit(MODEL, karate, SMALL).scores, fit(MODEL, other, SMALL).scores)


def test_an_mlp_reads_the_features_of_known_nodes_until_it_scores_all(karate):
    dense, other = copy(karate), copy(karate)
    dense.x = karate.x.to_dense()
    other.x = dense.x.where(~karate.test_mask.unsqueeze(1), -2)
    first, second = fit(MODEL, dense, SMALL), fit(MODEL, other, SMALL)
    assert first.history == second.history
    assert not torch.equal(first.scores, second.scores)
    assert torch.equal(first.scores[~karate.test_mask], second.scores[~karate.test_mask])
    assert torch.equal(first.scores, fit(MODEL, karate, SMALL).scores)


def test_an_mlp_learns_from_known_nodes_what_it_would_from_all(karate, monkeypatch):
    without_dropout = SMALL.model_copy(update={"dropout": 0.0})
    known = fit(MODEL, karate, without_dropout).scores
    monkeypatch.setattr(mlp, "known_nodes", lambda x, split: split)
    torch.testing.assert_close(known, fit(MODEL, karate, without_dropout).scores)


def test_the_published_settings_count_kerass_penalty_twice():
    assert MODEL.published("").weight_decay == 2 * 5e-4
    assert MODEL.published("").decay == "all"
