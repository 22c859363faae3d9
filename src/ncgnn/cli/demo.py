"""``make demo``: the main job on the example tables, in a folder of its own, and the lines that matter.

Everything the commands print is kept in ``demo.txt``.
"""

import csv
import io
import os
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from time import perf_counter

from ncgnn.cli.app import main as run_command

TABLES = ["--nodes", "products.csv", "--edges", "bought-together.csv", "--label", "department", "--weight", "orders"]
RUN = "runs/products"
NODE = "P0004"


def demo(folder: Path) -> None:
    """Check, train, predict, explain and write the page."""
    start = perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    Path("demo.txt").unlink(missing_ok=True)
    _ncgnn("example", ".")
    checked = _ncgnn("check", *TABLES)
    _tell("check", _line("serious: .*", checked).removeprefix("serious: ") + ": left out")
    trained = _ncgnn("train", *TABLES, "--title", "title", "--ignore", "shelf", "--out", RUN)
    _tell("train", _line(".* are classified correctly.*", trained))
    _tell("", _line("Always predicting .*", trained))
    _tell("predict", _predictions(_ncgnn("predict", RUN)))
    _tell("explain", _ncgnn("explain", RUN, "--node", NODE).splitlines()[0])
    _ncgnn("explain", RUN, "--page", "page.html")
    _tell("page", f"{folder / 'page.html'}: open it in a browser ({perf_counter() - start:.0f} seconds in all)")


def _ncgnn(*arguments: str) -> str:
    """What a command prints; a command that fails ends the demo with its message."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)  # tables are written as bytes
    sys.argv = ["ncgnn", *arguments]
    with redirect_stdout(out):
        try:
            run_command()
        except SystemExit as end:
            if end.code not in (0, None) and arguments[0] != "check":  # which finds a serious problem here
                raise
    printed = out.buffer.getvalue().decode()
    with open("demo.txt", "a", encoding="utf-8") as file:
        file.write(f"$ ncgnn {' '.join(arguments)}\n{printed}\n")
    return printed


def _line(pattern: str, text: str) -> str:
    """The line that matters; a demo without it is a fault."""
    found = re.search(f"^{pattern}$", text, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"the demo finds no line {pattern!r}: see demo.txt")
    return found[0]


def _predictions(table: str) -> str:
    rows = [row for row in csv.DictReader(io.StringIO(table)) if not row["label"]]
    sure = sum(float(row["probability"]) >= 0.9 for row in rows)
    return f"{len(rows)} products had no department; {sure} of them now have one with a probability of 0.9 or more."


def _tell(step: str, text: str) -> None:
    print(f"{step:8} {text}", flush=True)


if __name__ == "__main__":
    demo(Path(sys.argv[1]))
