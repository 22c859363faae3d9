"""The site that ``make docs`` builds: every page is in it, and every public name has an entry."""

import re
import subprocess
import sys

import ncgnn
import ncgnn.models
import ncgnn.nn
from helpers.docs_examples import ROOT

REFERENCE = (ROOT / "docs/reference.rst").read_text("utf-8")


def entries() -> list[str]:
    return re.findall(r"^\.\. auto\w+:: ([\w.]+)", REFERENCE, re.MULTILINE)


def test_every_public_name_has_one_entry_in_the_reference():
    assert len(entries()) == len(set(entries()))
    top = {name.removeprefix("ncgnn.") for name in entries() if name.count(".") == 1}
    assert top == set(ncgnn.__all__)
    layers = {f"ncgnn.nn.{name}" for name in set(ncgnn.nn.__all__) - set(ncgnn.__all__)}
    assert layers <= set(entries())
    assert {f"ncgnn.models.{name}" for name in ncgnn.models.__all__} <= set(entries())


def test_the_site_is_built_without_a_warning_from_every_page_and_docstring(tmp_path):
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", ROOT / "docs", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")

    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} | {"reference"}
    home = (tmp_path / "index.html").read_text("utf-8")
    assert all(f'href="{page}.html"' in home for page in pages)

    reference = (tmp_path / "reference.html").read_text("utf-8")
    assert all(f'id="{name}"' in reference for name in entries())
    assert "decides when to stop and which weights to keep" in reference  # of NCGNNClassifier.fit
    assert "<math" in reference  # formulas that need no network
    assert not re.findall(r'<(?:script|link)[^>]+(?:src|href)="https?:', reference)
