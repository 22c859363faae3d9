"""Who carries the signal of a class in the generated graph, and who does not."""

import torch

from ncgnn.data import load_dataset, planted, statistics, usual_split
from ncgnn.data.generated.planted import COLOURS


def test_it_is_a_named_graph_and_always_the_same():
    first, second = load_dataset("planted"), planted()
    assert first.name == "planted"
    assert torch.equal(first.edge_index, second.edge_index)
    assert torch.equal(first.x.to_dense(), second.x.to_dense())
    assert not torch.equal(planted(seed=1).y, first.y)


def test_only_cases_have_labels_and_only_witnesses_carry_a_signal():
    data = planted()
    cases = torch.tensor([name.startswith("case-") for name in data.node_ids])
    witnesses = torch.tensor(["-witness-" in name for name in data.node_ids])
    assert torch.equal(data.y >= 0, cases)
    assert torch.equal(data.node_group >= 0, witnesses)
    assert len(set(data.node_ids)) == data.num_nodes
    assert all(name.startswith(COLOURS[g]) for name, g in zip(data.node_ids, data.node_group, strict=True) if g >= 0)


def test_words_of_a_class_are_those_of_its_witnesses_alone():
    data = planted()
    x = data.x.to_dense()
    assert (x.sum(dim=1) == 8).all()
    for colour in range(len(COLOURS)):
        words = x[:, data.feature_group == colour].sum(dim=1)
        assert (words[data.node_group == colour] == 4).all()
        assert (words[data.node_group != colour] == 0).all()


def test_a_case_has_more_witnesses_of_its_class_than_of_any_other():
    data = planted()
    source, target = data.edge_index
    for case in range(0, 400, 20):
        groups = data.node_group[source[target == case]]
        assert (groups == data.y[case]).sum() >= 4
        assert (groups >= 0).sum() <= 5
        assert (groups < 0).sum() >= 5, "bystanders"


def test_nobody_is_alone_and_the_usual_split_takes_cases():
    data = usual_split(planted())
    assert statistics(data).isolated == 0
    assert (data.y[data.train_mask | data.val_mask | data.test_mask] >= 0).all()
