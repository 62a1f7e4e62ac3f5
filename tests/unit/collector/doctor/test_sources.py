"""Every service that sent spans, and what those lack that made no record."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from collector.doctor.sources import SpanGroup, SpanSource, list_sources
from ragvigil.model.span import SpanKind, Trace
from tests.traces import llm, rag_trace, retriever, span, trace

OPENINFERENCE = "openinference.instrumentation.langchain"
KIND = "openinference.span.kind"


def source(*traces: Trace, answers: int = 0) -> SpanSource:
    """What is said of the service of these traces."""
    group = SpanGroup(service="shop", scope="test", spans=9)
    (only,) = list_sources([group], {"shop": answers}, traces)
    return only


def from_openinference(*spans: object) -> Trace:
    scoped = [replace(each, scope=replace(each.scope, name=OPENINFERENCE)) for each in spans]  # type: ignore[type-var, attr-defined]
    return trace(*scoped)


def test_a_service_with_answers_lacks_nothing_and_shows_its_spans() -> None:
    found = source(rag_trace("Within 30 days."), answers=3)
    assert (found.spans, found.scopes, found.answers) == (9, {"test": 9}, 3)
    assert set(found.kinds) >= {"retriever", "llm"}
    assert (found.missing, found.fix, found.part_of) == ("", "", ())


def test_a_chain_with_a_retriever_lacks_the_answer_not_the_retrieval() -> None:
    found = source(from_openinference(span("root", {KIND: "CHAIN"}), retriever()))
    assert found.missing.startswith("no answer: a retriever, but neither a span of a model")
    assert found.fix.startswith("OpenAIInstrumentor().instrument()")
    assert set(found.kinds) == {"chain", "retriever"}


def test_a_chain_that_hides_its_output_is_told_to_show_it() -> None:
    hidden = span("root", {KIND: "CHAIN", "output.value": "__REDACTED__"})
    found = source(from_openinference(hidden, retriever()))
    assert "OPENINFERENCE_HIDE_OUTPUTS=false" in found.fix


@pytest.mark.parametrize(
    "attributes",
    [{KIND: "LLM"}, {KIND: "LLM", "input.value": "__REDACTED__", "output.value": "__REDACTED__"}],
)
def test_a_model_without_its_prompt_is_told_to_capture_content(attributes: dict[str, str]) -> None:
    found = source(from_openinference(span("root"), span("llm", attributes, parent="root")))
    assert found.missing == (
        "no span of a retriever, and the prompts of the model are not captured"
    )
    assert found.fix.startswith("export OPENINFERENCE_HIDE_INPUTS=false")


def test_a_prompt_without_chunks_asks_for_the_retriever() -> None:
    prompt = {"llm.input_messages.0.message.role": "user",
              "llm.input_messages.0.message.content": "Hello!"}  # fmt: skip
    found = source(from_openinference(span("root"), span("llm", {KIND: "LLM"} | prompt)))
    assert found.missing == "no span of a retriever, and no chunks in the prompts of the model"
    assert found.fix.startswith("instrument the retriever too")


def test_an_agent_alone_asks_for_the_client_of_its_model() -> None:
    """Official instrumentors of agents leave the calls of models to those of the clients."""
    said = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Hi."}]}])
    agent = span("agent", {"gen_ai.operation.name": "invoke_agent", "gen_ai.output.messages": said},
                 scope="opentelemetry.instrumentation.genai.smolagents")  # fmt: skip
    found = source(trace(agent))
    assert found.missing == "an agent's answer, but no span of its search or of its model"
    assert found.fix.startswith("OpenAIInstrumentor().instrument()")


def test_web_spans_alone_are_told_what_to_instrument() -> None:
    found = source(trace(span("GET /", kind=SpanKind.SERVER)))
    assert found.kinds == ("server",)
    assert found.missing == "no span of a retriever or of a model"
    assert found.fix.startswith("LangChainInstrumentor().instrument()")


def test_a_retriever_and_a_model_in_traces_of_their_own_are_told_to_share_a_span() -> None:
    model = llm(prompt="Hello!", answer="Hi.")
    found = source(trace(span("root"), retriever()), trace(model), trace(span("health")))
    assert found.missing.startswith("retriever and model are not under one span")
    assert found.fix.startswith("with tracer.start_as_current_span(")


def test_the_trace_that_lacks_least_speaks_for_its_service() -> None:
    health = trace(span("GET /healthz", kind=SpanKind.SERVER))
    rag = from_openinference(span("root", {KIND: "CHAIN"}), retriever())
    assert source(health, rag, health).missing == source(rag).missing


def test_spans_within_another_services_answers_lack_nothing() -> None:
    joint = rag_trace("Within 30 days.")
    search = span("search", parent="root", service="search")
    group = SpanGroup(service="search", scope="test", spans=1)
    (found,) = list_sources([group], {"shop": 1}, [replace(joint, spans=(*joint.spans, search))])
    assert (found.part_of, found.missing, found.kinds) == (("shop",), "", ("internal",))


def test_scopes_of_a_service_are_counted_together_and_services_sorted() -> None:
    groups = [
        SpanGroup(service=service, scope=scope, spans=spans)
        for service, scope, spans in (("b", "x", 1), ("a", "x", 2), ("a", "y", 3))
    ]
    a, b = list_sources(groups, {}, [])
    assert (a.service, a.spans, a.scopes) == ("a", 5, {"x": 2, "y": 3})
    assert (b.kinds, b.missing) == ((), "")
