"""Keeps erased traces from being scored again: a replay, or a late span, brings their spans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from collector.assembly.refs import Closing
from ragvigil.app.pipeline import metrics
from ragvigil.app.pipeline.sink import Sink


def without_erased(closings: Iterable[Closing], sink: Sink) -> Iterator[Closing]:
    """The closings whose trace was not erased.

    The spans of the others count as stored, as those do that were stored and then erased.
    """
    for closing in closings:
        if sink.erased.has_trace(closing.trace_id):
            metrics.ERASED_SPANS.inc(len(closing.stored))
            sink.account(stored=closing.stored, duplicate=closing.duplicates)
        else:
            yield closing
