"""What ``ncgnn train`` shows at its end."""

from typing import TYPE_CHECKING, Any

from ncgnn.cli.progress import print_tables
from ncgnn.cli.run import Outcome

if TYPE_CHECKING:
    from torch_geometric.data import Data


def show(outcomes: list[Outcome], data: "Data") -> None:
    """What was read, a table of the runs, the report of a single one, and where things are."""
    print(summary(data))
    print_tables(_table(outcomes))
    if len(outcomes) == 1:
        print(f"\n{outcomes[0].report}")
    elif outcomes[0].rows:
        _show_comparison(outcomes)
    folder = outcomes[0].folder if len(outcomes) == 1 else outcomes[0].folder.parent / "split-*"
    print(f"Written to {folder}: the model, its predictions, and the report as report.md")


def summary(data: "Data") -> str:
    """What was read, in a line: a wrong column or file shows here."""
    from ncgnn.data.graph import SPLITS

    parts = [int(data[key].sum()) for key in SPLITS]
    aside = f", {int(data.calibration_mask.sum())} calibration" if "calibration_mask" in data else ""
    return (
        f"{data.name}: {data.num_nodes} nodes, {data.edge_index.shape[1] // 2} edges, {data.x.shape[1]} features, "
        f"{len(data.class_names)} classes, {int((data.y >= 0).sum())} labelled nodes ({parts[0]} train, "
        f"{parts[1]} validation{aside}, {parts[2]} test)"
    )


def _table(outcomes: list[Outcome]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for title in ("split", "best epoch", "validation", "test", "seconds"):
        table.add_column(title, justify="right")
    table.add_column("folder", overflow="fold")
    for outcome in outcomes:
        run, metrics = outcome.run, outcome.run["metrics"]
        shown = [_percent(metrics[key]) for key in ("val_accuracy", "test_accuracy")]
        split, epoch, seconds = str(run["split"]["number"]), str(metrics["best_epoch"]), f"{run['seconds']:.1f}"
        table.add_row(split, epoch, *shown, seconds, Text(str(outcome.folder)))
    if len(outcomes) > 1:
        means = [_percent(_mean(outcomes, key)) for key in ("val_accuracy", "test_accuracy")]
        table.add_section()
        table.add_row("mean", "", *means, "", "")
    return table


def _show_comparison(outcomes: list[Outcome]) -> None:
    from ncgnn.compare import mean_rows
    from ncgnn.report import comparison

    print(f"\nMeans over {len(outcomes)} splits:\n")
    print("\n".join(comparison(mean_rows([outcome.rows for outcome in outcomes]))))


def _mean(outcomes: list[Outcome], key: str) -> float | None:
    values = [outcome.run["metrics"][key] for outcome in outcomes]
    return None if None in values else sum(values) / len(values)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.2%}"
