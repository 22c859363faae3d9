"""Find nodes that no label can reach along edges, and links whose direction was not kept."""

import numpy as np
from scipy.sparse.csgraph import connected_components

from ncgnn.check.view import SHOWN, Finding, View
from ncgnn.text import several


def isolated_findings(view: View) -> list[Finding]:
    alone = np.flatnonzero(view.degree == 0)
    if not len(alone):
        return []
    if len(alone) == view.num_nodes:
        return [_no_edges(view)]
    return [
        Finding(
            name="isolated",
            level="warning" if len(alone) >= 0.01 * view.num_nodes else "note",
            what=f"{several(len(alone), 'node')} without edges ({len(alone) / view.num_nodes:.1%})",
            count=len(alone),
            first=view.ids(alone[:SHOWN]),
            why="they are classified by their own features only, usually less accurately",
            advice="check for lost edges; otherwise drop these nodes, or evaluate them separately",
        )
    ]


def _no_edges(view: View) -> Finding:
    return Finding(
        name="no edges",
        level="serious",
        what="the graph has no edges",
        count=view.num_nodes,
        first=view.ids(np.arange(view.num_nodes)[:SHOWN]),
        why="every prediction rests on the features of a single node",
        advice="check the edge table; if there really are none, use a model for tabular data such as gradient boosting",
    )


def component_findings(view: View) -> list[Finding]:
    """Components of two or more nodes without a training node or, if there is no split, without a label."""
    count, component = connected_components(view.adjacency, directed=False)
    size = np.bincount(component, minlength=count)
    teaching = view.members("train") if view.is_split else view.y >= 0
    taught = np.bincount(component, weights=teaching, minlength=count) > 0
    far = np.flatnonzero(~taught[component] & (size[component] > 1))
    if not len(far):
        return []
    kind = "training node" if view.is_split else "label"
    parts = several(len(np.unique(component[far])), "component")
    return [
        Finding(
            name="unlabelled components",
            level="warning" if len(far) >= 0.1 * view.num_nodes else "note",
            what=f"{several(len(far), 'node')} in {parts} without a {kind}",
            count=len(far),
            first=view.ids(far[:SHOWN]),
            why="no known label is reachable along edges: predictions rest on features only",
            advice="label a node in the largest components, or check for lost edges",
        )
    ]


def direction_findings(view: View) -> list[Finding]:
    """Edge tables whose links seem to have a direction, read without it."""
    tables = [role.table for role in view.data.get("roles") or () if role.is_one_way]
    if not tables:
        return []
    return [
        Finding(
            name="one-way links",
            level="note",
            what=f"the links of {' and '.join(tables)} have a direction, which is not kept",
            count=len(tables),
            first=(),
            why="hardly any link has a link back; models that use directions can tell the two ends apart",
            advice="if the direction has a meaning, keep it",
            options=("directed",),
        )
    ]
