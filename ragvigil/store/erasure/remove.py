"""Removes rows of traces from every table, and the files that held them.

Statements name ids by their hashes: the database keeps the text of its last statements in files.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ragvigil.store.engine.erased import ATTRIBUTES, Subject
from ragvigil.store.engine.errors import QueryFailed
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.retention import KEPT

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

HASHES_AT_ONCE = 5_000
"""Numbers in one statement: the database takes 256 KiB."""
ROUNDS = 3
"""A job that copies rows may have copied some while they were removed; then they go again."""
CHANGE_SECONDS = 3600.0
PARTS_SECONDS = 30.0
"""How long replaced parts may stay, which a long read may still hold."""
WAIT_SECONDS = 0.05
NO_PARTITION = "00000000"

Hashes = Sequence[int]


def traces_of(store: Store, subject: Subject, id_: str, until: int) -> list[str]:
    """Ids of the traces that name a user or session, received until then (seconds, epoch)."""
    if subject is Subject.TRACE:
        return [id_]
    parameters = {"kind": subject, "id": id_, "until": until, "pattern": ATTRIBUTES[subject]}
    rows = store.read("erasure_traces", parameters, priority=Priority.SCAN)
    return sorted(str(row["trace_id"]) for row in rows)


def golden_in_set(store: Store, trace_ids: Sequence[str]) -> tuple[str, ...]:
    """Ids of the cases of the golden set that were made of these traces."""
    return tuple(
        dict.fromkeys(
            str(row["case_id"])
            for part in _parts(hashes_of(store, trace_ids))
            for row in _read(store, "erasure_golden", hashes=part)
            if row["is_in_set"]
        )
    )


def hashes_of(store: Store, ids: Sequence[str]) -> list[int]:
    """The numbers that stand for ids in statements."""
    return _column(store, "erasure_hashes", ids=list(ids))


def remove(
    store: Store, trace_ids: Sequence[str], session: str, show: Callable[[str], None]
) -> dict[str, int]:
    """Removes every row of these traces, and feedback on this session; returns rows by table.

    `show` gets each step in words. Blocks until the embedded engine has no replaced part on the
    disk; a server removes them by itself. Raises QueryFailed where something is left.
    """
    removed: Counter[str] = Counter()
    for traces in _parts(hashes_of(store, trace_ids)) or [[]]:
        questions = _column(store, "erasure_questions", hashes=traces)
        removed += _remove_rows(store, _targets(store, traces, session), show)
        _blank(store, traces, questions)
    if not store.settings.url:
        show("waiting for replaced files to go")
        _drop_replaced(store, sorted({*removed, *BLANKED}))
    return dict(removed)


Targets = Mapping[tuple[str, str], Hashes]
"""By table and column: the hashes of the values whose rows go."""


def _targets(store: Store, traces: Hashes, session: str) -> Targets:
    """What goes: read before any of it is gone, because rows of one table lead to another's."""
    columns = _read(store, "erasure_columns", tables=[*KEPT.keys() - {"golden_cases"}])
    targets: dict[tuple[str, str], Hashes] = {
        (str(row["table"]), str(row["column"])): traces for row in columns
    }
    # Also feedback without the trace's id, which has columns of its own.
    targets["feedback", "feedback_id"] = _column(
        store, "erasure_feedback", hashes=traces, session=session
    )
    targets["documents", "hash"] = _column(store, "erasure_documents", hashes=traces)
    targets["root_causes", "issue_id"] = _column(store, "erasure_issues", hashes=traces)
    cases = [row for row in _read(store, "erasure_golden", hashes=traces) if not row["is_in_set"]]
    for table in ("golden_cases", "golden_events", "golden_runs"):
        targets[table, "case_id"] = [_number(row["hash"]) for row in cases]
    return {key: hashes for key, hashes in targets.items() if hashes}


def _remove_rows(store: Store, targets: Targets, show: Callable[[str], None]) -> Counter[str]:
    """Removes the rows; returns how many each table had."""
    removed: Counter[str] = Counter()
    for _ in range(ROUNDS):
        left = _counts(store, targets)
        if not left:
            return removed
        removed = removed or Counter(_by_table(left))
        show(f"removing rows of {', '.join(sorted(_by_table(left)))}")
        for table, column in left:
            _delete(store, table, column, targets[table, column])
        _wait_for_changes(store, sorted(_by_table(left)))
    if left := _counts(store, targets):
        tables = ", ".join(sorted(_by_table(left)))
        raise QueryFailed(f"rows of {tables} came back while they were removed; ask again")
    return removed


