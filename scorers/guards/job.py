"""Scores answers by rubrics with a pattern, a minute after they were stored.

Patterns come and go while the daemon runs, so they are no scorers of the pipeline: a turn reads
the answers of the minutes that changed and that no pattern has scored yet.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from ragvigil.model.clock import Clock
from ragvigil.model.score import Kind, Score
from ragvigil.store.issues import checkpoints
from ragvigil.store.issues.failing_changes import minutes_changed
from ragvigil.store.scores import judged
from ragvigil.store.scores.accepted_rubrics import unscored
from scorers.absence import first_absent
from scorers.metrics import GUARDED
from scorers.pattern_table import NEEDS, FailsWhere, text_of
from scorers.rubric import Rubric, load_rubrics

if TYPE_CHECKING:
    from ragvigil.model.record import RagRecord
    from ragvigil.store.engine.store import Store
    from scorers.judge.job import Deliver

log = structlog.get_logger()

READER = "guards"
NANOS = 10**9
FIRST_SECONDS, OVERLAP_NANOS = 600, 120 * NANOS
"""How far back the first turn of all begins; and how late the version of a minute may be stored."""
AT_ONCE, MOST = 200, 2000
"""Records that are read in one query, and in one turn; the next turn goes on."""
SCORER = "Pattern"


class PatternScoring:
    """`run` is called by one thread; `deliver` makes the scores durable."""

    def __init__(self, store: Store, deliver: Deliver, clock: Clock = time.time) -> None:
        self._store, self._deliver, self._clock = store, deliver, clock
        self._version: int | None = None

    def run(self) -> int:
        """Scores the answers since the last turn; returns how many. Raises StoreError."""
        rubrics = [rubric for rubric in load_rubrics().values() if rubric.pattern is not None]
        if not rubrics:
            self._version = None
            return 0
        if self._version is None:
            known = checkpoints.position(self._store, READER) or 0
            # Answers of long ago are not scored by a pattern of today.
            self._version = max(known, int((self._clock() - FIRST_SECONDS) * NANOS))
        versions = minutes_changed(self._store, self._version - OVERLAP_NANOS)
        names = [rubric.name for rubric in rubrics]
        keys = unscored(self._store, list(versions), names, MOST)
        for start in range(0, len(keys), AT_ONCE):
            self._score(keys[start : start + AT_ONCE], rubrics)
        if len(keys) < MOST and versions:
            self._version = max(self._version, *versions.values())
            checkpoints.mark(self._store, READER, self._version, int(self._clock() * NANOS))
        return len(keys)

    def _score(self, keys: Sequence[judged.Key], rubrics: Sequence[Rubric]) -> None:
        stored = judged.read(self._store, keys).values()
        verdicts = [
            (each, [pattern_score(rubric, each.record) for rubric in rubrics]) for each in stored
        ]
        if verdicts:
            self._deliver(verdicts)
        for _, scores in verdicts:
            for score in scores:
                result = "none" if score.value is None else "fails" if score.label else "passes"
                GUARDED.labels(score.rubric, result).inc()


def pattern_score(rubric: Rubric, record: RagRecord) -> Score:
    """The score by a rubric with a pattern: 1 where the record passes, 0 where it fails.

    Not applicable where the text is not known, or the request itself failed.
    """
    table = rubric.pattern
    assert table is not None, rubric.name
    missing, reason = first_absent(record, NEEDS[table.field])
    text = text_of(record, table.field)
    if missing:
        score = Score.not_applicable(rubric.name, reason, absent=missing)
    elif text is None:
        score = Score.not_applicable(rubric.name, f"the record has no {table.field}")
    else:
        fails = table.fails_on(text)
        matches = fails is (table.fails is FailsWhere.MATCHES)
        score = Score(
            rubric=rubric.name,
            value=0.0 if fails else 1.0,
            label=table.fails.value if fails else "",
            explanation=f"the {table.field} {'matches' if matches else 'lacks'} {table.matches}",
        )
    return replace(score, layer=rubric.layer, scorer=SCORER, version=rubric.version, kind=Kind.CODE)
