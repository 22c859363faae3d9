"""How good explanations are: measure, write results/explanations and fill in docs/explanations.md.

python -m benchmarks.explanations                              all parts
python -m benchmarks.explanations --parts quality --graphs texas
python -m benchmarks.explanations --parts                      only the page, from existing results

Trained models are kept in runs/explanations and used again.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from time import perf_counter

from torch_geometric.data import Data

from benchmarks import explained, explained_page, table
from benchmarks.graphs import shop
from benchmarks.table import Row
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, usual_split
from ncgnn.explain import trace_scored
from ncgnn.explain.quality import Subject, evaluate, explain, overlap, ranked, rankings, sample
from ncgnn.files import atomic
from ncgnn.models import PreparedGraph
from ncgnn.models.ncgnn import MODEL
from ncgnn.models.ncgnn.config import Config, preset
from ncgnn.provenance import machine
from ncgnn.train.reproducible import use_threads

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "runs/explanations"
NODES = {"cora": 24, "amazon-photo": 24, "texas": 37, "planted": 30}
BETA = {"cora-ml": 10.0}  # that of its preset, 2, hardly routes
QUICK = ("contributions in turn", "contributions", "integrated gradients", "input times gradient", "filter weights")
_START = perf_counter()


def quality(graph: str) -> Iterator[Row]:
    """All measures of all methods on test nodes."""
    data, subject, config = prepared(graph)
    for row in evaluate(subject, data, sample(data, NODES[graph]), tell):
        yield {"graph": graph} | asdict(row) | {"beta": config.beta, "settings": config.model_dump_json()}


def seeds(graph: str) -> Iterator[Row]:
    """How much of an explanation is left when the model is trained again with another seed; the methods that are
    quick."""
    (data, subject, _), (_, again, _) = prepared(graph), prepared(graph, seed=1)
    same = subject.predicted == again.predicted
    nodes = [node for node in sample(data, 2 * NODES[graph]) if same[node]][:20]
    methods = {name: ranking for name, ranking in rankings(subject).items() if name in QUICK}
    for name, ranking in methods.items():
        orders = [
            [ranked(model, node, one) for node, one in zip(nodes, explain(model, nodes, ranking), strict=True)]
            for model in (subject, again)
        ]
        found = sum(map(overlap, *orders)) / len(nodes)
        yield {"graph": graph, "method": name, "measure": "stability over seeds", "value": found, "nodes": len(nodes)}


def prepared(graph: str, seed: int = 0, **changes: float) -> tuple[Data, Subject, Config]:
    """A graph, and a model of it ready to be explained: trained once, then read."""
    data, classifier = trained(graph, seed, 0, **changes)
    return data, Subject(trace_scored(classifier.scored(data)), data.edge_index), classifier.config_


def trained(graph: str, seed: int = 0, split: int = 0, **changes: float) -> tuple[Data, NCGNNClassifier]:
    data = shop() if graph == "shop" else usual_split(load_dataset(graph), split)
    sharpened = {"beta": BETA[graph]} if graph in BETA else {}
    config = Config.make(preset(graph) | sharpened | changes | {"seed": seed})
    named = "-".join(f"{key}{value:g}" for key, value in {"seed": seed, "split": split, **changes}.items())
    path = MODELS / f"{graph}-{named}.safetensors"
    if path.is_file() and (found := NCGNNClassifier.load(path)).config_ == config:
        return data, found
    tell(f"training on {graph}: {named}")
    path.parent.mkdir(parents=True, exist_ok=True)
    classifier = NCGNNClassifier.from_config(config).fit(data)
    classifier.save(path)
    return data, classifier


def with_links(graph: str) -> tuple[Data, NCGNNClassifier]:
    """A model of two groups: its own and its neighbours' features, and whom a node links to."""
    data = usual_split(load_dataset(graph), 0)
    config = MODEL.portfolio(PreparedGraph.of(data))["links"]
    groups = [{"reads": "links", "edges": "out", "hops": [0]}]
    return data, NCGNNClassifier.from_config(Config.make(config.model_dump() | {"groups": groups})).fit(data)


PARTS: dict[str, Callable[[str], Iterator[Row]]] = {
    "quality": quality,
    "seeds": seeds,
    "times": lambda graph: explained.times(*trained(graph), tell),
    "routing": lambda graph: explained.routing(lambda split, **changes: trained(graph, 0, split, **changes), tell),
    "words": lambda graph: explained.words(*trained(graph)),
    "groups": lambda graph: explained.recognised(*with_links(graph)),
    "answers": lambda graph: explained.answers(*trained(graph)),
}
GRAPHS = {
    "times": ("cora",),
    "routing": ("cora",),
    "words": ("cora-ml",),
    "groups": ("chameleon",),
    "answers": ("shop", "cora-ml", "planted", "texas", "karate"),
}


def main(arguments: list[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    with use_threads(1):
        for part in options.parts:
            for graph in (name for name in GRAPHS.get(part, tuple(NODES)) if name in options.graphs):
                tell(f"{part} of {graph}")
                table.write(options.results / f"{part}-{graph}.csv", list(PARTS[part](graph)), machine())
    text = explained_page.render(options.page.read_text("utf-8"), options.results)
    with atomic(options.page) as file:
        file.write(text)


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    graphs = tuple(dict.fromkeys([*NODES, *chain(*GRAPHS.values())]))
    found.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS), help="default: all")
    found.add_argument("--graphs", nargs="+", default=graphs, choices=graphs, help="default: all")
    found.add_argument("--results", type=Path, default=ROOT / "results/explanations", help="folder of CSV files")
    found.add_argument("--page", type=Path, default=ROOT / "docs/explanations.md")
    return found


def tell(text: str) -> None:
    print(f"{perf_counter() - _START:6.0f} s  {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
