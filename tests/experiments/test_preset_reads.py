"""How often a report opens the files of presets, in a process of its own: others may have read them already."""

import json
import subprocess
import sys

from ncgnn.experiments.cells import all_cells
from ncgnn.experiments.recipes import LINES
from ncgnn.models.base.presets import preset_folder, preset_path

SCRIPT = """
import json, sys
from collections import Counter

opened = Counter()
sys.addaudithook(lambda event, details: opened.update([str(details[0])]) if event == "open" else None)

from ncgnn.cli.app import main

try:
    main()
finally:
    print(json.dumps(opened))
"""


def opened_by(*arguments: str) -> dict[str, int]:
    """How often each file was opened by ``ncgnn`` with these arguments."""
    command = [sys.executable, "-c", SCRIPT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


def presets_of_cells() -> set[str]:
    """The files of the tuned models of the tables."""
    lines = [(LINES[cell.model], cell.graph) for cell in all_cells()]
    paths = {
        preset_path(line.model, graph, line.variant) for line, graph in lines if line.settings in ("preset", "tuned")
    }
    return {str(path) for path in paths if path.is_file()}


def test_a_report_reads_each_preset_once(tmp_path):
    opened = opened_by("reproduce", "all", "--report-only", "--results", str(tmp_path / "results"))
    root = f"{preset_folder('')}/"
    reads = {path: times for path, times in opened.items() if path.startswith(root) and path.endswith(".toml")}
    assert reads.keys() >= presets_of_cells()
    assert set(reads.values()) == {1}
