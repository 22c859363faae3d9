import subprocess
import sys
from math import isfinite

import pytest

from ncgnn.errors import InputError
from ncgnn.memory import available_bytes, check_memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is free")


def test_some_memory_is_free():
    assert isfinite(available_bytes())
    check_memory(1, "a byte", "be modest")


def test_what_needs_more_is_refused_with_both_numbers():
    message = r"^a graph would take 1024.0 GB of memory, and [\d.]+ (GB|MB) are free: use a smaller one$"
    with pytest.raises(InputError, match=message) as refused:
        check_memory(2.0**40, "a graph", "use a smaller one", "num_capsules")
    assert refused.value.options == ("num_capsules",)


@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_limits_of_the_process_count(limit):
    code = (
        f"import resource\nresource.setrlimit(resource.{limit}, (1 << 30, 1 << 30))\n"
        "from ncgnn.memory import available_bytes\nassert 0 < available_bytes() < 1 << 30"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
