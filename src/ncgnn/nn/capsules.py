"""Primary node capsules (equation 3), and the initialisation of weights."""

import math
from collections.abc import Callable
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ncgnn.nn.kernels.capsules import dense_votes, fused_capsules, fused_votes, new_seed, seed_of_row
from ncgnn.sparse import LinearOperator, as_operator, is_fused, thinned

Init = Literal["uniform", "glorot"]


def start_bound(init: Init, inputs: int, outputs: int) -> float:
    """The bound of the uniform distribution of initial weights."""
    if init not in ("uniform", "glorot"):
        raise ValueError(f"init must be 'uniform' or 'glorot', not {init!r}")
    return 1 / math.sqrt(inputs) if init == "uniform" else math.sqrt(6 / (inputs + outputs))


class PrimaryCapsules(nn.Module):
    r"""Maps each node to ``num_capsules`` unit vectors, one per learned subspace (equation 3):

    .. math::
        \mathbf{h}_i^{(k)} = \frac{\sigma(\dot{\mathbf{W}}_k \mathbf{x}_i + \dot{\mathbf{b}}_k)}
        {\|\sigma(\dot{\mathbf{W}}_k \mathbf{x}_i + \dot{\mathbf{b}}_k)\|}, \quad \sigma = \mathrm{ReLU}.

    A capsule whose ReLU output is zero stays zero. The paper's dropout follows the normalisation, so that capsules in
    training differ in length from those that predict. ``early_dropout`` precedes it and leaves unit vectors.

    Args:
        in_channels: number of features, f.
        num_capsules: capsules per node, K.
        channels: size of a capsule, f_p.
        dropout: dropout rate on capsule entries.
        init: weight initialisation, ``"uniform"`` in ±1/sqrt(inputs) or ``"glorot"``.
        early_dropout: dropout rate on capsule entries before the normalisation.
        feature_dropout: dropout rate on the features.

    Shapes:
        - **input:** node features [N, f], dense or ``torch.sparse_csr``
        - **output:** capsules [N, K, f_p]
    """

    def __init__(
        self,
        in_channels: int,
        num_capsules: int,
        channels: int,
        dropout: float = 0.0,
        init: Init = "uniform",
        early_dropout: float = 0.0,
        feature_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        rates = dropout, early_dropout, feature_dropout
        if min(in_channels, num_capsules, channels) < 1 or not all(0 <= rate < 1 for rate in rates):
            raise ValueError(
                f"sizes must be at least 1 and dropout from 0 to below 1, not {in_channels}, {num_capsules}, "
                f"{channels} and {', '.join(map(str, rates))}"
            )
        self.in_channels = in_channels
        self.num_capsules = num_capsules
        self.channels = channels
        self.dropout, self.early_dropout, self.feature_dropout = rates
        self.init: Init = init
        # W_k for each k, stored feature by feature, so that products with sparse features read contiguous memory
        self.weight = nn.Parameter(torch.empty(in_channels, num_capsules, channels).permute(1, 2, 0))
        self.bias = nn.Parameter(torch.empty(num_capsules, channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = start_bound(self.init, self.in_channels, self.channels)
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor | LinearOperator) -> Tensor:
        return self._capsules(self._thinned(self._checked(x)))

    def _capsules(self, x: LinearOperator) -> Tensor:
        is_early = self.training and self.early_dropout > 0
        h = fused_capsules(x, self._w, self.bias) if is_fused(x.parameter) and not is_early else self.plain(x)
        return F.dropout(h, self.dropout, self.training)

    def plain(self, x: Tensor | LinearOperator) -> Tensor:
        """Equation 3 in plain operations, without dropout; fused kernels compute the same on a CPU."""
        wx = (as_operator(x) @ self._w).unflatten(1, (self.num_capsules, self.channels))
        return F.normalize(F.dropout(F.relu(wx + self.bias), self.early_dropout, self.training), dim=-1)

    def votes(self, x: Tensor | LinearOperator, weight: Tensor) -> Tensor:
        """The votes of the capsules for a layer's ``weight`` [K, f_p, C, f_c]. With a dropout rate of 0.5 or more,
        dropped entries are skipped."""
        x = self._checked(x)
        if self._skips_dropped(x):
            return fused_votes(self._thinned(x), self._w, self.bias, weight, self.dropout, new_seed())
        return dense_votes(self(x), weight)

    def votes_in_blocks(self, x: Tensor | LinearOperator, weight: Callable[[], Tensor]) -> Callable[[int, int], Tensor]:
        """A function that computes the votes of a range of rows, with the same dropout mask each time. It is that of
        :meth:`votes` where dropped entries are skipped."""
        x = self._thinned(self._checked(x))
        seed = new_seed() if self.training else 0

        def votes(start: int, stop: int) -> Tensor:
            rows = x.rows(start, stop)
            if self._skips_dropped(x):
                return fused_votes(rows, self._w, self.bias, weight(), self.dropout, seed_of_row(seed, start))
            if not self.training:
                return dense_votes(self._capsules(rows), weight())
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed + start)
                return dense_votes(self._capsules(rows), weight())

        return votes

    def _skips_dropped(self, x: LinearOperator) -> bool:
        return self.training and self.dropout >= 0.5 and not self.early_dropout and is_fused(x.parameter)

    def _thinned(self, x: LinearOperator) -> LinearOperator:
        return thinned(x, self.feature_dropout) if self.training and self.feature_dropout else x

    def _checked(self, x: Tensor | LinearOperator) -> LinearOperator:
        x = as_operator(x)
        if x.parameter.dtype != self.weight.dtype:
            raise TypeError(f"the features are {x.parameter.dtype}, the weights {self.weight.dtype}: convert one")
        if x.shape[1] != self.in_channels:
            raise ValueError(f"x has {x.shape[1]} features, the model takes {self.in_channels}")
        return x

    @property
    def _w(self) -> Tensor:
        return self.weight.flatten(0, 1).t()  # [f, K f_p]

    def __repr__(self) -> str:
        return (
            f"{self.__class__.__name__}({self.in_channels}, num_capsules={self.num_capsules}, "
            f"channels={self.channels}, dropout={self.dropout}, init={self.init!r}, "
            f"early_dropout={self.early_dropout}, feature_dropout={self.feature_dropout})"
        )
