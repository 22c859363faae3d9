"""Explanations as text: sentences and bar charts."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ncgnn.explain.parts import ITSELF, Part, called, shortened

if TYPE_CHECKING:
    from ncgnn.explain.node import NodeExplanation

_BAR = 30
_NAME = 80


def said(explanation: "NodeExplanation") -> list[str]:
    """The answer: why, then why not the runner-up, and the label where it is another."""
    e = explanation
    if e.answer is None:
        lines = [f"{e.prediction.name}, ahead of {e.runner_up.name}."]
    else:
        lines = [e.answer.sentence, e.answer.rather]
    if e.label is not None and e.label != e.prediction.name:
        lines.append(f"Its label is {e.label}.")
    return [printable(line) for line in lines]


def sentence(explanation: "NodeExplanation") -> str:
    """The node and the answer in one line."""
    name = printable(called(explanation.node, explanation.title))
    return f"Node {name}: {' '.join(said(explanation))}"


def bars(explanation: "NodeExplanation", changes: Sequence[str] = ()) -> str:
    """The answer and what would change it, then a bar chart per breakdown of the score."""
    first, *more = [*said(explanation), *map(printable, changes)]
    name = printable(called(explanation.node, explanation.title))
    blocks = ["\n".join([f"Node {name}: {first}", *more]), "Details"]
    for kind, parts in explanation.sections():
        blocks.append("\n".join([printable(heading(explanation, kind)), *_lines(parts)]))
    if explanation.features is not None:
        blocks.append("\n".join(["Features of these nodes", *_features(explanation)]))
    return "\n\n".join(blocks)


def heading(explanation: "NodeExplanation", kind: str) -> str:
    """The title of one breakdown: what is explained, and by what."""
    e = explanation
    return f"{e.explained}{'' if e.against is None else f' vs. {e.against}'}, by {kind}"


def _lines(parts: Sequence[Part]) -> Iterator[str]:
    names = [shortened(printable(part.name), _NAME) for part in parts]
    width = max(map(len, names), default=0)
    longest = max((abs(part.value) for part in parts), default=0.0) or 1.0
    for name, part in zip(names, parts, strict=True):
        bar = ("█" if part.value > 0 else "░") * round(_BAR * abs(part.value) / longest)
        yield f"  {name:{width}}  {part.value:+8.4f}  {bar}".rstrip()


def _features(explanation: "NodeExplanation") -> Iterator[str]:
    others = ((neighbour.name, neighbour.features) for neighbour in explanation.neighbours)
    for name, features in ((ITSELF, explanation.own_features), *others):
        parts = (f"{shortened(printable(part.name), _NAME)} {part.value:+.4f}" for part in features)
        yield f"  {shortened(printable(name), _NAME)}: {', '.join(parts)}"


def printable(name: str) -> str:
    """A name from a file may hold anything, also what a terminal takes for a command."""
    return name if name.isprintable() else repr(name)
