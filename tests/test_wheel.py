"""The wheel holds all of the package, and with nothing else installed it runs the guide."""

import os
import shlex
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import ncgnn
from helpers.docs_examples import ROOT, assert_prints, blocks, ends_well


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(ROOT)], check=True)
    (made,) = folder.iterdir()
    return made


def test_the_wheel_is_pure_python_and_holds_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    assert wheel.name == f"ncgnn-{ncgnn.__version__}-py3-none-any.whl"
    source = ROOT / "src"
    files = {str(path.relative_to(source)) for path in (source / "ncgnn").rglob("*") if path.is_file()}
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == {name for name in files if "__pycache__" not in name}
    assert {"ncgnn/py.typed", "ncgnn/page/template/page.html", "ncgnn/experiments/published.csv"} <= held


@pytest.fixture
def programs(wheel: Path) -> Iterator[Path]:
    """The programs of an environment that holds the wheel and what it asks for, in the versions of the lock file."""
    with tempfile.TemporaryDirectory() as folder:  # gigabytes, which pytest would keep
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [
            f"{folder}/bin/python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--constraint",
            str(ROOT / "requirements.lock"),
        ]
        if subprocess.run([*pip, "--no-deps", "typing_extensions"], capture_output=True).returncode != 0:
            pytest.skip("pip reaches no package index")
        subprocess.run([*pip, str(wheel)], check=True)
        yield Path(folder) / "bin"


@pytest.mark.long
def test_the_guide_runs_with_nothing_but_the_wheel(programs: Path, tmp_path: Path) -> None:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("NCGNN_", "PYTHON"))}
    kept |= {"PATH": f"{programs}:{os.environ['PATH']}", "NCGNN_CACHE": str(tmp_path / "cache"), "COLUMNS": "100"}
    here = tmp_path / "here"
    here.mkdir()
    for block in (block for block in blocks("docs/guide.md") if block.kind == "console"):
        for command, said in block.commands:
            if shlex.split(command)[0] == "pip":
                continue
            done = subprocess.run(
                command, shell=True, cwd=here, env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            where = f"docs/guide.md:{block.line}: $ {command}"
            assert (done.returncode == 0) == ends_well(said), f"{where} ends with {done.returncode}:\n{done.stdout}"
            assert_prints(done.stdout, said, block.is_for_example, where)
    assert (here / "june.html").stat().st_size > 100_000
