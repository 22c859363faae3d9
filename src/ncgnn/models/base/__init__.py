"""Shared by all models: the protocol, settings, prepared graphs, presets, the registry."""
