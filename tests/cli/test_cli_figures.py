import pytest


@pytest.fixture(autouse=True)
def no_benchmark_graphs(monkeypatch, tmp_path):
    monkeypatch.delenv("NCGNN_DATA", raising=False)
    monkeypatch.setenv("NCGNN_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("fig5", "--report-only"),
            "results/figures/fig5-hops.csv: does not exist; create it with ncgnn reproduce fig5",
        ),
        (("fig5", "table5"), "figures cannot be combined with tables"),
        (("fig5", "--models", "GCN"), "figures cannot be combined with tables, --models"),
        (("fig6",), "graph 'citeseer' is not available (NCGNN_DATA is not set)"),
        (("fig4",), "TABLE fig4: unknown; known: table3"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(ncgnn, here, arguments, message):
    done = ncgnn("reproduce", *arguments)
    assert done.code == 2
    assert done.err.startswith(f"ncgnn: {message}")
    assert done.err.count("\n") == 1
    assert not any(here.iterdir())
