"""The paper's tables as data, searches for settings, and their runs."""
