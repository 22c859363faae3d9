import pytest

from ncgnn.cli.model import load_model
from ncgnn.errors import InputError


def test_a_run_folder_and_the_file_in_it_are_one_model(karate_run):
    in_folder, in_file = (load_model(path) for path in (karate_run, karate_run / "model.safetensors"))
    pairs = zip(in_folder.model_.parameters(), in_file.model_.parameters(), strict=True)
    assert all(one.equal(other) for one, other in pairs)


def test_a_folder_without_a_model_is_one_line(here):
    with pytest.raises(InputError, match=r"model\.safetensors"):
        load_model(here)
