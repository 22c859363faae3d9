"""How a graph is named on the command line: a known name, an ``.npz`` or GraphML file, or tables."""

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgnn.cli.notes import note
from ncgnn.errors import InputError

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from ncgnn.classifier import NodeClassifier

_NO_COLUMN = ("name", "nodes", "edges", "directed", "columns", "data")


def _option(help: str, *names: str) -> Any:
    return typer.Option(*names, help=help, rich_help_panel="Graph")


@dataclass(frozen=True)
class GraphOptions:
    """The argument and the options that say which graph it is and what its columns are, of every verb that takes one;
    :func:`takes_graph` makes them of one parameter."""

    name: Annotated[
        str | None,
        typer.Argument(
            metavar="GRAPH",
            help="Built-in dataset (see `ncgnn datasets`), .npz or .graphml file, or folder (OGB, mapped graph).",
        ),
    ] = None
    nodes: Annotated[Path | None, _option("Node table: CSV, TSV or Parquet.")] = None
    edges: Annotated[
        list[Path] | None, _option("Edge table: CSV, TSV or Parquet. Repeatable: one for each kind of edge.")
    ] = None
    directed: Annotated[
        bool, _option("Keep the direction of edges, from source to target, for models that use it.", "--directed")
    ] = False
    id: Annotated[str | None, _option("Id column of the node table; default: id.", "--id")] = None
    label: Annotated[str | None, _option("Label column; blank means unlabelled.")] = None
    title: Annotated[str | None, _option("Column with a display name for each node.")] = None
    source: Annotated[str | None, _option("Source column of the edge tables; default: source.")] = None
    target: Annotated[str | None, _option("Target column of the edge tables; default: target.")] = None
    weight: Annotated[str | None, _option("Weight column of the edge tables.")] = None
    direction: Annotated[
        str | None, _option("Edge table column stating whether each edge is directed or undirected.")
    ] = None
    numeric: Annotated[list[str] | None, _option("Treat this column as numeric. Repeatable.")] = None
    categorical: Annotated[
        list[str] | None, _option("Treat this column as categorical, e.g. if it holds numeric codes. Repeatable.")
    ] = None
    date: Annotated[list[str] | None, _option("Treat this column as dates. Repeatable.")] = None
    text: Annotated[list[str] | None, _option("Treat this column as free text. Repeatable.")] = None
    ignore: Annotated[list[str] | None, _option("Ignore this column. Repeatable.")] = None
    columns: Annotated[Path | None, _option("TOML file with column roles.")] = None
    data: Annotated[Path | None, _option("Folder with .npz graphs; default: $NCGNN_DATA.", "--data")] = None

    @property
    def has_tables(self) -> bool:
        """Whether it is read from tables; a GraphML file counts as both."""
        from ncgnn.data.tables.objects import is_graphml

        return self.nodes is not None or bool(self.edges) or is_graphml(self.name)

    @property
    def is_own(self) -> bool:
        """Whether it is the user's own graph rather than a named one."""
        from ncgnn.batches import is_mapped_graph
        from ncgnn.data.tables.read import is_finished

        return self.has_tables or is_finished(self.name) or is_mapped_graph(self.name)

    @property
    def said_of_columns(self) -> dict[str, Any]:
        """Those of the file, unless an option says otherwise."""
        given = {key: value for key, value in vars(self).items() if key not in _NO_COLUMN and value}
        if self.columns is None:
            return given
        from ncgnn.data.tables.options import read_columns, with_options

        return with_options(read_columns(self.columns), given)

    @property
    def files(self) -> Iterator[Path]:
        """Every file that the graph may be read from."""
        from ncgnn.batches import is_mapped_graph
        from ncgnn.batches.shards import MANIFEST
        from ncgnn.data.tables.read import files_of
        from ncgnn.data.tables.vectors import vectors_beside

        if self.name is not None and is_mapped_graph(self.name):
            yield Path(self.name) / MANIFEST
        given = (self.nodes, vectors_beside(self.nodes), *(self.edges or ()), self.columns, self.name)
        yield from (file for path in given if path is not None for file in files_of(Path(path)))
        folders = [str(self.data or ""), os.environ.get("NCGNN_DATA", "")]
        for folder in filter(None, folders):
            for depth in ("*.npz", "*/*.npz"):  # members of a family are one folder deeper
                yield from Path(folder).expanduser().glob(depth)

    def check_label(self) -> None:
        """Check that training tables have a label column."""
        self._check_one()
        if self.has_tables and not self.said_of_columns.get("label"):
            raise InputError("--label is required: the column of the node table with the classes to predict")

    def find(self) -> "Data":
        """The graph, named in exactly one of the three ways."""
        from ncgnn.batches import is_mapped_graph, mapped_graph
        from ncgnn.data import load_dataset, read_graph
        from ncgnn.data.tables.read import check_directed, is_finished

        self._check_one()
        if self.has_tables or self.name is None:
            return self._read()
        self._check_no_columns(self.name)
        if is_mapped_graph(self.name):
            return mapped_graph(self.name)
        with notices():
            data = read_graph(self.name) if is_finished(self.name) else load_dataset(self.name, self.data)
        return check_directed(data, self.name) if self.directed else data

    def find_for(self, classifier: "NodeClassifier") -> "Data":
        """The graph, its tables read as those that the model was trained on."""
        self._check_one()
        if not self.has_tables:
            return self.find()
        if classifier.encoding_ is None:
            raise InputError("the model was not trained on tables: give a graph name or .npz file")
        data = self._read(encoding=classifier.encoding_, class_names=classifier.classes_.astype(str).tolist())
        _note_lonely(data)
        return data

    def _read(self, **earlier: Any) -> "Data":
        from ncgnn.data import read_graph
        from ncgnn.data.tables.objects import is_graphml

        nodes = self.nodes or self.name
        if not is_graphml(nodes) and (nodes is None or not self.edges):
            raise InputError("--nodes and --edges must be given together")
        with notices():
            return read_graph(nodes, self.edges or None, directed=self.directed, **self.said_of_columns, **earlier)

    def _check_one(self) -> None:
        if (self.name is None) == (self.nodes is None and not self.edges):
            raise InputError("give one graph: a name, an .npz file, or both --nodes and --edges")

    def _check_no_columns(self, name: str) -> None:
        if Path(name).suffix in (".csv", ".tsv", ".parquet", ".pq", ".gz"):
            raise InputError(f"{name}: pass tables with --nodes and --edges")
        if Path(name).suffix in (".pt", ".pth", ".pkl"):
            raise InputError(
                f"{name}: pickled graphs are not read, because they can run code: save the graph in Python with"
                f" ncgnn.save_graph(ncgnn.read_graph(data), {str(Path(name).with_suffix('.npz'))!r})"
            )
        unused = [key for key, value in vars(self).items() if value and key not in ("name", "data", "directed")]
        if unused:
            raise InputError(f"--{unused[0]} applies to tables only, and {name} is not a table: remove it")


