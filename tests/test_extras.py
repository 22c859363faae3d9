import shlex
from pathlib import Path

import pytest

from ncgnn.extras import install

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("extra", ["serve", "tune", "log", "cluster", "stats", "lightgbm"])
def test_in_a_checkout_the_extra_is_installed_from_there(extra, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert install(extra) == f"pip install '.[{extra}]'"
    assert f"\n{extra} = [" in (ROOT / "pyproject.toml").read_text("utf-8")


def test_elsewhere_its_packages_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "other"\n')
    words = shlex.split(install("serve"))
    assert words[:2] == ["pip", "install"]
    assert [word.partition(">=")[0] for word in words[2:]] == ["fastapi", "uvicorn"]
