"""Accepted rubrics outlive their rows' time, and no start writes more than it must."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragvigil.app.sources.rubrics import RENEWED_DAYS, AcceptedRubrics
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import accepted_rubrics
from ragvigil.store.scores.accepted_rubrics import AcceptedRubric
from scorers.rubric import use_accepted
from tests.outcomes import NOW, SECOND

DAY = 86_400 * SECOND
TEXT = """name = "says_hello"
layer = "generation"
version = "1"
scale = "0..1"
needs = ["answer"]
description = "Whether the answer greets."
fails_below = 1.0

[pattern]
of = "answer"
matches = "hello"
fails = "without"
"""


@pytest.fixture(autouse=True)
def _forgets() -> Iterator[None]:
    yield
    use_accepted(())


def written(store: Store) -> int:
    (row,) = store.read("accepted_rubrics_find", {"with_removed": 0}, formats={"DateTime*": "int"})
    return int(row["written"])


def test_a_row_is_written_anew_once_in_thirty_days_and_not_at_each_start(store: Store) -> None:
    accepted = NOW - 300 * DAY
    row = AcceptedRubric(
        name="says_hello", text=TEXT, accepted_by="ann", accepted_unix_nano=accepted
    )
    accepted_rubrics.write(store, row, NOW - (RENEWED_DAYS + 1) * DAY)
    AcceptedRubrics(store, lambda: NOW / SECOND).load()
    first = written(store)
    assert abs(first - NOW) < SECOND
    AcceptedRubrics(store, lambda: NOW / SECOND + 86_400).load()
    assert written(store) == first
    (kept,) = accepted_rubrics.find(store)
    assert kept.accepted_unix_nano == accepted
