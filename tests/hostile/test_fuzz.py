"""Files of every kind, made hostile: a command does its work or refuses in one line, and leaves its inputs alone."""

import pytest

from helpers.hostile.cases import KINDS, case
from helpers.hostile.commands import complaint

SHORT, LONG = 28, 273  # for each of eleven kinds: 308 and 3,003 in all


@pytest.fixture
def complaints(commands, sound, tmp_path):
    """What is wrong with how the commands of several cases end, by the seed that makes each again."""

    def found(kind: str, seeds: range) -> dict[int, str]:
        wrong = {}
        for seed in seeds:
            folder = tmp_path / str(seed)
            folder.mkdir()
            what = complaint(commands, folder, case(kind, seed, folder, sound))
            if what:
                wrong[seed] = what
        return wrong

    return found


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_files_end_well(complaints, kind):
    wrong = complaints(kind, range(SHORT))
    assert not wrong, "\n".join(f"{kind}, seed {seed}: {what}" for seed, what in wrong.items())


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_hostile_files_end_well(complaints, kind):
    wrong = complaints(kind, range(SHORT, SHORT + LONG))
    assert not wrong, "\n".join(f"{kind}, seed {seed}: {what}" for seed, what in wrong.items())
