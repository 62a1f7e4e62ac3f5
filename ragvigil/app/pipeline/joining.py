"""Scores traces anew whose spans came to several daemons, from the spans that all have stored."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

import structlog

from collector.assembly.refs import Closing
from ragvigil.app.pipeline import metrics
from ragvigil.app.pipeline.score import RecordContext, TraceScorer, Unscored
from ragvigil.model.outcome import Outcome
from ragvigil.model.span import Closed
from ragvigil.store.engine.errors import QueryFailed, Unavailable
from ragvigil.store.engine.store import Store
from ragvigil.store.fleet import late
from ragvigil.store.records import span_samples

log = structlog.get_logger()

AT_ONCE = 16
BACK_SECONDS = 2 * 3600
"""Spans of so long ago are read: a trace is open for ten minutes, and late for ten more."""


class Joining:
    """Takes the ids of traces from a job, and makes outcomes of them in the pipeline's thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # Appends and pops of a deque are safe from several threads.
        self._waiting: deque[tuple[str, int]] = deque()

    def offer(self, trace_ids: Iterable[str], now: int) -> None:
        """Adds traces to put together; `now` is in seconds since the epoch."""
        self._waiting.extend((trace_id, now - BACK_SECONDS) for trace_id in trace_ids)

    @property
    def is_waiting(self) -> bool:
        """Whether any trace waits to be put together."""
        return bool(self._waiting)

    def take(self) -> list[tuple[str, int]]:
        """Some of those that wait: ids, and since when (seconds) their spans were received."""
        return [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]

    def outcomes(
        self, taken: Sequence[tuple[str, int]], scorer: TraceScorer, context: RecordContext
    ) -> tuple[list[Unscored], list[Outcome]]:
        """The outcome of each trace that is not complete yet, beside a closing without spans.

        What the pipeline holds of these traces must be stored before. While the store does not
        answer, there are none, and they wait on; those that it cannot read stay as they are.
        """
        try:
            return self._outcomes(taken, scorer, context)
        except Unavailable:
            self._waiting.extend(taken)
        except QueryFailed as error:
            log.warning("traces were not joined", traces=len(taken), error=str(error))
        return [], []

    def _outcomes(
        self, taken: Sequence[tuple[str, int]], scorer: TraceScorer, context: RecordContext
    ) -> tuple[list[Unscored], list[Outcome]]:
        ids, since = [trace_id for trace_id, _ in taken], min(since for _, since in taken)
        keeps_all = self._store.settings.spans == "all"
        split = late.split_traces(self._store, ids, since)
        open_ = {
            trace_id: each
            for trace_id, each in split.items()
            if not each.is_complete(keeps_all=keeps_all)
            and not self._store.erased.has_trace(trace_id)
        }
        unscored: list[Unscored] = []
        outcomes = []
        for trace in span_samples.traces(self._store, sorted(open_), since):
            earlier = open_[trace.trace_id].stored
            whole = replace(
                trace,
                spans=tuple(sorted(trace.spans, key=lambda span: span.start_unix_nano)),
                closed=Closed.JOINED,
                received_unix_nano=earlier.received_unix_nano,
                least_generation=earlier.generation + 1,
            )
            unscored.append((_closing(trace.trace_id, earlier.received_unix_nano), earlier))
            outcomes.append(scorer.joined(whole, earlier, context))
        metrics.TRACES_CLOSED.labels(Closed.JOINED).inc(len(outcomes))
        metrics.SPLIT_TRACES.labels("joined").inc(len(outcomes))
        return unscored, outcomes


def _closing(trace_id: str, received_unix_nano: int) -> Closing:
    """A closing that needs no frame of the spool, and brings no span."""
    return Closing(
        trace_id=trace_id,
        refs=(),
        reason=Closed.JOINED,
        received_unix_nano=received_unix_nano,
        first_seq=sys.maxsize,
    )
