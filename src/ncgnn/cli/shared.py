"""Files that several processes make together, and the first one writes."""

from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ncgnn.parts import Piece


def write_shared(
    out: Path, key: Callable[[], str], total: int, parts: "Callable[[int], Iterable[Piece]]", size: int
) -> None:
    """As :func:`~ncgnn.parts.write_in_parts`; all processes go through the same parts."""
    from ncgnn.parts import write_in_parts
    from ncgnn.train.processes import agreed, rank

    if rank() == 0:
        write_in_parts(out, key, total, lambda first: parts(agreed(first)), size)
    else:
        deque(parts(agreed(0)), maxlen=0)
