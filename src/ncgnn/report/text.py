"""A run in words: Markdown that is also read on a screen."""

from collections.abc import Callable, Iterator, Sequence

from ncgnn.report.copies import Copies
from ncgnn.report.matters import Matters
from ncgnn.report.quality import ClassQuality, Quality

_LISTED = 10
_CONFUSIONS = 3


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table with columns of equal width; all columns but the first are numbers."""
    cells = [[_cell(value) for value in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lined = [
        [value.ljust(width) if place == 0 else value.rjust(width) for place, (value, width) in enumerate(zipped)]
        for zipped in (list(zip(row, widths, strict=True)) for row in (cells[0], rule, *cells[1:]))
    ]
    return [f"| {' | '.join(row)} |" for row in lined]


def how_good(quality: Quality, copies: Copies | None) -> Iterator[str]:
    yield f"{quality.accuracy:.1%} of {quality.nodes} {quality.judged} nodes are classified correctly."
    guess = f"Always predicting {_quoted(quality.frequent)}, the most frequent class, would reach"
    yield f"{guess} {quality.frequent_accuracy:.1%}."
    yield f"Mean recall over classes: {quality.found:.1%}."
    if copies is not None:
        rest = "" if copies.others is None else f", {copies.others:.1%} of the others"
        yield (
            f"{copies.nodes} of the test nodes have a copy with the same neighbours in training or validation:"
            f" {copies.accuracy:.1%} of them are classified correctly{rest}. New nodes have no copies."
        )
    if quality.judged == "validation":
        yield "There are no test nodes. The best epoch was chosen on validation nodes, so this is optimistic."


def where_it_fails(quality: Quality) -> Iterator[str]:
    worst = quality.classes[:_LISTED]
    yield from table(["class", "nodes", "recall", "precision"], [_class_row(one) for one in worst])
    if len(quality.classes) > len(worst):
        yield ""
        rest = len(quality.classes) - len(worst)
        yield f"The other {rest} classes have at least this recall, or no {quality.judged} nodes."
    if quality.confusions:
        sizes = {one.name: one.nodes for one in quality.classes}
        yield ""
        yield "Most often confused:"
        for one in quality.confusions[:_CONFUSIONS]:
            whole, verb = f"{one.count} of {sizes[one.label]}", "is" if one.count == 1 else "are"
            yield f"- {whole} nodes of {_quoted(one.label)} {verb} classified as {_quoted(one.taken_for)}"


def what_matters(found: Matters | None) -> Iterator[str]:
    if found is None:
        yield (
            "Not available for models with hidden capsule layers or without capsules, for very large graphs, or for"
            " training in batches."
        )
        return
    yield (
        f"Of what sets a predicted class apart from the runner-up, {found.own:.0%} are the node's own features,"
        f" {found.others:.0%} its neighbours and {found.bias:.0%} the model's general leaning to a class."
    )
    if found.groups is not None:
        parts = ", ".join(f"{words}: {share:.0%}" for words, share in found.groups.items())
        yield f"By what the model reads of a node: {parts}."
    yield ""
    yield "Features that speak most for a class, with their share of what tells it from its most frequent runner-up:"
    for name, apart in list(found.features.items())[:_LISTED]:
        features = ", ".join(f"{_cell(feature)} ({share:.1%})" for feature, share in apart.features)
        yield f"- {_quoted(name)} rather than {_quoted(apart.runner_up)}: {features or 'none'}"
    if len(found.features) > _LISTED:
        yield f"- and {len(found.features) - _LISTED} more classes"


def details(hops: dict[str, float]) -> Iterator[str]:
    """Shares of the score alone, of which the bias may be half without telling any class from another."""
    parts = ", ".join(f"{hop}: {share:.0%}" for hop, share in hops.items())
    yield (
        f"Share of the score by number of hops: {parts}. The class bias, which depends on no node, contributes"
        f" {1 - sum(hops.values()):.0%}; the other classes have biases, too."
    )


def what_next(
    quality: Quality, calibrated: bool, compared: bool, cut_short: bool, how: Callable[[str], str]
) -> Iterator[str]:
    if cut_short:
        yield f"- Training hit the epoch limit while still improving: allow more{how('epochs')}."
    weak = [one for one in quality.classes if one.recall is not None and one.recall < 0.5]
    if quality.accuracy <= quality.frequent_accuracy:
        yield "- The model is no better than always predicting one class: see what `ncgnn check` finds."
    elif weak:
        yield f"- Label more nodes of {_quoted(weak[0].name)}: its recall is below 50%."
    if not compared:
        yield f"- Check whether a simpler model is as good: compare them{how('compare')}."
    if not calibrated:
        remedy = f"hold out validation nodes for calibration, at least 40{how('calibrate')}"
        yield f"- Probabilities are uncalibrated: {remedy}."


def _class_row(one: ClassQuality) -> list[str]:
    return [
        one.name,
        str(one.nodes),
        *("-" if share is None else f"{share:.0%}" for share in (one.recall, one.precision)),
    ]


def _quoted(name: str) -> str:
    return f"“{_cell(name)}”"


def _cell(value: str) -> str:
    """A name from a table may hold anything; here it is one line, and no end of a cell."""
    return " ".join(value.split()).replace("|", "\\|")
