"""What the other stages learn of outcomes once they are durable: counts, and chosen records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from alerts.deltas.score_counts import ScoreCounts
from alerts.notices.fingerprint import Fingerprint, fingerprint_of
from collector.assembly.refs import Closing
from ragvigil.app.pipeline import metrics
from ragvigil.app.pipeline.score import Unscored
from ragvigil.model.outcome import Outcome, TraceOutcome
from ragvigil.model.span import Trace
from ragvigil.store.records.traces import TraceRows

Chooses = Callable[[Outcome], bool]


@dataclass(slots=True, kw_only=True)
class OutcomeSummary:
    """Counts of some outcomes, and those that a judge, local models or an export may take.

    `kept` are outcomes with a record that somebody may take, `left_out` counts the records of
    others that local models had sampled. `fingerprints` stand under the names of their records;
    `received` holds the times at which live traces came, Unix nanoseconds. `gone` counts, by the
    seq of their frame, spans that were no longer in the spool when their trace closed, `not_kept`
    those that the settings leave out of the store.
    """

    counts: ScoreCounts
    outcomes: Counter[TraceOutcome] = field(default_factory=Counter)
    kept: list[Outcome] = field(default_factory=list)
    left_out: int = 0
    fingerprints: list[tuple[str, Fingerprint]] = field(default_factory=list)
    received: list[int] = field(default_factory=list)
    gone: Counter[int] = field(default_factory=Counter)
    not_kept: Counter[int] = field(default_factory=Counter)


class Rates(NamedTuple):
    """The share of records for local models, and the highest at which a route is judged."""

    local: float
    boost: float = 0.0


class Summarizer:
    """Summarizes outcomes as they are made; `wants` and `samples` choose which are kept."""

    def __init__(self, fails_below: Mapping[str, float], *, wants: Chooses, samples: Chooses):
        self._fails_below, self._wants, self._samples = fails_below, wants, samples
        self._summary = self._empty()

    def add(self, outcome: Outcome, counted: Collection[str] = ()) -> None:
        """Adds an outcome; records with an id in `counted` were counted before."""
        summary, trace = self._summary, outcome.trace
        summary.outcomes[outcome.outcome] += 1
        summary.counts.add_outcome(outcome, counted)
        summary.fingerprints += fingerprints_of(outcome)
        # A backfill says nothing of how long a trace waits for its rows.
        if not trace.backfill:
            summary.received.append(trace.received_unix_nano)
        if not outcome.records:
            return
        if self._wants(outcome):
            summary.kept.append(outcome)
        elif self._samples(outcome):
            summary.left_out += len(outcome.records)

    def add_gone(self, closing: Closing, trace: Trace) -> None:
        """Adds the spans of a closing that its trace lacks."""
        if trace.generation < len(closing.refs):
            there = {span.span_id for span in trace.spans}
            self._summary.gone.update(
                ref.seq for ref in closing.refs if ref.span_id.hex() not in there
            )

    def add_not_kept(self, closing: Closing, outcome: Outcome) -> None:
        """Adds the spans that this closing brought and that the settings leave out."""
        plain, kept = outcome.trace.plain, outcome.kept
        if kept is None or (plain is not None and plain.rows):
            return
        left = Counter(ref.seq for ref in closing.refs if ref.span_id.hex() not in kept)
        # Of a later generation only the new spans: the others were counted with an earlier one.
        self._summary.not_kept += left & Counter(closing.stored)

    def take(self) -> OutcomeSummary:
        """Returns the summary and begins the next."""
        summary, self._summary = self._summary, self._empty()
        return summary

    def _empty(self) -> OutcomeSummary:
        return OutcomeSummary(counts=ScoreCounts(self._fails_below))


def gather(
    unscored: Sequence[Unscored],
    outcomes: Sequence[Outcome],
    rows: TraceRows,
    summarizer: Summarizer,
    now: float = 0.0,
) -> None:
    """Adds outcomes to the rows and to the summary, with the feedback that their traces brought.

    `unscored` are the closings that the outcomes were made of; `now` is a monotonic time, from
    which the rows' linger counts.
    """
    for outcome in outcomes:
        rows.add(outcome, now)
    for outcome in outcomes:
        if outcome.feedback:
            metrics.FEEDBACK.inc(len(outcome.feedback))
            rows.add_feedback(outcome.feedback, outcome.trace.received_unix_nano)
    for (closing, earlier), outcome in zip(unscored, outcomes, strict=True):
        summarizer.add(outcome, earlier.record_ids if earlier else ())
        summarizer.add_gone(closing, outcome.trace)
        summarizer.add_not_kept(closing, outcome)


def fingerprints_of(outcome: Outcome) -> list[tuple[str, Fingerprint]]:
    """The fingerprints of an outcome's records, each under a name of its own."""
    return [
        (
            f"{scored.record.trace_id} {scored.record.record_id}",
            fingerprint_of(scored.record, outcome.time_unix_nano),
        )
        for scored in outcome.records
    ]
