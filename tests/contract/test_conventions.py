"""What every registered convention promises: total, claims of the right kinds, no surprises."""

from __future__ import annotations

import random
import string
import time
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.claims.claim import Claim, Field, Listing, Message, SpanRole, Withheld
from collector.claims.merge import read
from collector.claims.registry import Registered, registered
from collector.records import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import (
    AttributeValue,
    Event,
    LogRecord,
    Resource,
    Scope,
    Span,
    SpanKind,
    StatusCode,
    Trace,
)
from tests.traces import rag_trace

NAMES = (
    "openinference.span.kind", "input.value", "output.value", "llm.model_name", "metadata",
    "llm.invocation_parameters", "llm.token_count.prompt", "retrieval.documents", "session.id",
    "reranker.query", "llm.prompts", "llm.finish_reason", "embedding.model_name",
    "gen_ai.operation.name", "gen_ai.input.messages", "gen_ai.output.messages",
    "gen_ai.system_instructions", "gen_ai.retrieval.documents", "gen_ai.retrieval.query.text",
    "gen_ai.request.model", "gen_ai.response.finish_reasons", "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens", "gen_ai.tool.call.result", "gen_ai.tool.call.arguments",
    "traceloop.span.kind", "traceloop.entity.name", "traceloop.entity.input",
    "traceloop.entity.output", "traceloop.workflow.name", "llm.request.type", "db.system",
    "db.operation", "db.chroma.query.n_results", "db.vector.query.content", "http.route",
    "url.path", "ragvigil.query", "ragvigil.context", "ragvigil.citations", "ragvigil.route",
    "gen_ai.prompt", "gen_ai.completion", "content", "message", "gen_ai.event.content",
)  # fmt: skip
NUMBERED = (
    "retrieval.documents.{}.document.id", "retrieval.documents.{}.document.content",
    "retrieval.documents.{}.document.metadata", "retrieval.documents.{}.document.score",
    "reranker.input_documents.{}.document.content", "reranker.output_documents.{}.document.id",
    "llm.input_messages.{}.message.role", "llm.input_messages.{}.message.content",
    "llm.input_messages.{}.message.contents.{}.message_content.text",
    "llm.output_messages.{}.message.content", "llm.prompts.{}.prompt.text",
    "llm.output_messages.{}.message.tool_calls.{}.tool_call.function.name",
    "llm.choices.{}.completion.text", "gen_ai.prompt.{}.content", "gen_ai.prompt.{}.role",
    "gen_ai.completion.{}.content", "gen_ai.completion.{}.finish_reason",
    "embedding.embeddings.{}.embedding.text",
)  # fmt: skip
EVENTS = (
    "db.query.result", "db.search.result", "exception", "gen_ai.choice", "gen_ai.user.message",
    "gen_ai.system.message", "gen_ai.content.prompt", "gen_ai.content.completion",
    "gen_ai.client.inference.operation.details", "First Token Stream Event",
)  # fmt: skip
KINDS = ("LLM", "llm", "RETRIEVER", "RERANKER", "CHAIN", "AGENT", "TOOL", "chat",
         "retrieval", "rerank", "execute_tool", "workflow", "task", "x")  # fmt: skip
JSON_TEXTS = (
    '{"documents": [{"page_content": "a", "metadata": {"id": "d-1"}}]}',
    '[{"role": "user", "parts": [{"type": "text", "content": "Context:\\n[d-1] a"}]}]',
    '{"query": "q", "args": [["x"]], "kwargs": {"a": {"b": null}}}',
    '{"answer": "a [d-1] \\"quoted text here\\" [2]", "citations": [{"id": 1, "quote": "x"}]}',
    '{"nodes": ["{\\"node\\": {\\"id_\\": \\"d-1\\", \\"text\\": \\"a\\"}, \\"score\\": 1}"]}',
    "{'lc': 1, 'kwargs': {'content': 'x'}}",
    '{"groundingMetadata": {"groundingSupports": [{"segment": {"endIndex": "9"}}]}}',
    '{"citations": [{"start": -1, "end": 1e400, "document_ids": [null]}]}',
    "[" * 2000,
    "__REDACTED__",
    "[1][^2] 【4:0†source】 <co: 0,1>a</co: 0,1> m² ¹ (1)",
)
texts = st.one_of(
    st.sampled_from(KINDS),
    st.sampled_from(JSON_TEXTS),
    st.builds(lambda text, cut: text[:cut], st.sampled_from(JSON_TEXTS), st.integers(0, 120)),
    st.text(max_size=40),
)
values: st.SearchStrategy[AttributeValue] = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(), texts,
        st.binary(max_size=8),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)  # fmt: skip
