"""The answer in words, for a reader who knows nothing of the method. All texts of an answer are made here."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from ncgnn.explain.parts import shortened
from ncgnn.explain.wording import WORDS, Said, listed, quoted

MAINLY, MOST, HARDLY = 0.6, 0.5, 0.1  # of what speaks for a class
LEAST = 0.005  # of the whole: what is less would read 0 %
CLOSE = 0.01  # of the score: a lead that is none
_TITLE = 40


@dataclass(frozen=True)
class Near:
    """A node that contributes: what it is called, its part, and whether an edge leads to it."""

    name: str
    value: float
    is_linked: bool


@dataclass(frozen=True)
class Facts:
    """What a sentence is made of; parts are of the lead of the first class over the second."""

    first: str
    second: str
    probabilities: tuple[float, float]
    calibrated: bool
    score: float
    own: float
    supporting: float
    opposing: float
    bias: float
    own_features: Sequence[Said] = ()
    near: Sequence[Near] = ()
    near_features: Sequence[Said] = ()
    degree: int = 1
    heard: str = ""
    """What the most important group hears of other nodes, unless that is simply its neighbours' features."""

    @property
    def others(self) -> float:
        return self.supporting - self.opposing

    @property
    def whole(self) -> float:
        return abs(self.own) + self.supporting + self.opposing + abs(self.bias)

    @property
    def is_close(self) -> bool:
        """Whether a reader would see two equal numbers."""
        first, second = (round(100 * p) for p in self.probabilities)
        return first == second or self.own + self.others + self.bias <= CLOSE * self.score


def sentence(facts: Facts) -> str:
    """Why, in one sentence."""
    if facts.is_close:
        return f"Too close to call between {facts.first} and {facts.second}{_sides(facts)}."
    parts = {"own": facts.own, "others": facts.others, "bias": facts.bias}
    positive = {kind: value for kind, value in parts.items() if value > 0}
    if not positive:
        return f"{facts.first}, though little speaks for it{_alone(facts, ', and ')}."
    main = max(positive, key=lambda kind: positive[kind])
    share = positive[main] / sum(positive.values())
    mainly = "" if share > 1 - HARDLY else "mainly " if share >= MAINLY else "partly "
    return f"{facts.first}, {mainly}because {_clause(facts, main)}{_rest(facts, main)}."


def _clause(facts: Facts, kind: str) -> str:
    if kind == "own":
        return f"of {_own(facts)}"
    if kind == "bias":
        return _leaning(facts)
    return _linked(facts) or f"of {_neighbours(facts)}"


def _leaning(facts: Facts) -> str:
    if min(facts.supporting, facts.opposing) > facts.bias and abs(facts.others) <= HARDLY * facts.whole:
        even = f"its neighbours speak about as much for {facts.second} as for {facts.first}"
        return f"{even}, and the model then prefers {facts.first}"
    return "the model assumes this class when little speaks for another"


def _own(facts: Facts) -> str:
    return f"its own {named(facts.own_features)}" if facts.own_features else "many of its own traits taken together"


def named(features: Sequence[Said]) -> str:
    """``title “yoga” and “mat”``, ``brand “Verdo” and price 3.20 (lower than 95 % of all)``."""
    parts, kinds = [], [said.of for said in features]
    for of, members in groupby(sorted(features, key=lambda said: kinds.index(said.of)), key=lambda said: said.of):
        names = [shortened(said.name, _TITLE) for said in members]
        parts += [f"{of.removesuffix('s') if of == WORDS and len(names) == 1 else of} {listed(names)}"] if of else names
    return listed(parts)


def _linked(facts: Facts) -> str | None:
    """The few nodes that make most of what the others say; ``None`` where they are many."""
    chosen: list[Near] = []
    total = 0.0
    for near in facts.near:
        if total >= MOST * facts.supporting or len(chosen) == 3:
            break
        if near.value > 0:
            chosen.append(near)
            total += near.value
    if not chosen or total < MOST * facts.supporting:
        return None
    names = listed([quoted(shortened(near.name, _TITLE)) for near in chosen])
    if facts.heard:
        return f"of {facts.heard}, above all {names}"
    if all(near.is_linked for near in chosen):
        return f"it is linked with {names}"
    return f"of {names} in its surroundings"


def _neighbours(facts: Facts) -> str:
    if facts.heard:
        return facts.heard
    if facts.near_features:
        return f"its neighbours, above all their {named(facts.near_features)}"
    return "its neighbours"


def _rest(facts: Facts, main: str) -> str:
    """What of the two kinds of reasons is not the main one."""
    small = HARDLY * facts.whole
    if main != "others" and not facts.degree:
        return "; it has no neighbours"
    others = {"own": ("its own features", facts.own), "others": ("its neighbours", facts.others)}
    said = []
    for kind, (name, value) in others.items():
        if kind == main:
            continue
        if value < -small:
            said.append(f"although {name} speak for {facts.second}")
        elif value > small:
            said.append(f"and also because {_clause(facts, kind)}")
        elif main != "bias":
            is_divided = kind == "others" and min(facts.supporting, facts.opposing) > small
            said.append(f"{name} {'are divided' if is_divided else 'hardly matter'}")
    if not said:
        return ""
    joint = "; " if said[0].endswith(("matter", "divided")) else ", "
    return joint + ", ".join(said)


