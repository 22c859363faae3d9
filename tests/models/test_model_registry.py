"""Every model of the registry, and a user's own."""

import csv
import pickle
from importlib.metadata import EntryPoint

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GraphSAGE

import ncgnn
from ncgnn.data import complete
from ncgnn.data.named.registry import dataset_info
from ncgnn.errors import InputError
from ncgnn.explain import is_explained
from ncgnn.files import toml
from ncgnn.models import (
    Model,
    PreparedGraph,
    Sizes,
    TrainingSettings,
    all_models,
    find_model,
    import_model,
    model_names,
    register,
)
from ncgnn.models.base import registry
from ncgnn.models.base.presets import PUBLISHED, preset_folder, preset_names, read_preset
from ncgnn.train.inputs import Inputs
from ncgnn.train.objectives import CrossEntropy, Stage

PRESETS = [(model, name) for model in model_names() for name in preset_names(model)]


class SageSettings(TrainingSettings):
    width: int = 8


class Sage(Model[SageSettings]):
    name, title, settings_class = "sage", "GraphSAGE", SageSettings

    def build(self, sizes: Sizes, settings: SageSettings) -> nn.Module:
        return GraphSAGE(sizes.features, settings.width, 2, sizes.classes)


@pytest.fixture
def own(monkeypatch):
    monkeypatch.setattr(registry, "_OWN", {})
    return register(Sage())


@pytest.fixture(scope="module")
def karate():
    return ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=3, val=8)


def short(model: Model) -> dict:
    return {key: value for key, value in {"epochs": 2, "trees": 2}.items() if key in model.settings_class.model_fields}


def test_files_of_the_folder_are_the_models():
    assert {"ncgnn", "gcn", "mlp", "gat", "label-propagation", "boosting"} <= set(model_names())
    assert all(find_model(name).name == name for name in model_names())


@pytest.mark.parametrize("name", model_names())
def test_settings_survive_toml(name, tmp_path):
    settings = find_model(name).settings_class.make({"seed": 3})
    (tmp_path / "settings.toml").write_text(settings.to_toml())
    assert type(settings).read(tmp_path / "settings.toml") == settings


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_every_preset_is_valid(name, preset):
    model = find_model(name)
    variant = next((v for v in (*model.variants, "published") if preset.endswith(f"-{v}")), "")
    graph = preset.removesuffix(f"-{variant}")
    assert model.settings_class.make(read_preset(name, graph, variant)).model_dump()
    assert (preset_folder(name) / f"{preset}.toml").read_text() != toml({})


@pytest.mark.parametrize("name", model_names())
def test_published_settings_and_figures_are_valid(name):
    """A file of settings says something else than the defaults; figures are of known graphs."""
    model, folder = find_model(name), preset_folder(name)
    for file in folder.glob(f"*{PUBLISHED}.toml"):
        graph = file.stem.removesuffix(PUBLISHED)
        assert dataset_info(graph).name == graph
        assert model.published(graph) != model.settings_class.make({})
    figures = folder / "figures.csv"
    for row in csv.DictReader(figures.read_text("utf-8").splitlines() if figures.exists() else []):
        assert dataset_info(row["graph"]).name == row["graph"]
        assert 0 < float(row["accuracy"]) < 100
        assert row["protocol"] in {"48/32/20", "public", "20 per class", "published splits"}
        assert row["source"]


@pytest.mark.parametrize("name", model_names())
def test_every_model_trains_saves_loads_and_predicts_the_same(name, karate, tmp_path):
    trained = ncgnn.NodeClassifier(name, short(find_model(name))).fit(karate)
    trained.save(tmp_path / "model.safetensors")
    loaded = ncgnn.NodeClassifier.load(tmp_path / "model.safetensors")
    assert (loaded.decision_function(karate) == trained.decision_function(karate)).all()
    assert loaded.config_ == trained.config_
    torch.testing.assert_close(
        torch.from_numpy(loaded.predict_proba(karate)).sum(dim=1).double(), torch.ones(34).double()
    )


