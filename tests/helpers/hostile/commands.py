"""Commands on hostile files, each in a process of its own with little memory and time, and what must hold of each."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import ncgnn
from helpers.papers import contents

MEMORY, SECONDS = 3 << 30, 60
_LONGEST = 600  # characters of a line on standard error
_TESTS = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, or minus the signal that ended it."""

    code: int
    out: str
    err: str


class Commands:
    """The warm process that forks one for each command."""

    def __init__(self, folder: Path) -> None:
        paths = [str(Path(ncgnn.__file__).parents[1]), str(_TESTS)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "250", "OMP_NUM_THREADS": "1"}
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "helpers.hostile.warm"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def run(self, folder: Path, arguments: list[str]) -> Ended:
        assert self._process.stdin
        assert self._process.stdout
        out, err = self._folder / "out", self._folder / "err"
        order = {"folder": str(folder), "arguments": arguments, "out": str(out), "err": str(err)}
        self._process.stdin.write(json.dumps(order | {"memory": MEMORY, "seconds": SECONDS}) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        return Ended(code, out.read_text("utf-8", "replace"), err.read_text("utf-8", "replace"))

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def complaint(commands: Commands, folder: Path, arguments: list[str]) -> str:
    """What is wrong with how a command ends, nothing if it does its work or refuses in one line."""
    before = contents(folder)
    ended = commands.run(folder, arguments)
    lines = ended.err.splitlines()
    after = contents(folder)
    made = {name.split("/")[0] for name in set(after) - set(before)}
    inputs = {name: content for name, content in before.items() if name.split("/")[0] not in ("made", "cache")}
    is_found = (
        ended.code == 1 and arguments[0] == "check" and all(line.startswith("note:") for line in lines)
    )  # check found something serious
    said = [line for line in lines if line.startswith("ncgnn:")]
    wrong = {
        f"exit code {ended.code}": ended.code not in (0, 2) and not is_found,
        "a traceback": "Traceback" in ended.err,
        "no reason, or several": ended.code == 2 and len(said) != 1,
        "a long line": any(len(line) > _LONGEST for line in lines),
        "changed inputs": any(after.get(name) != content for name, content in inputs.items()),
        f"made {sorted(made)}": bool(made - {"cache"} - ({"made"} if ended.code == 0 else set())),
    }
    found = [what for what, is_wrong in wrong.items() if is_wrong]
    return f"{', '.join(found)}: ncgnn {' '.join(arguments)}\n{ended.err[-1500:]}" if found else ""
