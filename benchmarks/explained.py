"""The parts of benchmarks.explanations that are about single models: what explanations cost, how much routing selects,
and three nodes in words."""

from collections.abc import Callable, Iterator
from statistics import mean
from time import process_time

import torch
from torch_geometric.data import Data

from benchmarks.table import Row
from ncgnn.bench.timing import interleaved
from ncgnn.classifier import NCGNNClassifier
from ncgnn.explain import (
    Decomposition,
    GraphExplainer,
    NodeExplanation,
    Trace,
    by_group,
    decompose,
    make_targets,
    trace_model,
)
from ncgnn.explain.counterfactual import what_would_change
from ncgnn.explain.groups import LINKS
from ncgnn.explain.parts import Part
from ncgnn.explain.quality import Subject, explain, sample
from ncgnn.explain.quality.compared import gnn_explainer, gnn_explainer_of_edges
from ncgnn.nn import NCGNN

BETAS, ITERATIONS, SPLITS = (1, 2, 5, 10, 20), (3, 4), (0, 1)
REPEATS = 5
SLOW = {"GNNExplainer": (gnn_explainer, 2), "GNNExplainer, edges": (gnn_explainer_of_edges, 1)}  # with nodes measured
Tell = Callable[[str], None]


def times(data: Data, classifier: NCGNNClassifier, tell: Tell) -> Iterator[Row]:
    """CPU time of a forward pass, of explaining all nodes including the forward pass, and of
    GNNExplainer, in one run."""
    model, (x, prepared) = classifier.model_, classifier.scored(data).inputs.arguments
    assert isinstance(model, NCGNN)
    with torch.no_grad():
        quick = interleaved(
            {
                "forward pass": lambda: model(x, prepared),
                "contributions, all nodes": lambda: explain_all(trace_model(model, x, prepared)),
            },
            REPEATS,
            tell,
        )
    for task, timing in quick.items():
        yield _time(data, task, timing.row()["cpu_median_ms"] / 1000, data.num_nodes)
    subject = Subject(trace_model(model, x, prepared), data.edge_index)
    for name, (ranking, count) in SLOW.items():
        tell(name)
        start = process_time()
        explain(subject, sample(data, count), ranking)
        yield _time(data, name, process_time() - start, count)


def explain_all(trace: Trace) -> Decomposition:
    """By hop, neighbour and capsule."""
    nodes = torch.arange(trace.scores.shape[0])
    return decompose(trace, make_targets(trace, nodes, trace.scores.argmax(dim=1)))


def _time(data: Data, task: str, seconds: float, nodes: int) -> Row:
    return {"graph": data.name, "task": task, "seconds": seconds, "nodes": nodes, "seconds_a_node": seconds / nodes}


def routing(train: Callable[..., tuple[Data, NCGNNClassifier]], tell: Tell) -> Iterator[Row]:
    """Validation accuracy and selectivity of routing, by agreement scale and number of iterations."""
    for iterations in ITERATIONS:
        for beta in BETAS:
            runs = [train(split, beta=beta, iterations=iterations) for split in SPLITS]
            found = [GraphExplainer(classifier.scored(data)).selection for data, classifier in runs]
            yield {
                "graph": runs[0][0].name,
                "iterations": iterations,
                "beta": beta,
                "splits": len(runs),
                "val_accuracy": mean(classifier.score(data, data.val_mask) for data, classifier in runs),
                "entropy": mean(one.entropy for one in found),
                "mean_largest": mean(one.mean_largest for one in found),
                "largest": max(one.largest for one in found),
                "capsules": found[0].capsules,
            }


def words(data: Data, classifier: NCGNNClassifier) -> Iterator[Row]:
    """Three test nodes: the surest of those that are predicted right, the least sure of them, and the surest of those
    that are predicted wrong."""
    explainer = GraphExplainer(classifier.scored(data))
    best = explainer.trace.lengths.topk(2, dim=1)
    lead, right = best.values[:, 0] - best.values[:, 1], best.indices[:, 0] == data.y
    chosen = {
        "surest": lead.masked_fill(~(data.test_mask & right), -torch.inf).argmax(),
        "least sure": lead.masked_fill(~(data.test_mask & right), torch.inf).argmin(),
        "wrong": lead.masked_fill(~(data.test_mask & ~right), -torch.inf).argmax(),
    }
    for why, node in chosen.items():
        one = {"graph": data.name, "chosen": why, "label": data.class_names[data.y[node]]}
        (found,) = explainer.explain([data.node_ids[node]], against="others", features=True, top=6)
        yield from (one | part for part in _parts(found))


def answers(data: Data, classifier: NCGNNClassifier) -> Iterator[Row]:
    """What is said of a test node drawn at random."""
    (node,) = sample(data, 1)
    (found,) = GraphExplainer(classifier.scored(data)).explain([data.node_ids[node]])
    assert found.answer is not None
    row = {"graph": data.name, "node": found.node, "title": found.title or "", "sentence": found.answer.sentence}
    changes = what_would_change(found, ("neighbours", "features"))
    yield row | {"rather": found.answer.rather, "change": " ".join(change.sentence for change in changes)}


def recognised(data: Data, classifier: NCGNNClassifier) -> Iterator[Row]:
    """For each group of capsules: of the test nodes that are predicted right and of whose lead it is the largest part,
    the one in which this part is largest, with the features of this group."""
    explainer = GraphExplainer(classifier.scored(data))
    trace = explainer.trace
    first, second = trace.scores.topk(2, dim=1).indices.unbind(1)
    parts = by_group(trace, make_targets(trace, torch.arange(len(first)), first, second))
    assert parts is not None
    right = data.test_mask & (first == data.y)
    for number, group in enumerate(trace.groups):
        node = int(parts[:, number].masked_fill(~right | (parts.argmax(dim=1) != number), -torch.inf).argmax())
        (found,) = explainer.explain([data.node_ids[node]], against="runner-up", features=True, top=None)
        assert found.groups is not None
        assert found.features is not None
        assert found.answer is not None
        one = {"graph": data.name, "group": group.name, "node": found.node, "sentence": found.answer.sentence}
        one |= {"lead": found.score, "accuracy": classifier.score(data, data.test_mask)}
        is_link = group.reads.what == LINKS
        own = [part for part in found.features.largest if part.name.startswith("link ") == is_link]
        for kind, listed in {"group": found.groups, "feature": own[:4]}.items():
            yield from (one | {"kind": kind, "name": part.name, "value": part.value} for part in listed)


def _parts(found: NodeExplanation) -> Iterator[Row]:
    head: Row = {"node": found.node, "predicted": found.prediction.name, "runner_up": found.runner_up.name}
    head |= {"score": found.prediction.value, "runner_up_score": found.runner_up.value, "lead": found.score}
    assert found.features is not None
    assert found.hops is not None
    others = (Part(neighbour.name, neighbour.value) for neighbour in found.neighbours)
    nodes = sorted([Part("itself", found.own), *others], key=lambda part: -abs(part.value))
    kinds = {"hop": found.hops, "node": nodes, "feature": found.features.largest}
    for kind, parts in kinds.items():
        for part in parts:
            yield head | {"kind": kind, "name": part.name, "value": part.value}
