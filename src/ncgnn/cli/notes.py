"""What a command says besides its result: lines on standard error."""

import sys

from ncgnn.text import shortened


def note(text: str) -> None:
    """Say it in one line of bounded length, whatever names are in it."""
    print(shortened(f"note: {text}"), file=sys.stderr)
