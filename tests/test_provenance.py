import subprocess
from datetime import UTC, datetime

import pytest
import torch

from ncgnn import provenance
from ncgnn.provenance import origin, short_name


def git(folder, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(
        ["git", "-C", folder, *identity, *arguments], capture_output=True, text=True, check=True
    ).stdout


def test_the_commit_of_a_checkout_has_a_sign_where_its_sources_were_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "_CHECKOUT", tmp_path)
    assert provenance.commit() == ""  # no checkout
    git(tmp_path, "init", "-q")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "a")
    expected = git(tmp_path, "rev-parse", "HEAD")[:12]
    assert provenance.commit() == expected
    (tmp_path / "results.csv").write_text("1")  # no source
    assert provenance.commit() == expected
    (tmp_path / "src" / "a.py").write_text("1")
    assert provenance.commit() == f"{expected}+"


def test_what_is_no_checkout_though_it_looks_like_one_has_no_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "_CHECKOUT", tmp_path)
    (tmp_path / ".git").write_text("broken")
    assert provenance.commit() == ""


def test_versions_are_those_of_the_packages():
    assert provenance.versions("torch") == {"torch": torch.__version__}


@pytest.mark.parametrize(
    ("cpu", "short"),
    [
        ("Intel(R) Xeon(R) Processor @ 2.60GHz", "Intel Xeon"),
        ("Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", "Intel Core i7-8650U"),
        ("AMD EPYC 7763 64-Core Processor", "AMD EPYC 7763 64-Core"),
        ("arm64", "arm64"),
    ],
)
def test_a_processor_has_a_short_name(cpu, short):
    assert short_name(cpu) == short


def test_a_row_says_where_and_when():
    found = origin()
    assert set(found) == {"ncgnn", "torch", "pyg", "numpy", "commit", "cpu", "date"}
    assert abs(datetime.now(UTC).date() - datetime.fromisoformat(found["date"]).date()).days <= 1
    assert found["cpu"]
