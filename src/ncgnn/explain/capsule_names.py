"""What capsules are called: by the features that they respond to."""

import torch
from torch import Tensor

from ncgnn.explain.features import FeatureShares, OfCapsules
from ncgnn.explain.parts import shortened
from ncgnn.scored import Names

NAMED = 2
"""Features in a name."""
_LETTERS = 24


@torch.no_grad()
def capsule_names(shares: FeatureShares, names: Names) -> list[str]:
    """The number of each capsule with its strongest features, such as ``3 (genetic, evolution)``. Where there are
    several groups, their names come first; capsules of beliefs are classes."""
    found, one = [], len(shares.groups) == 1
    for place, part in enumerate(shares.groups):
        group = "" if one else f"{part.group.name} "
        if not isinstance(part, OfCapsules):
            found += [f"{group}{names.classes[k]}" for k in range(part.width)]
            continue
        first = shares.columns.of_group(place).start
        for k, features in enumerate(strongest(part)):
            said = ", ".join(shortened(shares.columns.name(first + f, names), _LETTERS) for f in features)
            found.append(f"{group}{k} ({said})" if said else f"{group}{k}")
    return found


def strongest(part: OfCapsules) -> list[list[int]]:
    """The features that make each capsule what it is, over all nodes, more than they make the others."""
    response = responses(part)
    distinct = response - response.mean(dim=1, keepdim=True) if response.shape[1] > 1 else response
    values, places = distinct.t().topk(min(NAMED, len(distinct)), dim=1)
    return [
        [f for f, value in zip(*row, strict=True) if value > 0]
        for row in zip(places.tolist(), values.tolist(), strict=True)
    ]


def responses(part: OfCapsules) -> Tensor:
    r"""How much of each capsule comes from each feature, over all nodes [f, K]: a capsule :math:`\mathbf{h}` of length
    one is the sum of what the features and the bias put into it, so their projections on it add up to one."""
    z = part.group.x.product(part.w_dot.contiguous()).view(-1, *part.primary.bias.shape) + part.primary.bias
    h = part.gates * z
    asked = (h * part.gates).flatten(1)
    made = part.w_dot * part.group.x.gradients(asked, asked, False)[1]
    return made.view(len(made), *part.primary.bias.shape).sum(dim=2)
