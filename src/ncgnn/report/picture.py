"""A picture of what was learned: the class capsules of all nodes on a plane."""

from pathlib import Path

from torch_geometric.data import Data

from ncgnn.classifier.estimator import NCGNNClassifier
from ncgnn.data import complete
from ncgnn.drawing import new_figure, plain, save
from ncgnn.tsne import plane


def draw_capsules(path: Path, classifier: NCGNNClassifier, data: Data) -> None:
    """A t-SNE map of each node's class capsules as a PNG file: known nodes in the colour of their class, the others
    grey. Where colours mix, classes are confused."""
    capsules = classifier.transform(data)
    x, y = plane(capsules.reshape(len(capsules), -1)).T
    label = complete(data).y.numpy()
    figure = new_figure(8, 6)
    axes = figure.add_subplot()
    axes.scatter(x[label < 0], y[label < 0], s=4, color="lightgrey")
    groups = [axes.scatter(x[label == c], y[label == c], s=6) for c in range(len(classifier.classes_))]
    legend = axes.legend(
        groups, classifier.classes_, markerscale=3, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False
    )
    axes.set(xticks=[], yticks=[])
    title = axes.set_title(f"Class capsules of {data.get('name', 'the graph')}, coloured by class")
    plain([title, *legend.get_texts()])
    save(figure, path, dpi=150)
