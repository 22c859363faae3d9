"""A picture of what was learned: the class capsules of all nodes on a plane."""

from pathlib import Path

from ncgnn.drawing import new_figure, plain, plane, save
from ncgnn.errors import InputError
from ncgnn.scored import Scored


def draw_capsules(path: Path, scored: Scored) -> None:
    """A t-SNE map of each node's class capsules as a PNG file: known nodes in the colour of their class, the others
    grey. Where colours mix, classes are confused."""
    if scored.routing is None:
        raise InputError(f"{scored.model} has no class capsules to draw", "picture")
    data, capsules = scored.data, scored.routing.capsules.numpy()
    x, y = plane(capsules.reshape(len(capsules), -1)).T
    label = data.y.numpy()
    figure = new_figure(8, 6)
    axes = figure.add_subplot()
    axes.scatter(x[label < 0], y[label < 0], s=4, color="lightgrey")
    groups = [axes.scatter(x[label == c], y[label == c], s=6) for c in range(len(scored.classes))]
    legend = axes.legend(
        groups, scored.classes, markerscale=3, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False
    )
    axes.set(xticks=[], yticks=[])
    title = axes.set_title(f"Class capsules of {data.get('name', 'the graph')}, coloured by class")
    plain([title, *legend.get_texts()])
    save(figure, path, dpi=150)
