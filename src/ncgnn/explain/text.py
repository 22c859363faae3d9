"""Explanations as text: sentences and bar charts."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ncgnn.explain.groups import reason
from ncgnn.explain.parts import Candidate, Neighbour, Part, called, shortened

if TYPE_CHECKING:
    from ncgnn.explain.node import NodeExplanation

_BAR = 30
_NAME = 80


def sentence(explanation: "NodeExplanation") -> str:
    """The prediction, the largest contribution of each kind, and the bias, which may be larger than any of them."""
    e = explanation
    name = printable(called(e.node, e.title))
    first = f"Node {name} is classified as {_said(e.prediction)}; runner-up: {_said(e.runner_up)}."
    if e.label is not None and e.label != e.prediction.name:
        first += f" Its label is {printable(e.label)}."
    why = _reason(e)
    if why is not None:
        what = "This" if e.explained == e.prediction.name else f"Its score for {printable(e.explained)}"
        first += f" {what} is {printable(why)}."
    bias = f"Bias, independent of all nodes: {e.bias:+.3f}."
    return f"{first} {_subject(e)}: {', '.join(_largest_parts(e))}. {bias}"


def _reason(e: "NodeExplanation") -> str | None:
    return reason(e.groups, e.score) if e.groups and e.against is None else None


def _said(candidate: Candidate) -> str:
    return f"{printable(candidate.name)} (probability {candidate.probability:.2f}, score {candidate.value:.3f})"


def _subject(e: "NodeExplanation") -> str:
    if e.against is not None:
        place = "ahead of" if e.score >= 0 else "behind"
        return f"{printable(e.explained)} is {abs(e.score):.3f} {place} {printable(e.against)}; largest contributions"
    is_other = e.explained != e.prediction.name
    return (
        f"Largest contributions to {printable(e.explained)} (score {e.score:.3f})"
        if is_other
        else "Largest contributions"
    )


def _largest_parts(e: "NodeExplanation") -> Iterator[str]:
    kinds: dict[str, Sequence[Part]] = {
        "group": e.groups if e.groups and _reason(e) is None else (),
        "hop": e.hops or (),
        "node": [Part(neighbour.name, neighbour.value) for neighbour in e.neighbours],
        "capsule": e.capsules,
        "feature": e.features.largest if e.features else (),
    }
    for kind, parts in kinds.items():
        if parts:
            part = max(parts, key=lambda part: abs(part.value))
            yield f"{kind} {printable(part.name)} ({part.value:+.3f})"


def bars(explanation: "NodeExplanation") -> str:
    """The sentence, then a bar chart per breakdown of the score."""
    blocks = [str(explanation)]
    for kind, parts in explanation.sections():
        blocks.append("\n".join([printable(heading(explanation, kind)), *_lines(parts)]))
    if explanation.features is not None:
        blocks.append("\n".join(["Features of these neighbours", *map(_features, explanation.neighbours)]))
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


def _features(neighbour: Neighbour) -> str:
    parts = (f"{shortened(printable(part.name), _NAME)} {part.value:+.4f}" for part in neighbour.features)
    return f"  {shortened(printable(neighbour.name), _NAME)}: {', '.join(parts)}"


def printable(name: str) -> str:
    """A name from a file may hold anything, also what a terminal takes for a command."""
    return name if name.isprintable() else repr(name)
