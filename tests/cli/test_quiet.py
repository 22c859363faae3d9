import subprocess
import sys

CODE = """
import logging, sys, warnings
from ncgnn.cli.quiet import silence_dependencies
silence_dependencies()
for module in ("torch.cuda", "sklearn.utils", "ncgnn.data.completion"):
    warnings.warn_explicit(f"of {module}", UserWarning, module, 1, module=module)
warnings.warn("old", FutureWarning)
logging.getLogger("matplotlib.font_manager").warning("building the font cache")
"""


def said(*options: str) -> str:
    return subprocess.run([sys.executable, *options, "-c", CODE], capture_output=True, text=True, check=True).stderr


def test_only_warnings_of_this_package_are_shown():
    assert said() == "ncgnn.data.completion:1: UserWarning: of ncgnn.data.completion\n"


def test_all_are_shown_if_asked_for():
    assert said("-W", "default").count("Warning: ") == 4
