"""Where, when and with which code a run was made."""

import re
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version

from ncgnn.provenance import machine


def origin() -> dict[str, str]:
    """The last columns of a row: versions, commit (a plus sign says that the sources differ from it), machine, day."""
    return _code() | {"date": datetime.now(UTC).date().isoformat()}


@cache
def _code() -> dict[str, str]:
    here = machine()
    versions = {"ncgnn": here["ncgnn"], "torch": here["torch"], "pyg": here["torch_geometric"]}
    return versions | {"numpy": version("numpy"), "commit": here["commit"], "cpu": short_name(here["cpu"])}


def short_name(cpu: str) -> str:
    """A processor without trade marks and clock rate."""
    return " ".join(re.sub(r"\((R|TM)\)|\b(CPU|Processor)\b|@.*", " ", cpu, flags=re.IGNORECASE).split())
