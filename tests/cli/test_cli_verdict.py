"""Whether ``--compare`` recommends the right model, where the right one is known."""

import json
from pathlib import Path

import pandas as pd
import pytest
import torch

from ncgnn.classifier import NodeClassifier
from ncgnn.compare import compare, rivals
from ncgnn.compare.verdict import is_chance
from ncgnn.data import read_graph, save_graph, split_fractions
from ncgnn.data.generated.neighbour_mean import neighbour_mean
from ncgnn.data.generated.shop import departments
from ncgnn.models import PreparedGraph, find_model

OPTIONS = ["--search", "none", "--no-refit", "--compare", "--out", "run"]


def comparison(run: Path) -> dict:
    found: dict = json.loads((run / "run.json").read_text("utf-8"))["comparison"]
    return found


@pytest.mark.long
def test_where_classes_follow_the_mean_of_neighbours_boosting_with_neighbours_is_right(ncgnn, here):
    """Its columns hold the mean, and the others can at best come near: a linear model cannot bound a middle class."""
    save_graph(neighbour_mean(800), here / "mean.npz")
    done = ncgnn("train", "mean.npz", *OPTIONS)
    found = comparison(here / "run")
    assert found["use"] == find_model("neighbour-boosting").title
    accuracy = {row["model"]: row["test_accuracy"] for row in found["rows"]}
    assert accuracy.pop(found["use"]) > 0.9 > 0.8 > max(accuracy.values())
    assert f"use {found['use']}, unless you need explanations." in done.out


@pytest.mark.long
def test_in_the_example_shop_no_model_is_better_than_the_recommended_one(ncgnn, here):
    """Judged by products without a label in the tables, whose departments the generator knows."""
    ncgnn("example", "shop")
    tables = ["--nodes", "shop/products.csv", "--edges", "shop/bought-together.csv", "--label", "department"]
    columns = ["--title", "title", "--weight", "orders", "--ignore", "shelf"]
    done = ncgnn("train", *tables, *columns, "--fractions", 0.4, 0.2, "--splits", 2, *OPTIONS)
    use = done.out.partition("Verdict: ")[2].partition("use ")[2].partition(",")[0]
    graph = shop_with_truth(here / "shop")
    models = {model.title: model for model in (find_model("ncgnn"), *rivals("ncgnn"))}
    own, others = models[use], [model for title, model in models.items() if title != use]
    best = max(own.candidates(), key=lambda settings: fit(own.name, settings, graph).best_.val_accuracy)
    scored = fit(own.name, best, graph).scored(graph)
    rows = list(compare(graph, own, scored, 0.0, others))[1:]
    assert {row.judged for row in rows} == {280}
    assert [row.model for row in rows if row.worse > row.better and not is_chance(row)] == []
    assert any(row.better > row.worse and not is_chance(row) for row in rows)


def fit(name, settings, graph) -> NodeClassifier:
    return NodeClassifier(name, settings.model_dump()).fit(graph)


def shop_with_truth(folder: Path) -> PreparedGraph:
    """The tables, whose products without a label are the test nodes."""
    nodes, edges = pd.read_csv(folder / "products.csv"), pd.read_csv(folder / "bought-together.csv")
    data = read_graph(nodes, edges, label="department", title="title", weight="orders", ignore=["shelf"])
    unlabelled, truth = data.y < 0, departments()
    data = split_fractions(data, 0.4, 0.2)
    data.y = torch.tensor([data.class_names.index(name) for name in truth])
    data.test_mask = unlabelled
    assert (nodes["department"].dropna() == pd.Series(truth)[~unlabelled.numpy()]).all()
    return PreparedGraph.of(data)
