from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.hostile.commands import Commands
from helpers.hostile.sound import write_sound


@pytest.fixture(scope="session")
def sound(tmp_path_factory) -> Path:
    """A folder with a tiny graph and models of it; not to be changed."""
    folder = tmp_path_factory.mktemp("sound")
    write_sound(folder)
    return folder


@pytest.fixture(scope="session")
def commands(tmp_path_factory) -> Iterator[Commands]:
    started = Commands(tmp_path_factory.mktemp("said"))
    yield started
    started.close()
