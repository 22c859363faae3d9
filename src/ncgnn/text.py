"""Numbers of things in words."""


def several(count: int, thing: str) -> str:
    """``1 node``, ``2 nodes``, ``3 classes``, ``4 categories``."""
    plural = f"{thing[:-1]}ies" if thing.endswith("y") else f"{thing}es" if thing.endswith("s") else f"{thing}s"
    return f"{count} {thing if count == 1 else plural}"
