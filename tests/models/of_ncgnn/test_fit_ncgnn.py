import pytest
import torch

from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import split_fractions, split_per_class, syn_cora
from ncgnn.errors import InputError
from ncgnn.models import ncgnn as model
from ncgnn.models.base.prepared import prepare_features
from ncgnn.nn import margin_loss
from ncgnn.train import Epoch, accuracy, loop


def weights(classifier: NCGNNClassifier) -> dict[str, torch.Tensor]:
    return classifier.model_.state_dict()


def equal_weights(one: NCGNNClassifier, other: NCGNNClassifier) -> bool:
    first, second = weights(one), weights(other)
    return first.keys() == second.keys() and all(torch.equal(first[key], second[key]) for key in first)


def val_loss(classifier: NCGNNClassifier, data) -> float:
    scores = torch.from_numpy(classifier.decision_function(data))
    config = classifier.config_
    return margin_loss(scores[data.val_mask], data.y[data.val_mask], config.m_plus, config.m_minus, config.lam).item()


@pytest.fixture(scope="module")
def overtrained(karate, small) -> NCGNNClassifier:
    """Trained at so high a rate that the best epoch is not the last."""
    return NCGNNClassifier(**small | {"lr": 0.3, "epochs": 40}).fit(karate)


def test_the_weights_of_the_best_epoch_are_kept(overtrained, karate):
    best, last = overtrained.best_, overtrained.history_[-1]
    assert best.epoch < last.epoch
    assert best.val_loss != last.val_loss
    assert overtrained.score(karate, karate.val_mask) == pytest.approx(best.val_accuracy, abs=1e-6)
    assert val_loss(overtrained, karate) == pytest.approx(best.val_loss, rel=1e-6)


def scripted(monkeypatch, losses_and_accuracies: list[tuple[float, float]]) -> None:
    """Let validation after epoch 1, 2, ... say this."""
    results = iter(losses_and_accuracies)
    monkeypatch.setattr(loop, "_validate", lambda *args: next(results))


def test_the_kept_weights_are_a_copy_that_later_epochs_do_not_change(two_rings, small, monkeypatch):
    scripted(monkeypatch, [(0.5, 0.5), (0.4, 0.5), (0.3, 0.9), (0.1, 0.8), (0.1, 0.8)])
    kept = NCGNNClassifier(**small | {"epochs": 5}).fit(two_rings)
    scripted(monkeypatch, [(0.5, 0.5), (0.4, 0.5), (0.3, 0.9)])
    stopped = NCGNNClassifier(**small | {"epochs": 3}).fit(two_rings)
    assert (kept.best_.epoch, len(kept.history_)) == (3, 5)
    assert equal_weights(kept, stopped)


@pytest.mark.parametrize(
    ("results", "best"),
    [
        ([(0.5, 0.8), (0.1, 0.7), (0.9, 0.9)], 3),  # accuracy before loss
        ([(0.5, 0.8), (0.4, 0.8), (0.6, 0.8)], 2),  # at equal accuracy, loss
        ([(0.5, 0.8), (0.5, 0.8), (0.5, 0.8)], 1),  # at equal both, the first
    ],
)
def test_higher_accuracy_is_better_and_at_equal_accuracy_lower_loss(two_rings, small, monkeypatch, results, best):
    scripted(monkeypatch, results)
    assert NCGNNClassifier(**small | {"epochs": 3}).fit(two_rings).best_.epoch == best


def test_patience_counts_epochs_since_the_best(two_rings, small, monkeypatch):
    scripted(monkeypatch, [(0.5, 0.5), (0.5, 0.4), (0.5, 0.4), (0.5, 0.6), *[(0.5, 0.6)] * 100])
    stopped = NCGNNClassifier(**small | {"epochs": 100, "patience": 3}).fit(two_rings)
    assert (stopped.best_.epoch, len(stopped.history_)) == (4, 7)


def test_epochs_are_the_limit_and_are_reported_one_by_one(two_rings, small):
    seen: list[Epoch] = []
    classifier = NCGNNClassifier(**small | {"epochs": 4}).fit(two_rings, on_epoch=seen.append)
    assert seen == classifier.history_
    assert [epoch.epoch for epoch in seen] == [1, 2, 3, 4]


def after_one_step(data, **settings) -> dict[str, torch.Tensor]:
    return weights(NCGNNClassifier(**settings | {"epochs": 1, "zeta_prior": [1.0, -1.0]}).fit(data))


def test_weight_decay_pulls_the_weights_but_not_zeta(two_rings, small):
    without = after_one_step(two_rings, **small, weight_decay=0.0)
    decayed = after_one_step(two_rings, **small, weight_decay=10.0)
    assert torch.equal(decayed["filter.zeta"], without["filter.zeta"])
    assert not torch.equal(decayed["primary.weight"], without["primary.weight"])


def test_zeta_has_its_own_learning_rate(two_rings, small):
    steady = after_one_step(two_rings, **small, zeta_lr=0.0)
    moved = after_one_step(two_rings, **small, zeta_lr=0.25)
    assert steady["filter.zeta"].tolist() == [1.0, -1.0]
    # Adam's first step is the rate itself, in the direction of the gradient
    assert (moved["filter.zeta"] - steady["filter.zeta"]).abs().tolist() == pytest.approx([0.25, 0.25], rel=1e-3)
    assert torch.equal(moved["primary.weight"], steady["primary.weight"])


