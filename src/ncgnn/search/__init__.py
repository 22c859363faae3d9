"""Choose a model for a graph on its validation nodes."""

from ncgnn.search.levels import LEVELS, LevelName
from ncgnn.search.rounds import Found, Tried, search

__all__ = ["LEVELS", "Found", "LevelName", "Tried", "search"]
