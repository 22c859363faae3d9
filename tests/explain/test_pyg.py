import pytest
import torch
from torch_geometric.explain import Explainer, fidelity, unfaithfulness

import ncgnn
from helpers.group_models import grouped_trace, random_links
from helpers.small_models import small_model
from ncgnn.errors import InputError
from ncgnn.explain import by_group, by_node, make_targets, of_bias, trace_model
from ncgnn.explain.pyg import CapsuleExplainer, EdgeMasked, WithGroups

MODE = {"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"}


def explainer(model, **options) -> Explainer:
    return Explainer(model, CapsuleExplainer(), explanation_type="model", model_config=MODE, **options)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.rand(5, 6, generator=torch.Generator().manual_seed(1))


def test_the_masks_are_the_contributions(edges, x):
    model = small_model(ncgnn.AttentionFilter([0, 1, 2, 3, 4]))
    found = explainer(model, node_mask_type="object", edge_mask_type="object")(x, edges, index=0)
    trace = trace_model(model, x, model.filter.prepare(edges, 5))
    target = make_targets(trace, torch.tensor([0]), trace.scores[:1].argmax(dim=1))
    torch.testing.assert_close(found.node_mask[:, 0], by_node(trace, target)[0])
    assert found.node_mask[4] != 0, "three hops away"
    assert found.edge_mask.shape == edges.shape[1:]
    assert (found.edge_mask != 0).all()


def test_masks_of_features_add_up_like_those_of_nodes(edges, x):
    model = small_model(ncgnn.DiffusionFilter())
    per_entry = explainer(model, node_mask_type="attributes")(x, edges, index=torch.tensor([0, 3])).node_mask
    per_feature = explainer(model, node_mask_type="common_attributes")(x, edges, index=torch.tensor([0, 3])).node_mask
    assert per_entry.shape == (5, 6)
    assert per_feature.shape == (1, 6)
    torch.testing.assert_close(per_entry.sum(dim=0, keepdim=True), per_feature, atol=1e-5, rtol=1e-5)


def test_all_nodes_at_once_are_summed(edges, x):
    model = small_model(ncgnn.AttentionFilter(2))
    found = explainer(model, node_mask_type="object")(x, edges).node_mask.sum()
    trace = trace_model(model, x, model.filter.prepare(edges, 5))
    best, classes = trace.lengths.max(dim=1)
    bias = of_bias(trace, make_targets(trace, torch.arange(5), classes))
    torch.testing.assert_close(found, (best - bias).sum(), atol=1e-5, rtol=1e-5)


def test_metrics_of_pyg_take_the_explanation(edges, x):
    model = EdgeMasked(small_model(ncgnn.AttentionFilter([0, 1, 2])))
    hard = explainer(model, node_mask_type="object", edge_mask_type="object", threshold_config=("topk_hard", 4))
    found = hard(x, edges, index=1)
    assert found.node_mask.sum() == found.edge_mask.sum() == 4
    assert all(0 <= value <= 1 for value in fidelity(hard, found))
    assert 0 <= unfaithfulness(hard, found) <= 1


def test_edge_masks_weigh_edges(edges, x):
    plain = small_model(ncgnn.AttentionFilter([0, 1, 2]))
    model = EdgeMasked(plain)
    view, mask = explainer(model, edge_mask_type="object"), torch.rand(10)
    torch.testing.assert_close(model(x, edges), plain(x, edges))
    torch.testing.assert_close(view.get_masked_prediction(x, edges, edge_mask=mask), plain(x, edges, mask).detach())
    torch.testing.assert_close(model(x, edges), plain(x, edges))


def test_edge_weights_go_the_way_of_the_edges(edges, x):
    model = small_model(ncgnn.AttentionFilter(2))
    weight = torch.rand(5).repeat(2)
    found = explainer(model, node_mask_type="object")(x, edges, index=2, edge_weight=weight)
    trace = trace_model(model, x, model.filter.prepare(edges, 5, weight))
    target = make_targets(trace, torch.tensor([2]), trace.scores[2:3].argmax(dim=1))
    torch.testing.assert_close(found.node_mask[:, 0], by_node(trace, target)[0])


@pytest.mark.parametrize("change", [{"task_level": "graph"}, {"return_type": "probs"}, {"mode": "regression"}])
def test_settings_it_cannot_serve_are_refused(change):
    model = small_model(ncgnn.AttentionFilter(2))
    with pytest.raises(ValueError, match="does not support"):
        Explainer(model, CapsuleExplainer(), "model", MODE | change, node_mask_type="object")


def test_other_models_are_refused(edges, x):
    class Other(torch.nn.Module):
        def forward(self, x, edge_index):
            return x

    with pytest.raises(InputError, match="contributions require an NCGNN, not Other"):
        explainer(Other(), node_mask_type="object")(x, edges, index=0)


def grouped(trace):
    """A model with several groups as PyG calls it, and its features."""
    inputs, filters = zip(*((group.x, group.prepared) for group in trace.groups), strict=True)
    return WithGroups(trace.model, inputs, filters), trace.x.to_dense()


def test_several_groups_have_scores_and_masks_of_all_of_them():
    trace = grouped_trace()
    model, features = grouped(trace)
    found = explainer(model, node_mask_type="object")(features, random_links(), index=3)
    target = make_targets(trace, torch.tensor([3]), trace.scores[3:4].argmax(dim=1))
    assert found.group_names == ["features", "links (out)", "features (in)", "beliefs"]
    of_groups = by_group(trace, target)
    assert of_groups is not None
    torch.testing.assert_close(found.group_scores, of_groups[0])
    torch.testing.assert_close(found.node_mask[:, 0], by_node(trace, target)[0])
    torch.testing.assert_close(found.group_scores.sum(), found.node_mask.sum())
    per_entry = explainer(model, node_mask_type="attributes")(features, random_links(), index=3).node_mask
    assert per_entry.shape == features.shape


def test_edge_masks_of_groups_need_groups_that_read_no_links():
    model, features = grouped(grouped_trace(with_links=False))
    found = explainer(model, edge_mask_type="object")(features, random_links(), index=3)
    assert found.edge_mask.shape == random_links().shape[1:]
    model, features = grouped(grouped_trace())
    with pytest.raises(InputError, match="edges have no contributions where capsules read links"):
        explainer(model, edge_mask_type="object")(features, random_links(), index=3)


def test_a_model_with_groups_needs_its_other_inputs():
    trace = grouped_trace()
    with pytest.raises(InputError, match="wrap it in WithGroups"):
        CapsuleExplainer()(trace.model, trace.x.to_dense(), random_links(), target=trace.scores.argmax(dim=1))
