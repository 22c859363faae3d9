import pytest
from ncgnn.baselines import Settings, published_gcn, published_mlp, tuned_gcn
from ncgnn.baselines import settings as module

from ncgnn.errors import InputError


def test_citation_and_synthetic_graphs_have_kipfs_gcn():
    for graph in ("cora", "amazon-photo", "syn-cora:0.3"):
        gcn = published_gcn(graph)
        assert (gcn.layers, gcn.width, gcn.dropout, gcn.lr, gcn.weight_decay) == (2, 16, 0.5, 0.01, 5e-4)
        assert (gcn.decay, gcn.epochs, gcn.stop, gcn.patience) == ("first", 200, "window", 10)
        assert gcn.normalize_features


def test_graphs_with_published_splits_have_the_wider_one():
    gcn = published_gcn("texas")
    assert (gcn.width, gcn.epochs, gcn.patience) == (64, 2000, 100)


def test_other_depths_keep_their_best_weights_and_nothing_else_changes():
    changed = {"layers": 5, "stop": "patience", "patience": 100}
    assert published_gcn("cora", 5) == published_gcn("cora").model_copy(update=changed)


def test_the_mlp_counts_kerass_penalty_twice():
    assert published_mlp().weight_decay == 2 * 5e-4
    assert published_mlp().decay == "all"


def test_a_tuned_gcn_is_read_where_it_was_searched(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "tuned_preset", lambda graph: tmp_path / f"{graph}.toml")
    assert tuned_gcn("cora") is None
    (tmp_path / "cora.toml").write_text("# found by a search\nlayers = 3\nlr = 0.02\n")
    assert tuned_gcn("cora") == Settings(layers=3, lr=0.02)


def test_all_syn_cora_graphs_share_one_search():
    assert module.tuned_preset("syn-cora:0.1") == module.tuned_preset("syn-cora:0.9")


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
        Settings.make(values, where="here.toml")
