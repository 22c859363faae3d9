"""Groups of capsules in explanations: their part of a forward pass, and what they are called in plain words."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ncgnn.explain.parts import called
from ncgnn.models.base.chosen_edges import IN, OUT, parsed_edges
from ncgnn.nn import NCGNN, Beliefs, CapsuleGroup, GraphFilter, PreparedFilter, PrimaryCapsules
from ncgnn.scored import Names
from ncgnn.sparse import CSR, HopBank, LinearOperator

FEATURES, LINKS, BELIEFS = "features", "links", "beliefs"


@dataclass(frozen=True)
class Reads:
    """What a group reads, by its name, such as ``links (pays out)``.

    Attributes:
        what: ``features``, ``links``, ``beliefs`` or something else.
        table: the edge table it is restricted to; empty: none.
        direction: ``in`` or ``out``; empty: both.
    """

    what: str
    table: str = ""
    direction: str = ""

    @classmethod
    def of(cls, name: str) -> "Reads":
        what, _, rest = name.partition(" (")
        return cls(what, *parsed_edges(rest.removesuffix(")")))

    @property
    def place(self) -> str:
        return f" in '{self.table}'" if self.table else ""


@dataclass(frozen=True, eq=False)
class TracedGroup:
    """A group of capsules in one forward pass.

    Attributes:
        name: what it is called; no other group of the model has this name.
        module: the group itself.
        x: its input [N, columns].
        prepared: its prepared filter.
        a_bar: its filter as an operator.
        capsules: numbers of its capsules among those of all groups.
    """

    name: str
    module: NCGNN | CapsuleGroup | Beliefs
    x: LinearOperator
    prepared: PreparedFilter
    a_bar: LinearOperator
    capsules: range

    @property
    def reads(self) -> Reads:
        return Reads.of(self.module.name)

    @property
    def primary(self) -> PrimaryCapsules | None:
        """Its primary capsules; ``None`` for beliefs."""
        return None if isinstance(self.module, Beliefs) else self.module.primary

    @property
    def words(self) -> str:
        """What it reads, in plain words, as in "because of whom it links to"."""
        return _words(self.reads, _hops(self.module.filter)) or self.name

    @property
    def is_own(self) -> bool:
        """Whether a node only receives what it sends itself."""
        return _hops(self.module.filter) == [0]

    @property
    def heard(self) -> str:
        """What it hears of other nodes, in plain words; empty if that is simply its neighbours' features."""
        return "" if self.reads == Reads(FEATURES) else self.words


def names_of(groups: Sequence[NCGNN | CapsuleGroup | Beliefs]) -> list[str]:
    """The names of groups; those of the same name are told apart by their hops or, if these are the same, a number."""
    total = Counter(group.name for group in groups)
    return unique_names([_with_hops(group) if total[group.name] > 1 else group.name for group in groups])


def _with_hops(group: NCGNN | CapsuleGroup | Beliefs) -> str:
    hops = _hops(group.filter)
    counted = f"hop {hops[0]}" if len(hops) == 1 else f"hops {', '.join(map(str, hops))}"
    return f"{group.name} ({counted})" if hops else group.name


def unique_names(names: Sequence[str]) -> list[str]:
    """The names, with a number from the second of the same name on."""
    met: Counter[str] = Counter()
    found = []
    for name in names:
        met[name] += 1
        found.append(name if met[name] == 1 else f"{name} #{met[name]}")
    return found


def _hops(filter: GraphFilter) -> list[int]:
    """The hops of a filter that is a sum over hops; those of others reach as far as the graph does."""
    return [] if filter.hop_weights() is None else list(filter.hops)


_OWN_LINKS = {OUT: "whom it links to", IN: "who links to it", "": "whom it is linked with"}
_ALL_LINKS = {
    OUT: "whom it and its neighbours link to",
    IN: "who links to it and its neighbours",
    "": "whom it and its neighbours are linked with",
}
_NEIGHBOURS = {OUT: "those it links to", IN: "those that link to it", "": "its neighbours"}


def _words(reads: Reads, hops: list[int]) -> str | None:
    is_own = hops == [0]  # a node only receives what it sends itself
    if reads.what == LINKS:
        if is_own and reads.table and not reads.direction:
            return f"its links{reads.place}"
        return (_OWN_LINKS if is_own else _ALL_LINKS)[reads.direction] + reads.place
    if reads.what == BELIEFS:
        return f"the classes of {_NEIGHBOURS[reads.direction]}{reads.place}"
    if reads.what != FEATURES:
        return None
    if is_own:
        return "its features"
    is_any = not reads.table and not reads.direction
    if is_any and min(hops, default=0) > 1:
        return f"the features of nodes up to {max(hops)} steps away"
    return (
        "its and its neighbours' features" if is_any else f"the features of {_NEIGHBOURS[reads.direction]}{reads.place}"
    )


_ENDS = {OUT: "link to", IN: "link from", "": "link with"}


def column_name(reads: Reads, number: int, names: Names) -> str:
    """What one column of a group's input is called."""
    if reads.what == FEATURES:
        return names.features[number]
    if reads.what == LINKS:
        return f"{_ENDS[reads.direction]} {called(*names.linked_node(number))}{reads.place}"
    if reads.what == BELIEFS:
        return f"neighbours of class {names.classes[number]}{reads.place}"
    return f"{reads.what} {number}"


def believed(groups: Sequence[TracedGroup], node: int) -> set[int]:
    """The nodes whose predicted classes are part of a node's scores: its neighbours of unknown class, with beliefs."""
    last = groups[-1]
    if last.primary is not None:
        return set()
    matrix = last.prepared.matrix
    assert isinstance(matrix, CSR | HopBank), "beliefs have a filter of one hop"
    start, stop = matrix.pattern.indptr[node : node + 2].tolist()
    heard = matrix.pattern.indices[start:stop].long()
    return set(heard[last.x.parameter[heard].sum(dim=1) == 0].tolist())
