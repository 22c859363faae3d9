import random
import select
import subprocess
import sys
import time

import pytest

from ncgnn.classifier import NCGNNClassifier

WRITER = """
import sys
from pathlib import Path
from ncgnn.data import load_dataset, split_per_class
from ncgnn.classifier import NCGNNClassifier
from ncgnn.classifier.run_folder import write_run

data = split_per_class(load_dataset("karate"), train=3, val=8)
runs = [NCGNNClassifier(hops=2, num_capsules=n, epochs=3, seed=n).fit(data) for n in (2, 64)]
for run in runs:
    run.seconds_ = 1.0  # the one thing that differs between two runs of the same seed
folder, scored = Path(sys.argv[1]), [run.scored(data) for run in runs]
for number in range(2):
    write_run(folder / str(number), runs[number], scored[number], number)
write_run(folder / "run", runs[0], scored[0], 0)
print("ready", flush=True)
while True:
    for number in range(2):
        write_run(folder / "run", runs[number], scored[number], number)
"""


@pytest.mark.long
def test_a_killed_writer_leaves_each_file_old_or_new_and_none_torn(tmp_path):
    names = ("run.json", "history.csv", "model.safetensors", "predictions.csv")
    seen = set()
    for attempt in range(8):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE)
        try:
            assert writer.stdout is not None
            assert select.select([writer.stdout], [], [], 300)[0]
            assert writer.stdout.readline() == b"ready\n"
            time.sleep(random.Random(attempt).uniform(0.2, 1.0))
        finally:
            writer.kill()
            writer.communicate()
        for name in names:
            whole = [(tmp_path / str(number) / name).read_bytes() for number in range(2)]
            assert whole[0] != whole[1]
            content = (tmp_path / "run" / name).read_bytes()
            assert content in whole, f"{name} is torn after attempt {attempt}"
            seen.add((name, whole.index(content)))
        NCGNNClassifier.load(tmp_path / "run" / "model.safetensors")
    assert len(seen) > len(names)  # kills fell into the writing of one run as well as of the other


@pytest.mark.long
def test_a_reader_beside_two_writers_always_finds_a_whole_model(tmp_path, karate):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE) for _ in range(2)
    ]
    try:
        for writer in writers:
            assert writer.stdout.readline() == b"ready\n"
        until = time.monotonic() + 5
        while time.monotonic() < until:
            found = NCGNNClassifier.load(tmp_path / "run" / "model.safetensors")
            assert found.predict(karate).shape == (34,)
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
