"""What capsules are called: by the features that they respond to."""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add

import torch
from torch import Tensor

from ncgnn.explain.features import FeatureShares, OfCapsules
from ncgnn.explain.parts import shortened
from ncgnn.scored import Names
from ncgnn.sparse import LinearOperator

NAMED = 2
"""Features in a name."""
_LETTERS = 24


@torch.no_grad()
def capsule_names(
    shares: FeatureShares, names: Names, inputs: Sequence[Iterable[LinearOperator]] | None = None
) -> list[str]:
    """The number of each capsule with its strongest features, such as ``3 (genetic, evolution)``. Where there are
    several groups, their names come first; capsules of beliefs are classes. The strongest features are those over all
    nodes, whose ``inputs`` of each group may be given in blocks."""
    found, one = [], len(shares.groups) == 1
    for place, part in enumerate(shares.groups):
        group = "" if one else f"{part.group.name} "
        if not isinstance(part, OfCapsules):
            found += [f"{group}{names.classes[k]}" for k in range(part.width)]
            continue
        first = shares.columns.of_group(place).start
        for k, features in enumerate(strongest(part, None if inputs is None else inputs[place])):
            said = ", ".join(shortened(shares.columns.name(first + f, names), _LETTERS) for f in features)
            found.append(f"{group}{k} ({said})" if said else f"{group}{k}")
    return found


def strongest(part: OfCapsules, inputs: Iterable[LinearOperator] | None = None) -> list[list[int]]:
    """The features that make each capsule what it is, over all nodes, more than they make the others."""
    response = responses(part, inputs)
    distinct = response - response.mean(dim=1, keepdim=True) if response.shape[1] > 1 else response
    values, places = distinct.t().topk(min(NAMED, len(distinct)), dim=1)
    return [
        [f for f, value in zip(*row, strict=True) if value > 0]
        for row in zip(places.tolist(), values.tolist(), strict=True)
    ]


def responses(part: OfCapsules, inputs: Iterable[LinearOperator] | None = None) -> Tensor:
    r"""How much of each capsule comes from each feature, over all nodes [f, K]: a capsule :math:`\mathbf{h}` of length
    one is the sum of what the features and the bias put into it, so their projections on it add up to one."""
    return reduce(add, (_responses(part, x) for x in ([part.group.x] if inputs is None else inputs)))


def _responses(part: OfCapsules, x: LinearOperator) -> Tensor:
    product = x.product(part.w_dot.contiguous())
    gates = part.gates_of(product)
    h = gates * (product.view_as(gates) + part.primary.bias)
    asked = (h * gates).flatten(1)
    made = part.w_dot * x.gradients(asked, asked, False)[1]
    return made.view(len(made), *part.primary.bias.shape).sum(dim=2)
