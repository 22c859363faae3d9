import pytest
import torch
from ncgnn.bench.plain import PlainNCGNN

from ncgnn.bench import MODELS, enter, random_graph
from ncgnn.errors import InputError
from ncgnn.models.ncgnn.config import Config
from ncgnn.nn import NCGNN, AttentionFilter


@pytest.mark.parametrize("model", MODELS)
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
    enter("NCGNN", karate, Config())
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("layout", [torch.strided, torch.sparse_csr])
def test_the_plain_path_computes_what_the_fused_one_does(karate, layout):
    torch.manual_seed(0)
    model = NCGNN(34, 4, AttentionFilter(range(1, 4)), dropout=0.0)
    prepared = model.filter.prepare(karate.edge_index, 34)
    x = karate.x if layout == torch.strided else karate.x.to_sparse_csr()
    fused = model(x, prepared)
    plain = PlainNCGNN(model)(x, prepared)
    torch.testing.assert_close(fused, plain, atol=1e-5, rtol=1e-5)
    weights = list(model.parameters())
    pairs = zip(torch.autograd.grad(fused.sum(), weights), torch.autograd.grad(plain.sum(), weights), strict=True)
    for of_fused, of_plain in pairs:
        torch.testing.assert_close(of_fused, of_plain, atol=1e-5, rtol=1e-5)


def test_an_unknown_model_is_named(karate):
    with pytest.raises(InputError, match="unknown model 'SVM'; known: NCGNN"):
        enter("SVM", karate, Config())


def test_random_graphs_have_the_sizes_asked_for():
    data = random_graph(2000, mean_degree=6, num_features=5, num_classes=3)
    assert data.x.shape == (2000, 5)
    assert data.y.unique().tolist() == [0, 1, 2]
    assert 5.9 < data.edge_index.shape[1] / 2000 <= 6
    assert not data.has_self_loops()
    assert data.is_undirected()
    assert (data.train_mask | data.val_mask | data.test_mask).all()
    assert torch.equal(random_graph(50).edge_index, random_graph(50).edge_index)
