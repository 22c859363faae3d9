"""Names in tables that a spreadsheet would calculate."""

from collections.abc import Iterable

from ncgnn.cli.notes import note
from ncgnn.text import several

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def note_formulas(names: Iterable[str]) -> None:
    """Say so once if a spreadsheet may take names for formulas; names are written as they are, to be read again."""
    found = [name for name in names if name.startswith(_FORMULA) and not _is_number(name)]
    if found:
        note(
            f"{several(len(found), 'name')} of nodes or classes, such as {found[0]!r}, may be taken for formulas"
            " by a spreadsheet: import these columns as text"
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()
