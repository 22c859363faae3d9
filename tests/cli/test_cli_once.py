"""What takes time is done once in a command."""

from collections import Counter

import pytest

from ncgnn.data import completion
from ncgnn.models.base import prepared
from ncgnn.models.ncgnn import NCGNNModel


@pytest.fixture
def counts(monkeypatch) -> Counter:
    """How often functions are called; features by their form."""
    found: Counter = Counter()

    def count(place, name, key):
        original = getattr(place, name)

        def counted(*given, **options):
            found[key(*given) if callable(key) else key] += 1
            return original(*given, **options)

        monkeypatch.setattr(place, name, counted)

    count(completion, "_name_parts", "complete")  # whoever calls complete, under whatever name
    count(prepared, "prepare_filter", "filter")
    count(prepared, "prepare_features", lambda x, divided: "features divided" if divided else "features as they are")
    count(prepared, "normalized_adjacency", "adjacency")
    count(NCGNNModel, "scores", "evaluation")
    return found


@pytest.mark.parametrize("extras", [(), ("--compare", "--picture")])
def test_a_graph_is_prepared_and_evaluated_once(ncgnn, counts, tmp_path, extras):
    assert ncgnn("train", "karate", "--epochs", "3", "--out", tmp_path / "run", *extras).code == 0
    of_others = {"features divided": 1, "adjacency": 1} if extras else {}  # GCN and MLP try features in both forms
    assert counts == {"complete": 1, "filter": 1, "features as they are": 1, "evaluation": 1} | of_others
