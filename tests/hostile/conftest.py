import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helpers.hostile.commands import Commands, complaint
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


@pytest.fixture
def refuses(commands, tmp_path) -> Callable[..., None]:
    """Run a command that must end with exit code 2 and one line, and leave every file as it was."""

    def run(*arguments: object, message: str) -> None:
        given = [str(argument) for argument in arguments]
        assert not complaint(commands, tmp_path, given)
        ended = commands.run(tmp_path, given)
        assert ended.code == 2
        assert re.search(message, ended.err.splitlines()[-1]), ended.err

    return run
