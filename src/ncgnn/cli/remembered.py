"""What a run remembers of its graph, so that later commands need not be told again: ``source`` in ``run.json``."""

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncgnn.cli.graph import GraphOptions
from ncgnn.cli.model import model_file
from ncgnn.cli.notes import note
from ncgnn.errors import InputError
from ncgnn.files import digest_of

if TYPE_CHECKING:
    from ncgnn.cli.source import Source

KEY = "source"


def source(graph: GraphOptions, folder: Path) -> dict[str, Any]:
    """What ``run.json`` in ``folder`` says of its graph."""
    from ncgnn.cli.source import Source
    from ncgnn.data.tables.vectors import vectors_beside

    own = Path(graph.name) if graph.name is not None and graph.is_own else None
    given = (own, graph.nodes, vectors_beside(graph.nodes), *(graph.edges or ()))
    files = [path for path in given if path is not None]
    found = Source(
        name=graph.name if own is None else _from(folder, own),
        nodes=None if graph.nodes is None else _from(folder, graph.nodes),
        edges=None if graph.edges is None else [_from(folder, path) for path in graph.edges],
        directed=graph.directed,
        data=None if graph.data is None else _from(folder, graph.data),
        columns=graph.said_of_columns,
        files={_from(folder, path): digest_of_all(path) for path in files},
    )
    return found.model_dump(exclude_defaults=True)


def key_of(out: Path, model: Path, model_class: str | None, graph: GraphOptions, asked: Sequence[Any]) -> str:
    """Everything that a table of a model and a graph depends on; reads their files."""
    from ncgnn.provenance import versions

    given = digest_of_all(model_file(model)), model_class, source(graph, out.parent)
    return json.dumps([versions("ncgnn"), *given, *asked])


def with_run(graph: GraphOptions, model: Path) -> GraphOptions:
    """The graph that was named or, if none was, the one that the run of the model was trained on."""
    if graph != GraphOptions():
        return graph
    folder = model if model.is_dir() else model.parent
    found = _remembered(folder)
    if found is None:
        return graph
    for name, digest in found.files.items():
        _compare(_seen(folder, name), digest)
    is_file = found.name in found.files
    return GraphOptions(
        name=found.name if found.name is None or not is_file else str(_seen(folder, found.name)),
        nodes=None if found.nodes is None else _seen(folder, found.nodes),
        edges=None if found.edges is None else [_seen(folder, name) for name in found.edges],
        directed=found.directed,
        data=None if found.data is None else _seen(folder, found.data),
    )


def _remembered(folder: Path) -> "Source | None":
    from ncgnn.classifier.run_folder import read_description
    from ncgnn.cli.source import Source

    try:
        run = read_description(folder)
        return Source.model_validate(run[KEY]) if run is not None and KEY in run else None
    except ValueError:
        raise InputError(f"{folder / 'run.json'}: does not describe a run: name the graph") from None


def _compare(path: Path, digest: str) -> None:
    """Check that a file of the run is there, and say if it is another one now."""
    if not (path.is_file() or path.is_dir()):
        raise InputError(f"{path}: the run was trained on this file, which is missing: name the graph")
    if digest_of_all(path) != digest:
        note(f"{path} has changed since training")


def digest_of_all(path: Path) -> str:
    """Of a file, or of the files in a folder and their names."""
    from ncgnn.data.tables.read import files_of

    try:
        if path.is_dir():
            listed = "".join(f"{digest_of_all(file)} {file.relative_to(path)}\n" for file in files_of(path))
            return hashlib.sha256(listed.encode()).hexdigest()
        return digest_of(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def _from(folder: Path, path: Path) -> str:
    return os.path.relpath(path.resolve(), folder.resolve())


def _seen(folder: Path, name: str) -> Path:
    """The path as seen from here."""
    return Path(os.path.relpath(folder.resolve() / name))
