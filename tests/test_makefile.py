"""What ``make`` does, with a Python that only writes down what it is asked to do."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CPU_BUILD = "https://download.pytorch.org/whl/cpu"
PYTHON = f"""#!/bin/sh
case "$*" in
  "-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
  *{CPU_BUILD}*) echo "$*" >> asked; exit $REACHED ;;
  *" pip "*|*ncgnn.cli*) echo "$*" >> asked ;;
esac
"""

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture
def checkout(tmp_path, monkeypatch) -> Path:
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    script(tmp_path / "tools/python", PYTHON)
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return tmp_path


def script(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def make(folder: Path, target: str, reached: int) -> tuple[str, list[str]]:
    """What it prints, and what Python was asked for."""
    python = f"PYTHON={folder / 'tools/python'}"
    done = subprocess.run(
        ["make", "--silent", target, python],
        cwd=folder,
        env={**os.environ, "REACHED": str(reached)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, (folder / "asked").read_text().splitlines()


def test_without_a_gpu_the_cpu_build_of_torch_comes_first(checkout):
    torch = next(line for line in (ROOT / "requirements.lock").read_text().splitlines() if line.startswith("torch=="))
    out, asked = make(checkout, ".venv/installed", reached=0)
    assert out == ""
    assert asked[0].endswith(f"--timeout 10 --retries 0 --index-url {CPU_BUILD} {torch}")
    assert asked[1].endswith("-r requirements.lock")


def test_where_it_is_out_of_reach_the_default_build_is_taken(checkout):
    out, asked = make(checkout, ".venv/installed", reached=1)
    assert out == "PyTorch's CPU builds are out of reach: taking the default build\n"
    assert [CPU_BUILD in line for line in asked] == [True, False, False]


def test_with_a_gpu_the_default_build_is_taken(checkout):
    script(checkout / "tools/nvidia-smi", "#!/bin/sh\n")
    _, asked = make(checkout, ".venv/installed", reached=0)
    assert CPU_BUILD not in " ".join(asked)


def test_make_demo_starts_anew(checkout):
    (checkout / "runs/demo").mkdir(parents=True)
    _, asked = make(checkout, "demo", reached=0)
    assert asked[-1] == "-m ncgnn.cli.demo runs/demo"
    assert not (checkout / "runs/demo").exists()
