"""Convert NetworkX and igraph objects and GraphML files to a node and an edge table."""

import io
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree.ElementTree import ParseError

import numpy as np
import pandas as pd
from pyarrow import ArrowException

from ncgnn.data.tables.text_files import read_content
from ncgnn.errors import InputError
from ncgnn.memory import check_memory

if TYPE_CHECKING:
    import networkx

_CELL = 24  # bytes of an attribute, there or not
_XML_BYTES = 20  # of memory for each of the file, until it is a table
_UNREADABLE = (  # NetworkX reads XML without checks of its own
    *(ParseError, OSError, EOFError, zlib.error, ArrowException),
    *(ValueError, LookupError, AttributeError, TypeError, OverflowError, RecursionError, AssertionError),
)


def is_graphml(graph: Any) -> bool:
    return isinstance(graph, str | Path) and str(graph).lower().endswith((".graphml", ".graphml.gz"))


def is_graph_object(graph: Any) -> bool:
    """Whether it is a NetworkX or igraph graph; does not import either."""
    return any(base.__module__.split(".")[0] in ("networkx", "igraph") for base in type(graph).__mro__)


class Tables(NamedTuple):
    """A node table and an edge table, and whether its edges have a direction."""

    nodes: pd.DataFrame
    edges: pd.DataFrame
    is_directed: bool


def read_graphml(path: str | Path) -> Tables:
    """The tables of a GraphML file: its attributes are the columns."""
    import networkx

    if not Path(path).is_file():
        raise InputError(f"{path}: {'is a folder, not a file' if Path(path).is_dir() else 'no such file'}")
    try:
        graph = networkx.read_graphml(io.BytesIO(read_content(Path(path), _XML_BYTES)))
    except InputError:
        raise
    except (networkx.NetworkXException, *_UNREADABLE) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{path}: not a readable GraphML file ({reason})") from error
    return _from_networkx(graph)


def object_tables(graph: Any) -> Tables:
    """The node table, with ids in the column "id", and the edge table, with ends in "source" and "target"."""
    return _from_networkx(graph) if hasattr(graph, "adj") else _from_igraph(graph)


def _from_networkx(graph: "networkx.Graph[Any]") -> Tables:
    ids = [str(node) for node in graph.nodes]
    nodes = _frame([attributes for _, attributes in graph.nodes(data=True)], "nodes")
    ends = [(str(source), str(target)) for source, target in graph.edges()]
    edges = _frame([attributes for *_, attributes in graph.edges(data=True)], "edges")
    return Tables(_with(nodes, {"id": ids}), _with_ends(edges, np.array(ends, object)), graph.is_directed())


def _frame(rows: list[dict[str, Any]], what: str) -> pd.DataFrame:
    """A row for each node or edge, and a column for each attribute that any of them has."""
    columns = len({key for row in rows for key in row})
    needed = _CELL * len(rows) * columns
    check_memory(needed, f"a table of {len(rows)} {what} with {columns} attributes", "use fewer attributes")
    return pd.DataFrame(rows, index=range(len(rows)))


def _from_igraph(graph: Any) -> Tables:
    names = graph.vs["name"] if "name" in graph.vs.attributes() else range(graph.vcount())
    ids = np.array([str(name) for name in names], object)
    nodes = pd.DataFrame({key: graph.vs[key] for key in graph.vs.attributes() if key != "name"})
    edges = pd.DataFrame({key: graph.es[key] for key in graph.es.attributes()})
    ends = ids[np.array(graph.get_edgelist(), np.int64)]
    return Tables(_with(nodes, {"id": ids}), _with_ends(edges, ends), graph.is_directed())


def _with_ends(edges: pd.DataFrame, ends: np.ndarray) -> pd.DataFrame:
    return _with(edges, dict(zip(("source", "target"), ends.reshape(-1, 2).T, strict=True)))


def _with(table: pd.DataFrame, columns: dict[str, Any]) -> pd.DataFrame:
    """The table with these columns first, replacing attributes of the same name."""
    others = table[[name for name in table.columns if name not in columns]]
    return pd.concat([pd.DataFrame(columns), others.reset_index(drop=True)], axis=1)
