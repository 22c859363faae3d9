"""The options that divide the labelled nodes of a graph."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ncgnn.errors import InputError

if TYPE_CHECKING:
    from torch_geometric.data import Data

PANEL = "Split"
_ENOUGH_TO_SET_ASIDE = 100  # validation nodes: fifty still choose the weights well enough
PerClass = Annotated[int | None, typer.Option(help="Number of training nodes per class.", rich_help_panel=PANEL)]
Val = Annotated[
    int | None,
    typer.Option(help="Number of validation nodes (with --per-class only); default: 500.", rich_help_panel=PANEL),
]
Fractions = Annotated[
    tuple[float, float] | None,
    typer.Option(
        metavar="TRAIN VAL", help="Fractions of each class for training and validation.", rich_help_panel=PANEL
    ),
]


@dataclass(frozen=True)
class SplitRule:
    """How the labelled nodes are divided."""

    per_class: int | None
    val: int | None
    fractions: tuple[float, float] | None

    def apply(self, data: "Data", number: int) -> "Data":
        from ncgnn.data import split_stratified, usual_split

        if self.per_class is not None and self.fractions is not None:
            raise InputError("--per-class and --fractions are mutually exclusive")
        if self.val is not None and self.per_class is None:
            raise InputError(
                "--val requires --per-class; with --fractions, the second number is the validation fraction"
            )
        if self.per_class is not None:
            return self._per_class(data, self.per_class, number)
        if self.fractions is not None:
            return split_stratified(data, *self.fractions, seed=number)
        return usual_split(data, number)

    def _per_class(self, data: "Data", per_class: int, number: int) -> "Data":
        from ncgnn.data import split_per_class

        val = 500 if self.val is None else self.val
        try:
            return split_per_class(data, per_class, val, number)
        except InputError as error:
            raise InputError(f"{error} (--per-class {per_class}, --val {val})") from None


def with_aside(data: "Data", share: float | None, number: int, is_own: bool) -> "Data":
    """The split with nodes set aside for calibration, as asked or, in a graph of one's own, where there are enough."""
    from ncgnn.data import set_aside

    if share is None:
        share = 0.5 if is_own and int(data.val_mask.sum()) >= _ENOUGH_TO_SET_ASIDE else 0.0
    return set_aside(data, share, number) if share else data
