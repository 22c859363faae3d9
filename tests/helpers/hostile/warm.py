"""A process that has imported everything, and forks one for each command: imports cost seconds, a fork none.

Reads one JSON line for each command and answers with one: the exit code, or minus the signal that ended it.
"""

import json
import os
import resource
import signal
import sys
import traceback
from typing import Any

import networkx  # noqa: F401
import pyarrow.parquet  # noqa: F401
import sklearn.ensemble  # noqa: F401
import torch

import ncgnn.check
import ncgnn.classifier.run_folder
import ncgnn.explain
import ncgnn.report
import ncgnn.serve  # noqa: F401
from helpers.hostile.asked import ask_every_route
from ncgnn.cli.app import main


def answer(order: dict[str, Any]) -> int:
    """Run a command in a process of its own."""
    child = os.fork()
    if child == 0:
        _become(order)
        os._exit(_run(order["arguments"]))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _become(order: dict[str, Any]) -> None:
    """A process with little memory and time, in a folder of its own, whose output goes to files."""
    os.chdir(order["folder"])
    if os.path.isdir("cache"):
        os.environ["NCGNN_CACHE"] = "cache"
    for number, name in ((0, os.devnull), (1, order["out"]), (2, order["err"])):
        handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(handle, number)
    signal.alarm(order["seconds"])
    resource.setrlimit(resource.RLIMIT_DATA, (order["memory"], order["memory"]))


def _run(arguments: list[str]) -> int:
    sys.argv = ["ncgnn", *arguments]
    try:
        ask_every_route() if arguments[:1] == ["serve"] else main()
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    torch.set_num_threads(1)
    for line in sys.stdin:
        print(answer(json.loads(line)), flush=True)
