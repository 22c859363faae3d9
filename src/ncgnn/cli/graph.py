"""How a graph is named on the command line: a known name, an ``.npz`` file, or two tables."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgnn.errors import InputError

if TYPE_CHECKING:
    from torch_geometric.data import Data

_PANEL = "Graph"
Graph = Annotated[
    str | None, typer.Argument(metavar="GRAPH", help="A known name (see ncgnn datasets) or an .npz file.")
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
Categorical = Annotated[
    list[str] | None, typer.Option(help="A column of categories that look like numbers.", rich_help_panel=_PANEL)
]
Ignore = Annotated[list[str] | None, typer.Option(help="A column that is no feature.", rich_help_panel=_PANEL)]
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

    @property
    def given(self) -> bool:
        return self.nodes is not None or self.edges is not None

    @property
    def options(self) -> dict[str, Any]:
        """All but the tables themselves."""
        return {key: value for key, value in vars(self).items() if key not in ("nodes", "edges")}

    def read(self, **earlier: Any) -> "Data":
        """Read them; ``earlier`` is the encoding and the class names of a model's own tables."""
        from ncgnn.data import read_graph

        if self.nodes is None or self.edges is None:
            raise InputError("--nodes and --edges go together: give both tables")
        with notices():
            return read_graph(self.nodes, self.edges, **self.options, **earlier)


def find_graph(graph: str | None, tables: Tables, folder: Path | None) -> "Data":
    """The graph that the arguments name, in exactly one of the three ways."""
    from ncgnn.data import load_dataset, read_graph

    if (graph is None) == (not tables.given):
        raise InputError("name one graph: a known name, an .npz file, or both --nodes and --edges")
    if graph is None:
        return tables.read()
    unused = [key for key, value in tables.options.items() if value]
    if unused:
        raise InputError(f"--{unused[0]} describes tables, and {graph} is none: leave it out")
    if Path(graph).suffix in (".csv", ".tsv", ".parquet", ".pq", ".gz"):
        raise InputError(f"{graph}: tables are given with --nodes and --edges")
    with notices():
        return read_graph(graph) if graph.endswith(".npz") else load_dataset(graph, folder)


@contextmanager
def notices() -> Iterator[None]:
    """Show warnings as plain lines on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        print(f"note: {warning.message}", file=sys.stderr)
