"""A filter that a user writes, from training to the page."""

import pytest
import torch
from torch import Tensor, nn

import ncgnn
from ncgnn.models import register
from ncgnn.models.base import registry
from ncgnn.models.ncgnn import NCGNNModel
from ncgnn.nn import GraphFilter
from ncgnn.page import write_page


class Farther(GraphFilter):
    """The node itself and its second hop."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.tensor([0.5, 0.3]))

    @property
    def cache_key(self) -> str:
        return "farther"

    def coefficients(self) -> Tensor:
        return torch.cat([self.gain[:1], self.gain.new_zeros(1), self.gain[1:]])


class FartherNCGNN(NCGNNModel):
    name, title = "farther", "NCGNN, farther"

    def graph_filter(self, settings):
        return Farther()


@pytest.fixture
def classifier(monkeypatch, karate):
    monkeypatch.setattr(registry, "_OWN", {})
    register(FartherNCGNN())
    return ncgnn.NodeClassifier("farther", {"epochs": 20}).fit(karate)


@pytest.fixture
def karate():
    return ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=3, val=8)


def test_it_trains_explains_and_gets_a_page(classifier, karate, tmp_path):
    scored = classifier.scored(karate)
    explainer = ncgnn.GraphExplainer(scored)
    (why,) = explainer.explain(["33"])
    assert why.hops is not None
    parts = sum(part.value for part in why.hops) + why.bias
    assert parts == pytest.approx(why.score, rel=1e-5)
    assert not torch.equal(scored.module.filter.gain, torch.tensor([0.5, 0.3]))
    write_page(tmp_path / "page.html", explainer)
    text = (tmp_path / "page.html").read_text()
    assert "karate: predictions and their reasons" in text or '"hops":[["0",' in text.replace(" ", "")


def test_it_is_saved_and_loaded(classifier, karate, tmp_path):
    classifier.save(tmp_path / "model.safetensors")
    loaded = ncgnn.NodeClassifier.load(tmp_path / "model.safetensors")
    assert (loaded.decision_function(karate) == classifier.decision_function(karate)).all()
