import pytest

from ncgnn.experiments.figures import fig6


@pytest.fixture
def tables(quick):
    return fig6.measure(lambda: None, ["karate"])


def test_couplings_of_a_class_sum_to_one_over_the_capsules(tables):
    sums = tables["couplings"].groupby("class")["coupling"].sum()
    assert sums.tolist() == pytest.approx([1] * 4, abs=1e-4)
    assert tables["couplings"]["capsule"].nunique() == fig6.CAPSULES


def test_graphs_share_one_scale_with_equal_couplings_in_its_middle(tables):
    table = tables["couplings"]
    strong = table.assign(graph="strong", coupling=[0.3 if k == 2 else 0.1 for k in table["capsule"]])
    both = {"couplings": type(table)(list(table.to_dict("records")) + list(strong.to_dict("records")))}
    figure = fig6.draw(both)
    heatmaps = [axes.images[0] for axes in figure.axes if axes.images]
    assert len(heatmaps) == 2
    (limits,) = {heatmap.get_clim() for heatmap in heatmaps}
    assert limits == pytest.approx((-0.05, 0.3))
    assert sum(limits) / 2 == pytest.approx(1 / 8)
    (bar,) = [axes for axes in figure.axes if any("1/K" in label.get_text() for label in axes.get_yticklabels())]
    low, high = bar.get_ylim()
    assert low == 0.0
    assert high == pytest.approx(0.3)


def test_the_words_name_the_strongest_coupling(tables):
    first = tables["couplings"].sort_values("coupling").iloc[-1]
    text = fig6.caption(tables)
    assert f"{first['coupling']:.3f} (capsule {first['capsule']} for class {first['class']} of karate)" in text
