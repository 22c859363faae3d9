"""What all models have in common: the protocol, settings, prepared graphs, presets, the registry."""
