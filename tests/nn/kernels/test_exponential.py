import numpy as np
import pytest

from ncgnn.nn.kernels.exponential import exp
from ncgnn.sparse.kernels import compiled


@compiled
def exps(x, out):
    for i in range(x.shape[0]):
        out[i] = exp(x[i])


@pytest.mark.parametrize(("dtype", "error"), [(np.float32, 3e-7), (np.float64, 1e-15)])
def test_the_exponential_is_exact_to_the_last_digits(dtype, error):
    x = np.linspace(-87, 0, 100_001).astype(dtype)
    out = np.empty_like(x)
    exps(x, out)
    np.testing.assert_allclose(out, np.exp(x.astype(np.float64)), rtol=error)
    assert out[-1] == 1


def test_what_is_far_below_zero_gives_next_to_nothing_and_nan_stays_nan():
    x = np.array([-88, -1e30, -np.inf, np.nan], np.float32)
    out = np.empty_like(x)
    exps(x, out)
    assert (out[:3] <= np.float32(1.7e-38)).all()
    assert np.isnan(out[3])
