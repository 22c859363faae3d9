import json

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from ncgnn.classifier import NCGNNClassifier
from ncgnn.classifier.run_folder import prediction_table
from ncgnn.data import set_aside, split_per_class, syn_cora
from ncgnn.data.splits import roles
from ncgnn.errors import InputError
from ncgnn.nn import proportions


def shares_of(lengths: np.ndarray) -> np.ndarray:
    return proportions(torch.from_numpy(lengths)).numpy()


@pytest.fixture(scope="module")
def data():
    return set_aside(split_per_class(syn_cora(0.8, num_nodes=400, num_classes=3), train=20, val=100), 0.5)


@pytest.fixture(scope="module")
def calibrated(data) -> NCGNNClassifier:
    settings = {"hops": 2, "num_capsules": 2, "primary_channels": 8, "class_channels": 4, "dropout": 0.2, "lr": 0.02}
    return NCGNNClassifier(**settings, epochs=15).fit(data)


def test_only_the_nodes_set_aside_calibrate(data, calibrated):
    aside = data.calibration_mask.numpy()
    shares = shares_of(calibrated.decision_function(data))
    right = shares[aside, data.y.numpy()[aside]]
    np.testing.assert_allclose(np.sort(1 - right), calibrated.calibration_.scores, atol=1e-6)


def test_nodes_set_aside_do_not_choose_the_weights(data, calibrated):
    other = data.clone()
    aside = data.calibration_mask
    other.y[aside] = (data.y[aside] + 1) % 3
    wrong = NCGNNClassifier.from_config(calibrated.config_).fit(other)
    assert np.array_equal(wrong.decision_function(data), calibrated.decision_function(data))
    assert wrong.calibration_ != calibrated.calibration_


def test_probabilities_are_calibrated_and_classes_as_before(data, calibrated):
    lengths = calibrated.decision_function(data)
    probabilities = calibrated.predict_proba(data)
    np.testing.assert_allclose(probabilities, calibrated.calibration_.probabilities(shares_of(lengths)))
    assert np.array_equal(probabilities.argmax(axis=1), lengths.argmax(axis=1))


def test_without_nodes_set_aside_there_is_no_set(trained, karate):
    assert trained.calibration_ is None
    np.testing.assert_array_equal(trained.predict_proba(karate), shares_of(trained.decision_function(karate)))
    with pytest.raises(InputError, match="not calibrated"):
        trained.predict_set(karate)


def test_calibration_nodes_that_train_or_validate_are_refused(data, calibrated):
    wrong = data.clone()
    wrong.calibration_mask = data.calibration_mask | data.val_mask
    with pytest.raises(InputError, match="val_mask and calibration_mask overlap"):
        NCGNNClassifier.from_config(calibrated.config_).fit(wrong)


def test_the_model_file_keeps_it(data, calibrated, tmp_path):
    calibrated.save(tmp_path / "m.safetensors")
    loaded = NCGNNClassifier.load(tmp_path / "m.safetensors")
    assert loaded.calibration_ == calibrated.calibration_
    assert np.array_equal(loaded.predict_proba(data), calibrated.predict_proba(data))
    assert np.array_equal(loaded.predict_set(data, 0.8), calibrated.predict_set(data, 0.8))


def rewrite(path, change) -> None:
    """The model file with another header."""
    with safe_open(path, framework="pt") as file:
        header = json.loads(file.metadata()["ncgnn"])
    change(header)
    save_file(load_file(path), path, {"ncgnn": json.dumps(header)})


def test_a_file_from_before_calibration_still_loads(data, calibrated, tmp_path):
    path = tmp_path / "m.safetensors"
    calibrated.save(path)
    rewrite(path, lambda header: header.pop("calibration"))
    old = NCGNNClassifier.load(path)
    assert old.calibration_ is None
    assert np.array_equal(old.decision_function(data), calibrated.decision_function(data))


@pytest.mark.parametrize(
    "wrong", [{"temperature": 0.0}, {"temperature": None}, {"scores": [0.5]}, {"scores": [2.0] * 30}]
)
def test_a_tampered_calibration_is_refused(calibrated, tmp_path, wrong):
    path = tmp_path / "m.safetensors"
    calibrated.save(path)
    rewrite(path, lambda header: header["calibration"].update(wrong))
    with pytest.raises(InputError, match=r"damaged model file, or of another version: calibration\."):
        NCGNNClassifier.load(path)


def test_the_table_names_the_sets_and_the_roles(data, calibrated):
    table = prediction_table(calibrated.scored(data), coverage=0.8)
    inside = calibrated.predict_set(data, 0.8)
    assert [sorted(names) for names in table["set"]] == [np.flatnonzero(row).astype(str).tolist() for row in inside]
    first = [names[0] for names in table["set"] if names]
    assert first == table["predicted"][inside.any(axis=1)].tolist()
    assert roles(data).count("calibration") == 50