indices = st.sampled_from(("0", "1", "2", "10000", "10001", "999999999999999", "-1", "²", ""))
names = st.one_of(
    st.sampled_from(NAMES),
    st.builds(lambda form, one: form.replace("{}", one), st.sampled_from(NUMBERED), indices),
    st.text(string.printable, max_size=12),
)
attributes = st.dictionaries(names, values, max_size=14)
span_ids = st.sampled_from(("a1", "b2", "c3", "d4", "e5"))
times = st.sampled_from((0, 1, 10**18, 10**18 + 5 * 10**9, 2**63))
events = st.builds(Event, name=st.sampled_from(EVENTS), time_unix_nano=times, attributes=attributes)
logs = st.builds(
    LogRecord, trace_id=st.just("t"), span_id=span_ids, time_unix_nano=times,
    event_name=st.sampled_from(EVENTS), body=values, attributes=attributes,
)  # fmt: skip
spans = st.builds(
    Span, trace_id=st.just("t"), span_id=span_ids, parent_span_id=st.one_of(st.just(""), span_ids,
    st.just("lost")), name=st.sampled_from(("POST /ask", "x.Retriever", "rerank_postprocess", "")),
    kind=st.sampled_from(SpanKind), start_unix_nano=times, end_unix_nano=times,
    status=st.sampled_from(StatusCode), attributes=attributes,
    events=st.lists(events, max_size=3).map(tuple), logs=st.lists(logs, max_size=3).map(tuple),
    resource=st.builds(Resource, attributes=attributes), scope=st.just(Scope()),
    trace_state=st.sampled_from(("", "ot=th:8", "ot=p:99999", "ot=th:;p", "a=b,ot=")),
    dropped_attributes_count=st.integers(0, 2), dropped_events_count=st.integers(0, 1),
)  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn) -> Trace:
    """A good RAG trace with attributes added, taken away, cut, and parents mixed up."""
    found = []
    for span in rag_trace().spans:
        kept = dict(span.attributes)
        for key in draw(st.lists(st.sampled_from(sorted(kept)), max_size=3)):
            value = kept.pop(key, None)
            if isinstance(value, str) and draw(st.booleans()):
                kept[key] = value[: draw(st.integers(0, 60))]
        kept.update(draw(st.dictionaries(names, values, max_size=3)))
        parent = draw(st.sampled_from((span.parent_span_id, span.parent_span_id, "llm", "lost")))
        dropped = draw(st.integers(0, 1))
        status = draw(st.sampled_from((StatusCode.UNSET, StatusCode.ERROR)))
        found.append(
            replace(span, attributes=kept, parent_span_id=parent, status=status,
                    dropped_attributes_count=dropped)
        )  # fmt: skip
    return with_spans(rag_trace(), found)


def with_spans(trace: Trace, found: Iterable[Span]) -> Trace:
    return replace(trace, spans=tuple(found))


traces = st.one_of(
    damaged(),
    st.lists(spans, max_size=8).map(lambda found: with_spans(rag_trace(), found)),
)
generously = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CONVENTIONS = [pytest.param(one, id=one.name) for one in registered()]


def test_the_conventions_of_this_step_are_registered() -> None:
    found = {one.name for one in registered()}
    assert {"ragvigil", "openinference", "otel_genai", "openllmetry"} <= found


@pytest.mark.parametrize("convention", CONVENTIONS)
@generously
@given(span=spans)
def test_claims_are_total_and_of_the_promised_kinds(convention: Registered, span: Span) -> None:
    for claim in convention.convention.claims(span):
        assert isinstance(claim, Claim)
        assert isinstance(claim.field, Field)
        assert isinstance(claim.precedence, int)
        assert is_of_kind(claim.field, claim.value() if callable(claim.value) else claim.value)


