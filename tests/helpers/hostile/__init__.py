"""Hostile inputs, and processes that meet them."""
