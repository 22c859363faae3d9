import subprocess
import sys


def test_kernels_leave_the_number_of_torch_threads_alone():
    code = (
        "import torch; torch.set_num_threads(1); from ncgnn.sparse import kernels;"
        "assert kernels.num_threads() == 1; assert torch.get_num_threads() == 1"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
