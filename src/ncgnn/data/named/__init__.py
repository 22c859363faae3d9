"""Graphs with a name: what is known of each, and the places where it is found."""
