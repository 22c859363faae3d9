"""Which rows of a table were run, and a sentence that names the others."""

from collections import defaultdict

from ncgnn.experiments.statistics import NOT_RUN, Table, Value


def was_run(table: Table, row: list[Value]) -> bool:
    """Whether a row holds anything measured, besides published numbers."""
    values = dict(zip(table.columns, row, strict=True))
    if "runs" in values:
        return bool(values["runs"])
    measured = [name for name in table.columns if name.startswith("over ") and not name.endswith(" in the paper")]
    return not measured or any(values[name] != NOT_RUN for name in measured)


def not_run(table: Table) -> str:
    """The models without runs, then those without some of them, and which; empty if all were run."""
    wanted, missing = _columns(table, table.rows), _columns(table, [r for r in table.rows if not was_run(table, r)])
    nowhere = [model for model, columns in missing.items() if columns == wanted[model]]
    some = [f"{model} ({_where(missing[model], wanted[model])})" for model in missing if model not in nowhere]
    parts = [("Not run yet", nowhere), ("Run in part, but not", some)]
    return " ".join(f"{start}: {'; '.join(names)}." for start, names in parts if names)


def _columns(table: Table, rows: list[list[Value]]) -> dict[str, dict[str, list[str]]]:
    """The settings of each model's rows, by graph."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for dataset, setting, model in (row[:3] for row in rows):
        found[str(model)][str(dataset)].append(str(setting))
    return found


def _where(missing: dict[str, list[str]], wanted: dict[str, list[str]]) -> str:
    """Graphs, with their settings if only some of these are missing."""
    return ", ".join(
        graph if settings == wanted[graph] else f"{graph} {', '.join(settings)}" for graph, settings in missing.items()
    )