def _counts(store: Store, targets: Targets) -> Counter[tuple[str, str]]:
    """Rows by table and column, of those that have any."""
    counts: Counter[tuple[str, str]] = Counter()
    for (table, column), hashes in targets.items():
        for part in _parts(hashes):
            for row in _read(store, "erasure_rows", table=table, column=column, hashes=part):
                counts[table, column] += _number(row["rows"])
    return +counts


def _by_table(counts: Counter[tuple[str, str]]) -> dict[str, int]:
    """Rows by table: where two columns name the same rows, the larger count."""
    rows: dict[str, int] = {}
    for (table, _), count in counts.items():
        rows[table] = max(rows.get(table, 0), count)
    return rows


def _delete(store: Store, table: str, column: str, hashes: Hashes) -> None:
    for part in _parts(hashes):
        _change(store, table, f"DELETE WHERE cityHash64({column}) IN ({_listed(part)})")


BLANKED = ("acts", "findings", "topics")
"""Tables whose rows are of many traces, and stay without what was of these."""


def _blank(store: Store, traces: Hashes, questions: Hashes) -> None:
    """Takes ids and questions out of rows that stay."""
    if not traces:
        return
    ids = _listed(traces)
    _change(
        store,
        "acts",
        "UPDATE thing = 'traces/erased' "
        f"WHERE startsWith(thing, 'traces/') AND cityHash64(substring(thing, 8)) IN ({ids})",
    )
    _change(store, "findings", _filtered("traces", ids))
    for part in _parts(questions):
        _change(store, "topics", _filtered("examples", _listed(part)))
    _wait_for_changes(store, BLANKED)


def _filtered(column: str, hashes: str) -> str:
    return (
        f"UPDATE {column} = arrayFilter(x -> cityHash64(x) NOT IN ({hashes}), {column}) "
        f"WHERE arrayExists(x -> cityHash64(x) IN ({hashes}), {column})"
    )


def _change(store: Store, table: str, change: str) -> None:
    cluster = f" ON CLUSTER `{store.settings.cluster}`" if store.settings.cluster else ""
    store.change(f"ALTER TABLE {table}{cluster} {change}")


def _wait_for_changes(store: Store, tables: Sequence[str]) -> None:
    """Returns when every change is done. Raises QueryFailed where one cannot be made."""
    deadline = time.monotonic() + CHANGE_SECONDS
    while changes := [row for row in _running(store, tables) if row["is_change"]]:
        problem = next((str(row["problem"]) for row in changes if row["problem"]), "")
        if problem or time.monotonic() > deadline:
            raise QueryFailed(f"{changes[0]['table']} cannot be changed: {problem or 'it hangs'}")
        time.sleep(WAIT_SECONDS)


def _drop_replaced(store: Store, tables: Sequence[str]) -> None:
    deadline = time.monotonic() + PARTS_SECONDS
    while left := {str(row["table"]) for row in _running(store, tables)}:
        if time.monotonic() > deadline:
            raise QueryFailed(
                f"the rows are gone, but replaced parts of {', '.join(sorted(left))} are still on "
                "the disk: something reads them; ask again"
            )
        for table in left:
            # Of a partition that is not there: the engine then removes replaced parts at once.
            _change(store, table, f"DROP PARTITION ID '{NO_PARTITION}'")
        time.sleep(WAIT_SECONDS)


def _running(store: Store, tables: Sequence[str]) -> list[dict[str, object]]:
    return _read(store, "erasure_running", tables=list(tables))


def _read(store: Store, name: str, **parameters: object) -> list[dict[str, object]]:
    return store.read(name, parameters, priority=Priority.SCAN)


def _column(store: Store, name: str, **parameters: object) -> list[int]:
    return [_number(row["hash"]) for row in _read(store, name, **parameters)]


def _number(value: object) -> int:
    return int(str(value))


def _parts(hashes: Hashes) -> list[Hashes]:
    starts = range(0, len(hashes), HASHES_AT_ONCE)
    return [hashes[start : start + HASHES_AT_ONCE] for start in starts]


def _listed(hashes: Hashes) -> str:
    return ", ".join(str(int(each)) for each in hashes)
