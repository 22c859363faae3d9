import inspect
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import DATASETS
from ncgnn.errors import InputError
from ncgnn.models.base.presets import preset_folder, preset_names
from ncgnn.models.ncgnn.config import Config, preset
from ncgnn.nn import AttentionFilter, DiffusionFilter
from ncgnn.sparse import Threshold, TopK

PRESETS = [f"{name}.toml" for name in preset_names("ncgnn")]

share = st.floats(0, 1, exclude_min=True, exclude_max=True)
positive = st.floats(0, 100, exclude_min=True)
size = st.integers(1, 4096)


@st.composite
def configurations(draw) -> dict:
    """Any settings that are allowed, with any of them left out."""
    hops = draw(st.integers(1, 100) | st.lists(st.integers(0, 100), min_size=1, max_size=9, unique=True))
    count = hops if isinstance(hops, int) else len(hops)
    margins = sorted(draw(st.lists(share, min_size=2, max_size=2, unique=True)))
    values = {
        "filter": draw(st.sampled_from(["attention", "diffusion"])),
        "hops": hops,
        "zeta_prior": draw(st.none() | st.lists(st.floats(-1e6, 1e6), min_size=count, max_size=count)),
        "diffusion": draw(st.sampled_from(["ppr", "heat"])),
        "alpha": draw(st.floats(1e-4, 0.999)),
        "time": draw(positive),
        "steps": draw(st.none() | st.integers(0, 1000)),
        draw(st.sampled_from(["top_k", "epsilon"])): draw(st.none() | st.integers(1, 10**9)),
        "tolerance": draw(st.floats(1e-12, 1)),
        "num_capsules": draw(size),
        "hidden": draw(st.lists(st.tuples(size, size), max_size=3)),
        "init": draw(st.sampled_from(["uniform", "glorot"])),
        "m_minus": margins[0],
        "m_plus": margins[1],
        "beta": draw(st.floats(0, 1000)),
        "lr": draw(positive),
        "epochs": draw(st.integers(1, 10**12)),
        "normalize_features": draw(st.booleans()),
        "seed": draw(st.integers(0, 2**63 - 1)),
    }
    together = {"hops", "zeta_prior", "m_minus", "m_plus"}
    left_out = draw(st.sets(st.sampled_from(sorted(set(values) - together))))
    return {key: value for key, value in values.items() if key not in left_out}


@settings(deadline=None)  # a busy machine
@given(configurations())
def test_toml_holds_every_configuration(values):
    config = Config.make(values)
    assert Config.make(tomllib.loads(config.to_toml())) == config


@pytest.mark.parametrize(
    "values",
    [
        {"hops": [0, 2], "zeta_prior": [1e-7, -3.0], "hidden": [(4, 8), (2, 6)], "epsilon": 1e-5, "seed": 2**62},
        {"groups": [{"hops": [1, 2], "edges": 'pays "é" 🧾 out'}, {"reads": "beliefs", "scale": 0.3}]},
    ],
    ids=["lists", "groups"],
)
def test_a_configuration_comes_back_from_its_file(tmp_path, values):
    config = Config.make(values)
    (tmp_path / "c.toml").write_text(config.to_toml(), "utf-8")
    assert Config.read(tmp_path / "c.toml") == config


WRONG = [
    ("batch", 0),
    ("batch_routing", "global"),
    ("batch_age", 0),
    ("filter", "atention"),
    ("filter", 1),
    ("hops", 101),
    ("hops", -1),
    ("hops", "all"),
    ("hops", [1, 101]),
    ("hops", [-1]),
    ("hops", []),
    ("hops", 0),
    ("hops", [2, 2]),
    ("zeta_prior", [1.0]),
    ("zeta_prior", [float("nan")] * 5),
    ("diffusion", "cold"),
    ("alpha", 0),
    ("alpha", 1e-12),
    ("alpha", 1.0),
    ("time", 0),
    ("time", 1e308),
    ("steps", -1),
    ("steps", 1001),
    ("top_k", 0),
    ("epsilon", 0),
    ("tolerance", 0),
    ("num_capsules", 0),
    ("primary_channels", 4097),
    ("class_channels", 1.5),
    ("iterations", 0),
    ("beta", -1),
    ("beta", float("inf")),
    ("beta", 1e4),
    ("top_k", 10**21),
    ("zeta_prior", [1e300] * 4),
    ("dropout", 1),
    ("dropout", -0.1),
    ("hidden", [[4]]),
    ("hidden", [[4, 0]]),
    ("hidden", 3),
    ("reads", "minds"),
    ("edges", ""),
    ("groups", [{"reads": "minds"}]),
    ("groups", [{"hops": []}]),
    ("groups", [{"reads": "beliefs"}, {"reads": "features"}]),
    ("init", "zero"),
    ("m_plus", 1),
    ("m_minus", 0.95),
    ("lam", -1),
    ("lam", 1e300),
    ("lr", 0),
    ("lr", float("inf")),
    ("lr", 1e30),
    ("zeta_lr", -1),
    ("weight_decay", -1),
    ("early_dropout", 1),
    ("feature_dropout", -0.1),
    ("decay", "none"),
    ("self_taught", "maybe"),
    ("averaging", 1),
    ("epochs", 0),
    ("epochs", "many"),
    ("patience", 0),
    ("normalize_features", "perhaps"),
    ("balance", "maybe"),
    ("seed", -1),
    ("seed", 2**63),
]


