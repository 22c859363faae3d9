"""What each part of training is worth: how gains are counted, and that no node judges what it has chosen."""

import torch
from benchmarks import ablation, table
from benchmarks.page import fill

from ncgnn.models import PreparedGraph
from ncgnn.models.ncgnn import Config
from ncgnn.search.attempts import Trainer

REFIT = "half of the validation nodes, refitted"


def test_the_page_is_the_one_that_the_results_give():
    page = ablation.PAGE.read_text("utf-8")
    shown = fill(page, "ablation", ablation.render(table.read(ablation.RESULTS)))
    assert shown == page, "run: python -m benchmarks.ablation --report"


def rows(graph: str, variant: str, *accuracies: float) -> list[dict]:
    return [
        {"graph": graph, "variant": variant, "split": split, "val_accuracy": accuracy}
        for split, accuracy in enumerate(accuracies)
    ]


def test_a_gain_is_the_mean_difference_on_the_same_splits():
    found = [
        *rows("cora", "default", 0.70, 0.72, 0.80),
        *rows("cora", "beliefs", 0.71, 0.75),
        *rows("texas", "default", 0.70),
        *rows("texas", "beliefs", 0.65),
        *rows("cora", ablation.BASES[REFIT], 0.6, 0.6),
        *rows("cora", REFIT, 0.7, 0.7),
    ]
    lines = {line.split("|")[1].strip(): line for line in ablation.render(found).splitlines()[2:]}
    assert lines["beliefs"].startswith("| beliefs | -5.0 | +2.0 ± 1.0 | - |")
    assert lines[REFIT].startswith(f"| {REFIT} | - | +10.0 ± 0.0 |")
    assert "default" not in lines
    assert len(lines) == len(ablation.VARIANTS) - 2


def test_half_of_the_validation_nodes_judges_and_has_no_label_before(karate):
    chosen, judges = ablation.halved(karate)
    assert (chosen.y[judges] == -1).all()
    assert torch.equal(chosen.val_mask | judges, karate.val_mask)
    assert not (chosen.val_mask & judges).any()
    assert abs(int(judges.sum()) - int(chosen.val_mask.sum())) <= 1


def test_labels_of_test_nodes_change_no_variant(karate, monkeypatch, tmp_path):
    small = {"epochs": 8, "patience": 3, "num_capsules": 2, "primary_channels": 4, "class_channels": 4}
    monkeypatch.setattr(ablation, "SETTINGS", {"default": {}, "beliefs": {"groups": [{"reads": "beliefs"}]}})
    make = Config.make
    monkeypatch.setattr(Config, "make", staticmethod(lambda values: make(small | values)))
    other = karate.clone()
    other.y[karate.test_mask] = karate.y[karate.test_mask].flip(0)
    assert not torch.equal(other.y, karate.y)
    trainers = [Trainer(PreparedGraph.of(data)) for data in (karate, other)]
    for variant in ("beliefs", "soft targets: itself", "class prior by EM", REFIT):
        one, two = (ablation.VARIANTS[variant](trainer) for trainer in trainers)
        assert one == two, variant
        assert 0 <= one <= 1


def test_each_variant_trains_what_its_name_says():
    found = {variant: Config.make(settings).hash for variant, settings in ablation.SETTINGS.items()}
    assert len(set(found.values())) == len(found)
    assert set(ablation.SETTINGS) < set(ablation.VARIANTS)
