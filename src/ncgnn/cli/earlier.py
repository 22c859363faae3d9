"""What the same ``ncgnn train`` has written already, before it was killed."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncgnn.cli.run import Extras, Outcome, Plan
from ncgnn.errors import InputError

if TYPE_CHECKING:
    from torch_geometric.data import Data


def is_begun(folder: Path, data: "Data", plan: Plan) -> bool:
    """Whether the run in a folder is of this very command, on the same graph and with the same settings."""
    from ncgnn.data.fingerprint import fingerprint
    from ncgnn.provenance import versions

    run = _read(folder)
    if not run or run.get("command") != sys.argv[1:]:
        return False
    is_set = plan.search != "none" or run.get("config") == plan.settings.model_dump(mode="json")
    is_same_code = run["versions"].get("ncgnn") == versions("ncgnn")["ncgnn"]
    return is_set and is_same_code and run["graph"].get("fingerprint") == fingerprint(data)


def finished(folder: Path, extras: Extras) -> Outcome | None:
    """The run in a folder, if nothing that was asked for is missing."""
    from ncgnn.compare import Compared

    run, report = _read(folder), folder / "report.md"
    rows = run.get("comparison", {}).get("rows", [])
    wanted = [report, *[folder / "capsules.png"] * extras.picture]
    if not run or (extras.compare and not rows) or not all(path.is_file() for path in wanted):
        return None
    _, _, text = report.read_text("utf-8").partition("\n\n")  # after the title
    return Outcome(folder, run, text, [Compared(**row) for row in rows])


def _read(folder: Path) -> dict[str, Any]:
    from ncgnn.classifier.run_folder import read_description

    try:
        found = read_description(folder) or {}
    except InputError:
        return {}
    is_run = all(isinstance(found.get(key), dict) for key in ("graph", "versions"))
    return found if is_run else {}
