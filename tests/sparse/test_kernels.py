import os

import pytest
import scipy.sparse as sp
import torch

from ncgnn.sparse import CSR


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_kernels_work_in_a_forked_process():
    matrix = CSR.from_scipy(sp.eye(50), torch.float64)
    matrix @ torch.ones(50, 3, dtype=torch.float64)
    child = os.fork()
    if child == 0:
        out = matrix @ torch.ones(50, 3, dtype=torch.float64)
        os._exit(0 if bool((out == 1).all()) else 1)
    assert os.waitpid(child, 0)[1] == 0