@pytest.mark.parametrize("name", model_names())
def test_only_ncgnn_has_reasons(name, karate):
    trained = ncgnn.NodeClassifier(name, short(find_model(name))).fit(karate)
    assert is_explained(trained.scored(karate)) == find_model(name).has_reasons
    if not find_model(name).has_reasons:
        with pytest.raises(InputError, match="cannot be explained: train NCGNN"):
            trained.explain(karate, ["0"])


@pytest.mark.parametrize("name", model_names())
def test_settings_of_a_search_are_valid(name):
    optuna = pytest.importorskip("optuna")
    model = find_model(name)
    variant = next(iter(model.variants), "")
    for point in model.points("karate", variant):
        suggested = model.space(optuna.trial.FixedTrial(point), "karate", variant)
        made = model.settings_class.make(model.of_variant(variant) | suggested)
        assert all(getattr(made, key) == value for key, value in point.items() if key in type(made).model_fields)


def test_a_model_of_ones_own_is_trained_by_name(own, karate, tmp_path):
    classifier = ncgnn.NodeClassifier("sage", {"width": 4, "epochs": 3}).fit(karate)
    classifier.save(tmp_path / "own.safetensors")
    assert (ncgnn.NodeClassifier.load(tmp_path / "own.safetensors").predict(karate) == classifier.predict(karate)).all()
    assert own.settings_class.identity == "sage"


def test_models_that_share_their_settings_have_an_identity_each():
    class One(Model[TrainingSettings]):
        name, settings_class = "one", TrainingSettings

    class Other(Model[TrainingSettings]):
        name, settings_class = "other", TrainingSettings

    assert (One.settings_class.identity, Other.settings_class.identity) == ("one", "other")
    assert not hasattr(TrainingSettings, "identity")


def test_a_file_may_not_name_code_to_run(own, karate, tmp_path):
    ncgnn.NodeClassifier("sage", {"epochs": 1}).fit(karate).save(tmp_path / "own.safetensors")
    registry._OWN.clear()
    with pytest.raises(InputError, match=r"own.safetensors: unknown model 'sage': register it first"):
        ncgnn.NodeClassifier.load(tmp_path / "own.safetensors")


def test_names_that_cannot_be_found(own):
    with pytest.raises(InputError, match=r"unknown model 'gnc'; known: .*appnp.*boosting"):
        find_model("gnc")
    with pytest.raises(InputError, match="is a model of ncgnn: choose another name"):
        register(find_model("gcn"))
    for path, why in {
        "no_such_module:Name": "no such model",
        "ncgnn.models.gcn:Nothing": "no such model",
        "ncgnn.models.gcn:GCNSettings": "not a model",
        ":": "no such model",
    }.items():
        with pytest.raises(InputError, match=why):
            import_model(path)


def test_a_graph_is_prepared_once_for_all_models(karate, monkeypatch):
    asked = []

    def prepare_features(x, normalize):
        asked.append(normalize)
        return x

    monkeypatch.setattr("ncgnn.models.base.prepared.prepare_features", prepare_features)
    graph = PreparedGraph.of(karate)
    for name in ("gcn", "ncgnn", "gcn"):
        model = find_model(name)
        model.prepare(graph, model.settings_class.make({"normalize_features": False}))
    assert asked == [False]


class Relabelled(CrossEntropy):
    """Trains a second time, on a third class for everybody."""

    def __init__(self) -> None:
        self.stages: list[torch.Tensor] = []

    def next_stage(self, scores, inputs: Inputs, split) -> Stage | None:
        self.stages.append(scores())
        if len(self.stages) == 2:
            return None
        other = split.clone()
        other.y = torch.full_like(split.y, 2)
        return Stage(inputs, other)


def test_training_may_go_on_in_stages_with_other_labels(karate):
    objective = Relabelled()

    class Staged(Sage):
        name = "staged"

        def training(self, module, settings):
            how = super().training(module, settings)
            return type(how)(objective, how.optimizer, how.stopping, how.epochs)

    model, settings = Staged(), SageSettings.make({"epochs": 60, "lr": 0.05})
    inputs = model.prepare(PreparedGraph.of(karate), settings)
    fitted = model.fit(inputs, karate, settings)
    first, second = (scores.argmax(dim=1) for scores in objective.stages)
    assert len(first.unique()) > 1
    assert (second == 2).all()
    assert torch.equal(fitted.module(*inputs.arguments), objective.stages[1])


