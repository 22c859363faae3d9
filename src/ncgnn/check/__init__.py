"""Find problems in a graph before training."""

from ncgnn.check.cost import BatchCost, Cost
from ncgnn.check.homophily import Homophily
from ncgnn.check.report import Report, check_graph
from ncgnn.check.view import Finding

__all__ = ["BatchCost", "Cost", "Finding", "Homophily", "Report", "check_graph"]
