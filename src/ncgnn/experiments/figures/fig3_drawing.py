"""Draw figure 3: one map per model."""

from typing import TYPE_CHECKING

from ncgnn.drawing import class_colors, in_order, new_figure, plain
from ncgnn.experiments.figures.fig3 import MODELS, NEAREST
from ncgnn.experiments.figures.store import Tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(tables: Tables) -> "Figure":
    points, accuracy = tables["points"], tables["runs"].set_index("model")["test_accuracy"]
    colors = class_colors(in_order(name for name in points["class"] if name))
    known = points[points["class"] != ""]
    shades = known["class"].map(colors).tolist()
    figure = new_figure(12, 4.4)
    for axes, model in zip(figure.subplots(1, len(MODELS)), MODELS, strict=True):
        axes.scatter(known[f"{model} x"], known[f"{model} y"], s=1, c=shades, linewidths=0)
        axes.set(xticks=[], yticks=[], title=f"{model}, test accuracy {accuracy[model]:.1%}")
    groups = [axes.scatter([], [], s=20, color=color) for color in colors.values()]
    legend = figure.legend(groups, list(colors), loc="outside lower center", ncols=len(colors), title="class")
    plain(legend.get_texts())
    return figure


def caption(tables: Tables) -> str:
    alike = tables["runs"].set_index("model")["alike"]
    shares = ", ".join(f"{alike[model]:.3f} for {model}" for model in MODELS)
    return (
        "t-SNE maps of all nodes of Amazon Computers, coloured by class: hidden features of GCN and GAT, and for "
        "NCGNN-A the longest class capsule. Maps distort distances, so here is the same as a number: in the original "
        f"space, the mean fraction of the {NEAREST} nearest nodes that share a node's class is {shares}."
    )
