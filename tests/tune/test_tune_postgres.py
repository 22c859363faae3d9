"""Two processes on a real PostgreSQL server, which the test starts and stops."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from helpers.small_search import Sociable, make_search
from ncgnn.tune.search import run
from ncgnn.tune.study import FINISHED

OWNER = "postgres"  # the server refuses to run as root


def server_programs() -> Path | None:
    on_path = shutil.which("initdb")
    found = [Path(on_path)] if on_path else sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


@pytest.fixture
def server():
    """The address of an empty database."""
    programs = server_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed")
    is_root = os.geteuid() == 0
    if is_root and OWNER not in {user.pw_name for user in pwd.getpwall()}:
        pytest.skip(f"PostgreSQL does not run as root, and there is no user {OWNER}")
    owner: dict[str, Any] = {"user": OWNER, "group": OWNER, "extra_groups": []} if is_root else {}
    folder = Path(tempfile.mkdtemp(prefix="ncgnn-postgres-"))
    if is_root:
        shutil.chown(folder, OWNER, OWNER)

    def call(*command: object) -> None:
        subprocess.run([*map(str, command)], check=True, cwd=folder, stdout=subprocess.DEVNULL, timeout=120, **owner)

    call(programs / "initdb", "-D", folder / "data", "-U", OWNER, "-A", "trust")
    options = f"-k {folder} -c listen_addresses=''"
    call(programs / "pg_ctl", "-D", folder / "data", "-l", folder / "log", "-o", options, "-w", "start")
    try:
        yield f"postgresql://{OWNER}@/postgres?host={folder}"
    finally:
        call(programs / "pg_ctl", "-D", folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(folder)


@pytest.mark.long
def test_two_processes_join_one_study_on_postgresql(tmp_path, server):
    pytest.importorskip("psycopg")
    search = make_search(tmp_path, Sociable(folder=tmp_path), trials=6, url=server)
    trials = run(search, jobs=2).get_trials()
    assert len(list(tmp_path.glob("*.here"))) == 2
    assert [trial.state in FINISHED for trial in trials] == [True] * 6
    assert len({tuple(trial.params.values()) for trial in trials}) == 6
    assert run(search).get_trials() == trials
