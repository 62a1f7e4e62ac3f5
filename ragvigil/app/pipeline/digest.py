"""What the core tells its other parts of outcomes that are durable: counts, and chosen records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from alerts.deltas.score_counts import ScoreCounts
from alerts.notices.fingerprint import Fingerprint, fingerprint_of
from ragvigil.app.pipeline import metrics
from ragvigil.app.pipeline.score import Fresh
from ragvigil.model.outcome import Outcome, TraceOutcome
from ragvigil.store.records.traces import TraceRows

Chooses = Callable[[Outcome], bool]


@dataclass(slots=True, kw_only=True)
class Digest:
    """What is told of some outcomes.

    `kept` are those whose records somebody wants, `left_out` counts the records of others that
    local models had sampled. `prints` are fingerprints under the names of their records,
    `received` the times at which live traces came.
    """

    counts: ScoreCounts
    outcomes: Counter[TraceOutcome] = field(default_factory=Counter)
    kept: list[Outcome] = field(default_factory=list)
    left_out: int = 0
    prints: list[tuple[str, Fingerprint]] = field(default_factory=list)
    received: list[int] = field(default_factory=list)


class Digesting:
    """Gathers outcomes as they are made. `wants` and `samples` choose what `Digest` says."""

    def __init__(self, fails_below: Mapping[str, float], *, wants: Chooses, samples: Chooses):
        self._fails_below, self._wants, self._samples = fails_below, wants, samples
        self._digest = self._begin()

    def add(self, outcome: Outcome, known: Collection[str] = ()) -> None:
        """Takes an outcome; records in `known` were counted before."""
        digest, trace = self._digest, outcome.trace
        digest.outcomes[outcome.outcome] += 1
        digest.counts.add_outcome(outcome, known)
        digest.prints += prints_of(outcome)
        if not trace.backfill:
            digest.received.append(trace.received_unix_nano)
        if not outcome.records:
            return
        if self._wants(outcome):
            digest.kept.append(outcome)
        elif self._samples(outcome):
            digest.left_out += len(outcome.records)

    def take(self) -> Digest:
        """What was gathered; another one begins."""
        digest, self._digest = self._digest, self._begin()
        return digest

    def _begin(self) -> Digest:
        return Digest(counts=ScoreCounts(self._fails_below))


def gather(
    fresh: Sequence[Fresh],
    outcomes: Sequence[Outcome],
    rows: TraceRows,
    digesting: Digesting,
    now: float = 0.0,
) -> None:
    """Makes the rows of outcomes, those of the feedback that their traces brought, their digest.

    `fresh` are what the outcomes came of; `now` is a monotonic time, for the linger.
    """
    for outcome in outcomes:
        rows.add(outcome, now)
    for outcome in outcomes:
        if outcome.feedback:
            metrics.FEEDBACK.inc(len(outcome.feedback))
            rows.tell(outcome.feedback, outcome.trace.received_unix_nano)
    for (_, earlier), outcome in zip(fresh, outcomes, strict=True):
        digesting.add(outcome, earlier.record_ids if earlier else ())


def prints_of(outcome: Outcome) -> list[tuple[str, Fingerprint]]:
    """The fingerprints of an outcome's records, each under a name of its own."""
    return [
        (
            f"{one.record.trace_id} {one.record.record_id}",
            fingerprint_of(one.record, outcome.time_unix_nano),
        )
        for one in outcome.records
    ]
