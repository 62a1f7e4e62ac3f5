"""Values of a dataclass as rows of its table, and back; what a missing column is."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import pytest

import ragvigil.store
from ragvigil.store.engine.columns import Columns
from ragvigil.store.engine.errors import QueryFailed, SchemaMismatch
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.retention import KEPT
from ragvigil.store.engine.store import Store
from ragvigil.store.engine.table import MOST_NANOS, Table, declared
from ragvigil.store.records import ledger


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: str
    size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One field of each kind."""

    thing_id: str
    made_unix_nano: int
    colour: Colour
    part: Part
    seen_unix_nano: tuple[int, ...] = ()
    second: Colour | None = None
    is_new: bool = False
    is_known: bool | None = None
    colours: tuple[Colour, ...] = ()
    numbers: tuple[float, ...] = ()
    parts: tuple[Part, ...] = ()
    grades: tuple[tuple[str, int], ...] = ()
    evidence: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A settled frame."""

    seq: int
    received_unix_nano: int = 1_795_000_000 * 10**9
    spans: int = 1
    stored: int = 1
    duplicate: int = 0
    quarantined: int = 0
    lost: int = 0
    not_kept: int = 0


THINGS = Table("things", Thing, columns={"made_unix_nano": "born"})
FULL = Thing(
    thing_id="t",
    made_unix_nano=7,
    colour=Colour.RED,
    part=Part(name="lid", size=2),
    seen_unix_nano=(1, 2),
    second=Colour.BLUE,
    is_new=True,
    is_known=False,
    colours=(Colour.BLUE, Colour.RED),
    numbers=(0.5, 1.0),
    parts=(Part(name="a"), Part(name="b", size=3)),
    grades=(("x", 1),),
    evidence={"share": 0.5},
)


def test_a_field_stands_in_the_column_of_its_name() -> None:
    rows = THINGS.rows([FULL], written=9)
    assert dict(zip(rows.columns, rows.values[0], strict=True)) == {
        "thing_id": "t",
        "born": 7,
        "colour": "red",
        "name": "lid",
        "size": 2,
        "seen": [1, 2],
        "second": "blue",
        "is_new": 1,
        "is_known": 0,
        "colours": ["blue", "red"],
        "numbers": [0.5, 1.0],
        "parts": '[{"name": "a", "size": null}, {"name": "b", "size": 3}]',
        "grades": '[["x", 1]]',
        "evidence": '{"share": 0.5}',
        "written": 9,
    }


@pytest.mark.parametrize(
    "thing",
    [FULL, Thing(thing_id="", made_unix_nano=0, colour=Colour.BLUE, part=Part(name=""))],
)
def test_what_was_written_is_what_is_read(thing: Thing) -> None:
    rows = THINGS.rows([thing])
    assert THINGS.value(dict(zip(rows.columns, rows.values[0], strict=True))) == thing


def test_a_time_that_no_column_can_hold_is_the_nearest_that_it_can() -> None:
    part = Part(name="")
    far = Thing(thing_id="", made_unix_nano=2**70, colour=Colour.RED, part=part)
    early = Thing(thing_id="", made_unix_nano=-5, colour=Colour.RED, part=part)
    assert [row[1] for row in THINGS.rows([far, early]).values] == [MOST_NANOS, 0]


def test_a_field_without_a_column_is_refused_in_one_sentence(opened_store: Store) -> None:
    def check(client: object) -> None:
        Columns.read(client).check({"issues": {"harm": "Issue.harm"}})  # type: ignore[arg-type]

    with pytest.raises(Exception, match=r"Issue\.harm has no column: a migration must add harm to"):
        opened_store._ask("check", check, Priority.SCAN)


def test_a_row_with_an_unknown_column_is_never_sent() -> None:
    with pytest.raises(SchemaMismatch, match=r"issues\.harm has no column"):
        Columns({"issues": {"issue_id": "String"}}).types("issues", ("issue_id", "harm"))


COUNTED_BY_STATEMENTS = {
    "rollups", "proxy_rollups", "signal_minutes", "fingerprint_minutes", "judged_sums",
    "question_sums", "slice_sums",
}  # fmt: skip
"""Tables whose rows a statement makes of other rows."""


def test_all_that_is_written_has_a_column_and_an_age(opened_store: Store) -> None:
    for module in pkgutil.walk_packages(ragvigil.store.__path__, "ragvigil.store."):
        importlib.import_module(module.name)

    def check(client: object) -> None:
        Columns.read(client).check()  # type: ignore[arg-type]

    opened_store._ask("check", check, Priority.SCAN)
    assert set(declared) | COUNTED_BY_STATEMENTS == set(KEPT)


def test_a_query_that_leaves_out_a_field_is_named(store: Store) -> None:
    store.write(ledger.batch([Frame(seq=1)]))
    with pytest.raises(QueryFailed, match=r"ledger_sums.sql gives no column 'thing_id'"):
        THINGS.read(store, "ledger_sums", {"replica": ""})


def test_a_table_of_one_field_writes_rows_of_one_value() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Name:
        text: str

    rows = Table("ledger", Name).rows([Name(text="ab")], written=1)
    assert rows.columns == ("text", "written")
    assert rows.values == [("ab", 1)]
