"""Figure 6: couplings of capsules and classes on eight graphs, one heatmap per graph on one colour scale."""

from collections.abc import Callable, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import pandas as pd
from torch_geometric.data import Data

from ncgnn.drawing import in_order, new_figure, plain
from ncgnn.experiments.figures.models import Shown, load_split, show
from ncgnn.experiments.figures.store import Tables
from ncgnn.explain import Trace, selection, trace_model

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

# The paper does not name its eight graphs; these are four homophilous and four heterophilous ones.
GRAPHS = ("cora", "citeseer", "pubmed", "amazon-photo", "chameleon", "actor", "texas", "wisconsin")
CAPSULES = 8
STEPS = len(GRAPHS)
COLUMNS = {
    "couplings": ("graph", "class", "capsule", "coupling"),
    "runs": ("graph", "beta", "entropy", "mean_largest", "largest", "test_accuracy"),
}
_ACROSS = 4


def measure(done: Callable[[], None], graphs: Sequence[str] = GRAPHS) -> Tables:
    """Train NCGNN-A on each graph and average its couplings over the nodes."""
    couplings, runs = [], []
    for data in [load_split(graph) for graph in graphs]:  # load all graphs first, to fail early
        shown = show(data, "NCGNN-A", num_capsules=CAPSULES)
        trace = trace_model(shown.module, *shown.inputs.arguments)
        couplings.append(mean_couplings(trace, data))
        runs.append(_row(shown, trace))
        done()
    return {"couplings": pd.concat(couplings, ignore_index=True), "runs": pd.DataFrame(runs)}


def mean_couplings(trace: Trace, data: Data) -> pd.DataFrame:
    """The mean of c_jkl over the nodes j, for each class l and capsule k."""
    mean = trace.routing.couplings.double().mean(dim=0).t()  # [C, K]
    rows = [
        {"graph": data.name, "class": name, "capsule": k, "coupling": round(value, 6)}
        for name, row in zip(data.class_names, mean.tolist(), strict=True)
        for k, value in enumerate(row)
    ]
    return pd.DataFrame(rows)


def _row(shown: Shown, trace: Trace) -> dict[str, object]:
    found = selection(trace)
    selected = {key: round(getattr(found, key), 4) for key in ("entropy", "mean_largest", "largest")}
    return {"graph": shown.row["graph"], "beta": shown.settings.beta} | selected | shown.row


def draw(tables: Tables) -> "Figure":
    table = tables["couplings"]
    graphs, scale = list(dict.fromkeys(table["graph"])), color_scale(table)
    rows = ceil(len(graphs) / _ACROSS)
    figure = new_figure(12, 2.9 * rows + 0.4)
    places = figure.subplots(rows, _ACROSS, squeeze=False).flatten()
    for axes, graph in zip(places, graphs, strict=False):
        _heatmap(axes, table[table["graph"] == graph], scale)
        axes.set_title(graph)
    for axes in places[len(graphs) :]:
        axes.set_axis_off()
    _color_bar(figure.colorbar(scale, ax=places), 1 / table["capsule"].nunique())
    return figure


def color_scale(table: pd.DataFrame) -> "ScalarMappable":
    """One colour scale for all graphs, with uniform couplings in the middle."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    equal = 1 / table["capsule"].nunique()
    reach = max((table["coupling"] - equal).abs().max(), 1e-6)
    return ScalarMappable(Normalize(equal - reach, equal + reach), "PuOr_r")


def _heatmap(axes: Any, table: pd.DataFrame, scale: "ScalarMappable") -> None:
    found = table.pivot(index="class", columns="capsule", values="coupling")
    found = found.loc[in_order(found.index)]
    axes.imshow(found, cmap=scale.cmap, norm=scale.norm, aspect="auto")
    axes.set_xticks(range(found.shape[1]), found.columns)
    axes.set_yticks(range(len(found)), found.index)
    axes.set(xlabel="capsule", ylabel="class")
    plain(axes.get_yticklabels())


def _color_bar(bar: Any, equal: float) -> None:
    """A colour bar without the part below zero, where there are no couplings."""
    low, high = max(0.0, bar.vmin), bar.vmax
    bar.set_ticks([low, equal, high], labels=[f"{low:.3f}", f"1/K = {equal:.3f}", f"{high:.3f}"])
    bar.ax.set_ylim(low, high)


def caption(tables: Tables) -> str:
    runs, table = tables["runs"], tables["couplings"]
    low, high = runs["entropy"].min(), runs["entropy"].max()
    scaled = ", ".join(f"{row.graph} ({row.beta:g})" for row in runs.itertuples() if row.beta != 1)
    strongest = table.iloc[int(table["coupling"].argmax())]
    return (
        f"Couplings of NCGNN-A, averaged over nodes, with K = {table['capsule'].nunique()} capsules on every "
        "graph; white is 1/K, where all capsules have equal weight. Averages are between "
        f"{table['coupling'].min():.3f} and {table['coupling'].max():.3f} (capsule {strongest['capsule']} for class "
        f"{strongest['class']} of {strongest['graph']}); the mean entropy of the couplings of single nodes, relative "
        f"to uniform couplings, is {low:.3f} to {high:.3f}, depending on the graph. Beta is 1, as in the paper"
        f"{', except on ' * bool(scaled)}{scaled}. The paper does not name its eight graphs."
    )