def is_of_kind(field: Field, value: object) -> bool:
    """Whether a value is what `Field` promises; None and withheld ones always are."""
    if value is None or isinstance(value, Withheld):
        return True
    if field is Field.ROLE:
        return isinstance(value, SpanRole)
    if field in (Field.RETRIEVED, Field.RERANKED, Field.RERANK_INPUT, Field.CONTEXT):
        return isinstance(value, Listing)
    if field in (Field.PROMPT, Field.REPLY):
        return isinstance(value, tuple) and all(isinstance(one, Message) for one in value)
    return True


@pytest.mark.parametrize("convention", CONVENTIONS)
@given(attributes=st.dictionaries(st.text(max_size=6), values, max_size=4))
def test_a_convention_claims_nothing_of_spans_that_it_does_not_know(
    convention: Registered, attributes: dict[str, AttributeValue]
) -> None:
    unknown = {f"acme.{key}": value for key, value in attributes.items()}
    span = Span(trace_id="t", span_id="a", name="work", attributes=unknown)
    assert list(convention.convention.claims(span)) == []


@generously
@given(trace=traces)
def test_records_are_total_and_deterministic(trace: Trace) -> None:
    assert records(trace) == records(trace)


@generously
@given(trace=traces, seed=st.integers(0, 9))
def test_records_do_not_depend_on_the_order_of_the_spans(trace: Trace, seed: int) -> None:
    one_per_id = {span.span_id: span for span in trace.spans}
    ordered = list(one_per_id.values())
    shuffled = random.Random(seed).sample(ordered, k=len(ordered))
    assert rows(with_spans(trace, ordered)) == rows(with_spans(trace, shuffled))


def rows(trace: Trace) -> list[str]:
    return [repr(record) for record in records(trace)]


@generously
@given(trace=traces)
def test_what_is_absent_is_empty(trace: Trace) -> None:
    for record in records(trace):
        assert_consistent(record)


def assert_consistent(record: RagRecord) -> None:
    fields = {"query": record.query, "answer": record.answer, "retrieved": record.retrieved,
              "reranked": record.reranked, "context": record.context,
              "citations": record.citations}  # fmt: skip
    for name, reason in record.absent.items():
        assert isinstance(reason, Absent)
        assert not fields.get(name), f"{name} is absent and yet {fields[name]!r}"
    for name in ("query", "answer"):
        assert fields[name] is not None or name in record.absent
    assert [one.rank for one in record.retrieved] == list(range(len(record.retrieved)))


@pytest.mark.parametrize("left_out", [one.name for one in registered()])
@settings(max_examples=30, deadline=None)
@given(trace=traces)
def test_a_convention_less_costs_fields_and_never_the_record(left_out: str, trace: Trace) -> None:
    rest = [one for one in registered() if one.name != left_out]
    for record in records(trace, conventions=rest):
        assert left_out not in record.conventions
        assert_consistent(record)


def test_a_broken_plug_in_raises_under_pytest_and_only_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken:
        ROOTS: frozenset[str] = frozenset()

        def claims(self, span: Span) -> Iterable[Claim]:
            raise RuntimeError(span.name)

    broken = Registered("broken", Broken(), frozenset())
    span = Span(trace_id="t", span_id="a", name="work")
    with pytest.raises(RuntimeError, match="work"):
        read(span, [broken])
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    assert read(span, [broken]).conventions == []


@pytest.mark.parametrize("size", [1_000, 20_000])
def test_reading_is_linear_in_the_number_of_attributes(size: int) -> None:
    """A guard against quadratic work: twenty times the attributes within a generous minute."""
    many: dict[str, AttributeValue] = {
        f"retrieval.documents.{index}.document.content": f"text {index}" for index in range(size)
    }
    span = Span(
        trace_id="t", span_id="a", attributes={"openinference.span.kind": "RETRIEVER", **many}
    )
    started = time.monotonic()
    found = read(span, registered()).get(Field.RETRIEVED)
    assert len(found.documents) == min(size, 10_001)
    assert time.monotonic() - started < 60
