"""A folder has room for at most 30 modules, and no two folders import each other."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("ragvigil", "collector", "scorers", "alerts", "clustering")
MOST_MODULES, MOST_IN_APP = 30, 12

# Pairs of folders that import each other, each with its reason; this list may only shrink.
CIRCLES: dict[frozenset[str], str] = {}


def modules() -> list[Path]:
    return [path for folder in PACKAGES for path in sorted((ROOT / folder).rglob("*.py"))]


def folder_of(path: Path) -> str:
    return str(path.parent.relative_to(ROOT))


@cache
def paths_by_name() -> dict[str, Path]:
    """Every module's path by its dotted name; a package is its `__init__.py`."""
    found = {}
    for path in modules():
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path) -> Iterator[Path]:
    """The product's modules that a module imports, those under TYPE_CHECKING included."""
    known = paths_by_name()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from package import module` names a module, `from module import name` does not.
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in known else node.module for name in inside]
        yield from (known[name] for name in names if name in known)


@pytest.mark.parametrize("folder", sorted({folder_of(path) for path in modules()}))
def test_a_folder_has_room(folder: str) -> None:
    inside = [path.stem for path in modules() if folder_of(path) == folder]
    assert len(inside) <= MOST_MODULES, f"{folder} has {len(inside)} modules: {inside}"


def test_the_composition_root_is_small() -> None:
    assert Counter(map(folder_of, modules()))["ragvigil/app"] <= MOST_IN_APP


def test_no_two_folders_import_each_other() -> None:
    edges: dict[tuple[str, str], str] = defaultdict(str)
    for path in modules():
        for target in imported(path):
            if folder_of(target) != folder_of(path):
                line = f"{path.relative_to(ROOT)} -> {target.relative_to(ROOT)}\n"
                edges[folder_of(path), folder_of(target)] += line
    circles = {frozenset(pair) for pair in edges if pair[::-1] in edges}
    lines = [edges[pair] for pair in edges if frozenset(pair) in circles - set(CIRCLES)]
    assert circles <= set(CIRCLES), "".join(lines)
    assert set(CIRCLES) <= circles, "an exemption is no longer needed"


def test_a_module_that_calls_itself_pure_does_not_import_the_store() -> None:
    for path in modules():
        promise = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if " Pure." in promise.partition("\n\n")[0]:
            stored = [target for target in imported(path) if "store" in target.parts]
            assert not stored, f"{path.relative_to(ROOT)} calls itself pure and imports {stored}"


def test_unit_tests_lie_where_their_code_lies() -> None:
    unit = ROOT / "tests" / "unit"
    folders = {path.parent.relative_to(unit) for path in unit.rglob("test_*.py")}
    assert [str(folder) for folder in sorted(folders) if not (ROOT / folder).is_dir()] == []
