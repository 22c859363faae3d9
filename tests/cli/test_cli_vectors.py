import json

import numpy as np

from helpers.papers import QUICK


def test_vectors_beside_the_table_and_in_columns_are_learned_from(ncgnn, here):
    rng = np.random.default_rng(0)
    labels, numbers = np.arange(60) % 2, rng.normal(size=(60, 8))
    numbers[:, 3] += 3 * labels
    rows = [f'{i},{labels[i]},"{numbers[i, :5].round(3).tolist()}"' for i in range(60)]
    (here / "n.csv").write_text("\n".join(["id,y,emb", *rows]) + "\n")
    (here / "e.csv").write_text("source,target\n" + "".join(f"{i},{(i + 2) % 60}\n" for i in range(60)))
    np.save(here / "n.npy", numbers[:, 5:].astype(np.float32))
    tables = ["--nodes", "n.csv", "--edges", "e.csv", "--label", "y"]
    done = ncgnn("train", *tables, *QUICK, "--epochs", 30, "--no-refit", "--out", "run")
    assert done.code == 0, done.err
    assert "  emb_0 ... emb_4  vector   5 numbers\n" in done.out
    assert "  vector_0         numeric" in done.out
    run = json.loads((here / "run/run.json").read_text())
    assert set(run["source"]["files"]) == {"../n.csv", "../n.npy", "../e.csv"}
    predicted = [line.split(",") for line in ncgnn("predict", "run").out.splitlines()[1:]]
    assert sum(row[1] == row[2] for row in predicted) > 50
    np.save(here / "n.npy", numbers[:, 5:] + 1)
    assert "note: n.npy has changed since training\n" in ncgnn("predict", "run").err
