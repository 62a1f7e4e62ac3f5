"""The project speaks of itself alone, and says nothing twice."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = re.compile(r"/work/|/root/|/opt/pypi|\.library\b|\.mirror\b")


def committed() -> list[Path]:
    """Every text file that git knows, the tests' own data left out."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = [ROOT / line for line in listed.stdout.splitlines()]
    return [
        path
        for path in paths
        if path.suffix in {".py", ".md", ".toml", ".yml", ".yaml", ".sql", ".txt", ""}
        and path.is_file()
        and path != Path(__file__)
    ]


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    for path in committed():
        found = FOREIGN.search(path.read_text(encoding="utf-8", errors="replace"))
        assert not found, f"{path.relative_to(ROOT)}: {found}"


def test_no_error_is_swallowed() -> None:
    for path in committed():
        if path.suffix == ".py" and "tests" not in path.parts:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ExceptHandler):
                    place = f"{path.relative_to(ROOT)}:{node.lineno}"
                    assert node.type is not None, f"{place}: a bare except"
                    assert not isinstance(node.body[0], ast.Pass), f"{place}: an error is swallowed"
