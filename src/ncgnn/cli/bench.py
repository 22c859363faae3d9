"""``ncgnn bench``: time and memory of training and prediction, compared with other models."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgnn.cli import graph as g
from ncgnn.errors import InputError

if TYPE_CHECKING:
    from torch_geometric.data import Data

Models = Annotated[list[str] | None, typer.Option(help="Model to measure. Repeatable; default: the models above.")]
Hops = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=100,
        help="Largest hop in NCGNN (uses all hops from 1 up to this); default: 5 (2 or 3 on some graphs).",
    ),
]
Threads = Annotated[int | None, typer.Option(min=1, max=1024, help="Number of threads; default: chosen by torch.")]
Repeats = Annotated[int, typer.Option(min=1, help="Measurements per model.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@g.takes_graph
def bench(
    graph: g.GraphOptions,
    models: Models = None,
    hops: Hops = None,
    threads: Threads = None,
    repeats: Repeats = 5,
    as_json: Json = False,
) -> None:
    """Benchmark training step time, prediction time and peak training memory. By default, compares NCGNN (fused and
    unfused) with PyTorch Geometric's GCN and this library's GAT, APPNP and GCNII.

    Timing runs are interleaved across models; memory is measured in a separate process for each model. Times are
    medians.

    Example: `ncgnn bench karate --models ncgnn --models gat`
    """
    graph.check_label()
    chosen = _checked(models)
    found = graph.find()
    result = _measure(found, chosen, hops, threads, repeats)
    print(json.dumps(result, indent=2)) if as_json else _report(result)


def _checked(models: list[str] | None) -> list[str]:
    """Names of the registry; a title will do, in upper or lower case."""
    from ncgnn.bench import measured_models
    from ncgnn.cli.settings import choose_model
    from ncgnn.models import all_models

    titles = {model.title.lower(): model.name for model in all_models()}
    try:
        chosen = [choose_model(titles.get(name.lower(), name)) for name in models or ()]
    except InputError as error:
        raise InputError(str(error), "models") from None
    for model in chosen:
        if "lr" not in model.settings_class.model_fields:
            raise InputError(f"--models {model.name}: {model.title} is not trained step by step, so there is no step")
    return list(dict.fromkeys(model.name for model in chosen)) or measured_models()


def _measure(data: "Data", models: list[str], hops: int | None, threads: int | None, repeats: int) -> dict[str, Any]:
    from ncgnn.bench import hops_of, measure_memory, measure_steps, measured
    from ncgnn.bench.steps import describe
    from ncgnn.cli.progress import status
    from ncgnn.data import complete, usual_split
    from ncgnn.models import find_model
    from ncgnn.provenance import machine
    from ncgnn.train.reproducible import use_threads

    config, titles = measured(hops or hops_of(data.name)), ", ".join(find_model(model).title for model in models)
    data = usual_split(complete(data))
    with use_threads(threads), status(f"{data.name}: measuring {titles}") as tell:
        steps = measure_steps(data, models, config, repeats, tell)
        memory = measure_memory(data, models, config, tell)
        return describe(data) | {"hops": config.hops, "models": _by_model(steps, memory), "machine": machine()}


def _by_model(steps: list[dict[str, Any]], memory: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All that is known of each model, in one place."""
    times = ("wall_median_ms", "wall_min_ms", "cpu_median_ms", "cpu_min_ms", "repeats")
    return [
        {"model": peak["model"]}
        | {row["task"]: {key: row[key] for key in times} for row in steps if row["model"] == peak["model"]}
        | {"peak_mb": peak["peak_mb"]}
        for peak in memory
    ]


def _report(result: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    size = f"{result['nodes']} nodes, {result['edges']} edges, {result['features']} features"
    table = Table(
        title=f"{result['graph']}: {size}, {result['classes']} classes; {result['machine']['threads']} threads"
    )
    table.add_column("model", no_wrap=True)
    for title in ("training step\nms", "prediction\nms", "step, CPU time\nms", "peak memory\nMB"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in result["models"]:
        times = row["step"]["wall_median_ms"], row["predict"]["wall_median_ms"], row["step"]["cpu_median_ms"]
        table.add_row(row["model"], *(f"{time:.2f}" for time in times), f"{row['peak_mb']:.1f}")
    Console().print(table)
