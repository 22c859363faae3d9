"""Quality of explanations: compared with other methods, and with a planted ground truth."""

from ncgnn.explain.presence import Present, Subject
from ncgnn.explain.quality.auditing import Audit, Foresight, audit
from ncgnn.explain.quality.compared import EXACT, OURS, SORTED, Ranking, rankings
from ncgnn.explain.quality.evaluation import Measurement, evaluate, explain, overlap, sample
from ncgnn.explain.quality.measures import SPARSITIES, Measured, field, ranked

__all__ = [
    "EXACT",
    "OURS",
    "SORTED",
    "SPARSITIES",
    "Audit",
    "Foresight",
    "Measured",
    "Measurement",
    "Present",
    "Ranking",
    "Subject",
    "audit",
    "evaluate",
    "explain",
    "field",
    "overlap",
    "ranked",
    "rankings",
    "sample",
]
