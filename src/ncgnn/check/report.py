"""All checks of a graph."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from torch_geometric.data import Data

from ncgnn.check.cost import Cost, cost_findings, expected_cost
from ncgnn.check.duplicates import duplicate_findings
from ncgnn.check.features import constant_findings, scale_findings
from ncgnn.check.homophily import Homophily, homophily_findings, measure_homophily
from ncgnn.check.labels import few_label_findings, imbalance_findings
from ncgnn.check.leaks import leak_findings
from ncgnn.check.other_graphs import elsewhere_findings
from ncgnn.check.structure import component_findings, direction_findings, isolated_findings
from ncgnn.check.view import LEVELS, Finding, View
from ncgnn.models.ncgnn.config import Config

DETECTORS: tuple[Callable[[View], list[Finding]], ...] = (
    duplicate_findings,
    leak_findings,
    few_label_findings,
    imbalance_findings,
    isolated_findings,
    component_findings,
    direction_findings,
    scale_findings,
    constant_findings,
)


@dataclass(frozen=True)
class Report:
    """The findings for a graph, serious ones first."""

    graph: str
    nodes: int
    edges: int
    features: int
    classes: int
    labelled: int
    homophily: Homophily
    cost: Cost
    findings: list[Finding]

    @property
    def is_serious(self) -> bool:
        return any(finding.level == "serious" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; values that could not be measured are None."""
        return {"serious": self.is_serious} | {key: _plain(value) for key, value in asdict(self).items()}


def check_graph(
    data: Data,
    config: Config | None = None,
    folders: Iterable[Path] = (),
) -> Report:
    """Find problems in a graph before training.

    Args:
        data: a graph; if it has one split as masks, the split is checked too.
        config: the settings to estimate time and memory for.
        folders: folders of ``.npz`` graphs to search for the same features and labels.
    """
    view, findings = View.of(data), []
    for detect in DETECTORS:
        findings += detect(view)
    homophily, cost = measure_homophily(view), expected_cost(view, config or Config.make({}))
    findings += elsewhere_findings(view, folders) + homophily_findings(homophily) + cost_findings(cost)
    findings.sort(key=lambda finding: LEVELS.index(finding.level))
    return Report(
        graph=str(data.get("name", "the graph")),
        nodes=view.num_nodes,
        edges=view.adjacency.nnz // 2,
        features=view.x.shape[1],
        classes=len(view.data.class_names),
        labelled=int((view.y >= 0).sum()),
        homophily=homophily,
        cost=cost,
        findings=findings,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float):
        return round(value, 6) if isfinite(value) else None
    return value
