"""An explanation as a self-contained HTML fragment."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from ncgnn.explain.parts import Part
from ncgnn.explain.text import heading, sentence

if TYPE_CHECKING:
    from ncgnn.explain.node import NodeExplanation

_WIDTH = 160  # of a bar in pixels
_FOR, _AGAINST = "#2b6cb0", "#c05621"


def table_of_bars(explanation: "NodeExplanation") -> str:
    """The sentence, then a bar chart per breakdown of the score."""
    tables = [_table(heading(explanation, kind), parts) for kind, parts in explanation.sections()]
    return f"<div><p>{escape(sentence(explanation))}</p>{''.join(tables)}</div>"


def _table(title: str, parts: Sequence[Part]) -> str:
    longest = max((abs(part.value) for part in parts), default=0.0) or 1.0
    rows = "".join(_row(part, abs(part.value) / longest) for part in parts)
    return f'<table><caption style="text-align:left">{escape(title)}</caption>{rows}</table>'


def _row(part: Part, share: float) -> str:
    color = _FOR if part.value > 0 else _AGAINST
    bar = f'<svg width="{_WIDTH}" height="12"><rect width="{_WIDTH * share:.1f}" height="12" fill="{color}"/></svg>'
    return f"<tr><td>{escape(part.name)}</td><td>{part.value:+.4f}</td><td>{bar}</td></tr>"
