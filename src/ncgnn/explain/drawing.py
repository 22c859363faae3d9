"""An explanation as a self-contained HTML fragment."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from ncgnn.explain.parts import Part, called
from ncgnn.explain.text import heading, said

if TYPE_CHECKING:
    from ncgnn.explain.node import NodeExplanation

_WIDTH = 160  # of a bar in pixels
_FOR, _AGAINST = "#2b6cb0", "#c05621"


def table_of_bars(explanation: "NodeExplanation") -> str:
    """The answer, then a bar chart per breakdown of the score, folded."""
    tables = [_table(heading(explanation, kind), parts) for kind, parts in explanation.sections()]
    details = f"<details><summary>Details</summary>{''.join(tables)}</details>"
    name = escape(called(explanation.node, explanation.title))
    first, *more = map(escape, said(explanation))
    return f"<div><p>Node {name}: <b>{first}</b></p>{''.join(f'<p>{line}</p>' for line in more)}{details}</div>"


def _table(title: str, parts: Sequence[Part]) -> str:
    longest = max((abs(part.value) for part in parts), default=0.0) or 1.0
    rows = "".join(_row(part, abs(part.value) / longest) for part in parts)
    return f'<table><caption style="text-align:left">{escape(title)}</caption>{rows}</table>'


def _row(part: Part, share: float) -> str:
    color = _FOR if part.value > 0 else _AGAINST
    bar = f'<svg width="{_WIDTH}" height="12"><rect width="{_WIDTH * share:.1f}" height="12" fill="{color}"/></svg>'
    return f"<tr><td>{escape(part.name)}</td><td>{part.value:+.4f}</td><td>{bar}</td></tr>"
