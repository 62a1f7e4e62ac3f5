"""Builds the RAG records of a trace: one per answer, each field with a value or a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from collector.citing.markers import LONGEST
from collector.claims.claim import UNNAMED, Field, SpanRole
from collector.claims.merge import SpanReading
from collector.claims.recover import text
from collector.claims.registry import RegisteredConvention, registered
from collector.record import boundaries, context, evidence, measures
from collector.record.absences import AnswerParts, absent
from collector.record.boundaries import Extent, failed_unasked
from collector.record.calls import has_failed, reply_text
from collector.record.citations import MOST_CITATIONS, CitationSource, citations
from collector.record.context import Context
from collector.record.contributors import contributors
from collector.record.dimensions import (
    FieldReadings,
    dimensions,
    environment_of,
    prompt_template,
    service_of,
    service_span,
)
from collector.record.evidence import Evidence, complete_from
from collector.record.query_answer import answer as find_answer
from collector.record.query_answer import question as find_question
from collector.record.remarks import holds, is_verdict, searchable, shows, shows_answer
from collector.record.route import RouteRules, entry_route_of, route_of
from collector.record.tracestate import sampling_probability
from collector.record.tree import grow, take_apart
from ragvigil.model.record import Absent, Citation, ContextSource, Document, RagRecord
from ragvigil.model.span import MAX_VALUE_CHARACTERS, Span, Trace

NO_RULES = RouteRules()


def records(
    trace: Trace,
    rules: RouteRules = NO_RULES,
    conventions: Sequence[RegisteredConvention] | None = None,
) -> tuple[RagRecord, ...]:
    """The records of a trace by start time; empty if nothing was answered from documents.

    Pure and total: the same for any order of the spans, and never raises on a trace.
    `conventions` defaults to the registered ones.
    """
    return records_of_each([trace], rules, conventions)[0]


def records_of_each(
    traces: Sequence[Trace],
    rules: RouteRules = NO_RULES,
    conventions: Sequence[RegisteredConvention] | None = None,
) -> list[tuple[RagRecord, ...]]:
    """The records of several traces. Each step runs over all traces before the next (ADR 18)."""
    conventions = registered() if conventions is None else conventions
    forests = [grow(trace.spans, conventions) for trace in traces]
    parts_of_each = [
        [_parts_of(extent) for extent in boundaries.extents(nodes)] for nodes in forests
    ]
    answers = [
        tuple([_record(parts, trace, rules) for parts in _without_checks(answer_parts)])
        for trace, answer_parts in zip(traces, parts_of_each, strict=True)
    ]
    for nodes in forests:
        take_apart(nodes)  # else they would wait for the garbage collector of cycles
    return answers


def _parts_of(extent: Extent) -> AnswerParts | None:
    """What the spans say about an answer; None if it was not made from documents."""
    gathered = evidence.gather(extent)
    parts_by = contributors(extent)
    shown = context.choose(gathered, extent.answering, extent.models, parts_by)
    if failed_unasked(extent) and shown.source is not ContextSource.DECLARED:
        shown = Context()  # that retrieved chunks would have been shown is a guess
    if shown.source is ContextSource.INFERRED:  # the scores are those of the retriever
        gathered = replace(
            gathered, reranked=tuple(replace(chunk, score=None) for chunk in shown.documents)
        )
    is_unknown = shown.source is ContextSource.NONE
    if is_unknown and not any(node.retrieves for node in extent.nodes):
        return None
    calls = measures.model_calls(extent.nodes)
    return AnswerParts(
        extent=extent,
        evidence=gathered,
        context=shown,
        retrieved=_retrieved(gathered, shown),
        answer=find_answer(extent),
        query=find_question(extent, gathered),
        calls=calls,
        usage=measures.usage(measures.stated_at_root(extent.root, calls)),
    )


def _without_checks(parts_of_each: Sequence[AnswerParts | None]) -> list[AnswerParts]:
    """The answers of a trace, without those that only grade an earlier one.

    Evaluators of frameworks ask a query engine whether its documents support an answer.
    """
    kept: list[AnswerParts] = []
    for parts in parts_of_each:
        if parts is None:
            continue
        texts = [other.answer.text for other in kept if other.answer.text]
        query = searchable(parts.query or "")
        if not any(holds(query, text_) and _grades(parts, text_) for text_ in texts):
            kept.append(parts)
    return kept


def _grades(parts: AnswerParts, answer: str) -> bool:
    """Whether an answer only says of another, which its query holds, whether that is right."""
    query, reply = parts.query or "", parts.answer.text
    if not shows_answer(query, answer):
        return False
    return is_verdict(reply, answer) if reply is not None else shows(answer, query)


def _retrieved(gathered: Evidence, shown: Context) -> tuple[Document, ...] | None:
    """The retriever's list; without one, and without a reranker, the chunks of the prompt."""
    if gathered.retrieved is not None:
        if any(document.content is None for document in gathered.retrieved):
            return complete_from(gathered.retrieved, shown.documents)
        return gathered.retrieved
    total = gathered.partial.total if gathered.partial is not None else 0
    if total and total != len(shown.documents):
        return None  # the prompt shows only a part of the retrieved chunks
    from_prompt = shown.source in (ContextSource.PROMPT, ContextSource.DECLARED)
    if from_prompt and gathered.why_reranked is Absent.NOT_RUN:
        return shown.documents if gathered.why is not Absent.ERRORED else None
    return None


