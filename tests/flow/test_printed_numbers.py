"""What a command prints of a store is what the page of the same thing says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx2
import pytest

from ragvigil.store.engine.store import Store
from tests.patience import PATIENCE_SECONDS
from tests.served_api import Commands, commands
from tests.triage_store import desk
from tests.triage_watch import FAULTY, ROUTES, State

pytestmark = pytest.mark.slow

FIGURE = re.compile(r"(?<![\w#./:-])[−+]?\d+(?:\.\d+)?(?![\w:/-])")
"""A number that stands alone: no part of a name, a version or a time."""


@pytest.fixture
def printing(store: Store, tmp_path: Path) -> Iterator[Commands]:
    with commands(desk(store, State.ALARM).app, tmp_path) as ragvigil:
        yield ragvigil


def page(ragvigil: Commands, path: str) -> str:
    """The words of a page."""
    html = httpx2.get(f"http://127.0.0.1:{ragvigil.port}{path}", timeout=PATIENCE_SECONDS).text
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def figures(text: str) -> set[str]:
    return set(FIGURE.findall(text))


def test_the_figures_of_an_incident(printing: Commands) -> None:
    (name,) = re.findall(r"^([0-9a-f]{12}) ", printing.say("incidents", "list"), re.M)
    printed = printing.say("incidents", "show", name).partition("what was done")[0]
    worse = re.sub(r"\[.*?\]|^Traces.*$", "", printed, flags=re.M)
    assert {"24", "100", "30", "31", "8"} <= figures(worse)
    assert figures(worse) - figures(page(printing, f"/incidents/{name}")) == set()


@pytest.mark.parametrize("route", ROUTES)
def test_the_figures_of_a_route(printing: Commands, route: str) -> None:
    lines = [line for line in printing.say("deltas", "--all").splitlines() if f" {route} " in line]
    # The page draws the interval, and the level before.
    drawn = r"\[.*?\]|fell .*|(?<=\d\.\d\d) +\d\.\d\d"
    cells = [re.sub(drawn, "", line.partition(route)[2]) for line in lines]
    rows = [figures(row) for row in cells]
    assert len(rows) >= 2
    shown = figures(page(printing, f"/routes?service=helpdesk&environment=demo&route={route}"))
    assert [row - shown for row in rows] == [set()] * len(rows)


def test_the_headline_of_why_is_that_of_the_front_page(printing: Commands) -> None:
    (share,) = re.findall(r"^\d+ of \d+ answers", printing.say("why"))
    assert FAULTY in printing.say("why")
    assert share in page(printing, "/")
