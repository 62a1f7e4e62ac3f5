"""A service that is already instrumented as a target: its answer is read from its own trace.

Each question is sent with a `traceparent`; what the service then exports under that trace id is
read by the code that reads production. The reply itself is not looked at.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from clustering.golden.settings import TargetSettings
from collector.assembly.settings import AssemblyLimits
from collector.record.route import RouteRules
from collector.settings import CollectorSettings
from ragvigil.evaluation.target.arriving_trace import traces_of
from ragvigil.evaluation.target.receiver import TraceInbox, receiving
from ragvigil.evaluation.target.reply import Asked, NoAnswer, NoTrace
from ragvigil.evaluation.target.target import kind_of
from ragvigil.evaluation.target.url import offline_trace, post
from ragvigil.evaluation.target.wrong import BadTarget
from ragvigil.model.record import RagRecord
from ragvigil.model.span import Trace
from scorers.golden import question_key

NO_RULES = RouteRules()
MOST_UNHEARD = 3
"""Answers without a trace after which, if none ever came, no further question is asked."""
ADVICE = "is traceparent passed on, is the sampler parent-based, are spans exported to {where}?"


class TracedTarget:
    """A URL whose answers are read from their traces, which come to `inbox`."""

    is_recorded = False

    def __init__(
        self,
        settings: TargetSettings,
        inbox: TraceInbox,
        *,
        rules: RouteRules = NO_RULES,
        chance: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self._settings, self._inbox, self._rules = settings, inbox, rules
        self._chance, self._advice = chance, ADVICE.format(where=inbox.where)
        self._unheard = 0
        self.where = inbox.where
        # Replies of a URL are no traces: they are kept apart in the cache.
        self.name = f"{settings.url.partition('?')[0]} (traced)"
        self.takes_context = bool(settings.context)

    def reply(self, asked: Asked, context: Sequence[str] | None) -> Any:
        """Posts the question; returns its trace once that is complete. Raises NoAnswer."""
        if self._unheard >= MOST_UNHEARD and not self._inbox.matched:
            raise NoTrace(f"not asked: no trace came of the first answers; {self._advice}")
        trace_id, parent = self._chance(16), self._chance(8)
        headers = offline_trace(trace_id, parent)
        seconds = self._settings.trace_seconds
        with self._inbox.expecting(trace_id, parent):
            post(asked, self._settings, context, headers)
            requests = self._inbox.wait(trace_id, seconds)
        if requests is None:
            self._unheard += 1
            raise NoTrace(f"answer received, no trace of it in {seconds:g} s: {self._advice}")
        return {"trace": requests}

    def record(self, asked: Asked, reply: object) -> RagRecord:
        """What the trace shows. Raises NoAnswer where that is no answer to the question."""
        from collector.record.build import records_of_each

        traces = _traces(reply)
        found = [record for each in records_of_each(traces, self._rules) for record in each]
        if not found:
            raise NoTrace(f"its trace shows no answer from documents: {_lack(traces)}")
        record = _answer_to(asked, found)
        if record.answer is None:
            reason = record.error or record.absent.get("answer", "the model said nothing")
            raise NoTrace(f"its trace has no text of the answer: {reason}")
        return record


@contextmanager
def traced_target(
    name: str, settings: TargetSettings, collector: CollectorSettings
) -> Iterator[TracedTarget]:
    """The service at a URL, while its traces are taken at the OTLP addresses of `collector`.

    Raises BadTarget for what is no URL and where an address is taken, and ValidationError.
    """
    if kind_of(name) != "url":
        raise BadTarget(f"{name}: only a service behind a URL has traces")
    asked = TargetSettings(**settings.model_dump() | {"url": name})
    with receiving(collector) as inbox:
        yield TracedTarget(asked, inbox, rules=RouteRules.of(collector.routes.rules))


def _traces(reply: object) -> list[Trace]:
    if not isinstance(reply, dict):
        raise NoAnswer("what is kept of it is no trace")
    try:
        return traces_of(reply.get("trace"), AssemblyLimits())
    except ValueError as error:
        raise NoAnswer(f"what is kept of it {error}") from error


def _answer_to(asked: Asked, found: Sequence[RagRecord]) -> RagRecord:
    """The record of the question; a trace may hold several answers, as that of a session does."""
    key = question_key(asked.question)
    asking = [record for record in found if record.query and question_key(record.query) == key]
    if len(found) > 1 and not asking:
        raise NoTrace(f"its trace shows {len(found)} answers, none of them to this question")
    return (asking or found)[-1]


def _lack(traces: Sequence[Trace]) -> str:
    """What the spans lack, in the words of `ragvigil doctor`."""
    from collector.doctor.sources import SpanGroup, list_sources
    from collector.record.dimensions import service_of

    groups = [
        SpanGroup(service=service_of(span), scope=span.scope.name, spans=1)
        for trace in traces
        for span in trace.spans
    ]
    sources = list_sources(groups, {}, traces)
    return "; ".join(
        f"{source.service or 'a service without a name'}: {source.missing}. {source.fix}".strip()
        for source in sources
        if source.missing
    )
