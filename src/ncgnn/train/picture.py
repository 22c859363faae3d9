"""A picture of what was learned: the class capsules of all nodes on a plane."""

from pathlib import Path

import numpy as np
from torch_geometric.data import Data

from ncgnn.data import complete
from ncgnn.files import atomic
from ncgnn.train.classifier import NCGNNClassifier


def draw_capsules(path: Path, classifier: NCGNNClassifier, data: Data) -> None:
    """A t-SNE map of each node's class capsules as a PNG file: known nodes in the colour of their class, the others
    grey. Where colours mix, classes are confused."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    capsules = classifier.transform(data)
    x, y = _plane(capsules.reshape(len(capsules), -1)).T
    label = complete(data).y.numpy()
    figure = Figure(figsize=(8, 6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.scatter(x[label < 0], y[label < 0], s=4, color="lightgrey")
    groups = [axes.scatter(x[label == c], y[label == c], s=6) for c in range(len(classifier.classes_))]
    legend = axes.legend(
        groups, classifier.classes_, markerscale=3, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False
    )
    axes.set(xticks=[], yticks=[])
    title = axes.set_title(f"Class capsules of {data.get('name', 'the graph')}, coloured by class")
    for text in (title, *legend.get_texts()):
        text.set_parse_math(False)  # a dollar in a name is a dollar
    with atomic(path, "wb") as file:
        figure.savefig(file, format="png", dpi=150)


def _plane(vectors: np.ndarray) -> np.ndarray:
    from sklearn.manifold import TSNE

    points: np.ndarray = TSNE(perplexity=min(30.0, (len(vectors) - 1) / 3), random_state=0).fit_transform(vectors)
    return points
