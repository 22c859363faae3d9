import pytest
import torch

from helpers.batches import batches_of
from ncgnn import InputError
from ncgnn.data.generated.unstructured import random_graph
from ncgnn.models import PreparedGraph, find_model
from ncgnn.models.ncgnn import MODEL, VALIDATE_EVERY, Config
from ncgnn.train import checkpoint
from ncgnn.train.checkpoint import Checkpoints, checkpointed

SMALL: dict[str, object] = {
    "num_capsules": 2,
    "primary_channels": 6,
    "class_channels": 4,
    "hops": [0, 1],
    "top_k": 6,
    "epochs": 6,
}
BATCHES = {"batch": 9, "epochs": 5 * VALIDATE_EVERY + 2}  # six validations
KINDS: dict[str, dict[str, object]] = {
    "full batch": {},
    "averaged": {"averaging": 0.5},
    "local": BATCHES | {"batch_routing": "local"},
    "history": BATCHES | {"batch_routing": "history", "batch_age": 4},
    "two stages": {"self_taught": True},
}


class Killed(Exception):
    pass


@pytest.fixture(scope="module")
def graph() -> PreparedGraph:
    return PreparedGraph(random_graph(120, mean_degree=3, num_features=12, num_classes=3))


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """A checkpoint after every epoch."""
    monkeypatch.setattr(checkpoint, "PAUSE", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", float("inf"))


def fit(graph, folder, settings, about="this", killed_at=None, seen=None, continued=None, model=MODEL):
    """A training that ends when so many validated epochs were seen."""
    seen, continued = [] if seen is None else seen, [] if continued is None else continued

    def tell(epoch):
        seen.append(epoch)
        if len(seen) == killed_at:
            raise Killed

    with checkpointed(Checkpoints(folder, lambda: about, continued.append)):
        return model.fit(model.prepare(graph, settings), graph.data, settings, tell)


def weights(fitted) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in fitted.module.parameters()])


@pytest.mark.parametrize("killed_at", [1, 2, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_a_training_that_continues_ends_as_if_nothing_had_happened(graph, tmp_path, kind, killed_at):
    settings = Config.make(SMALL | KINDS[kind])
    expected = MODEL.fit(MODEL.prepare(graph, settings), graph.data, settings)
    seen: list[object] = []
    with pytest.raises(Killed):
        fit(graph, tmp_path, settings, killed_at=killed_at)
    found = fit(graph, tmp_path, settings, seen=seen)
    assert torch.equal(weights(found), weights(expected))
    assert (found.history, found.best) == (expected.history, expected.best)
    assert seen == expected.history


def test_a_finished_training_is_not_repeated(graph, tmp_path):
    settings = Config.make(SMALL)
    expected = fit(graph, tmp_path, settings)
    path = tmp_path / "training-1.pt"
    before = path.stat().st_mtime_ns
    found = fit(graph, tmp_path, settings)
    assert path.stat().st_mtime_ns == before
    assert torch.equal(weights(found), weights(expected))
    assert found.history == expected.history


OTHERS: dict[str, dict[str, object]] = {
    "gcn": {"epochs": 6},
    "bbgdc": {"epochs": 6, "layers": 2, "width": 4},  # a penalty grows over the first 20 steps
    "scattering-gcn": {"epochs": 52},  # the learning rate falls after 50 steps
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_models_continue_too(graph, tmp_path, name):
    model = find_model(name)
    settings = model.settings_class.make(OTHERS[name])
    expected = model.fit(model.prepare(graph, settings), graph.data, settings)
    with pytest.raises(Killed):
        fit(graph, tmp_path, settings, killed_at=4, model=model)
    continued: list[int] = []
    found = fit(graph, tmp_path, settings, continued=continued, model=model)
    assert continued == [3]
    assert found.history == expected.history
    assert torch.equal(weights(found), weights(expected))


def test_a_checkpoint_of_another_run_is_not_used(graph, tmp_path):
    settings = Config.make(SMALL)
    with pytest.raises(Killed):
        fit(graph, tmp_path, settings, about="that", killed_at=4)
    seen: list[object] = []
    fit(graph, tmp_path, settings, about="this", seen=seen)
    assert len(seen) == 6


def cut(path):
    path.write_bytes(path.read_bytes()[:-200])


def altered(path):
    """As only the checksum can tell."""
    content = torch.load(path, weights_only=True)
    next(iter(content["state"]["best_state"].values())).add_(1e-6)
    torch.save(content, path)


def without_history(path):
    content = torch.load(path, weights_only=True)
    content["state"]["history"] = []
    torch.save(content, path)


@pytest.mark.parametrize("spoil", [cut, altered, without_history])
def test_a_damaged_checkpoint_is_a_note_and_training_begins_anew(graph, tmp_path, spoil):
    settings = Config.make(SMALL)
    with pytest.raises(Killed):
        fit(graph, tmp_path, settings, killed_at=4)
    spoil(tmp_path / "training-1.pt")
    continued: list[int] = []
    with pytest.warns(UserWarning, match=r"training-1\.pt: damaged checkpoint; training begins anew"):
        fit(graph, tmp_path, settings, continued=continued)
    assert not continued


def test_a_disk_that_is_full_is_one_line_and_keeps_the_last_checkpoint(graph, tmp_path, monkeypatch):
    settings = Config.make(SMALL)
    with pytest.raises(Killed):
        fit(graph, tmp_path, settings, killed_at=3)
    before = (tmp_path / "training-1.pt").read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    message = r"training-1\.pt: cannot be written \(No space left on device\)$"
    with pytest.raises(InputError, match=message):
        fit(graph, tmp_path, settings)
    assert [path.name for path in tmp_path.iterdir()] == ["training-1.pt"]
    assert (tmp_path / "training-1.pt").read_bytes() == before


def test_quick_trainings_write_nothing(graph, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "PAUSE", 60.0)
    fit(graph, tmp_path, Config.make(SMALL))
    assert not list(tmp_path.iterdir())


def test_couplings_of_a_training_that_continues_are_those_before(graph, tmp_path):
    settings = Config.make(SMALL | KINDS["history"])
    with pytest.raises(Killed):
        fit(graph, tmp_path, settings, killed_at=3)
    stored = torch.load(tmp_path / "training-1.pt", weights_only=True)["state"]["inputs"]
    batches, module = batches_of(graph, settings), settings.make_model(12, 3)
    batches.restore(module, stored)
    assert torch.equal(batches.state(module)["couplings"], stored["couplings"])
    assert stored["couplings"].std() > 0
