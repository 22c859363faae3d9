"""Graphs and tables that are generated."""
