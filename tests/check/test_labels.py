import numpy as np
import torch

from ncgnn.check.labels import few_label_findings, imbalance_findings
from ncgnn.check.view import View


def keep(data, c: int, count: int) -> None:
    """Leave only the first labels of a class."""
    members = torch.nonzero(data.y == c).flatten()[count:]
    data.y[members] = -1
    for key in ("train_mask", "val_mask", "test_mask"):
        data[key][members] = False


def test_a_rare_class_is_found(clean):
    assert imbalance_findings(View.of(clean)) == []
    keep(clean, 2, 9)
    (finding,) = imbalance_findings(View.of(clean))
    assert (finding.count, finding.first) == (1, ["2"])
    assert "has 100 labelled nodes, class '2' has 9" in finding.what
    keep(clean, 1, 4)
    (finding,) = imbalance_findings(View.of(clean))
    assert finding.first == ["1", "2"]  # the rarest first


def test_a_class_that_is_named_and_has_no_node_counts(clean):
    clean.class_names = ["a", "b", "c", "d", "nobody"]
    (finding,) = imbalance_findings(View.of(clean))
    assert finding.first == ["nobody"]


def test_a_class_with_few_nodes_to_train_on_is_found(clean):
    assert few_label_findings(View.of(clean)) == []
    members = torch.nonzero(clean.train_mask & (clean.y == 1)).flatten()
    clean.train_mask[members[2:]] = False
    (finding,) = few_label_findings(View.of(clean))
    assert (finding.name, finding.first) == ("few labels", ["1"])
    assert "'1' has 2" in finding.what


def test_few_validation_nodes_are_found(clean):
    nodes = np.flatnonzero(clean.val_mask.numpy())
    clean.val_mask[nodes[7:]] = False
    (finding,) = few_label_findings(View.of(clean))
    assert (finding.name, finding.count, finding.first) == ("few validation nodes", 7, [str(n) for n in nodes[:5]])
