"""A trace's RAG records: one per answer, every field with its value or the reason it is absent."""

from __future__ import annotations

from collections.abc import Sequence

from collector.claims.claim import UNNAMED, Field, SpanRole
from collector.claims.merge import Reading
from collector.claims.recover import text
from collector.claims.registry import Registered, registered
from collector.record import boundaries, context, evidence, measures
from collector.record import query_answer as spoken
from collector.record.absences import Found, absent
from collector.record.boundaries import Extent, has_failed, reply_text
from collector.record.citations import Answered, citations
from collector.record.context import Context
from collector.record.dimensions import (
    Claimed,
    dimensions,
    environment_of,
    service_of,
    service_span,
)
from collector.record.evidence import Evidence, complete_from
from collector.record.route import RouteRules, entry_route_of, route_of
from collector.record.tracestate import sampling_probability
from collector.record.tree import fell, grow
from ragvigil.model.record import Absent, Citation, ContextSource, Document, RagRecord
from ragvigil.model.span import Span, Trace

NO_RULES = RouteRules()
CHUNK_LENGTH = 200


def records(
    trace: Trace,
    rules: RouteRules = NO_RULES,
    conventions: Sequence[Registered] | None = None,
) -> tuple[RagRecord, ...]:
    """The answers of a trace in order of time; empty where nothing was answered from documents.

    Pure and total: the same for any order of the spans, and never raises on a trace.
    `conventions` are the registered ones unless given.
    """
    return records_of_each([trace], rules, conventions)[0]


def records_of_each(
    traces: Sequence[Trace],
    rules: RouteRules = NO_RULES,
    conventions: Sequence[Registered] | None = None,
) -> list[tuple[RagRecord, ...]]:
    """The answers of several traces, one step after another taken with all of them."""
    asked = registered() if conventions is None else conventions
    forests = [grow(trace.spans, asked) for trace in traces]
    found = [[_find(extent) for extent in boundaries.extents(nodes)] for nodes in forests]
    answers = [
        tuple([_record(one, trace, rules) for one in some if one is not None])
        for trace, some in zip(traces, found, strict=True)
    ]
    for nodes in forests:
        fell(nodes)
    return answers


def _find(extent: Extent) -> Found | None:
    """What the spans say of one answer; None where it was not made from documents."""
    gathered = evidence.gather(extent)
    shown = context.choose(gathered, extent.answering, extent.models)
    if not any(node.retrieves for node in extent.nodes) and not _shows_chunks(shown):
        return None
    calls = measures.model_calls(extent.nodes)
    return Found(
        extent=extent,
        evidence=gathered,
        context=shown,
        retrieved=_retrieved(gathered, shown),
        answer=spoken.answer(extent),
        query=spoken.question(extent, gathered),
        calls=calls,
        usage=measures.usage(calls),
    )


def _shows_chunks(shown: Context) -> bool:
    """Whether a prompt alone tells of documents: a short remark under `Context:` is none."""
    if len(shown.documents) != 1 or shown.source is not ContextSource.PROMPT:
        return bool(shown.documents)
    (only,) = shown.documents
    return only.chunk_id != only.text_hash or len(only.content or "") >= CHUNK_LENGTH


def _retrieved(gathered: Evidence, shown: Context) -> tuple[Document, ...] | None:
    """The retriever's list; without one, and without a reranker, what the prompt shows."""
    if gathered.retrieved is not None:
        if any(one.content is None for one in gathered.retrieved):
            return complete_from(gathered.retrieved, shown.documents)
        return gathered.retrieved
    total = gathered.partial.total if gathered.partial is not None else 0
    if total and total != len(shown.documents):
        return None  # the prompt shows a part of what was found
    from_prompt = shown.source in (ContextSource.PROMPT, ContextSource.DECLARED)
    if from_prompt and gathered.why_reranked is Absent.NOT_RUN:
        return shown.documents if gathered.why is not Absent.ERRORED else None
    return None


