"""The exponential function for kernels, in a form that compilers can vectorise."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from ncgnn.sparse.kernels import inlined

_LEAST = -87.0  # below this, the result is subnormal in single precision


def exp(x: Any) -> Any:
    """exp of a non-positive number, within 3e-7 in single precision, and never below e^-87."""
    return np.exp(x)


@overload(exp, inline="always")
def _compiled(x: Any) -> Callable[[Any], Any]:
    return _single if x == types.float32 else _double


@inlined
def _polynomial(r: Any) -> Any:
    """exp(r) for ``|r| <= log(2) / 2``: Cephes' polynomial."""
    one = np.float32(1)
    y = np.float32(1.9875691500e-4)
    y = y * r + np.float32(1.3981999507e-3)
    y = y * r + np.float32(8.3334519073e-3)
    y = y * r + np.float32(4.1665795894e-2)
    y = y * r + np.float32(1.6666665459e-1)
    y = y * r + np.float32(5.0000001201e-1)
    return y * r * r + r + one


def _single(x: Any) -> Any:
    x = max(x, np.float32(_LEAST))
    n = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
    r = x - n * np.float32(0.693359375)  # log(2) in two parts; the first has no rounding error
    r = r - n * np.float32(-2.12194440e-4)
    exponent = (np.int32(n) + np.int32(127)) << np.int32(23)
    return _polynomial(r) * np.int32(exponent).view(np.float32)


def _double(x: Any) -> Any:
    return np.exp(x)