def _record(parts: AnswerParts, trace: Trace, rules: RouteRules) -> RagRecord:
    extent, gathered = parts.extent, parts.evidence
    readings = [node.reading for node in extent.nodes if node.reading is not None]
    spans, fields = [reading.span for reading in readings], FieldReadings(readings)
    at, cited = service_span(extent, spans), _citations(parts, fields)
    template = prompt_template(extent, fields)
    return RagRecord(
        record_id=extent.root.id,
        trace_id=trace.trace_id,
        generation=trace.generation,
        service=service_of(at),
        environment=environment_of(at, fields),
        route=route_of(extent.root, extent.answering, extent.nodes, rules),
        entry_route=entry_route_of(extent.root, rules),
        query=parts.query,
        retrievals=gathered.retrievals,
        retrieved=parts.retrieved or (),
        reranked=gathered.reranked or (),
        context=parts.context.documents,
        context_source=parts.context.source,
        answer=parts.answer.text,
        citations=cited,
        usage=parts.usage,
        cost_usd=measures.cost(extent.nodes, parts.calls),
        latencies=measures.latencies(extent),
        error=_error(extent),
        truncated=_truncated(spans, parts, cited),
        absent=absent(parts),
        dimensions=dimensions(extent, fields, at, parts.retrieved or (), template),
        prompt_template=template,
        session_id=fields.first(Field.SESSION),
        user_id=fields.first(Field.USER),
        response_ids=_response_ids(fields),
        started_unix_nano=extent.root.start,
        ended_unix_nano=extent.root.end,
        instrumentors=_instrumentors(extent),
        conventions=tuple(sorted({name for reading in readings for name in reading.conventions})),
        sampling_probability=sampling_probability(spans),
    )


def _citations(parts: AnswerParts, fields: FieldReadings) -> tuple[Citation, ...]:
    answer, model = parts.answer, parts.extent.answering
    if answer.text is None:
        return ()
    declared = next((reading.get(Field.CITATIONS) for reading in fields.of(Field.CITATIONS)), None)
    own = model.reading if model is not None else None
    return citations(
        CitationSource(
            answer=answer.text,
            reply=answer.reply or (reply_text(model) if model is not None else ""),
            raw=own.get(Field.RAW_REPLY) if own is not None else None,
            declared=declared,
            context=parts.context.documents,
            others=(*(parts.evidence.reranked or ()), *(parts.retrieved or ())),
            prompt=parts.context.prompt,
        )
    )


def _error(extent: Extent) -> str | None:
    """The error of the root, else of the answering model, else of a retriever; else None."""
    for node in (extent.root, extent.answering):
        if node is not None and has_failed(node) and node.reading is not None:
            return _message(node.reading)
    lost = [node for node in extent.nodes if node.role is SpanRole.RETRIEVER and has_failed(node)]
    return _message(lost[0].reading) if lost and lost[0].reading is not None else None


def _message(reading: SpanReading) -> str:
    """A span's error in words: its status message, else a vendor's reason, else its exception."""
    span, reason = reading.span, text(reading.get(Field.ERROR))
    if span.status_message or (reason and reason != UNNAMED):
        return span.status_message or reason
    for event in span.events:
        if event.name == "exception":
            kind = text(event.attributes.get("exception.type"))
            what = text(event.attributes.get("exception.message"))
            return f"{kind}: {what}" if kind and what else kind or what or UNNAMED
    return text(span.attributes.get("error.type")) or UNNAMED


def _truncated(
    spans: Sequence[Span], parts: AnswerParts, cited: Sequence[Citation]
) -> tuple[str, ...]:
    """What was cut: `answer` by the model or an abort, `citations` and `values` by us, the rest by
    the SDK.
    """
    cut = []
    if parts.answer.text is not None and parts.answer.is_cut:
        cut.append("answer")
    if len(parts.answer.text or "") > LONGEST or len(cited) == MOST_CITATIONS:
        cut.append("citations")
    if parts.evidence.why is Absent.TRUNCATED:
        cut.append("retrieved")
    if any(span.dropped_attributes_count > 0 for span in spans):
        cut.append("attributes")
    if any(span.dropped_events_count > 0 for span in spans):
        cut.append("events")
    if _has_cut_value(spans, parts):
        cut.append("values")
    return tuple(cut)


def _has_cut_value(spans: Sequence[Span], parts: AnswerParts) -> bool:
    """Whether a text was cut when its span was decoded: with its mark, only a cut one is longer."""
    logs = [record for span in spans for record in span.logs]
    lists = (parts.retrieved or (), parts.evidence.reranked or (), parts.context.documents)
    texts = chain(
        (value for span in spans for value in span.attributes.values()),
        (value for span in spans for event in span.events for value in event.attributes.values()),
        (value for record in logs for value in (record.body, *record.attributes.values())),
        (document.content for listed in lists for document in listed),
    )
    return any(type(text) is str and len(text) > MAX_VALUE_CHARACTERS for text in texts)


def _instrumentors(extent: Extent) -> tuple[str, ...]:
    """The scope of the answering span, then of the span that retrieved last."""
    steps = [node for node in extent.nodes if node.retrieves]
    retrievers = [node for node in steps if node.role is not SpanRole.RERANKER] or steps
    known = (extent.answering, *retrievers[-1:])
    scopes = (node.reading.span.scope.name for node in known if node is not None and node.reading)
    return tuple(dict.fromkeys(name for name in scopes if name))


def _response_ids(fields: FieldReadings) -> tuple[str, ...]:
    response_ids = (
        text(reading.get(Field.RESPONSE_ID)) for reading in fields.of(Field.RESPONSE_ID)
    )
    return tuple(dict.fromkeys(response_id for response_id in response_ids if response_id))
