import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Neither a test nor the drawing of its examples is quick on a busy machine.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# Threads that wait for work must not spin: on a busy machine this costs ten times the work. Read when torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Workers of pytest-xdist ignore Ctrl-C, and so would the processes that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


# A search is ten trainings: tests that want one ask for it.
os.environ["NCGNN_SEARCH"] = "none"
os.environ["NCGNN_REFIT"] = "0"


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the library keeps on disk stays out of the home folder of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NCGNN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def benchmark() -> Path:
    """The folder of benchmark graphs."""
    folder = os.environ.get("NCGNN_DATA")
    if not folder:
        pytest.skip("set NCGNN_DATA to the benchmark folder")
    return Path(folder)
