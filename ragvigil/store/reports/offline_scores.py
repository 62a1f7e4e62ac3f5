"""Scores of golden sets that were asked before a release, and the live ones beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import TIMES_AS_NUMBERS, nanos, table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

LIVE_ANSWERS = 50_000
"""Live answers that are read, about; the mean of more is no truer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineScore:
    """One value of one case. The rubric '' is 1 where the case passed.

    `question` is equal for paraphrases, and no text. `sender` is who sent it.
    """

    run_id: str
    ran_unix_nano: int
    set_name: str
    set_hash: str
    target: str
    release: str
    service: str
    environment: str
    route: str
    case_id: str
    question: str
    condition: str
    reading: str
    rubric: str
    value: float
    sender: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineRun:
    """What was run, and how many of its cases failed."""

    run_id: str
    ran_unix_nano: int
    set_name: str
    set_hash: str
    target: str
    release: str
    sender: str
    cases: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Scores of a rubric on a route: how many, their sum and that of their squares.

    `questions` is how many different ones were asked.
    """

    service: str
    environment: str
    route: str
    rubric: str
    n: int
    total: float
    squares: float
    questions: int


SCORES = table("offline_scores", OfflineScore)


def write(store: Store, now: int, scores: Iterable[OfflineScore]) -> None:
    """Stores scores; those of a case that is sent again replace the others. `now` in nanoseconds.

    Raises StoreError.
    """
    rows = SCORES.rows(scores, written=nanos(now), replica=store.replica, epoch=store.epoch)
    if rows:
        batch = {"offline_scores": rows}
        store.write(Batch(rows=batch, token=token_of("offline", *batch.items())))


def runs(store: Store, *, run_id: str = "", limit: int = 100) -> list[OfflineRun]:
    """The newest runs, newest first; that of an id alone. Raises StoreError."""
    parameters = {"run_id": run_id, "limit": limit}
    rows = store.read("offline_runs", parameters, formats=TIMES_AS_NUMBERS)
    return [OfflineRun(ran_unix_nano=row.pop("ran"), **row) for row in rows]


def offline(store: Store, run_id: str) -> list[Sums]:
    """The sums of a run, each question once. Raises StoreError."""
    rows = store.read("offline_sums", {"run_id": run_id})
    return [Sums(**row, questions=row["n"]) for row in rows]


def live(
    store: Store,
    since: int,
    release: str,
    services: Collection[str],
    rubrics: Collection[str],
) -> list[Sums]:
    """The sums of live answers since a time (seconds) in a release, or in any for ''.

    Of a rubric whose version changed meanwhile, those of the newest. Raises StoreError.
    """
    asked = {"since": since, "release": release, "services": sorted(services)}
    counted = store.read("live_answers_counted", asked, priority=Priority.SCAN)
    answers = int(counted[0]["answers"])
    if not answers:
        return []
    share = round(1e6 * min(1.0, LIVE_ANSWERS / answers))
    parameters = {**asked, "rubrics": sorted(rubrics), "per_million": share}
    newest: dict[tuple[str, ...], Sums] = {}
    for row in store.read("live_sums", parameters, priority=Priority.SCAN):
        names = {name: row[name] for name in ("service", "environment", "route", "rubric")}
        numbers = {name: row[name] for name in ("n", "total", "squares", "questions")}
        newest[tuple(names.values())] = Sums(**names, **numbers)
    return list(newest.values())
