"""Packages that only some commands need, and how to install them."""

import re
from importlib import metadata
from pathlib import Path


def install(extra: str) -> str:
    """The command that installs an extra: from the checkout in this folder or, elsewhere, its packages by name."""
    if _is_checkout(Path()):
        return f"pip install '.[{extra}]'"
    return " ".join(["pip install", *(f"'{requirement}'" for requirement in _requirements(extra))])


def _is_checkout(folder: Path) -> bool:
    try:
        return 'name = "ncgnn"\n' in (folder / "pyproject.toml").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def _requirements(extra: str) -> list[str]:
    """What the extra of the installed package requires."""
    found = (requirement.partition(";") for requirement in metadata.requires("ncgnn") or ())
    return [name.strip() for name, _, marker in found if re.search(rf"extra == ['\"]{extra}['\"]", marker)]
