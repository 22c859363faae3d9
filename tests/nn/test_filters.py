import pytest
import torch

import ncgnn

PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ncgnn.AttentionFilter(hops=[]), "at least one"),
        (lambda: ncgnn.AttentionFilter(hops=[-1, 2]), "non-negative"),
        (lambda: ncgnn.AttentionFilter(hops=[1, 1]), "distinct"),
        (lambda: ncgnn.AttentionFilter(hops=(1.5,)), "integers"),
        (lambda: ncgnn.AttentionFilter(hops=[1, 2], prior=[0.0]), "1 values for 2 hops"),
        (lambda: ncgnn.AttentionFilter(form="dense"), "'implicit', 'explicit' or None"),
        (lambda: ncgnn.AttentionFilter(sparsify=ncgnn.TopK(3), form="implicit"), "no implicit form"),
        (lambda: ncgnn.DiffusionFilter(alpha=1.0), "below 1"),
        (lambda: ncgnn.DiffusionFilter(kind="wave"), "'ppr' or 'heat'"),
        (lambda: ncgnn.DiffusionFilter(kind="heat", time=0.0), "positive"),
        (lambda: ncgnn.DiffusionFilter(steps=-1), "0 or more"),
    ],
)
def test_senseless_filters_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_prior_goes_with_the_hop_it_was_given_for():
    filt = ncgnn.AttentionFilter(hops=[3, 0], prior=[1.0, 2.0])
    assert filt.hops == (0, 3)
    assert filt.zeta.tolist() == [2.0, 1.0]


def test_an_operator_serves_only_the_filter_that_prepared_it():
    prepared = ncgnn.AttentionFilter(hops=[1]).prepare(PATH, 3)
    with pytest.raises(ValueError, match=r"prepared by attention hops=\[1\]"):
        ncgnn.AttentionFilter(hops=[2])(prepared)
    assert isinstance(ncgnn.AttentionFilter(hops=[1])(prepared) @ torch.ones(3, 2), torch.Tensor)


def test_the_large_graph_path_of_pagerank_equals_the_small_one(monkeypatch):
    torch.manual_seed(0)
    ends = torch.randint(0, 60, (2, 150))
    edges = torch.cat([ends, ends.flip(0)], dim=1)
    filt = ncgnn.DiffusionFilter(alpha=0.2, sparsify=ncgnn.TopK(60), tolerance=1e-12)
    small = filt(filt.prepare(edges, 60, dtype=torch.float64)).to_dense()
    monkeypatch.setattr("ncgnn.nn.diffusion.EXACT_LIMIT", 59)
    large = filt(filt.prepare(edges, 60, dtype=torch.float64)).to_dense()
    torch.testing.assert_close(large, small, atol=1e-8, rtol=0)


def test_the_cache_key_of_a_filter_says_what_decides_its_matrix():
    filters = [
        ncgnn.DiffusionFilter(sparsify=ncgnn.TopK(5)),
        ncgnn.DiffusionFilter(sparsify=ncgnn.TopK(5), tolerance=1e-3),
        ncgnn.DiffusionFilter(kind="heat", time=1.0),
        ncgnn.DiffusionFilter(kind="heat", time=2.0),
        ncgnn.AttentionFilter(hops=2),
        ncgnn.AttentionFilter(hops=[0, 2]),
        ncgnn.AttentionFilter(hops=2, sparsify=ncgnn.Threshold(1e-4)),
    ]
    assert len({filt.cache_key for filt in filters}) == len(filters)
