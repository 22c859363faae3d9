import subprocess
import sys

import pytest

from ncgnn.cli.demo import _ncgnn


def test_the_demo_reads_what_a_command_prints(here, karate_run):
    assert _ncgnn("predict", str(karate_run), "karate").startswith("id,label,predicted,probability,margin\n0,")
    assert (here / "demo.txt").read_text().count("\n33,") == 1


@pytest.mark.long
def test_the_demo_prints_the_lines_that_matter_and_writes_the_page(here):
    command = [sys.executable, "-m", "ncgnn.cli.demo", "runs/demo"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line[:8].strip() for line in lines] == ["check", "train", "", "predict", "explain", "page"]
    assert "'shelf=G' predicts 'garden'" in lines[0]
    assert "of 105 test nodes are classified correctly." in lines[1]
    assert "280 products had no department" in lines[3]
    assert "Classic espresso bag" in lines[4]
    assert lines[5].startswith("page     runs/demo/page.html: ")
    assert (here / "runs/demo/page.html").stat().st_size > 100_000
    assert (here / "runs/demo/demo.txt").read_text().count("\n$ ncgnn ") == 5
