import pytest

from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, split_per_class
from ncgnn.errors import InputError
from ncgnn.train.tensorboard import tensorboard


@pytest.fixture
def club():
    return split_per_class(load_dataset("karate"), 3, 8)


def scalars(folder, tag: str) -> list[tuple[int, float]]:
    """What TensorBoard itself reads."""
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = reader.EventAccumulator(str(folder)).Reload()
    return [(event.step, event.value) for event in events.Scalars(tag)]


def test_tensorboard_reads_every_epoch_back(tmp_path, club):
    pytest.importorskip("tensorboard")
    with tensorboard(tmp_path) as log:
        classifier = NCGNNClassifier(hops=2, num_capsules=2, epochs=4).fit(club, on_epoch=log)
    for tag, key in (("loss/train", 1), ("loss/validation", 2), ("accuracy/validation", 3)):
        read = scalars(tmp_path, tag)
        assert [step for step, _ in read] == [epoch.epoch for epoch in classifier.history_]
        assert [value for _, value in read] == pytest.approx([epoch[key] for epoch in classifier.history_])


def test_a_second_run_replaces_the_first(tmp_path, club):
    pytest.importorskip("tensorboard")
    for epochs in (4, 2):
        with tensorboard(tmp_path) as log:
            NCGNNClassifier(hops=2, num_capsules=2, epochs=epochs).fit(club, on_epoch=log)
    assert [step for step, _ in scalars(tmp_path, "loss/train")] == [1, 2]


def test_without_the_package_one_line_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr("ncgnn.train.tensorboard.find_spec", lambda name: None)
    with pytest.raises(
        InputError, match=r"require the package tensorboard: pip install .*\[log\]|pip install tensorboard"
    ):
        tensorboard(tmp_path).__enter__()


def test_a_run_that_fails_keeps_what_was_logged_before(tmp_path):
    pytest.importorskip("tensorboard")
    with tensorboard(tmp_path):
        pass
    (earlier,) = tmp_path.iterdir()
    with pytest.raises(KeyboardInterrupt), tensorboard(tmp_path):
        raise KeyboardInterrupt
    assert earlier.exists()
