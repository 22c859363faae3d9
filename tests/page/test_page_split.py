import json

import pytest

from ncgnn.data import load_dataset, set_aside, split_fractions, syn_cora
from ncgnn.errors import InputError
from ncgnn.page import with_split_of_run
from ncgnn.train import NCGNNClassifier
from ncgnn.train.folder import roles, write_run
from small_models import SMALL


@pytest.fixture
def run(karate, tmp_path):
    write_run(tmp_path / "run", NCGNNClassifier(**SMALL, hops=2, epochs=1).fit(karate), karate, 0)
    return tmp_path / "run"


@pytest.mark.parametrize("model", [".", "model.safetensors"])
def test_the_run_folder_tells_the_split(run, karate, model):
    found = with_split_of_run(load_dataset("karate"), run / model)
    assert roles(found) == roles(karate)


def test_nodes_set_aside_for_calibration_are_told_too(tmp_path):
    data = split_fractions(syn_cora(0.5), 0.25, 0.25)
    data = set_aside(data)
    write_run(tmp_path, NCGNNClassifier(**SMALL, hops=2, epochs=1).fit(data), data, 0)
    found = with_split_of_run(syn_cora(0.5), tmp_path)
    assert roles(found) == roles(data)
    assert (found.calibration_mask == data.calibration_mask).all()


def test_another_graph_has_no_such_split(run):
    other = load_dataset("karate")
    other.x = other.x * 2
    assert roles(with_split_of_run(other, run)) is None


def test_a_model_file_by_itself_tells_none(run, tmp_path):
    (run / "model.safetensors").rename(tmp_path / "model.safetensors")
    assert roles(with_split_of_run(load_dataset("karate"), tmp_path / "model.safetensors")) is None


@pytest.mark.parametrize("text", ["{", "[]", json.dumps({"graph": {}})])
def test_a_damaged_description_is_named(run, text):
    (run / "run.json").write_text(text)
    with pytest.raises(InputError, match=r"run\.json: does not describe a run"):
        with_split_of_run(load_dataset("karate"), run)
