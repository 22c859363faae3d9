"""What the code promises about its own shape, read from its syntax trees."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "ncgnn"


def functions_calling(method: str) -> set[str]:
    """The functions that call ``method``, written as its last names, as module:function."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(calls(inner, method) for inner in ast.walk(node)):
                found.add(f"{path.relative_to(SOURCE)}:{node.name}")
    return found


def calls(node: ast.AST, method: str) -> bool:
    return isinstance(node, ast.Call) and f".{ast.unparse(node.func)}".endswith(f".{method}")


def test_one_function_trains():
    assert functions_calling("backward") == {"train/loop.py:step"}
    assert functions_calling("optimizer.step") == {"train/loop.py:step"}
