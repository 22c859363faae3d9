from pathlib import Path

import pytest


@pytest.fixture
def no_benchmark(monkeypatch, tmp_path) -> None:
    """A machine without benchmark folder and with an empty cache."""
    monkeypatch.delenv("NCGNN_DATA", raising=False)
    monkeypatch.setenv("NCGNN_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def write(tmp_path):
    """Write a file and return its path."""

    def _write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _write
