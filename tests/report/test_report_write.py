import re

import pytest
from torch_geometric.data import Data

from ncgnn.classifier import NCGNNClassifier
from ncgnn.compare import Compared
from ncgnn.data import load_dataset, set_aside, split_per_class, split_stratified, syn_cora
from ncgnn.errors import InputError
from ncgnn.models.ncgnn.config import preset
from ncgnn.report import report, write_report
from ncgnn.report.matters import matters
from ncgnn.report.text import table

SMALL = {"num_capsules": 2, "primary_channels": 8, "class_channels": 4, "lr": 0.02}


@pytest.fixture(scope="module")
def club():
    return split_per_class(load_dataset("karate"), 3, 8)


def report_of(classifier: NCGNNClassifier, data: Data, **more) -> str:
    return report(classifier, classifier.scored(data), **more)


@pytest.fixture(scope="module")
def text(club) -> str:
    return report_of(NCGNNClassifier(hops=2, epochs=20, **SMALL).fit(club), club, advice=["- Go on."])


def test_it_says_how_good_where_it_fails_what_matters_and_what_next(text):
    assert re.findall("^## (.*)$", text, re.MULTILINE) == [
        "How good",
        "Where it fails",
        "What matters",
        "How far to trust the reasons",
        "Details",
        "Next steps",
    ]
    assert "of 14 test nodes are classified correctly.\nAlways predicting “0”, the most" in text
    above, details = text.split("## Details")
    assert re.search(
        r"\d+% are the node's own features, \d+% its neighbours and \d+% the model's general leaning", above
    )
    assert re.search(r"- “\d” rather than “\d”: \d+ \(\d+\.\d%\)", above)
    assert "bias" not in above
    assert re.search(r"by number of hops: 1: \d+%, 2: \d+%\. The class bias, which depends on no node,", details)
    assert text.rstrip().endswith("- Go on.")
    assert "as good: compare them." in text
    assert "Probabilities are uncalibrated" in text


def test_a_comparison_has_its_table_and_verdict(club):
    rows = [Compared("NCGNN", "both", 0.5, 0.5, 1.0, 14, 0, 0), Compared("MLP", "features", 0.5, 0.9, 0.1, 14, 0, 6)]
    text = report_of(NCGNNClassifier(hops=2, epochs=2, **SMALL).fit(club), club, rows=rows)
    assert "## Compared with simpler models" in text
    assert "Verdict: features alone do better (90.0% of 14 test nodes correct, NCGNN 50.0%): use MLP, unless" in text
    assert "compare them" not in text


def test_calibrated_models_are_not_advised_to_calibrate():
    data = set_aside(split_stratified(syn_cora(0.8, num_nodes=300), 0.5, 0.3), 0.5)
    assert "uncalibrated" not in report_of(NCGNNClassifier(hops=1, epochs=2, **SMALL).fit(data), data)


def test_the_features_that_tell_a_class_are_named():
    """In the planted graph each class has features of its own."""
    data = split_stratified(load_dataset("planted"))
    found = matters(NCGNNClassifier(**preset("planted") | {"epochs": 60}).fit_scored(data))
    assert set(found.features) == set(data.class_names)
    for name, apart in found.features.items():
        own = [part.startswith(name) for part, _ in apart.features]
        assert all(own[:3])
        assert sum(own) >= 4  # noise may speak against the runner-up
    assert found.hops is not None
    assert found.hops["1"] > 0.5
    assert all(one.features == sorted(one.features, key=lambda part: -part[1]) for one in found.features.values())


def test_models_with_hidden_layers_have_a_report_too(club):
    model = NCGNNClassifier(hops=2, epochs=2, hidden=[[2, 4]], **SMALL).fit(club)
    assert "Not available for models with hidden capsule layers" in report_of(model, club)


def test_tables_are_aligned_and_names_cannot_break_them():
    lines = table(["class", "n"], [["a|b\nc", "10"], ["d", "5"]])
    assert lines == ["| class  |  n |", "| ------ | -: |", "| a\\|b c | 10 |", "| d      |  5 |"]


def test_the_file_has_a_title(tmp_path, text):
    write_report(tmp_path, "karate split 0", text)
    assert (tmp_path / "report.md").read_text("utf-8") == f"# karate split 0\n\n{text}"


def test_training_that_patience_ended_has_not_used_up_its_epochs(club):
    patient = NCGNNClassifier(hops=2, epochs=60, patience=3, **SMALL).fit(club)
    ended = NCGNNClassifier(hops=2, epochs=len(patient.history_), patience=3, **SMALL).fit(club)
    cut = NCGNNClassifier(hops=2, epochs=len(patient.history_) - 1, patience=3, **SMALL).fit(club)
    assert "hit the epoch limit" not in report_of(ended, club)
    assert "hit the epoch limit" in report_of(cut, club)


def test_a_model_from_a_file_does_not_tell_how_it_was_trained(club, tmp_path):
    NCGNNClassifier(hops=2, epochs=2, **SMALL).fit(club).save(tmp_path / "m.safetensors")
    with pytest.raises(InputError, match="the model was loaded from a file, which has no training history"):
        report_of(NCGNNClassifier.load(tmp_path / "m.safetensors"), club)
