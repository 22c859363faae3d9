import tomllib
from dataclasses import replace
from importlib import resources

import pytest

from ncgnn.experiments.cells import EXTENDED, RIVALS, TUNED, Cell, all_cells
from ncgnn.experiments.recipes import LINES, recipe, reported, settings_of
from ncgnn.models import find_model
from ncgnn.models.ncgnn import MODEL, Config, preset


def test_every_cell_but_an_unsearched_control_has_settings():
    searched = {*TUNED.values(), "GCN extended", *EXTENDED.values()}
    assert {cell.model for cell in all_cells() if recipe(cell) is None} <= searched


@pytest.mark.parametrize(
    ("hops", "most", "expected"),
    [
        ([0, 1, 2, 3, 4, 5], 2, [0, 1, 2]),
        ([1, 2, 3, 4, 5], 5, [1, 2, 3, 4, 5]),
        ([1, 2, 3], 5, [1, 2, 3, 4, 5]),
        ([1, 3, 5], 4, [1, 3, 4]),
        ([2, 3], 1, [1]),
        (5, 3, [1, 2, 3]),
    ],
)
def test_the_farthest_hop_of_a_column_is_its_own(hops, most, expected):
    assert MODEL.within(Config.make({"hops": hops}), most) == Config.make({"hops": expected})


def test_zetas_start_stays_with_its_hop():
    config = Config.make({"hops": [2, 0, 1], "zeta_prior": [0.2, 3.0, 0.1]})
    assert MODEL.within(config, 1) == Config.make({"hops": [0, 1], "zeta_prior": [3.0, 0.1]})
    assert MODEL.within(config, 3) == Config.make({"hops": [0, 1, 2, 3], "zeta_prior": [3.0, 0.1, 0.2, 0.2]})


def test_a_column_changes_nothing_but_the_hops():
    column = recipe(Cell("3", "cora", "hops=2", "NCGNN-A")).settings
    own = Config.make(preset("cora"))
    assert column.model_dump(exclude={"hops", "zeta_prior"}) == own.model_dump(exclude={"hops", "zeta_prior"})
    assert max(column.hop_set) == 2


def test_a_gcn_has_the_depth_of_its_column():
    assert recipe(Cell("3", "cora", "hops=4", "GCN")).settings.layers == 4
    assert recipe(Cell("5", "texas", "48/32/20", "GCN")).settings.layers == 2


def test_the_hash_tells_settings_apart_and_seeds_not(monkeypatch):
    cell = Cell("5", "texas", "48/32/20", "NCGNN-A")
    before = recipe(cell).hash
    assert recipe(cell).settings.model_copy(update={"seed": 7}).hash == before
    monkeypatch.setattr(MODEL, "preset", lambda graph, variant: Config.make({"hops": [0, 1], "lr": 0.123}))
    assert recipe(cell).hash != before


@pytest.mark.parametrize("cell", [cell for cell in all_cells() if recipe(cell) is not None and cell.table in "3567"])
def test_the_settings_of_a_cell_can_be_read_back_from_what_is_kept_of_them(cell):
    kept = tomllib.loads(recipe(cell).toml())
    assert "seed" not in kept
    again = recipe(cell).definition.settings_class.make(kept)
    assert again.hash == recipe(cell).settings.hash


def test_a_rival_has_its_published_settings_and_no_more_epochs_than_ncgnn():
    gcnii = recipe(Cell("3", "cora", "hops=best", "GCNII")).settings
    assert (gcnii.layers, gcnii.epochs, gcnii.patience) == (64, 500, 100)
    assert recipe(Cell("3", "cora", "hops=3", "GCNII")).settings.layers == 3
    for cell in all_cells():
        if cell.model in RIVALS:
            settings = recipe(cell).settings
            assert getattr(settings, "epochs", 0) <= 500, cell
            assert getattr(settings, "patience", 0) <= 100, cell


def test_a_tuned_rival_has_no_more_epochs_than_ncgnn_either():
    tuned, searched = recipe(Cell("3", "cora", "hops=best", "GAT tuned")).settings, find_model("gat").preset("cora")
    assert tuned == searched.model_copy(update={"epochs": 500})


def test_what_was_published_for_another_kind_of_graph_reads_features_of_products_as_they_are():
    assert not settings_of(LINES["GAT"], "amazon-computers").normalize_features
    assert settings_of(LINES["DAGNN"], "amazon-computers").normalize_features  # its authors published settings for it
    assert settings_of(LINES["GAT"], "cora").normalize_features


def test_a_sweep_changes_one_setting_of_the_preset():
    own = recipe(Cell("x", "cora", "any", "NCGNN-A")).settings.model_dump()
    for setting, change in (("K=12", {"num_capsules": 12}), ("dropout=0.3", {"dropout": 0.3})):
        assert recipe(Cell("fig4", "cora", setting, "NCGNN-A")).settings.model_dump() == own | change


@pytest.mark.parametrize("cell", [cell for cell in all_cells() if cell.table == "ablation" and cell.dataset == "texas"])
def test_an_ablation_says_in_its_settings_or_its_model_what_it_changes(cell):
    found, own = recipe(cell), recipe(replace(cell, model="NCGNN-A"))
    assert (found.hash == own.hash) == (cell.model == "NCGNN-A")
    assert find_toml_model(found.toml()) == found.model


def find_toml_model(text: str) -> str:
    return text.splitlines()[0].removeprefix("# model: ")


def test_todays_published_figures_stand_beside_ours():
    assert reported(Cell("5", "texas", "48/32/20", "ACM-GCN")) == 87.84
    assert reported(Cell("5", "texas", "48/32/20", "ACM-GCN tuned")) is None
    assert reported(Cell("3", "cora", "hops=best", "GRAND")) is None  # on another split


EXTENDED_FILE = """
teachers = ["itself", "appnp"]
[settings]
hops = [0, 1, 2, 3, 4, 5]
[appnp]
alpha = 0.2
"""


def test_an_extended_model_learns_from_its_teachers(tmp_path, monkeypatch):
    (tmp_path / "extended").mkdir()
    (tmp_path / "extended/cora-attention.toml").write_text(EXTENDED_FILE)
    monkeypatch.setattr(resources, "files", lambda package: tmp_path)
    found = recipe(Cell("3", "cora", "hops=2", EXTENDED["NCGNN-A"]))
    assert found is not None
    itself, appnp = found.teachers
    assert itself.settings == found.settings == Config.make({"hops": [0, 1, 2]})
    assert (appnp.model, appnp.settings.model_dump()["alpha"]) == ("appnp", 0.2)
    assert len({found.hash, itself.hash, replace(found, teachers=(appnp,)).hash}) == 3
    assert "# model: appnp" in found.toml()
    assert Config.make(tomllib.loads(found.toml())).hash == itself.hash


@pytest.mark.parametrize(("filter", "ignored"), [("diffusion", {"hops": 2}), ("attention", {"alpha": 0.3})])
def test_what_means_nothing_beside_the_filter_does_not_change_the_hash(filter, ignored):
    settings = Config.make({"filter": filter})
    assert Config.make({"filter": filter} | ignored).hash == settings.hash
    assert Config.make({"filter": filter, "lr": 0.5}).hash != settings.hash
