"""Warnings of other packages, which a user of the command line can do nothing about, are not shown."""

import logging
import sys
import warnings


def silence_dependencies() -> None:
    """Show warnings of this package only, unless Python was asked for others (``-W``, PYTHONWARNINGS)."""
    if not sys.warnoptions:
        warnings.filterwarnings("ignore", module=r"(?!ncgnn\b|__main__\b)")
        for category in (DeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # it tells that it lists fonts
