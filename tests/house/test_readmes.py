"""READMEs say what the code does, or a test fails."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

from tests.house.reference import PAGES
from tests.house.tables import (
    INSTRUMENTATION,
    READMES,
    ROOT,
    rendered,
    rendered_instrumentation,
)

SECTIONS = (
    "## What comes in",
    "## What goes out",
    "## Settings",
    "## Metrics",
    "## Add one",
    "## Example",
)


@pytest.mark.parametrize("readme", sorted(READMES))
def test_the_tables_of_a_readme_are_those_of_the_code(readme: str) -> None:
    assert (ROOT / readme).read_text(encoding="utf-8") == rendered(readme), "run `make docs`"


def test_the_table_of_stacks_is_that_of_the_facts() -> None:
    text = (ROOT / INSTRUMENTATION).read_text(encoding="utf-8")
    assert text == rendered_instrumentation(), "run `make docs`"


@pytest.mark.parametrize("name", sorted(PAGES))
def test_the_reference_is_that_of_the_code(name: str) -> None:
    text = (ROOT / "docs" / "reference" / f"{name}.md").read_text(encoding="utf-8")
    assert text == PAGES[name](), "run `make docs`"


@pytest.mark.parametrize("stage", ["collector", "scorers", "alerts", "clustering"])
def test_every_stage_readme_has_the_one_form(stage: str) -> None:
    text = (ROOT / stage / "README.md").read_text(encoding="utf-8")
    positions = [text.find(heading) for heading in SECTIONS]
    assert -1 not in positions
    assert positions == sorted(positions)


def every_module() -> list[str]:
    names = []
    for package in ("ragvigil", "collector", "scorers", "alerts", "clustering"):
        path = [str(ROOT / package)]
        names += [found.name for found in pkgutil.walk_packages(path, f"{package}.")]
    return sorted(names)


def source_of(module: str) -> str:
    path = ROOT / module.replace(".", "/")
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text("utf-8")


def test_the_examples_in_docstrings_are_true() -> None:
    # doctest reads what has no example as slowly as what has one: four modules of five.
    names = [name for name in every_module() if ">>> " in source_of(name)]
    modules = [importlib.import_module(name) for name in names]
    tried = {it.__name__: doctest.testmod(it, optionflags=doctest.ELLIPSIS) for it in modules}
    assert not [name for name, result in tried.items() if result.failed]
    assert all(result.attempted for result in tried.values())


def pages() -> list[str]:
    """Every page for people, by its path."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("*/README.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def test_links_of_a_page_lead_somewhere() -> None:
    broken = [
        f"{page}: {target}"
        for page in pages()
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", (ROOT / page).read_text("utf-8"))
        if not ((ROOT / page).parent / target).exists()
    ]
    assert not broken


def test_a_file_that_a_page_names_is_there() -> None:
    folders = "ragvigil|collector|scorers|alerts|clustering|tests|bench|deploy|docs|tools|examples"
    named = re.compile(rf"`((?:{folders})/[\w./-]+\.(?:py|md|toml|yml|yaml|sql))`")
    missing = [
        f"{page}: {name}"
        for page in pages()
        for name in named.findall((ROOT / page).read_text("utf-8"))
        if not (ROOT / name).exists()
    ]
    assert not missing


def test_the_front_page_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 1000


def test_every_public_module_says_what_it_is() -> None:
    for name in every_module():
        module = importlib.import_module(name)
        source = Path(module.__file__ or "")
        if source.name != "__init__.py" or source.read_text(encoding="utf-8").strip():
            assert module.__doc__, name
