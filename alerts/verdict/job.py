"""Looks once, after each confirmed drop of an audit, for the dimension that it goes with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from alerts.verdict.dimensions import DimensionSuspect, ScoredAnswer, dimension_suspects
from ragvigil.model.audit import Audit, AuditState, Pair, Side
from ragvigil.store.records.dimensions import RecordDimensions, dimensions
from ragvigil.store.watch import audits as stored

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

NAMED = 3
"""Most values that are told of an audit."""


class DimensionJob:
    """Reads the pairs of audits that ended with a drop, one audit a run, each of them once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._words: dict[str, tuple[str, ...]] = {}

    def run(self, audits: Sequence[Audit]) -> tuple[Audit, ...]:
        """The audits with the values that their drops go with, so far. Raises StoreError."""
        due = next(filter(self._is_due, audits), None)
        if due is not None:
            pairs = stored.pairs_of(self._store, due.audit_id)
            self._words[due.audit_id] = self._look(due, pairs)
        known = {audit.audit_id for audit in audits}
        self._words = {name: words for name, words in self._words.items() if name in known}
        return tuple(
            replace(audit, goes_with=self._words.get(audit.audit_id, ())) for audit in audits
        )

    def _is_due(self, audit: Audit) -> bool:
        is_dropped = audit.state is AuditState.DROPPED and not audit.is_running
        return is_dropped and audit.audit_id not in self._words

    def _look(self, audit: Audit, pairs: Sequence[Pair]) -> tuple[str, ...]:
        rubric = _deepest_drop(audit)
        sides = [side for pair in pairs for side in (pair.before, pair.after)]
        known = dimensions(self._store, [(side.trace_id, side.record_id) for side in sides])
        answers = [answer for side in sides if (answer := _answer(side, rubric, known)) is not None]
        suspects = dimension_suspects(answers, audit.anchor_unix_nano)
        return tuple(words(suspect) for suspect in suspects[:NAMED])


def words(suspect: DimensionSuspect) -> str:
    """A value that a drop goes with, in a line.

    >>> words(DimensionSuspect(dimension="prompt_version", value="v2", change=-0.22, t=-9.0,
    ...                        explains=0.8, lag_seconds=180.0))
    'prompt_version v2: 22 points worse than answers without it, 80 % of the drop, first seen \
3 min after the onset'
    """
    name = f"{suspect.dimension} {suspect.value}"
    twins = f"; cannot be told from {', '.join(suspect.inseparable)}" if suspect.inseparable else ""
    if suspect.coincides:
        return f"{name} coincides: nearly all answers have it since then, so none compare{twins}"
    worse, part = f"{-100 * suspect.change:.0f} points", f"{100 * suspect.explains:.0f} %"
    minutes = round(suspect.lag_seconds / 60)
    return (
        f"{name}: {worse} worse than answers without it, {part} of the drop, "
        f"first seen {minutes} min after the onset{twins}"
    )


def _deepest_drop(audit: Audit) -> str:
    drops = [result for result in audit.results if result.state is AuditState.DROPPED]
    return min(drops, key=lambda result: result.change or 0.0).rubric


def _answer(
    side: Side, rubric: str, known: dict[tuple[str, str], RecordDimensions]
) -> ScoredAnswer | None:
    record = known.get((side.trace_id, side.record_id))
    value = _value(side, rubric)
    if record is None or value is None:
        return None
    return ScoredAnswer(time_unix_nano=record.time_unix_nano, value=value, dimensions=record.values)


def _value(side: Side, rubric: str) -> float | None:
    values: Iterable[float | None] = (
        verdict.value for verdict in side.verdicts if verdict.rubric == rubric
    )
    return next(iter(values), None)
