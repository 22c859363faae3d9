"""A run in words, for the person who started it."""

from ncgnn.report.write import comparison, report, write_report

__all__ = ["comparison", "report", "write_report"]
