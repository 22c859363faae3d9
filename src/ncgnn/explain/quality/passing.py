"""The audit in passing, as reports and pages have it."""

from ncgnn.explain.explainer import GraphExplainer
from ncgnn.explain.quality.auditing import Audit, affordable, audit
from ncgnn.explain.quality.evaluation import sample


def audit_of(explainer: GraphExplainer, most: int = 20) -> Audit:
    """Of as many test nodes as a few seconds allow."""
    data = explainer.scored.data
    return audit(explainer.removal, sample(data, affordable(data.num_nodes, most)))
