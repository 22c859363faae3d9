"""Named graphs: their properties, and where they are loaded from."""
