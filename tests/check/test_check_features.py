import pytest
import torch

from ncgnn.check.features import constant_findings, scale_findings
from ncgnn.check.view import View


@pytest.mark.parametrize("value", [0.0, 3.0])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_a_feature_that_never_changes_is_found(clean, value, layout):
    clean.x[:, 5] = value
    if layout == "sparse":
        clean.x = clean.x.to_sparse_csr()
    (finding,) = constant_findings(View.of(clean))
    assert (finding.count, finding.first, finding.level) == (1, ["5"], "note")


def test_one_node_that_differs_is_enough_not_to_be_constant(clean):
    clean.x[:, 5] = 0.0
    clean.x[17, 5] = 1e-3
    assert constant_findings(View.of(clean)) == []


@pytest.mark.parametrize("sign", [1, -1])
def test_a_feature_that_drowns_the_others_is_found(clean, sign):
    assert scale_findings(View.of(clean)) == []
    clean.x[:, 8] *= sign * 1000
    (finding,) = scale_findings(View.of(clean))
    assert (finding.first, finding.level) == (["8"], "warning")


def test_features_that_are_all_huge_are_found_the_largest_first(clean):
    clean.x *= 1e5 * torch.arange(1, 13)
    (finding,) = scale_findings(View.of(clean))
    assert finding.count == 12
    assert finding.first[0] == "11"


def test_rare_words_are_not_of_another_scale(clean):
    clean.x = (torch.rand(400, 12, generator=torch.Generator().manual_seed(0)) < 0.02).float()
    assert scale_findings(View.of(clean)) == []