def test_inputs_may_be_drawn_for_each_epoch(karate):
    drawn = []

    class Drawn(Inputs):
        def sample(self, epoch):
            drawn.append(epoch)
            return self

    class Sampled(Sage):
        name = "sampled"

        def prepare(self, graph, settings):
            return Drawn(super().prepare(graph, settings).arguments)

    model, settings = Sampled(), SageSettings.make({"epochs": 3})
    model.fit(model.prepare(PreparedGraph.of(karate), settings), karate, settings)
    assert drawn == [1, 2, 3]


def test_models_that_lack_something_are_refused(own):
    class Nameless(Model[SageSettings]):
        pass

    with pytest.raises(InputError, match="the model lacks name, title, settings_class, build"):
        register(Nameless)

    class Slash(Sage):
        name = "a/b"

    with pytest.raises(InputError, match="a model's name has letters, digits, dots and hyphens, not 'a/b'"):
        register(Slash)


def test_settings_of_another_model_are_refused(karate):
    with pytest.raises(InputError, match="GCN takes GCNSettings as settings, not Config"):
        ncgnn.NodeClassifier("gcn", ncgnn.Config()).fit(karate)


def test_a_classifier_of_ones_own_model_travels_to_other_processes(own, karate):
    packed = pickle.dumps(ncgnn.NodeClassifier("sage", {"epochs": 2}).fit(karate))
    registry._OWN.clear()
    unpacked = pickle.loads(packed)
    assert unpacked.predict(karate).shape == (34,)


class Shared(Sage):
    name, settings_class = "shared", TrainingSettings  # type: ignore[assignment]

    def build(self, sizes: Sizes, settings: TrainingSettings) -> nn.Module:
        return GraphSAGE(sizes.features, 8, 2, sizes.classes)


def test_settings_made_for_a_model_can_be_pickled():
    settings = Shared.settings_class.make({"lr": 0.5})
    assert pickle.loads(pickle.dumps(settings)) == settings


def test_searches_of_a_derived_model_have_a_name_of_their_own():
    class Derived(type(find_model("ncgnn"))):  # type: ignore[misc]
        name = "derived"

    assert Derived().label("attention") == "derived-attention"
    assert find_model("ncgnn").label("attention") == "attention"
    assert find_model("gcn").label() == "gcn"


def test_a_broken_or_misnamed_entry_point_is_named(monkeypatch):
    for value, why in {
        "no_such_module:X": "No module named",
        "ncgnn.models.gcn:GCN": "its model is called 'gcn'",
    }.items():
        point = EntryPoint("other", value, registry.ENTRY_POINTS)
        monkeypatch.setattr(registry, "_installed", lambda point=point: {"other": point})
        with pytest.raises(InputError, match=f"entry point other: {why}"):
            find_model("other")


@pytest.mark.parametrize("name", [model.name for model in all_models() if model.depth])
def test_a_depth_is_a_setting_and_the_number_of_hops(name):
    """A node four hops away changes what is said of the end of a path, one five hops away does not."""
    model = find_model(name)
    pairs = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    y = torch.tensor([0, 1, 0, 1, 0, 1])
    settings = model.within(model.settings_class.make({"normalize_features": False}), 4)
    assert getattr(settings, model.depth) == 4
    torch.manual_seed(0)
    module = model.build(Sizes(3, 2, 6), settings).eval()
    scores = []
    for changed in (None, 4, 5):
        x = torch.ones(6, 3)
        if changed is not None:
            x[changed] = 5
        data = complete(Data(x=x, edge_index=torch.cat([pairs, pairs.flip(0)], dim=1), y=y))
        with torch.no_grad():
            scores.append(module(*model.prepare(PreparedGraph(data), settings).arguments)[0])
    assert not torch.equal(scores[0], scores[1])
    assert torch.equal(scores[0], scores[2])
