"""Tables of papers on two topics, as a person might have them, and what lies in a folder."""

from pathlib import Path

QUICK = ["--set", "num_capsules=2", "--set", "primary_channels=8", "--set", "class_channels=4", "--set", "lr=0.02"]
FILES = ["history.csv", "model.safetensors", "predictions.csv", "report.md", "run.json"]


def node_rows(numbers: range, topics: bool = True) -> list[dict[str, str]]:
    """Text ids with leading zeros, a label that is blank in every fifth row, a category, a category that looks like a
    number, two numbers, and a column that is no feature."""
    rows = []
    for i in numbers:
        topic = "" if i % 5 == 3 else ("graphs", "logic, old")[i % 2]
        row = {"paper": f"{i:03d}", "topic": topic, "venue": ("KDD", "LICS", "FOCS")[i % 2 + (i % 10 == 1)]}
        row |= {"group": str(7 + i % 2), "pages": str(5 + i % 7), "cited": str(i * 7 % 11 / 4), "note": f"see {i}"}
        rows.append(row if topics else {key: value for key, value in row.items() if key != "topic"})
    return rows


def write_csv(path: Path, rows: list[dict[str, str]]) -> None:
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    path.write_text("".join(",".join(f'"{value}"' for value in line) + "\n" for line in lines))


def write_tables(folder: Path, numbers: range, topics: bool = True) -> None:
    """A pair of tables ``nodes.csv`` and ``edges.csv``: papers cite others on the same topic, with few exceptions."""
    folder.mkdir(exist_ok=True)
    write_csv(folder / "nodes.csv", node_rows(numbers, topics))
    pairs = [(i, j) for i in numbers for j in (i + 2, i + 4, i + 9 if i % 7 == 0 else i) if j in numbers and i != j]
    write_csv(folder / "edges.csv", [{"from": f"{i:03d}", "to": f"{j:03d}"} for i, j in pairs])


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with its bytes, hidden ones too, and every folder."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
