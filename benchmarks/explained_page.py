"""The blocks of docs/explanations.md, generated from the CSV files in results/explanations.

The text between ``<!-- NAME -->`` and ``<!-- end NAME -->`` is replaced by the result of the function of that name.
"""

from collections.abc import Callable
from pathlib import Path

from benchmarks.page import NOTHING, fill, made_on, markdown, number
from benchmarks.table import Row, read

SMALLEST = 0.001  # of the contributions that are told
SHOWN = {
    "characterisation": "characterisation",
    "fidelity+": "fidelity+",
    "fidelity-": "fidelity-",
    "characterisation, probability": "by probability",
    "insertion": "insertion",
    "deletion": "deletion",
    "stability over repeats": "repeats",
    "stability over seeds": "seeds",
    "seconds a node": "seconds",
}
FOUND = tuple(f"{what} of planted {kind}" for kind in ("neighbours", "features") for what in ("precision", "recall"))


def render(page: str, results: Path) -> str:
    """The page with updated blocks."""
    for name, block in BLOCKS.items():
        page = fill(page, name, block(results))
    return page


def rows_of(results: Path, part: str) -> list[Row]:
    return [row for file in sorted(results.glob(f"{part}-*.csv")) for row in read(file)]


def quality(results: Path) -> str:
    """One table per graph, with methods sorted by characterisation."""
    rows = rows_of(results, "quality")
    overall = [row for row in rows if row["sparsity"] == ""] + rows_of(results, "seeds")
    blocks = [_quality_of(graph, overall) for graph in dict.fromkeys(row["graph"] for row in rows)]
    return "\n\n".join([*blocks, made_on(rows)]) if rows else NOTHING


def _quality_of(graph: str, rows: list[Row]) -> str:
    values = {(row["method"], row["measure"]): row for row in rows if row["graph"] == graph}
    methods = sorted(
        dict.fromkeys(method for method, _ in values), key=lambda method: -values[method, "characterisation"]["value"]
    )
    table = [[method, *(_shown(values.get((method, measure))) for measure in SHOWN)] for method in methods]
    first = values[methods[0], "characterisation"]
    title = f"**{graph}**, {first['nodes']} test nodes, beta {first['beta']}"
    return f"{title}\n\n{markdown(['method', *SHOWN.values()], table)}"


def _shown(row: Row | None) -> str:
    if row is None:
        return "-"
    return number(row["value"]) if row["measure"] == "seconds a node" else f"{row['value']:.3f}"


def planted(results: Path) -> str:
    rows = [row for row in rows_of(results, "quality") if row["measure"] in FOUND]
    if not rows:
        return NOTHING
    values = {(row["method"], row["measure"]): row for row in rows}
    methods = dict.fromkeys(row["method"] for row in rows)
    table = [[method, *(_shown(values.get((method, measure))) for measure in FOUND)] for method in methods]
    head = ["method", *(measure.replace(" of planted", ",") for measure in FOUND)]
    return f"{markdown(head, table)}\n\nMeans over {rows[0]['nodes']} cases. {made_on(rows)}"


def times(results: Path) -> str:
    rows = rows_of(results, "times")
    if not rows:
        return NOTHING
    table = [[row["task"], row["nodes"], number(row["seconds"]), f"{row['seconds_a_node']:.2g}"] for row in rows]
    spent = {row["task"]: row for row in rows}
    ours, forward = spent["contributions, all nodes"], spent["forward pass"]
    ratios = [
        f"{name} takes {row['seconds_a_node'] / ours['seconds_a_node']:,.0f} times as long as contributions"
        for name, row in spent.items()
        if name.startswith("GNN")
    ]
    text = (
        f"Explaining all nodes takes as long as {ours['seconds'] / forward['seconds']:.1f} forward passes. "
        f"For one node, {'; '.join(ratios)}."
    )
    return "\n\n".join([markdown(["task", "nodes", "seconds", "seconds per node"], table), text, made_on(rows)])


def routing(results: Path) -> str:
    rows = rows_of(results, "routing")
    if not rows:
        return NOTHING
    keys = ("val_accuracy", "entropy", "mean_largest", "largest")
    table = [[row["iterations"], row["beta"], *(f"{row[key]:.3f}" for key in keys)] for row in rows]
    head = ["T", "beta", "validation accuracy", "entropy", "largest coupling, mean", "largest coupling, max"]
    note = f"Means over {rows[0]['splits']} splits of {rows[0]['graph']}, {rows[0]['capsules']} capsules."
    return "\n\n".join([markdown(head, table), f"{note} {made_on(rows)}"])


def words(results: Path) -> str:
    rows = rows_of(results, "words")
    nodes = dict.fromkeys(row["node"] for row in rows)
    stories = [_story([row for row in rows if row["node"] == node]) for node in nodes]
    return "\n\n".join([*stories, made_on(rows)]) if rows else NOTHING


def _story(rows: list[Row]) -> str:
    first = rows[0]
    verdict = (
        "which is correct"
        if first["label"] == first["predicted"]
        else f"which is wrong: its label is *{first['label']}*"
    )
    hop = max((row for row in rows if row["kind"] == "hop"), key=lambda row: row["value"])
    listed = {kind: _list([row for row in rows if row["kind"] == kind]) for kind in ("feature", "node")}
    return (
        f"**Paper {first['node']}** is predicted *{first['predicted']}*, {verdict}. Its score is {first['score']:.3f}, "
        f"that of *{first['runner_up']}* is {first['runner_up_score']:.3f}; its lead over the mean of the others is "
        f"{first['lead']:.3f}. The largest share of this lead, {hop['value']:.3f}, comes from hop {hop['name']}. "
        f"Words that contribute most: {listed['feature']}. Papers that contribute most: {listed['node']}."
    )


def groups(results: Path) -> str:
    """A node for each group of capsules."""
    rows = rows_of(results, "groups")
    if not rows:
        return NOTHING
    stories = []
    for group in dict.fromkeys(row["group"] for row in rows):
        found = [row for row in rows if row["group"] == group]
        parts = {kind: _list([row for row in found if row["kind"] == kind]) for kind in ("group", "feature")}
        stories.append(
            f"**Page {found[0]['node']}**, recognised by its {group}: {found[0]['sentence']} Of its lead of"
            f" {found[0]['lead']:.3f} over the runner-up, by group: {parts['group']}. Its {group} that contribute most:"
            f" {parts['feature']}."
        )
    accuracy = f"This model classifies {rows[0]['accuracy']:.1%} of the test nodes correctly."
    return "\n\n".join([*stories, f"{accuracy} {made_on(rows)}"])


def answers(results: Path) -> str:
    """What is said of one node of each graph."""
    rows = rows_of(results, "answers")
    if not rows:
        return NOTHING
    called = {row["graph"]: f"“{row['title']}”" if row["title"] else row["node"] for row in rows}
    told = [f"- {called[row['graph']]} of *{row['graph']}*: {row['sentence']} {row['change']}" for row in rows]
    return "\n".join([*told, "", made_on(rows)])


def _list(rows: list[Row]) -> str:
    return ", ".join(f"{row['name']} {row['value']:+.3f}" for row in rows if abs(row["value"]) >= SMALLEST)


BLOCKS: dict[str, Callable[[Path], str]] = {
    "quality": quality,
    "planted": planted,
    "times": times,
    "routing": routing,
    "words": words,
    "groups": groups,
    "answers": answers,
}
