"""Words of messages: numbers of things, what a misspelt name may stand for, and names of any length."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

_QUOTED = re.compile(r"'(?:[^'\\]|\\.){61,}'|\"(?:[^\"\\]|\\.){61,}\"")
_UNBROKEN = re.compile(r"\S{161,}")  # paths keep their length
_MOST = 480  # characters of a message


def several(count: int, thing: str) -> str:
    """``1 node``, ``2 nodes``, ``3 classes``, ``4 categories``."""
    plural = f"{thing[:-1]}ies" if thing.endswith("y") else f"{thing}es" if thing.endswith("s") else f"{thing}s"
    return f"{count} {thing if count == 1 else plural}"


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """``did you mean 'label'?`` for a name that is close to known ones; something else if there are none."""
    by_lower = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), by_lower, n=2, cutoff=0.7)
    return f"did you mean {' or '.join(repr(by_lower[one]) for one in near)}?" if near else otherwise


def shortened(message: str) -> str:
    """The message on one line of bounded length: long names lose their middle, and so does what is still too long."""
    line = " ".join(message.encode("utf-8", "backslashreplace").decode().splitlines())
    if len(line) <= _MOST:
        return line
    line = _UNBROKEN.sub(lambda found: _ends(found[0], 160), _QUOTED.sub(lambda found: _ends(found[0], 60), line))
    return _ends(line, _MOST)


def is_unicode(text: str) -> bool:
    """Whether it has no half characters, lone surrogates, which UTF-8 cannot hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _ends(text: str, most: int) -> str:
    """The text without its middle, if it is longer."""
    half = (most - 3) // 2
    return text if len(text) <= most else f"{text[:half]}...{text[-half:]}"
