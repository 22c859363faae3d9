import pytest

from ncgnn import InputError
from ncgnn.check import batch, hops
from ncgnn.check.batch import TOP_K, with_batch
from ncgnn.data.generated.unstructured import random_graph
from ncgnn.models import find_model
from ncgnn.models.ncgnn import MODEL, Config

DEFAULT = Config.make({})


@pytest.fixture(scope="module")
def graph():
    return random_graph(1000, num_features=16)


@pytest.fixture
def free(monkeypatch):
    return lambda megabytes: monkeypatch.setattr(batch, "available_bytes", lambda: megabytes * 2**20)


def test_the_full_batch_where_it_fits_into_half_of_the_free_memory(graph, free):
    needed = MODEL.memory(graph, DEFAULT) / 2**20
    free(2 * needed + 1)
    settings, why = with_batch(DEFAULT, graph, "auto")
    assert settings == DEFAULT
    assert why.startswith("full batch, which takes about")
    free(2 * needed - 1)
    settings, why = with_batch(DEFAULT, graph, "auto")
    assert isinstance(settings, Config)
    assert (settings.batch, settings.top_k) == (batch.TARGETS, TOP_K)
    assert "does not fit into half" in why
    assert "top_k" in why


def test_unknown_memory_is_enough(graph, free):
    free(float("nan"))
    assert with_batch(DEFAULT, graph, "auto")[0] == DEFAULT


def test_what_is_asked_for_is_used(graph):
    sparse = Config.make({"top_k": 5, "batch": 3})
    assert with_batch(sparse, graph, "7")[0] == sparse.model_copy(update={"batch": 7})
    assert with_batch(sparse, graph, "full")[0] == sparse.model_copy(update={"batch": None})
    assert with_batch(sparse, graph, "auto")[0] == sparse


@pytest.mark.parametrize("asked", ["0", "-1", "some", "1.5"])
def test_other_values_are_refused(graph, asked):
    with pytest.raises(InputError, match="is not auto, full or a number"):
        with_batch(DEFAULT, graph, asked)


def test_other_models_have_no_batches(graph):
    settings = find_model("gcn").settings_class.make({})
    assert with_batch(settings, graph, "auto") == (settings, "")
    with pytest.raises(InputError, match="only NCGNN is trained in batches"):
        with_batch(settings, graph, "8")


def hops_of(settings: Config, graph) -> object:
    return with_batch(settings, graph, "8")[0].model_dump()["hops"]


def test_hops_are_as_many_as_can_be_computed(graph, monkeypatch):
    assert hops_of(DEFAULT, graph) == [0, 1, 2, 3]
    source, _ = graph.edge_index
    degree = len(source) / graph.num_nodes
    monkeypatch.setattr(hops, "MOST_WORK", 2 * degree * (1 + degree))
    assert hops_of(DEFAULT, graph) == [0, 1, 2]
    assert "up to 2 hops" in with_batch(DEFAULT, graph, "8")[1]
    monkeypatch.setattr(hops, "MOST_WORK", 1)
    assert hops_of(DEFAULT, graph) == [0, 1]
    assert hops_of(Config.make({"top_k": 4}), graph) == [0, 1, 2, 3]  # as the settings say


def test_hops_that_all_take_too_long_are_refused(graph, monkeypatch):
    far = {"hops": [2, 3]}
    monkeypatch.setattr(hops, "MOST_WORK", 1)
    with pytest.raises(InputError, match="too long to compute in batches: add 0 or 1, or set top_k"):
        with_batch(Config.make(far), graph, "8")
    assert hops_of(Config.make({"hops": [1, 2, 3]}), graph) == [1]
    assert hops_of(Config.make(far | {"top_k": 4}), graph) == [2, 3]
