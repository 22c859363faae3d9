import threading
from dataclasses import replace

import pytest
import torch

from helpers.batches import SETTINGS, batches_of, config, module_for
from ncgnn import InputError, NCGNNClassifier
from ncgnn.batches import FullBatch
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.train.soft_targets import taught


def weights(fitted) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in fitted.module.parameters()])


def fit(graph, **changes):
    settings = config(epochs=4, **changes)
    return MODEL.fit(MODEL.prepare(graph, settings), graph.data, settings)


def test_a_single_exact_batch_trains_as_the_full_batch_does(graph):
    one, full = fit(graph, batch=1000, batch_routing="exact"), fit(graph)
    assert full.best == full.history[-1]  # the only one that is validated in batches
    torch.testing.assert_close(weights(one), weights(full), atol=1e-4, rtol=1e-3)
    (found,) = one.history
    assert found == pytest.approx(full.best, abs=1e-4)


@pytest.mark.parametrize("routing", ["exact", "local", "history"])
def test_training_is_deterministic_for_a_seed(graph, routing):
    changes = {"batch": 7, "batch_routing": routing, "batch_age": 2, "dropout": 0.5}
    first, again = fit(graph, **changes), fit(graph, **changes)
    assert torch.equal(weights(first), weights(again))
    assert first.history == again.history
    assert not torch.equal(weights(first), weights(fit(graph, **changes, seed=1)))


def test_inputs_can_train_a_second_model(graph):
    settings = config(epochs=3, batch=7)
    inputs = MODEL.prepare(graph, settings)
    first, again = (MODEL.fit(inputs, graph.data, settings) for _ in range(2))
    assert torch.equal(weights(first), weights(again))


@pytest.mark.parametrize("routing", ["local", "history"])
def test_each_epoch_meets_every_training_node_once(graph, routing):
    batches = batches_of(graph, config(batch=7, batch_routing=routing))
    train = graph.data.train_mask
    found = [split.n_id for _, split in batches.batches(1, graph.data, train)]
    assert [len(nodes) for nodes in found] == [7] * 5 + [5]
    assert torch.equal(torch.cat(found).sort().values, train.nonzero().flatten())


def test_couplings_are_computed_again_when_they_are_too_old(graph):
    settings = config(batch=7, batch_age=3)
    module, batches = module_for(graph, settings), batches_of(graph, settings)
    ages = []
    for epoch in range(1, 8):
        batches.memory.refresh(module, epoch)
        ages.append(epoch - batches.memory.refreshed)
    assert ages == [0, 1, 2, 0, 1, 2, 0]


def test_an_error_while_a_batch_is_read_ends_the_training(graph):
    settings = config(batch=7, epochs=4)
    inputs, calls = batches_of(graph, settings), []

    def failing(nodes):
        calls.append(threading.current_thread())
        if len(calls) == 3:
            raise InputError("values.npy: is missing")
        return read(nodes)

    (read,) = inputs.read
    with pytest.raises(InputError, match=r"^values\.npy: is missing$"):
        MODEL.fit(replace(inputs, read=[failing]), graph.data, settings)
    assert len(calls) == 3  # it ends at once
    assert not any(thread.is_alive() for thread in calls)
    assert threading.current_thread() not in calls


def test_soft_targets_for_all_nodes(graph):
    targets = torch.full((graph.data.num_nodes, 3), 1 / 3)
    settings = config(epochs=2, batch=90, batch_routing="exact")
    how = MODEL.fit(MODEL.prepare(graph, settings), graph.data, settings, change=lambda how: taught(how, targets))
    assert all(epoch.is_finite for epoch in how.history)


def test_a_classifier_in_batches(graph):
    clf = NCGNNClassifier(**SETTINGS, epochs=3, batch=16).fit(graph)
    assert clf.predict(graph).shape == (400,)
    assert clf.score(graph) >= 0


@pytest.mark.parametrize(
    "changes", [{"groups": [{"reads": "beliefs"}]}, {"hidden": [[2, 4]], "batch_routing": "history"}]
)
def test_what_batches_cannot_do(changes):
    with pytest.raises(InputError, match="batch"):
        Config.make({"batch": 8, **changes})


@pytest.mark.parametrize("changes", [{}, {"groups": [{"reads": "links", "hops": [0, 1]}]}], ids=["one group", "two"])
def test_a_large_full_batch_trains_as_a_small_one_does(graph, changes, monkeypatch):
    small = fit(graph, dropout=0.5, **changes)
    for place in ("ncgnn.nn.model.MOST_BYTES", "ncgnn.models.ncgnn.memory.MOST_BYTES"):
        monkeypatch.setattr(place, 0)
    assert isinstance(MODEL.prepare(graph, config(**changes)), FullBatch)
    large = fit(graph, dropout=0.5, **changes)
    torch.testing.assert_close(weights(large), weights(small), atol=1e-4, rtol=1e-3)
    for found, expected in zip(large.history, small.history, strict=True):
        assert found == pytest.approx(expected, abs=1e-4)


def test_a_large_full_batch_only_computes_the_scores_that_are_needed(graph):
    settings = config()
    module, inputs = module_for(graph, settings), MODEL.prepare(graph, settings)
    (part, split), *none = FullBatch(inputs.arguments).batches(1, graph.data, graph.data.train_mask)
    assert not none
    assert bool(split.train_mask.all())
    torch.testing.assert_close(part.scores(module), inputs.scores(module)[graph.data.train_mask], atol=1e-6, rtol=0)
