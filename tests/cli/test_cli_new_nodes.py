"""Nodes that a model has never seen, beside a model that had them in its graph from the start."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ncgnn.data import load_dataset, split_per_class, syn_cora
from ncgnn.data.graph import feature_matrix

SETTINGS = ["filter='diffusion'", "top_k=32", "lr=0.01", "dropout=0.5", "epochs=60", "patience=20"]
OPTIONS = ["--label", "topic", "--per-class", 20, "--val", 300, *(part for one in SETTINGS for part in ("--set", one))]
SPLITS = range(3)  # on the 270 nodes of a single one, two points are five nodes


@pytest.fixture(params=["cora", pytest.param("generated", id="a generated graph")])
def data(request):
    if request.param == "generated":
        return syn_cora(0.8)
    request.getfixturevalue("benchmark")
    return load_dataset("cora")


@dataclass(frozen=True)
class Tables:
    """A graph in a folder: all of it in one pair of tables, and in another without the nodes that come later."""

    folder: Path
    new: list[str]
    truth: pd.Series

    @classmethod
    def write(cls, folder: Path, data, seed: int) -> "Tables":
        """Words as text; the classes of 20 nodes each and of 300 others. New nodes are a tenth of all."""
        folder.mkdir()
        split, x = split_per_class(data, 20, 300, seed), feature_matrix(data.x)
        ids = np.array([f"n{i}" for i in range(data.num_nodes)])
        words = [" ".join(f"word{i}" for i in x.indices[a:b]) for a, b in zip(x.indptr, x.indptr[1:], strict=False)]
        truth = pd.Series(np.array(data.class_names)[data.y.numpy()], index=ids)
        is_known = (split.train_mask | split.val_mask).numpy()
        rest = np.random.default_rng(seed).permutation(np.flatnonzero(~is_known))
        new = ids[rest[: data.num_nodes // 10]]
        nodes = pd.DataFrame({"id": ids, "topic": truth.where(is_known, "").to_numpy(), "text": words})
        edges = pd.DataFrame(ids[data.edge_index.T.numpy()], columns=["source", "target"])
        nodes.to_csv(folder / "all-nodes.csv", index=False)
        edges.to_csv(folder / "all-edges.csv", index=False)
        nodes[~nodes["id"].isin(new)].to_csv(folder / "old-nodes.csv", index=False)
        edges[~edges.isin(new).any(axis=1)].to_csv(folder / "old-edges.csv", index=False)
        return cls(folder, new.tolist(), truth)

    def options(self, which: str) -> list[object]:
        return ["--nodes", self.folder / f"{which}-nodes.csv", "--edges", self.folder / f"{which}-edges.csv"]

    def right(self, file: Path) -> float:
        """Share of the new nodes that a table of predictions has right."""
        found = pd.read_csv(file, index_col="id", keep_default_na=False)["predicted"]
        return float((found[self.new] == self.truth[self.new].astype(found.dtype)).mean())


@pytest.mark.long
def test_new_nodes_are_predicted_as_well_as_nodes_that_were_there(ncgnn, here, data):
    later, there = [], []
    for seed in SPLITS:
        tables = Tables.write(here / str(seed), data, seed)
        for which in ("old", "all"):
            assert ncgnn("train", *tables.options(which), *OPTIONS, "--out", f"{seed}/{which}").code == 0
        out = here / str(seed) / "later.csv"
        assert ncgnn("predict", f"{seed}/old", *tables.options("all"), "--out", out).code == 0
        later.append(tables.right(out))
        there.append(tables.right(here / str(seed) / "all/predictions.csv"))
        old, every = (
            pd.read_csv(here / str(seed) / which / "predictions.csv", index_col="id") for which in ("old", "all")
        )
        assert not set(tables.new) & set(old.index)
        assert old["split"].equals(every["split"][old.index])  # both were taught by the same nodes
    assert np.mean(there) > 0.6
    assert np.mean(later) > np.mean(there) - 0.02