def test_a_fixed_filter_has_nothing_to_learn(two_rings, small):
    classifier = NCGNNClassifier(**small, filter="diffusion").fit(two_rings)
    assert not [key for key in weights(classifier) if key.startswith("filter")]


def test_the_random_state_of_the_caller_neither_matters_nor_changes(two_rings, small):
    runs = []
    for state in (1, 2):
        torch.manual_seed(state)
        before = torch.get_rng_state()
        runs.append(NCGNNClassifier(**small).fit(two_rings))
        assert torch.equal(torch.get_rng_state(), before)
    assert equal_weights(*runs)
    assert runs[0].history_ == runs[1].history_


def test_another_seed_is_another_run(two_rings, small):
    assert not equal_weights(*(NCGNNClassifier(**small, seed=seed).fit(two_rings) for seed in (0, 1)))


def test_the_labels_of_test_nodes_play_no_part(karate, small, trained):
    shuffled = karate.clone()
    shuffled.y[karate.test_mask] = karate.y[karate.test_mask].flip(0)
    assert not torch.equal(shuffled.y, karate.y)
    assert equal_weights(NCGNNClassifier(**small).fit(shuffled), trained)


def test_the_labels_of_training_nodes_do(karate, small, trained):
    shuffled = karate.clone()
    shuffled.y[karate.train_mask] = karate.y[karate.train_mask].flip(0)
    assert not equal_weights(NCGNNClassifier(**small).fit(shuffled), trained)


def test_training_that_diverges_says_so(two_rings, small, monkeypatch):
    monkeypatch.setattr("ncgnn.train.loop.step", lambda *of: float("nan"))
    with pytest.raises(InputError, match="training diverged: the loss of epoch 1 is not a number; lower lr or beta"):
        NCGNNClassifier(**small).fit(two_rings)


def test_rows_are_divided_by_the_sum_of_their_magnitudes():
    x = torch.tensor([[1.0, -3.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.5, 0.0]])
    expected = torch.tensor([[0.25, -0.75, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert torch.equal(prepare_features(x, normalize=True), expected)
    csr = x.to_sparse_csr()
    assert torch.equal(prepare_features(csr, normalize=True).to_dense(), expected)
    assert torch.equal(csr.to_dense(), x)  # the caller's features stay as they are


def test_dense_and_sparse_rows_are_normalised_alike():
    x = torch.randn(50, 40, generator=torch.Generator().manual_seed(1))
    x[x.abs() < 1] = 0
    x[7] = 0
    dense, csr = prepare_features(x, normalize=True), prepare_features(x.to_sparse_csr(), normalize=True)
    assert csr.layout == torch.sparse_csr
    torch.testing.assert_close(csr.to_dense(), dense, rtol=1e-6, atol=0)
    sums = dense.abs().sum(dim=1)
    assert sums[7] == 0
    torch.testing.assert_close(sums[sums > 0], torch.ones(49))


def test_features_are_left_alone_unless_asked():
    x = torch.tensor([[2.0, 4.0]])
    assert torch.equal(prepare_features(x, normalize=False), x)


def test_accuracy_is_the_share_of_right_nodes_in_the_mask():
    scores = torch.tensor([[0.9, 0.1], [0.2, 0.3], [0.6, 0.5], [0.0, 1.0]])
    y = torch.tensor([0, 0, 0, 1])
    assert accuracy(scores, y, torch.tensor([True, True, True, True])) == 0.75
    assert accuracy(scores, y, torch.tensor([False, True, False, True])) == 0.5


def majority(data) -> float:
    """The accuracy of always answering with the most frequent class of the test nodes."""
    labels = data.y[data.test_mask]
    return labels.bincount().max().item() / len(labels)


def test_it_learns_the_karate_club(karate, small):
    classifier = NCGNNClassifier(**small | {"epochs": 60, "hops": [0, 1, 2]}).fit(karate)
    assert majority(karate) < 0.5
    assert classifier.score(karate) > 0.75
    losses = [epoch.train_loss for epoch in classifier.history_]
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize("filter", ["attention", "diffusion"])
def test_it_learns_a_homophilous_graph(filter, small):
    data = split_fractions(syn_cora(0.9, num_nodes=300, num_classes=3), train=0.3, val=0.2)
    classifier = NCGNNClassifier(**small | {"epochs": 60, "filter": filter}).fit(data)
    assert majority(data) < 0.4
    assert classifier.score(data) > 0.8


def test_labels_without_a_pattern_are_not_learned(small):
    """The same graph with labels dealt out at random: the test nodes are at the level of guessing."""
    data = syn_cora(0.9, num_nodes=300, num_classes=3)
    data.y = data.y[torch.randperm(300, generator=torch.Generator().manual_seed(0))]
    data = split_per_class(data, train=20, val=60)
    classifier = NCGNNClassifier(**small, normalize_features=True).fit(data)
    assert classifier.score(data) < 0.5


def test_reusing_products_changes_nothing(karate, small, monkeypatch):
    reused = NCGNNClassifier(**small).fit(karate)
    monkeypatch.setattr(model, "Reused", lambda operator: operator)
    fresh = NCGNNClassifier(**small).fit(karate)
    assert reused.history_ == fresh.history_
    assert equal_weights(reused, fresh)
