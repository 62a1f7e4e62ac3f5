"""A module stays under 400 lines, a function under 40, a class under 10 public methods."""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = ("ragvigil", "collector", "scorers", "alerts", "clustering", "tools", "examples", "bench")
BANNED_NAMES = {"utils", "helpers", "common", "base", "manager", "misc", "handler"}

# Each with its reason; this list may only shrink.
EXEMPT: dict[str, str] = {}


def modules() -> list[Path]:
    return [path for folder in CODE for path in sorted((ROOT / folder).rglob("*.py"))]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a module; kept, because several tests walk all modules."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    first = node.body[0]
    has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = (first.end_lineno or 0) - first.lineno + 1 if has_docstring else 0
    return (node.end_lineno or 0) - node.lineno + 1 - docstring


def public_methods(node: ast.ClassDef) -> list[str]:
    """Methods that are no properties and begin with no underscore."""
    return [
        item.name
        for item in node.body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
        and not item.name.startswith("_")
        and "property" not in map(ast.unparse, item.decorator_list)
    ]


def test_every_module_is_small() -> None:
    lines = {name(path): len(path.read_text("utf-8").splitlines()) for path in modules()}
    assert not {key: n for key, n in lines.items() if n >= 400 and key not in EXEMPT}


def test_every_module_has_a_name_that_says_something() -> None:
    assert not [name(path) for path in modules() if path.stem in BANNED_NAMES]


def test_every_function_is_short() -> None:
    lines = {
        f"{name(path)}:{node.name}": length(node) for path in modules() for node in functions(path)
    }
    assert not {key: n for key, n in lines.items() if n >= 40 and key not in EXEMPT}


def test_every_class_has_few_public_methods() -> None:
    public = {
        f"{name(path)}:{node.name}": public_methods(node)
        for path in modules()
        for node in nodes(path)
        if isinstance(node, ast.ClassDef)
    }
    assert not {key: methods for key, methods in public.items() if len(methods) >= 10}


def test_the_median_function_is_under_ten_lines() -> None:
    lengths = [length(node) for path in modules() for node in functions(path)]
    assert statistics.median(lengths) < 10


def test_no_exemption_is_out_of_date() -> None:
    for key in EXEMPT:
        assert (ROOT / key.partition(":")[0]).exists(), key
