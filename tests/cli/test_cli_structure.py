import networkx as nx

from helpers.papers import QUICK


def test_tables_without_features_are_learned_from_by_their_edges(ncgnn, here):
    """Two communities: where a node is in the graph tells its class."""
    graph = nx.planted_partition_graph(2, 40, 0.2, 0.02, seed=1)
    (here / "n.csv").write_text("id,side\n" + "".join(f"{i},{'left' if i < 40 else 'right'}\n" for i in graph))
    (here / "e.csv").write_text("source,target\n" + "".join(f"{i},{j}\n" for i, j in graph.edges))
    tables = ["--nodes", "n.csv", "--edges", "e.csv", "--label", "side"]
    done = ncgnn("train", *tables, *QUICK, "--epochs", 30, "--no-refit", "--out", "run")
    assert done.code == 0
    assert done.err.startswith(
        "note: n.csv: no feature columns; made features from the edges: degree, PageRank, clustering and 8"
    )
    assert "  position 1      numeric" in done.out
    predicted = [line.split(",") for line in ncgnn("predict", "run").out.splitlines()[1:]]
    assert sum(row[1] == row[2] for row in predicted) > 70
    assert ncgnn("explain", "run", "--node", 3, "--features").code == 0
