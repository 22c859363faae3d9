"""Names from files: text that can be written, printed and sent."""

from collections.abc import Sequence

from ncgnn.errors import InputError


def check_text(names: Sequence[str], where: str) -> None:
    """:class:`InputError` for the first name with half a character, a lone surrogate, which UTF-8 cannot hold."""
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        place, name = next((i, name) for i, name in enumerate(names) if not _is_text(name))
        raise InputError(f"{where}, entry {place}: {name!a} is not valid Unicode text: correct it") from None


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
