"""Traces as no instrumentor sends them: every name that a convention knows, with any value."""

from __future__ import annotations

import ast
import inspect
import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from types import ModuleType

from hypothesis import strategies as st

from collector.claims.registry import RegisteredConvention, registered
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

ATTRIBUTE = re.compile(r"@?[a-z][a-z0-9_]*(?:[.:][A-Za-z0-9_]+)+")


def names_of(convention: RegisteredConvention) -> Iterator[str]:
    """Every text in a convention's code that looks like the name of an attribute or event."""
    if isinstance(convention.convention, ModuleType):
        for node in ast.walk(ast.parse(inspect.getsource(convention.convention))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from ATTRIBUTE.findall(node.value)


KNOWN = chain.from_iterable(map(names_of, registered()))
NAMES = tuple(sorted({*KNOWN, "metadata", "content", "message", "http.route", "url.path"}))
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
    st.builds(lambda form, index: form.replace("{}", index), st.sampled_from(NUMBERED), indices),
    st.text(string.printable, max_size=12),
)
attributes = st.dictionaries(names, values, max_size=14)
span_ids = st.sampled_from(("a1", "b2", "c3", "d4", "e5"))
times = st.sampled_from((0, 1, 10**18, 10**18 + 5 * 10**9, 2**63))
event_names = st.one_of(st.sampled_from(EVENTS), st.sampled_from(NAMES))
events = st.builds(Event, name=event_names, time_unix_nano=times, attributes=attributes)
logs = st.builds(
    LogRecord, trace_id=st.just("t"), span_id=span_ids, time_unix_nano=times,
    event_name=event_names, body=values, attributes=attributes,
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
