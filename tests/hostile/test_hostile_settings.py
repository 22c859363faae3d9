"""Settings, options and names that no one should give."""

import os

import pytest

from helpers.hostile.sound import CHEAP

QUICK = ["--search", "none", "--no-refit", "--epochs", "1", "--out", "made"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hops = " + "[" * 5000 + "]" * 5000, "bad.toml: not valid TOML: nested too deeply"),
        ("hops = " + "9" * 5000, "bad.toml: not valid TOML: .*4300"),
        ("top_k = 1" + "0" * 21, "bad.toml.*: top_k = 1000000000000000000000: .* less than or equal"),
        (
            "num_capsules = 4096\nprimary_channels = 4096",
            r"would take [\d.]+ GB of memory, and [\d.]+ (GB|MB) are free",
        ),
        ("beta = 1e300", "bad.toml.*: beta = 1e.300: .* less than or equal"),
        ("filter = 'diffusion'\nalpha = 1e-12", "bad.toml.*: alpha = 1e-12: .* greater than or equal"),
        (f"hidden = [{'[2, 4],' * 20_000}]", "bad.toml.*: hidden = .*: List should have at most 32 items"),
        (f"groups = [{'{},' * 5_000}]", "bad.toml.*: groups = .*: List should have at most 32 items"),
    ],
    ids=["nested", "digits", "top_k", "large", "beta", "alpha", "layers", "groups"],
)
def test_settings_in_a_file(refuses, sound, tmp_path, content, message):
    (tmp_path / "bad.toml").write_text(content)
    refuses("train", sound / "graph.npz", "--config", "bad.toml", *QUICK, message=message)


def test_a_setting_of_thousands_of_digits(refuses, sound):
    refuses("train", sound / "graph.npz", "--set", f"hops={'9' * 5000}", *QUICK, message="settings: hops = ")


@pytest.mark.parametrize("model", ["boosting", "neighbour-boosting"])
def test_leaves_of_more_nodes_than_a_library_can_count(refuses, sound, model):
    given = ["--model", model, "--set", "leaf=10000000000", "--search", "none", "--out", "made"]
    refuses("train", sound / "graph.npz", *given, message="leaf = 10000000000: Input should be less than or equal to")


def test_a_link_to_itself_as_output(refuses, sound, tmp_path):
    os.symlink("loop", tmp_path / "loop")
    given = ["predict", sound / "ncgnn.safetensors", sound / "graph.npz", "--out", "loop"]
    refuses(*given, message="loop: cannot be written")


@pytest.mark.parametrize("value", ["-1", "many", "1e9"])
def test_an_option_out_of_its_range(refuses, sound, value):
    message = "^ncgnn: Invalid value for '--split-seed': .*; see ncgnn train --help$"
    refuses("train", sound / "graph.npz", "--split-seed", value, message=message)


@pytest.mark.parametrize(
    "given",
    [
        ["train", "karate", "--splits", "99999999999"],
        ["tune", "karate", "--splits", "99999999999"],
        ["bench", "karate", "--threads", "99999999999999999999"],
    ],
    ids=lambda given: f"{given[0]} {given[2]}",
)
def test_a_number_that_no_one_means(refuses, given):
    refuses(*given, message=f"^ncgnn: Invalid value for '{given[2]}': Input should be less than or equal to")


@pytest.mark.parametrize(
    "given",
    [["tune", "karate"], ["reproduce", "table6", "--models", "MLP", "--datasets", "syn-cora:0.5"]],
    ids=lambda given: given[0],
)
def test_more_processes_than_fit_into_memory(refuses, given):
    pytest.importorskip("optuna")
    message = r"^ncgnn: 999999 processes would take [\d.]+ GB of memory, and [\d.]+ (GB|MB) are free: .*--jobs"
    refuses(*given, "--jobs", "1000000", message=message)


@pytest.mark.parametrize(
    "given",
    [["train", "a\udcff.npz"], ["train", "karate", "--out", "a\udcff"], ["explain", "m", "--page", "a\udcff.html"]],
    ids=["graph", "out", "page"],
)
def test_a_file_name_that_is_not_utf8(refuses, given):
    refuses(*given, message="is not valid Unicode text: rename it")


@pytest.mark.parametrize("value", ["0", "-1", "1e9", "9" * 5000], ids=["0", "-1", "float", "digits"])
def test_a_batch_of_no_size(refuses, sound, value):
    message = "is not auto, full or a number of nodes .--batch N."
    refuses("train", sound / "graph.npz", *QUICK, "--batch", value, message=message)


def test_a_generated_graph_that_does_not_fit_into_memory(refuses):
    message = r"a graph of 9999999999 nodes .* would take [\d.]+ GB of memory, and [\d.]+ (GB|MB) are free"
    refuses("train", "large:9999999999", *QUICK, message=message)


def test_a_long_name_is_shortened(refuses, sound):
    refuses("train", "x" * 100_000, *CHEAP, message="^ncgnn: .*xxx...xxx.*")


def test_a_long_column_is_shortened(refuses, tmp_path):
    rows = "".join(f"n{i},{'ab'[i % 2]},{i}\n" for i in range(40))
    (tmp_path / "nodes.csv").write_text(f"id,topic,{'x' * 100_000}\n{rows}n40,a,none\n")
    (tmp_path / "edges.csv").write_text("source,target\n")
    given = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--label", "topic"]
    refuses("check", *given, message="^ncgnn: nodes.csv, column 'xx*[.]{3}x*', row 41: 'none' is not a finite number")
