"""How a graph is named on the command line: a known name, an ``.npz`` or GraphML file, or two tables."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgnn.errors import InputError

if TYPE_CHECKING:
    from torch_geometric.data import Data

_PANEL = "Graph"
Graph = Annotated[
    str | None, typer.Argument(metavar="GRAPH", help="A known name (see ncgnn datasets), an .npz or .graphml file.")
]
Nodes = Annotated[Path | None, typer.Option(help="Node table: CSV, TSV or Parquet.", rich_help_panel=_PANEL)]
Edges = Annotated[Path | None, typer.Option(help="Edge table: CSV, TSV or Parquet.", rich_help_panel=_PANEL)]
Id = Annotated[
    str | None, typer.Option("--id", help="Id column of the node table; default: id.", rich_help_panel=_PANEL)
]
Label = Annotated[str | None, typer.Option(help="Label column; blank = not known.", rich_help_panel=_PANEL)]
Source = Annotated[str | None, typer.Option(help="Edge table's first end; default: source.", rich_help_panel=_PANEL)]
Target = Annotated[str | None, typer.Option(help="Edge table's second end; default: target.", rich_help_panel=_PANEL)]
Weight = Annotated[str | None, typer.Option(help="Weight column of the edge table.", rich_help_panel=_PANEL)]
Direction = Annotated[
    str | None, typer.Option(help="Edge table's column that says which edges hold both ways.", rich_help_panel=_PANEL)
]
Numeric = Annotated[list[str] | None, typer.Option(help="A column of numbers. Repeatable.", rich_help_panel=_PANEL)]
Categorical = Annotated[
    list[str] | None, typer.Option(help="A column of categories that look like numbers.", rich_help_panel=_PANEL)
]
Date = Annotated[list[str] | None, typer.Option(help="A column of dates. Repeatable.", rich_help_panel=_PANEL)]
Text = Annotated[list[str] | None, typer.Option(help="A column of free text. Repeatable.", rich_help_panel=_PANEL)]
Ignore = Annotated[list[str] | None, typer.Option(help="A column that is no feature.", rich_help_panel=_PANEL)]
Columns = Annotated[
    Path | None,
    typer.Option(help="TOML file that says what columns are.", rich_help_panel=_PANEL),
]
DataFolder = Annotated[
    Path | None, typer.Option("--data", help="Folder of .npz graphs; default: NCGNN_DATA.", rich_help_panel=_PANEL)
]


@dataclass(frozen=True)
class Tables:
    """The options that describe a pair of tables."""

    nodes: Path | None
    edges: Path | None
    id: str | None = None
    label: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    categorical: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    direction: str | None = None
    numeric: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    columns: Path | None = None

    @property
    def given(self) -> bool:
        return self.nodes is not None or self.edges is not None

    @property
    def options(self) -> dict[str, Any]:
        """What is said about columns: those of the file, unless an option says otherwise."""
        given = {key: value for key, value in vars(self).items() if key not in ("nodes", "edges", "columns") and value}
        if self.columns is None:
            return given
        from ncgnn.data import read_columns

        return read_columns(self.columns) | given

    def read(self, **earlier: Any) -> "Data":
        """Read them; ``earlier`` is the encoding and the class names of a model's own tables."""
        from ncgnn.data import read_graph
        from ncgnn.data.objects import is_graphml

        if not is_graphml(self.nodes) and (self.nodes is None or self.edges is None):
            raise InputError("--nodes and --edges go together: give both tables")
        with notices():
            return read_graph(self.nodes, self.edges, **self.options, **earlier)


def kinds(**named: list[str] | None) -> dict[str, Any]:
    """Repeatable options as a value of :class:`Tables`."""
    return {kind: tuple(names or ()) for kind, names in named.items()}


def with_graphml(graph: str | None, tables: Tables) -> tuple[str | None, Tables]:
    """A GraphML file counts as both tables."""
    from ncgnn.data.objects import is_graphml

    if not is_graphml(graph) or tables.given:
        return graph, tables
    return None, replace(tables, nodes=Path(str(graph)))


def check_label(graph: str | None, tables: Tables) -> None:
    """Whether tables to learn from say what is to be learnt."""
    graph, tables = with_graphml(graph, tables)
    if graph is None and tables.given and not tables.options.get("label"):
        raise InputError("--label names the column of the node table with the classes to learn")


def find_graph(graph: str | None, tables: Tables, folder: Path | None) -> "Data":
    """The graph that the arguments name, in exactly one of the three ways."""
    from ncgnn.data import load_dataset, read_graph

    graph, tables = with_graphml(graph, tables)
    if (graph is None) == (not tables.given):
        raise InputError("name one graph: a known name, an .npz file, or both --nodes and --edges")
    if graph is None:
        return tables.read()
    unused = [key for key, value in vars(tables).items() if value]
    if unused:
        raise InputError(f"--{unused[0]} describes tables, and {graph} is none: leave it out")
    if Path(graph).suffix in (".csv", ".tsv", ".parquet", ".pq", ".gz"):
        raise InputError(f"{graph}: tables are given with --nodes and --edges")
    with notices():
        return read_graph(graph) if graph.endswith(".npz") else load_dataset(graph, folder)


def show_roles(data: "Data") -> None:
    """What the columns of tables were taken for, as lines: a wrong guess shows here."""
    from ncgnn.data import role_lines

    for line in role_lines(data.get("roles") or ()):
        print(line)


@contextmanager
def notices() -> Iterator[None]:
    """Show warnings as plain lines on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        print(f"note: {warning.message}", file=sys.stderr)
