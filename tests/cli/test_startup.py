"""How soon a command begins; times only as ratios within one run."""

import subprocess
import sys

import pytest

from ncgnn.cli.app import app

VERBS = [command.callback.__name__ for command in app.registered_commands]
SLOW = {"torch", "torch_geometric", "pandas", "scipy", "sklearn", "numba", "pyarrow", "matplotlib", "numpy"}


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def after(*arguments: str) -> set[str]:
    """The packages that a command has imported when it ends."""
    code = (
        f"import sys\nfrom ncgnn.cli.app import main\nsys.argv = {['ncgnn', *arguments]}\n"
        "try: main()\n"
        "except SystemExit: print(*{name.partition('.')[0] for name in sys.modules})\n"
    )
    return set(printed(code).splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], *([verb, "--help"] for verb in ("train", "explain"))])
def test_help_imports_nothing_slow(arguments):
    assert after(*arguments) & SLOW == set()


def test_the_list_of_verbs_does_not_wait_for_pydantic():
    assert "pydantic" not in after("--help")


def test_no_verb_imports_anything_slow_before_it_runs():
    modules = ", ".join(f"ncgnn.cli.{verb}" for verb in VERBS)
    assert set(printed(f"import sys, {modules}; print(*sys.modules)").split()) & SLOW == set()


def test_importing_ncgnn_and_showing_help_cost_little_beside_torch():
    """Torch takes about a second."""
    code = """
import sys
from time import process_time
start = process_time()
import ncgnn
imported = process_time() - start
from ncgnn.cli.app import main
sys.argv = ["ncgnn", "--help"]
try: main()
except SystemExit: helped = process_time() - start
import torch
of_torch = process_time() - start - helped
print(imported / of_torch, helped / of_torch)
"""
    imported, helped = map(float, printed(code).splitlines()[-1].split())
    assert imported < 0.2
    assert helped < 0.4


def test_commands_that_predict_start_soon_after_torch():
    """PyG and the rest cost less than two and a half times what torch costs; what PyG rarely needs is left out."""
    code = """
import sys
from time import process_time
start = process_time()
import torch
of_torch = process_time() - start
from ncgnn.cli.postponed import postpone
postpone()
from ncgnn.classifier import NodeClassifier
from ncgnn.data import read_graph
print((process_time() - start - of_torch) / of_torch)
print(*{"torch._dynamo.utils", "scipy.stats._stats_py", "sklearn.model_selection", "aiohttp"} & set(sys.modules))
torch._dynamo.config  # loads it
import scipy.stats
print(scipy.stats.norm.cdf(0), "torch._dynamo.utils" in sys.modules)
"""
    ratio, loaded, later = printed(code).splitlines()
    assert float(ratio) < 2.5
    assert (loaded, later) == ("", "0.5 True")