def takes_graph(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb, with its parameter ``graph`` as an argument or option for each field of :class:`GraphOptions`."""
    names = [field.name for field in fields(GraphOptions)]

    @wraps(verb)
    def run(**given: Any) -> None:
        verb(graph=GraphOptions(**{name: given.pop(name) for name in names}), **given)

    run.__signature__ = signature(verb).replace(parameters=list(_parameters(verb)))  # type: ignore[attr-defined]
    return run


def _parameters(verb: Callable[..., None]) -> Iterator[Parameter]:
    for parameter in signature(verb).parameters.values():
        if parameter.annotation is not GraphOptions:
            yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
            continue
        for field in fields(GraphOptions):
            yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)


def show_roles(data: "Data") -> None:
    """What the columns of tables were taken for, as lines: a wrong guess shows here."""
    from ncgnn.data import role_lines

    for line in role_lines(data.get("roles") or ()):
        print(line)


def _note_lonely(data: "Data") -> None:
    """Warn about tables with new rows only, in which most nodes have no neighbours."""
    alone = int(data.num_nodes or 0) - len(data.edge_index.unique())
    if 2 * alone > int(data.num_nodes or 0):
        note(
            f"{alone} of {data.num_nodes} nodes have no edges, but predictions depend on neighbours: pass the full"
            " tables, including the old nodes"
        )


@contextmanager
def notices() -> Iterator[None]:
    """Show warnings as plain lines on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        note(str(warning.message))
