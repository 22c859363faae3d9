"""Runs whose workers wait for each other, so that there is no doubt that there are two."""

import os
import time
from pathlib import Path

from ncgnn.experiments.one_run import Failure, Run, perform
from ncgnn.experiments.rows import RunRow

PLACE = "NCGNN_TEST_WORKERS"


def perform_in_company(run: Run) -> RunRow | Failure:
    """The first run of a worker begins when a second worker is there."""
    place, end = Path(os.environ[PLACE]), time.monotonic() + 120
    (place / f"{os.getpid()}.here").touch()
    while len(list(place.glob("*.here"))) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    return perform(run)