@pytest.mark.parametrize(("key", "value"), WRONG)
def test_a_value_out_of_range_is_one_line_with_its_key(key, value):
    with pytest.raises(InputError, match=rf"^here: .*\b{key}\b") as caught:
        Config.make({key: value}, where="here")
    assert "\n" not in str(caught.value)


def test_every_key_has_a_wrong_value_above():
    assert {key for key, _ in WRONG} == set(Config.model_fields)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"hops": [1, 101]}, r"hops\.1 = 101: .*less than or equal to 100"),
        ({"hops": 101}, "hops = 101: .*less than or equal to 100"),
        ({"hidden": [[4, 0]]}, r"hidden\.0\.1 = 0: .*greater than or equal to 1"),
        ({"zeta_prior": [0.0, 1.0]}, "zeta_prior has 2 values for 4 hops"),
        ({"m_minus": 0.9}, "m_minus = 0.9 must be below m_plus = 0.9"),
        ({"top_k": 3, "epsilon": 0.1}, "top_k and epsilon are mutually exclusive"),
    ],
)
def test_the_line_says_what_would_be_right(values, message):
    with pytest.raises(InputError, match=message):
        Config.make(values)


def test_an_unknown_key_is_named_beside_the_known_ones():
    with pytest.raises(InputError, match=r"^settings: unknown key 'numcapsules'; did you mean 'num_capsules'\?$"):
        Config.make({"numcapsules": 4})
    with pytest.raises(InputError, match=r"^settings: unknown key 'learning_rate'; known keys: filter, .*, seed$"):
        Config.make({"learning_rate": 0.1})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"hops = [1,", "c.toml: not valid TOML: "),
        (b"hops = 1\nhops = 2\n", "c.toml: not valid TOML: "),
        (b'filter = "\xff"', r"c.toml: cannot be read \(not UTF-8 text\)"),
        (b"[model]\nhops = 2\n", "c.toml: unknown key 'model'"),
    ],
)
def test_a_file_that_is_no_configuration(tmp_path, content, message):
    (tmp_path / "c.toml").write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        Config.read(tmp_path / "c.toml")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_or_a_folder(tmp_path):
    with pytest.raises(InputError, match=r"c.toml: cannot be read \(No such file"):
        Config.read(tmp_path / "c.toml")
    with pytest.raises(InputError, match=r"cannot be read \(not a regular file"):
        Config.read(tmp_path)


@pytest.mark.parametrize("file", PRESETS)
def test_every_preset_fits_the_configuration_and_belongs_to_a_known_graph(file):
    graph, filter = file.removesuffix(".toml").rsplit("-", 1)
    assert any(name.partition(":")[0] == graph for name in DATASETS)
    values = tomllib.loads((preset_folder("ncgnn") / file).read_text("utf-8"))
    config = Config.make(preset(graph, filter), where=file)
    assert config.filter == filter
    assert values
    assert {key: config.model_dump(mode="json")[key] for key in values} == values


@pytest.mark.parametrize("file", PRESETS)
def test_a_preset_sets_nothing_that_its_filter_ignores(file):
    filter = file.removesuffix(".toml").rsplit("-", 1)[1]
    other = {
        "attention": {"alpha", "steps", "time", "diffusion", "tolerance"},
        "diffusion": {"hops", "zeta_prior", "zeta_lr"},
    }
    assert not other[filter] & set(preset(file.removesuffix(f"-{filter}.toml"), filter))
    assert Config.make({"filter": filter}).ignored == other[filter]


def test_all_synthetic_graphs_share_a_preset():
    assert preset("syn-cora:0.3") == preset("syn-cora:0.8") != preset("another graph")


def test_an_unknown_graph_has_no_preset_but_the_filter():
    assert preset("another graph", "diffusion") == {"filter": "diffusion"}


def test_the_constructor_of_the_classifier_is_the_configuration():
    parameters = list(inspect.signature(NCGNNClassifier).parameters.values())
    assert [p.name for p in parameters] == list(Config.model_fields)
    for parameter in parameters:
        default = list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
        assert default == Config.model_fields[parameter.name].default, parameter.name
        assert type(default) is type(Config.model_fields[parameter.name].default), parameter.name


def test_every_key_has_a_description():
    assert all(field.description for field in Config.model_fields.values())


def test_the_filter_is_made_as_configured():
    attention = Config(hops=[3, 0], top_k=7, zeta_prior=[0.5, -0.5]).make_filter()
    assert isinstance(attention, AttentionFilter)
    assert dict(zip(attention.hops, attention.zeta.tolist(), strict=True)) == {0: -0.5, 3: 0.5}
    assert attention.sparsify == TopK(7)
    diffusion = Config(filter="diffusion", alpha=0.3, steps=4, epsilon=0.01).make_filter()
    assert isinstance(diffusion, DiffusionFilter)
    assert (diffusion.alpha, diffusion.steps, diffusion.sparsify) == (0.3, 4, Threshold(0.01))
    heat = Config(filter="diffusion", diffusion="heat", time=2.0).make_filter()
    assert isinstance(heat, DiffusionFilter)
    assert (heat.kind, heat.time) == ("heat", 2.0)
    assert Config().make_filter().sparsify is None


def test_a_number_of_hops_does_not_count_the_node_itself():
    assert Config(hops=3).hop_set == [1, 2, 3]
    assert Config(hops=[3, 0]).hop_set == [3, 0]
