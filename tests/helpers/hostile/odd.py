"""Odd values, and bytes as a broken disk leaves them."""

from random import Random

ODD_NUMBERS = (0, -1, 1, 2**31, 2**63 - 1, -(2**63), 10**9, 10**21, 1e300, -1e300, 1e-300, float("nan"), float("inf"))
ODD_NAMES = (
    "",
    " ",
    "\0",
    "\ud800",
    "a\udfffb",
    "x" * 100_000,
    "\u202e",
    "=1+1",
    "n1",
    "a\nb\r",
    "🙂" * 50,
    "NaN",
    "../..",
)


def damaged(drawn: Random, content: bytes) -> bytes:
    """The bytes cut, altered, repeated or with others put in."""
    out = bytearray(content)
    for _ in range(drawn.randint(1, 4)):
        place = drawn.randrange(len(out) + 1)
        match drawn.randrange(4):
            case 0:
                del out[place:]
            case 1:
                out[place : place + 1] = bytes([drawn.randrange(256)])
            case 2:
                out[place:place] = drawn.randbytes(drawn.randint(1, 64))
            case _:
                out[place:place] = out[place : place + drawn.randint(1, 256)]
    return bytes(out)
