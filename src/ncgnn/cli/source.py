"""The graph of a run, as ``run.json`` tells it; apart, because pydantic is slow to import."""

from pydantic import BaseModel, ConfigDict


class Source(BaseModel):
    """How a graph was named, its paths as seen from the run folder, and the SHA-256 of its files.

    ``columns`` is a record only: the model knows how to read its tables.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str | None = None
    nodes: str | None = None
    edges: list[str] | None = None
    directed: bool = False
    data: str | None = None
    columns: dict[str, str | list[str]] = {}
    files: dict[str, str] = {}
