"""Measure, write results/benchmarks, draw docs/performance and fill in docs/performance.md.

python -m benchmarks                     all parts
python -m benchmarks --large             the parts that take longer, instead
python -m benchmarks --parts steps       one of them, whose results are replaced
python -m benchmarks --parts             only plots and page, from existing results
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from benchmarks import filters, first_start, graphs, large, page, plots, profile, roofline, scaling, table
from benchmarks.table import Row
from ncgnn.bench import hops_of, measure_memory, measure_steps, measured, measured_models
from ncgnn.files import atomic
from ncgnn.provenance import machine
from ncgnn.train.reproducible import use_threads

ROOT = Path(__file__).parents[1]
_START = perf_counter()


def steps(options: argparse.Namespace) -> list[Row]:
    return [
        row
        for data in graphs.at_hand(options.graphs)
        for row in measure_steps(data, measured_models(), measured(hops_of(data.name)), options.repeats, tell, 20)
    ]


def steps_of_one_thread(options: argparse.Namespace) -> list[Row]:
    """On the real graphs: the generated one would take minutes for what the others show."""
    options = argparse.Namespace(**vars(options) | {"graphs": [g for g in options.graphs if g != graphs.GENERATED]})
    with use_threads(1):
        return [row | {"threads": 1} for row in steps(options)]


def memory(options: argparse.Namespace) -> list[Row]:
    return [
        row
        for data in graphs.at_hand(options.graphs)
        for row in measure_memory(data, measured_models(), measured(hops_of(data.name)), tell)
    ]


def prepare(options: argparse.Namespace) -> list[Row]:
    chosen = {"cora": options.repeats, "squirrel": min(options.repeats, 2)}  # where dense inverses are bearable
    return [
        row
        for data in graphs.at_hand([name for name in options.graphs if name in chosen])
        for row in filters.measure(data, chosen[data.name], tell)
    ]


def grow(options: argparse.Namespace) -> list[Row]:
    return scaling.measure(scaling.VARIED, scaling.START, options.repeats, tell)


def roof(options: argparse.Namespace) -> list[Row]:
    peak = roofline.measure_peak(tell)
    return [
        row
        for data in graphs.at_hand(options.graphs)
        for row in roofline.measure(data, measured(hops_of(data.name)), peak, options.repeats, tell)
    ]


def profiles(options: argparse.Namespace) -> list[Row]:
    with use_threads(1):
        return [
            row | {"threads": 1}
            for data in graphs.at_hand([name for name in options.graphs if name in profile.GRAPHS])
            for row in profile.measure(data, measured(hops_of(data.name)), 2 * options.repeats, tell)
        ]


def starts(options: argparse.Namespace) -> list[Row]:
    return first_start.measure(tell)


def large_pagerank(options: argparse.Namespace) -> list[Row]:
    return large.measure(tell)


def large_growth(options: argparse.Namespace) -> list[Row]:
    return scaling.measure(scaling.LARGE, scaling.START | {"nodes": 100_000}, min(options.repeats, 5), tell)


PARTS: dict[str, Callable[[argparse.Namespace], list[Row]]] = {
    "steps": steps,
    "steps-one-thread": steps_of_one_thread,
    "memory": memory,
    "filters": prepare,
    "scaling": grow,
    "roofline": roof,
    "profile": profiles,
    "first-start": starts,
}
LARGE_PARTS: dict[str, Callable[[argparse.Namespace], list[Row]]] = {
    "pagerank-large": large_pagerank,
    "scaling-large": large_growth,
}


def main(arguments: list[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    known = LARGE_PARTS if options.large else PARTS
    with use_threads(options.threads):
        stamp = machine()  # before the load is our own
        for name in known if options.parts is None else options.parts:
            rows = (PARTS | LARGE_PARTS)[name](options)
            if rows:
                table.write(options.results / f"{name}.csv", rows, stamp)
    publish(options.results, options.page)


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser("benchmarks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    found.add_argument("--large", action="store_true", help="the parts that take longer")
    found.add_argument("--parts", nargs="*", choices=[*PARTS, *LARGE_PARTS], help="default: all")
    found.add_argument("--graphs", nargs="+", default=graphs.NAMES, choices=graphs.NAMES, help="default: all available")
    found.add_argument("--repeats", type=int, default=5)
    found.add_argument("--threads", type=int, help="default: as many as torch takes")
    found.add_argument("--results", type=Path, default=ROOT / "results/benchmarks", help="folder of CSV files")
    found.add_argument("--page", type=Path, default=ROOT / "docs/performance.md")
    return found


def publish(results: Path, where: Path) -> None:
    """Plots and page, from existing results."""
    for name, prefix in (("scaling.csv", ""), ("scaling-large.csv", "large-")):
        plots.draw(table.read(results / name), where.parent / "performance", prefix)
    text = page.render(where.read_text("utf-8"), results)
    with atomic(where) as file:
        file.write(text)


def tell(text: str) -> None:
    print(f"{perf_counter() - _START:6.0f} s  {text}", file=sys.stderr)


if __name__ == "__main__":
    main()
