import subprocess

import torch

from ncgnn import code


def git(folder, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(
        ["git", "-C", folder, *identity, *arguments], capture_output=True, text=True, check=True
    ).stdout


def test_the_commit_of_a_checkout_has_a_sign_where_its_sources_were_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(code, "_CHECKOUT", tmp_path)
    assert code.commit() == ""  # no checkout
    git(tmp_path, "init", "-q")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "a")
    expected = git(tmp_path, "rev-parse", "HEAD")[:12]
    assert code.commit() == expected
    (tmp_path / "results.csv").write_text("1")  # no source
    assert code.commit() == expected
    (tmp_path / "src" / "a.py").write_text("1")
    assert code.commit() == f"{expected}+"


def test_what_is_no_checkout_though_it_looks_like_one_has_no_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(code, "_CHECKOUT", tmp_path)
    (tmp_path / ".git").write_text("broken")
    assert code.commit() == ""


def test_versions_are_those_of_the_packages():
    assert code.versions("torch") == {"torch": torch.__version__}
