"""Names from files: text that can be written, printed and sent."""

from collections.abc import Sequence

from ncgnn.errors import InputError
from ncgnn.text import is_unicode


def check_text(names: Sequence[str], where: str) -> None:
    """:class:`InputError` for the first name with half a character."""
    if not is_unicode("".join(names)):
        place, name = next((i, name) for i, name in enumerate(names) if not is_unicode(name))
        raise InputError(f"{where}, entry {place}: {name!a} is not valid Unicode text: correct it")
