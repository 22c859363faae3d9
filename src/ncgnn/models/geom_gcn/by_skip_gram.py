"""Skip-gram with negative sampling (Mikolov et al., 2013), in two dimensions."""

import numpy as np

from ncgnn.sparse.kernels import compiled

_WINDOW, _OTHERS = 5, 5
_RATE, _LEAST_RATE = 0.025, 1e-4


def skip_gram(walks: np.ndarray, n: int) -> np.ndarray:
    """Places of the nodes [n, 2], close for nodes that occur close together in the walks [walks, length]."""
    draw = np.random.default_rng(0)
    places, contexts = draw.uniform(-0.25, 0.25, size=(n, 2)), np.zeros((n, 2))
    frequency = np.bincount(walks.ravel(), minlength=n) ** 0.75
    table = draw.choice(n, size=1 << 20, p=frequency / frequency.sum())
    _train(places, contexts, draw.permutation(walks), table)
    return places


@compiled
def _train(places: np.ndarray, contexts: np.ndarray, walks: np.ndarray, table: np.ndarray) -> None:
    position = 0  # in the table of random nodes
    for w in range(walks.shape[0]):
        rate = max(_RATE * (1 - w / walks.shape[0]), _LEAST_RATE)
        for i in range(walks.shape[1]):
            node = walks[w, i]
            for j in range(max(i - _WINDOW, 0), min(i + _WINDOW + 1, walks.shape[1])):
                if walks[w, j] == node:
                    continue
                right, up = 0.0, 0.0
                for k in range(_OTHERS + 1):
                    other = walks[w, j] if k == 0 else table[position]
                    position = (position + 1) % table.shape[0]
                    place, context = places[node], contexts[other]
                    score = place[0] * context[0] + place[1] * context[1]
                    step = rate * ((1.0 if k == 0 else 0.0) - 1 / (1 + np.exp(-score)))
                    right += step * context[0]
                    up += step * context[1]
                    context[0] += step * place[0]
                    context[1] += step * place[1]
                places[node, 0] += right
                places[node, 1] += up
