"""Whole records, several at once."""

from __future__ import annotations

from ragvigil.store.engine.store import Store
from ragvigil.store.records import records
from ragvigil.store.records.traces import TraceRows
from tests.outcomes import NOW, SECOND, outcome_of

DAY = 86_400 * SECOND


def _write(store: Store) -> None:
    """Three traces of different days, the second with two records."""
    rows = TraceRows({})
    rows.add(outcome_of(1))
    rows.add(outcome_of(2, records=2, received=NOW - 3 * DAY, time_unix_nano=NOW - 3 * DAY))
    rows.add(outcome_of(3, route="/other", received=NOW - DAY, time_unix_nano=NOW - DAY))
    store.write(rows.take())


def test_several_records_are_what_their_traces_say_in_the_order_asked_for(store: Store) -> None:
    _write(store)
    whole = {
        (record["trace_id"], record["record_id"]): record
        for number in (1, 2, 3)
        for record in (records.trace(store, f"{number:032x}") or {})["records"]
    }
    assert len(whole) == 4
    keys = sorted(whole, reverse=True)
    read = records.several(store, [keys[2], keys[0], keys[2], ("f" * 32, "f" * 16)])
    assert list(read) == [keys[2], keys[0]]
    assert read == {key: whole[key] for key in read}


def test_several_of_nothing_is_nothing(store: Store) -> None:
    assert records.several(store, []) == {}
    assert records.several(store, [("f" * 32, "f" * 16)]) == {}
