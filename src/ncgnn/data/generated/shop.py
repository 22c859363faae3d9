"""Example tables of a fictional shop."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

_WORDS = {
    "garden": "hose rake trowel seed planter pruner soil watering hedge lawn compost bulb",
    "kitchen": "espresso whisk skillet kettle teapot grater peeler baking oven chopping spice mug",
    "music": "guitar violin drum ukulele keyboard capo tuner bow strings reed metronome score",
    "office": "stapler notebook binder pencil desk envelope printer ink calendar label folder whiteboard",
    "sport": "yoga dumbbell racket football cycling helmet running swimming goggles skipping climbing hockey",
}
_ANYWHERE = "set stand bag case holder cover light rack box clip mat strap gloves bottle refill"
_LOOKS = "small large black steel wooden green folding classic travel spare"
_BRANDS = {
    "garden": ("Verdo", "Fenn"),
    "kitchen": ("Fenn", "Molina"),
    "music": ("Arco", "Tamber"),
    "office": ("Paperline", "Molina"),
    "sport": ("Tamber", "Velo One"),
}
_DEPARTMENTS = tuple(_WORDS)
_PRICES = (18.0, 25.0, 60.0, 9.0, 35.0)  # typical price per department

_OLD, _NEW, _LABELLED = 800, 40, 520
_NEVER_BOUGHT = 6  # the last of the old products have no edges


def shop_tables(seed: int = 0) -> Mapping[str, pd.DataFrame]:
    """Generate tables of products and co-purchases, for this month and, with new products, for the next.

    A title contains words of its department, words of any department, or both; products are mostly bought with others
    of their department. ``shelf`` leaks the department: a product gets a shelf only after it has a department.
    """
    rng = np.random.default_rng(seed)
    department = _drawn(rng)
    products, orders = _products(department, rng), _orders(department, rng)
    now = orders[(orders[["product", "other"]] < products["product"][_OLD]).all(axis=1)]
    return {
        "products.csv": products[:_OLD],
        "bought-together.csv": now,
        "june-products.csv": products,
        "june-bought-together.csv": orders,
    }


def departments(seed: int = 0) -> list[str]:
    """The department of each old product, also of those without a label in the tables."""
    return [_DEPARTMENTS[number] for number in _drawn(np.random.default_rng(seed))[:_OLD]]


def _drawn(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(len(_DEPARTMENTS), size=_OLD + _NEW)


def _products(department: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    count = len(department)
    table = pd.DataFrame({"product": [_id(number) for number in range(count)]})
    known = np.isin(np.arange(count), rng.permutation(_OLD)[:_LABELLED])
    table["department"] = np.where(known, np.array(_DEPARTMENTS)[department], "")
    table["title"] = [_title(_DEPARTMENTS[number], rng) for number in department]
    table["brand"] = [_brand(_DEPARTMENTS[number], rng) for number in department]
    prices = np.round(np.array(_PRICES)[department] * rng.lognormal(0, 0.8, count), 2)
    table["price"] = np.where(rng.random(count) < 0.03, np.nan, prices)
    days = [*np.sort(rng.integers(0, 1230, _OLD)), *[1246] * _NEW]
    table["listed"] = (pd.Timestamp("2023-01-09") + pd.to_timedelta(days, unit="D")).strftime("%Y-%m-%d")
    table["shelf"] = np.where(known, np.array(list("GKMOS"))[department], "")
    return table


def _id(number: int) -> str:
    return f"P{number + 1:04d}"


def _title(department: str, rng: np.random.Generator) -> str:
    own = rng.choice(_WORDS[department].split(), rng.choice(3, p=(0.2, 0.55, 0.25)), replace=False)
    foreign = [rng.choice(_WORDS[rng.choice(_DEPARTMENTS)].split())] if rng.random() < 0.15 else []
    anywhere = rng.choice(_ANYWHERE.split(), 2 if len(own) == 0 else 1, replace=False)
    return " ".join([rng.choice(_LOOKS.split()), *own, *foreign, *anywhere]).capitalize()


def _brand(department: str, rng: np.random.Generator) -> str:
    known = [*_BRANDS[department], "", "Handy"]
    return str(rng.choice(known, p=(0.25, 0.2, 0.15, 0.4)))


def _orders(department: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Pairs of products and how often they were bought together; new products are paired with earlier ones."""
    rows = []
    bought = np.delete(np.arange(len(department)), np.arange(_OLD - _NEVER_BOUGHT, _OLD))
    for number, product in enumerate(bought[1:], 1):
        before = bought[:number]
        weight = np.where(department[before] == department[product], 8.0, 0.6)
        count = min(number, int(rng.integers(1, 5)))
        partners = rng.choice(before, count, replace=False, p=weight / weight.sum())
        rows += [(_id(product), _id(other), int(rng.geometric(0.4))) for other in np.sort(partners)]
    return pd.DataFrame(rows, columns=["product", "other", "orders"])