def _alone(facts: Facts, joint: str) -> str:
    return "" if facts.degree else f"{joint}it has no neighbours"


def _sides(facts: Facts) -> str:
    """Who speaks for which, where nothing decides."""
    small = HARDLY * facts.whole
    kinds = {"its own features": facts.own, "its neighbours": facts.others}
    sides = {name: facts.first if value > 0 else facts.second for name, value in kinds.items() if abs(value) > small}
    if not sides:
        return _alone(facts, "; ")
    if len(set(sides.values())) == 1 and len(sides) == 2:
        return f": its own features and its neighbours lean slightly towards {facts.first}"
    return f": {', '.join(f'{name} speak for {side}' for name, side in sides.items())}{_alone(facts, '; ')}"


def rather(facts: Facts) -> str:
    """Why this class rather than the other: the shares of what sets the two apart."""
    head = f"{facts.first} rather than {facts.second} ({_against(facts)})"
    if not facts.whole:
        return f"{head}: nothing sets them apart."
    is_divided = min(facts.supporting, facts.opposing) >= LEAST * facts.whole
    some, others = ("some neighbours", "other neighbours") if is_divided else ("its neighbours",) * 2
    parts = [("its own features", facts.own), (some, facts.supporting), (others, -facts.opposing)]
    parts.append(("the model's general leaning to it", facts.bias))
    towards, against = (_Side.of(parts, sign) for sign in (1, -1))
    if towards.parts and against.parts:
        first, second = f"{towards.total} % speaks for {facts.first}", f"{against.total} % for {facts.second}"
        return f"{head}. Of what sets them apart, {first} ({towards}) and {second} ({against})."
    side, only = (facts.first, towards) if towards.parts else (facts.second, against)
    return f"{head}. Everything that sets them apart speaks for {side}: {only}."


def _against(facts: Facts) -> str:
    """Two probabilities, or two scores that are none."""
    if facts.calibrated:
        return " against ".join(map(_percent, facts.probabilities))
    return f"score {' against '.join(f'{share:.2f}' for share in facts.probabilities)}; all classes add up to 1"


@dataclass(frozen=True)
class _Side:
    """What speaks for one of two classes, in percent of what speaks for either, the largest part first."""

    parts: Sequence[tuple[str, int]]

    @classmethod
    def of(cls, parts: Sequence[tuple[str, float]], sign: int) -> "_Side":
        percents = zip(parts, _percents([abs(value) for _, value in parts]), strict=True)
        own = [(name, percent) for (name, value), percent in percents if sign * value > 0 and percent]
        return cls(sorted(own, key=lambda part: -part[1]))

    @property
    def total(self) -> int:
        return sum(percent for _, percent in self.parts)

    def __str__(self) -> str:
        """``90 % its own features and 5 % its neighbours``, or a single name."""
        if len(self.parts) == 1:
            return self.parts[0][0]
        return listed([f"{percent} % {name}" for name, percent in self.parts])


def _percents(values: Sequence[float]) -> list[int]:
    """Whole numbers that add up to 100: those with the largest remainders are rounded up."""
    exact = [100 * value / sum(values) for value in values]
    found = [int(value) for value in exact]
    order = sorted(range(len(values)), key=lambda place: found[place] - exact[place])
    for place in order[: 100 - sum(found)]:
        found[place] += 1
    return found


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


_GONE = {"neighbours": "if the model ignored {}", "links": "if {} were cut", "features": "without {}"}
"""What a removal does. An ignored node leaves its weight to nobody, a cut link leaves it to the others and to the node
itself, so the two may end differently."""

_COUNTED = {
    "neighbours": ("its only neighbour", "all of its {} neighbours", "its {} most important neighbours"),
    "links": ("its only link", "all of its {} links", "its {} most important links"),
    "features": ("its only feature", "any of its {} features", "its {} most important features"),
}


def without(what: str, before: str, after: str | None, removed: Sequence[Said], most: int, total: int) -> str:
    """What would change the class, of ``total`` things of which the ``most`` important ones were taken away at most."""
    if not total:
        return f"It has no {what}."
    if after is None:
        only, every, some = _COUNTED[what]
        gone = only if total == 1 else (every if most == total else some).format(most)
        even = f"It would stay {before} even {_GONE[what].format(gone)}"
        return f"{even}{_then(what, (), most == total) or f'; the rest speaks for {before}, too'}."
    links = "its link with " if len(removed) == 1 else "its links with "
    head = {"neighbours": "", "links": links, "features": "its "}[what]
    then = _then(what, removed, len(removed) == total)
    return f"It would be {after} {_GONE[what].format(head + named(removed))}{then}."


def _then(what: str, removed: Sequence[Said], is_all: bool) -> str:
    """What a removal does to the rest, where that is not plain."""
    if what == "links":
        rest = "only its own features counted" if is_all else "its own features and other links counted more"
        return f", so that {rest}"
    is_number = what == "features" and any(not said.of for said in removed)
    return "; a removed number counts as average" if is_number else ""