def _record(found: Found, trace: Trace, rules: RouteRules) -> RagRecord:
    extent, gathered = found.extent, found.evidence
    readings = [node.reading for node in extent.nodes if node.reading is not None]
    spans = [reading.span for reading in readings]
    claimed = Claimed(readings)
    at = service_span(extent, spans)
    return RagRecord(
        record_id=extent.root.id,
        trace_id=trace.trace_id,
        generation=trace.generation,
        service=service_of(at),
        environment=environment_of(at, claimed),
        route=route_of(extent.root, extent.answering, extent.nodes, rules),
        entry_route=entry_route_of(extent.root, rules),
        query=found.query,
        retrievals=gathered.retrievals,
        retrieved=found.retrieved or (),
        reranked=gathered.reranked or (),
        context=found.context.documents,
        context_source=found.context.source,
        answer=found.answer.text,
        citations=_citations(found, claimed),
        usage=found.usage,
        cost_usd=measures.cost(extent.nodes, found.calls),
        latencies=measures.latencies(extent),
        error=_error(extent),
        truncated=_truncated(spans, found),
        absent=absent(found),
        dimensions=dimensions(extent, claimed, at, found.retrieved or ()),
        session_id=claimed.first(Field.SESSION),
        user_id=claimed.first(Field.USER),
        response_ids=_response_ids(claimed),
        started_unix_nano=extent.root.start,
        ended_unix_nano=extent.root.end,
        instrumentors=_instrumentors(extent),
        conventions=tuple(sorted({name for one in readings for name in one.conventions})),
        sampling_probability=sampling_probability(spans),
    )


def _citations(found: Found, claimed: Claimed) -> tuple[Citation, ...]:
    answer, model = found.answer, found.extent.answering
    if answer.text is None:
        return ()
    declared = next((one.get(Field.CITATIONS) for one in claimed.of(Field.CITATIONS)), None)
    own = model.reading if model is not None else None
    return citations(
        Answered(
            answer=answer.text,
            reply=answer.reply or (reply_text(model) if model is not None else ""),
            raw=own.get(Field.RAW_REPLY) if own is not None else None,
            declared=declared,
            context=found.context.documents,
            others=(*(found.evidence.reranked or ()), *(found.retrieved or ())),
            prompt=found.context.prompt,
        )
    )


def _error(extent: Extent) -> str | None:
    """Why the answer failed: the root's error, else the answering model's; None if it did not."""
    for node in (extent.root, extent.answering):
        if node is not None and has_failed(node) and node.reading is not None:
            return _message(node.reading)
    lost = [node for node in extent.nodes if node.role is SpanRole.RETRIEVER and has_failed(node)]
    return _message(lost[0].reading) if lost and lost[0].reading is not None else None


def _message(reading: Reading) -> str:
    """A span's error in words: its status message or what a vendor says, else its exception."""
    span, said = reading.span, text(reading.get(Field.ERROR))
    if span.status_message or (said and said != UNNAMED):
        return span.status_message or said
    for event in span.events:
        if event.name == "exception":
            kind = text(event.attributes.get("exception.type"))
            what = text(event.attributes.get("exception.message"))
            return f"{kind}: {what}" if kind and what else kind or what or UNNAMED
    return text(span.attributes.get("error.type")) or UNNAMED


def _truncated(spans: Sequence[Span], found: Found) -> tuple[str, ...]:
    """What was cut: `answer` by the model or a hang-up, others by limits of the SDK."""
    cut = []
    if found.answer.text is not None and found.answer.is_cut:
        cut.append("answer")
    if found.evidence.why is Absent.TRUNCATED:
        cut.append("retrieved")
    if any(span.dropped_attributes_count > 0 for span in spans):
        cut.append("attributes")
    if any(span.dropped_events_count > 0 for span in spans):
        cut.append("events")
    return tuple(cut)


def _instrumentors(extent: Extent) -> tuple[str, ...]:
    """The scope whose span answered, then the one whose span retrieved last."""
    steps = [node for node in extent.nodes if node.retrieves]
    retrievers = [node for node in steps if node.role is not SpanRole.RERANKER] or steps
    known = (extent.answering, *retrievers[-1:])
    scopes = (one.reading.span.scope.name for one in known if one is not None and one.reading)
    return tuple(dict.fromkeys(name for name in scopes if name))


def _response_ids(claimed: Claimed) -> tuple[str, ...]:
    stated = (text(one.get(Field.RESPONSE_ID)) for one in claimed.of(Field.RESPONSE_ID))
    return tuple(dict.fromkeys(one for one in stated if one))
