"""Tables of every kind of disorder: a right result or one clear line, and never half a file."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from helpers import mangled_tables
from helpers.mangled_tables import FAULTY, LABEL, SOUND, noise
from ncgnn.data import read_graph, save_graph
from ncgnn.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:.*dropped:UserWarning")
QUICK, LONG = (  # for each of six tests: 210 and 2,100 in all
    settings(max_examples=number, deadline=None, suppress_health_check=list(HealthCheck)) for number in (35, 350)
)


def outcome(read: Callable[[], Data]) -> Data | str:
    """The graph, or the message of the one error that may be; any other error comes through."""
    try:
        return read()
    except InputError as error:
        message = str(error)
    assert len(message.splitlines()) == 1
    return message


def read_and_save(folder: Path, paths: tuple[Path, Path]) -> Data | str:
    """Read tables and write what they hold: the file is there and whole, or not there at all."""
    before = set(folder.iterdir())
    found = outcome(lambda: read_graph(*paths, label=LABEL))
    if isinstance(found, Data) and not any(name.endswith("\0") for name in found.node_ids + found.class_names):
        save_graph(found, folder / "graph.npz")
        assert read_graph(folder / "graph.npz").node_ids == found.node_ids
        (folder / "graph.npz").unlink()
    assert set(folder.iterdir()) == before
    return found


def check_sound(folder: Path, tables: mangled_tables.Tables, which: str, how: str) -> None:
    expected = outcome(lambda: read_graph(*tables.frames(), label=LABEL))
    found = read_and_save(folder, mangled_tables.write(folder, tables, SOUND[how], which))
    assert isinstance(found, str) == isinstance(expected, str), (found, expected)
    if isinstance(found, str):
        return
    assert (found.node_ids, found.feature_names) == (expected.node_ids, expected.feature_names)
    assert torch.equal(found.x.to_dense(), expected.x.to_dense())
    assert torch.equal(found.edge_index, expected.edge_index)
    assert torch.equal(found.y, expected.y)


def check_faulty(folder: Path, tables: mangled_tables.Tables, which: str, how: str) -> None:
    message = read_and_save(folder, mangled_tables.write(folder, tables, FAULTY[how], which))
    assert isinstance(message, str)
    assert f"{which}{tables.suffix}" in message


def check_noise(folder: Path, tables: mangled_tables.Tables, which: str, noisy: tuple[bytes, float]) -> None:
    read_and_save(folder, mangled_tables.write(folder, tables, noise(*noisy), which))


CHECKS: dict[str, tuple[Callable[..., None], st.SearchStrategy]] = {
    "sound": (check_sound, st.sampled_from(sorted(SOUND))),
    "faulty": (check_faulty, st.sampled_from(sorted(FAULTY))),
    "noise": (check_noise, st.tuples(st.binary(min_size=1, max_size=8), st.floats(0, 0.99))),
}


@pytest.mark.parametrize("which", ["nodes", "edges"])
@pytest.mark.parametrize("kind", CHECKS)
@QUICK
@given(tables=mangled_tables.tables(), data=st.data())
def test_mangled_tables_are_read_right_or_refused_in_one_line(tmp_path_factory, kind, which, tables, data):
    check, how = CHECKS[kind]
    check(tmp_path_factory.mktemp("mangled"), tables, which, data.draw(how))


@pytest.mark.long
@pytest.mark.parametrize("which", ["nodes", "edges"])
@pytest.mark.parametrize("kind", CHECKS)
@LONG
@given(tables=mangled_tables.tables(), data=st.data())
def test_many_mangled_tables_are_read_right_or_refused_in_one_line(tmp_path_factory, kind, which, tables, data):
    check, how = CHECKS[kind]
    check(tmp_path_factory.mktemp("mangled"), tables, which, data.draw(how))


@pytest.mark.parametrize("which", ["nodes", "edges"])
def test_a_folder_in_place_of_a_table_is_named(tmp_path, which):
    paths = {name: tmp_path / f"{name}.csv" for name in ("nodes", "edges")}
    paths["nodes"].write_text("id,f\na,1\n")
    paths[which].unlink(missing_ok=True)
    paths[which].mkdir()
    assert outcome(lambda: read_graph(*paths.values())) == f"{paths[which]}: is a folder, not a table"
