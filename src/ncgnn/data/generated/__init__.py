"""Generated graphs and tables."""
