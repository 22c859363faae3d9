"""Which code is running: its commit and the versions of packages."""

import subprocess
from importlib import metadata
from pathlib import Path

_CHECKOUT = Path(__file__).parents[2]


def commit() -> str:
    """The commit, where the code runs from a checkout, with a plus sign if the sources differ from it; else nothing."""
    if not (_CHECKOUT / ".git").exists():
        return ""
    changed = _git("diff", "--name-only", "HEAD", "--", "src")
    return _git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")


def versions(*packages: str) -> dict[str, str]:
    return {package: metadata.version(package) for package in packages}


def _git(*arguments: str) -> str:
    command = ["git", "--no-optional-locks", "-C", str(_CHECKOUT), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
