"""An answer without a text is an empty answer; one that was not sent, or never came, is none."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest

from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import AttributeValue, Event, LogRecord, Span, StatusCode
from scorers.answer_complete_text import AnswerCompleteText
from tests.traces import PROMPT, QUESTION, TRACE_ID, llm, retriever, span, trace

Attributes = dict[str, AttributeValue]
ROOT = span("root", {"openinference.span.kind": "CHAIN", "input.value": QUESTION})
FLAT_PROMPT: Attributes = {
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": PROMPT,
}
NUMBERED: Attributes = {
    "llm.request.type": "chat",
    "gen_ai.prompt.0.role": "user",
    "gen_ai.prompt.0.content": PROMPT,
    "gen_ai.completion.0.role": "assistant",
}
CHAT: Attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}
STRANDS: Attributes = {"gen_ai.system": "strands-agents", **CHAT}
ADK = "gcp.vertex.agent."
CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """How a model call carries its reply."""

    attributes: Attributes
    events: tuple[Event, ...] = ()
    logs: tuple[LogRecord, ...] = ()

    def span(self) -> Span:
        return span(
            "llm", self.attributes, parent="root", at=(0.3, 0.9), events=self.events, logs=self.logs
        )


def record_of(reply: Reply | Span, *others: Span, root: Span = ROOT) -> RagRecord:
    call = reply.span() if isinstance(reply, Reply) else reply
    (record,) = records(trace(root, retriever(), *others, call))
    return record


def event(name: str, **attributes: object) -> Event:
    carried: Attributes = {
        key.replace("__", "."): value if isinstance(value, str) else json.dumps(value)
        for key, value in attributes.items()
    }
    return Event(name=name, time_unix_nano=1, attributes=carried)


def log(name: str, body: AttributeValue) -> LogRecord:
    return LogRecord(trace_id=TRACE_ID, span_id="llm", time_unix_nano=1, event_name=name, body=body)


def flat(**more: AttributeValue) -> Reply:
    rows = {key.replace("__", "."): value for key, value in more.items()}
    return Reply(
        attributes={
            "openinference.span.kind": "LLM",
            **FLAT_PROMPT,
            "llm.output_messages.0.message.role": "assistant",
            **rows,
        }
    )


def raw(reply: object) -> Reply:
    return flat(output__value=reply if isinstance(reply, str) else json.dumps(reply))


def completion(finish_reason: str | None = "stop", **message: object) -> dict[str, object]:
    whole = {"role": "assistant", **message}
    return {"id": "1", "choices": [{"index": 0, "message": whole, "finish_reason": finish_reason}]}


def generated(content: object, **more: object) -> dict[str, object]:
    kwargs = {"content": content, "type": "ai", "tool_calls": [], "invalid_tool_calls": [], **more}
    path = ["langchain", "schema", "messages", "AIMessage"]
    message = {"lc": 1, "type": "constructor", "id": path, "kwargs": kwargs}
    return {"generations": [[{"text": "", "type": "ChatGeneration", "message": message}]]}


def numbered(**more: AttributeValue) -> Reply:
    rows = {f"gen_ai.completion.0.{key}": value for key, value in more.items()}
    return Reply(attributes={**NUMBERED, **rows})


def genai(*parts: object, reason: str = "stop") -> Reply:
    replied = [{"role": "assistant", "parts": list(parts), "finish_reason": reason}]
    asked = [{"role": "user", "parts": [{"type": "text", "content": PROMPT}]}]
    return Reply(
        attributes={
            **CHAT,
            "gen_ai.input.messages": json.dumps(asked),
            "gen_ai.output.messages": json.dumps(replied),
        }
    )


def choice(message: object, *, reason: str = "stop", asked: bool = True) -> Reply:
    body = {"index": 0, "finish_reason": reason, "message": message}
    prompt = (log("gen_ai.user.message", {"content": PROMPT}),) if asked else ()
    return Reply(attributes=CHAT, logs=(*prompt, log("gen_ai.choice", body)))  # type: ignore[arg-type]


def vercel(**more: AttributeValue) -> Reply:
    named = {f"ai.response.{key}": value for key, value in more.items()}
    asked = json.dumps([{"role": "user", "content": PROMPT}])
    return Reply(
        attributes={
            "ai.operationId": "ai.streamText.doStream",
            "ai.prompt.messages": asked,
            **named,
        }
    )


def langfuse(reply: object) -> Reply:
    output = reply if isinstance(reply, str) else json.dumps(reply)
    return Reply(
        attributes={
            "langfuse.observation.type": "generation",
            "langfuse.observation.input": PROMPT,
            "langfuse.observation.output": output,
        }
    )


def langsmith(reply: object) -> Reply:
    return Reply(
        attributes={
            "langsmith.span.kind": "llm",
            "gen_ai.operation.name": "chat",
            "gen_ai.prompt": json.dumps({"prompt": PROMPT}),
            "gen_ai.completion": json.dumps(reply),
        }
    )


def mlflow(reply: object) -> Reply:
    return Reply(
        attributes={
            "mlflow.spanType": '"CHAT_MODEL"',
            "mlflow.spanInputs": json.dumps({"prompt": PROMPT}),
            "mlflow.spanOutputs": json.dumps(reply),
        }
    )


def pydantic(message: object) -> Reply:
    events = [
        {"event.name": "gen_ai.user.message", "role": "user", "content": PROMPT},
        {"event.name": "gen_ai.choice", "index": 0, "message": message},
    ]
    return Reply(attributes={**CHAT, "events": json.dumps(events)})


def haystack(*replies: object) -> Reply:
    return Reply(
        attributes={
            "haystack.component.type": "OpenAIChatGenerator",
            "haystack.component.input": json.dumps({"prompt": PROMPT}),
            "haystack.component.output": json.dumps({"replies": list(replies)}),
        }
    )


def llamaindex(end: str = "LLMChatEndEvent", **response: object) -> Reply:
    start = event(
        end.removesuffix("Event").removesuffix("End").removesuffix("InProgress") + "StartEvent",
        prompt=PROMPT,
    )
    return Reply(attributes={}, events=(start, event(end, **response)))


def adk(**response: object) -> Reply:
    asked = {"contents": [{"role": "user", "parts": [{"text": PROMPT}]}], "config": {}}
    return Reply(
        attributes={
            "gen_ai.request.model": "g",
            ADK + "llm_request": json.dumps(asked),
            ADK + "llm_response": json.dumps(response),
        }
    )


def strands(message: object, reason: str = "end_turn") -> Reply:
    asked = event("gen_ai.user.message", content=[{"text": PROMPT}])
    replied = event("gen_ai.choice", message=message, finish_reason=reason)
    return Reply(attributes=STRANDS, events=(asked, replied))


def spring(completion: str) -> Reply:
    return Reply(
        attributes={**CHAT, "gen_ai.prompt": f'["{PROMPT}"]', "gen_ai.completion": completion}
    )


def traceai(**more: AttributeValue) -> Reply:
    rows = {f"gen_ai.output.messages.0.message.{key}": value for key, value in more.items()}
    return Reply(
        attributes={
            "gen_ai.span.kind": "LLM",
            "gen_ai.request.model": "m",
            "gen_ai.input.messages.0.message.role": "user",
            "gen_ai.input.messages.0.message.content": PROMPT,
            **rows,
        }
    )


def event_content(content: str) -> Reply:
    asked = event("gen_ai.user.message", gen_ai__event__content={"content": PROMPT})
    return Reply(
        attributes=CHAT, events=(asked, event("gen_ai.choice", gen_ai__event__content=content))
    )


EMPTY = {
    "openinference, written": flat(llm__output_messages__0__message__content=""),
    "openinference, output": raw(""),
    "openinference, OpenAI": raw(completion(content="")),
    "openinference, an OpenAI stream": raw(completion()),
    "openinference, thoughts alone": raw(completion("length", content=None, reasoning="hm")),
    "openinference, LangChain": raw(generated("")),
    "openinference, LangChain parts": raw(generated([])),
    "openinference, Anthropic": raw({"role": "assistant", "content": [], "stop_reason": "stop"}),
    "openinference, LlamaIndex": raw("assistant: None"),
    "openinference, completion": Reply(attributes={"openinference.span.kind": "LLM",
                                                   "llm.choices.0.completion.text": ""}),
    "traceai": traceai(role="assistant", content=""),
    "openllmetry, as it leaves it out": numbered(finish_reason="stop"),
    "openllmetry, written": numbered(content=""),
    "otel, no parts": genai(),
    "otel, an empty part": genai({"type": "text", "content": ""}),
    "otel, thoughts alone": genai({"type": "reasoning", "content": "hm"}, reason="length"),
    "otel, an event": choice({"role": "assistant", "content": ""}),
    "otel, an event without content": choice({"role": "assistant"}),
    "otel, v1.27": Reply(attributes=CHAT, events=(
        event("gen_ai.content.completion",
              gen_ai__completion=[{"role": "assistant", "content": ""}]),)),
    "semantic kernel, .NET": event_content(json.dumps(
        {"index": 0, "finish_reason": "Stop", "message": {"role": "Assistant", "content": ""}})),
    "semantic kernel, Python": Reply(attributes=CHAT, logs=(
        log("gen_ai.choice", json.dumps({"index": 0, "message": {"content": ""}})),)),
    "openlit": genai({"type": "text", "content": ""}),
    "vercel": vercel(text="", finishReason="stop"),
    "langfuse": langfuse({"role": "assistant", "content": ""}),
    "langfuse, text": langfuse(""),
    "langsmith": langsmith(generated("")),
    "langsmith, function": langsmith({"output": ""}),
    "mlflow": mlflow(completion(content="")),
    "mlflow, text": mlflow(""),
    "pydantic ai 1": pydantic({"role": "assistant", "content": ""}),
    "haystack, text": haystack(""),
    "haystack, message": haystack({"role": "assistant", "content": [{"text": ""}], "meta": {}}),
    "haystack, 2.9": haystack({"_role": "assistant", "_content": [{"text": ""}], "_meta": {}}),
    "llamaindex, blocks": llamaindex(
        response__message__blocks=[{"block_type": "text", "text": ""}]),
    "llamaindex, no blocks": llamaindex(response__message__blocks=[]),
    "llamaindex, completion": llamaindex("LLMCompletionEndEvent", response__text=""),
    "adk": adk(content={"role": "model"}, finish_reason="STOP"),
    "adk, 1.0": adk(finish_reason="MAX_TOKENS", error_code="MAX_TOKENS"),
    "adk, an empty part": adk(content={"role": "model", "parts": [{"text": ""}]}),
    "strands": strands([]),
    "strands, an empty block": strands([{"text": ""}]),
    "spring ai": spring('[""]'),
}  # fmt: skip
UNSENT = {
    "openinference, a role alone": flat(),
    "openinference, hidden": flat(llm__output_messages__0__message__content="__REDACTED__"),
    "openinference, hidden output": raw("__REDACTED__"),
    "openinference, a tool call": flat(
        llm__output_messages__0__message__tool_calls__0__tool_call__id="c1",
        output__value=json.dumps(completion("tool_calls", content="", tool_calls=[CALL]))),
    "openinference, an odd call": raw(generated("", invalid_tool_calls=[CALL])),
    "openinference, an older call": raw(generated("", additional_kwargs={"tool_calls": [CALL]})),
    "openinference, an image": raw(generated([{"type": "image_url", "image_url": {"url": "x"}}])),
    "openinference, an aborted stream": raw(completion(None, content="")),
    "openinference, an aborted OpenAI stream": raw(completion(None)),
    "openinference, cut": raw('{"choices": [{"message": {"role": "assistant", "content": "Within'),
    "openllmetry, content off": Reply(attributes={
        "llm.request.type": "chat", "gen_ai.completion.0.finish_reason": "stop"}),
    "openllmetry, an aborted stream": numbered(),
    "openllmetry, a tool call": numbered(finish_reason="tool_calls"),
    "otel, content off": Reply(attributes=CHAT),
    "otel, a hidden part": genai({"type": "text"}),
    "otel, a tool call": genai({"type": "tool_call", "id": "c1", "name": "s", "arguments": {}}),
    "otel, a hidden tool call": genai(reason="tool_call"),
    "otel, an image": genai({"type": "uri", "modality": "image", "uri": "https://a.example/b"}),
    "otel, an aborted stream": genai(reason="error"),
    "otel, a stream without an end": genai(reason=""),
    "openllmetry, a stream without an end": genai({"content": "", "type": "text"}, reason=""),
    "otel, an event with content off": choice({"role": "assistant"}, asked=False),
    "otel, an event of an aborted stream": choice({"role": "assistant"}, reason="error"),
    "otel, an event with a call": choice({"role": "assistant", "tool_calls": [CALL]}),
    "otel, an event that was cut": event_content(
        '{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "With'),
    "vercel, outputs off": vercel(finishReason="stop"),
    "vercel, a tool call": vercel(text="", finishReason="tool-calls"),
    "langfuse, masked": langfuse("<fully masked due to failed mask function>"),
    "langfuse, a tool call": langfuse(
        {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [CALL]}}),
    "langsmith, hidden": langsmith({}),
    "mlflow, nothing": mlflow(None),
    "mlflow, a tool call": mlflow(completion("tool_calls", content=None, tool_calls=[CALL])),
    "pydantic ai, content off": pydantic({"role": "assistant"}),
    "haystack, content off": Reply(attributes={
        "haystack.component.type": "OpenAIChatGenerator", "haystack.component.output": ""}),
    "haystack, a tool call": haystack(
        {"role": "assistant", "content": [{"tool_call": {"id": "c1", "tool_name": "s"}}]}),
    "llamaindex, a broken stream": llamaindex(
        "LLMChatInProgressEvent", response__message__blocks=[{"block_type": "text", "text": ""}]),
    "adk, content off": Reply(attributes={
        "gen_ai.request.model": "g", ADK + "llm_request": "{}", ADK + "llm_response": "{}"}),
    "adk, a call": adk(content={"role": "model", "parts": [{"function_call": {"name": "s"}}]},
                       finish_reason="STOP"),
    "adk, a failure": adk(error_code="500", error_message="overloaded"),
    "strands, a tool call": strands([{"toolUse": {"toolUseId": "t", "name": "s", "input": {}}}],
                                    "tool_use"),
    "spring ai, content off": Reply(attributes=CHAT),
}  # fmt: skip


@pytest.mark.parametrize("reply", EMPTY.values(), ids=EMPTY)
def test_a_reply_without_text_is_an_empty_answer(reply: Reply) -> None:
    record = record_of(reply)
    assert record.answer == ""
    assert "answer" not in record.absent
    assert "citations" not in record.absent
    score = AnswerCompleteText().score(record)
    assert (score.value, score.label) == (0.0, "empty")


@pytest.mark.parametrize("reply", UNSENT.values(), ids=UNSENT)
def test_a_reply_that_was_not_sent_or_is_no_answer_stays_unknown(reply: Reply) -> None:
    record = record_of(reply)
    assert record.answer is None
    assert record.absent["answer"] in Absent
    assert AnswerCompleteText().score(record).value is None


@pytest.mark.parametrize("reply", EMPTY.values(), ids=EMPTY)
def test_a_call_that_failed_has_no_empty_answer(reply: Reply) -> None:
    record = record_of(replace(reply.span(), status=StatusCode.ERROR))
    assert record.answer is None
    assert record.absent["answer"] is Absent.ERRORED


def test_a_root_that_failed_after_an_empty_reply_has_no_answer() -> None:
    record = record_of(llm(answer=""), root=replace(ROOT, status=StatusCode.ERROR))
    assert (record.answer, record.absent["answer"]) == (None, Absent.ERRORED)


@pytest.mark.parametrize(
    "reply",
    [
        raw(completion(content=None, refusal="I cannot help with that.")),
        genai({"type": "refusal", "content": "I cannot help with that."}),
        langfuse({"role": "assistant", "content": None, "refusal": "I cannot help with that."}),
    ],
    ids=["openinference", "otel", "langfuse"],
)
def test_a_refusal_in_a_field_of_its_own_is_the_answer(reply: Reply) -> None:
    assert record_of(reply).answer == "I cannot help with that."


def test_a_text_anywhere_is_stronger_than_an_empty_reply() -> None:
    both = {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "Five days."}
    assert record_of(llm(answer="", extra=both)).answer == "Five days."
    said = replace(ROOT, attributes={**ROOT.attributes, "output.value": "Within five days."})
    assert record_of(llm(answer=""), root=said).answer == "Within five days."


def test_the_text_of_a_rewriter_is_not_the_answer_of_a_model_that_said_nothing() -> None:
    rewriter = llm("rewrite", "refund window", prompt=QUESTION, at=(0.01, 0.05))
    assert record_of(llm(answer=""), rewriter).answer == ""


def test_blanks_are_no_text() -> None:
    record = record_of(llm(answer=" \n\n"))
    assert AnswerCompleteText().score(record).label == "empty"


def test_an_empty_answer_that_the_service_declares_overrides_the_models_text() -> None:
    declared: Attributes = {"ragvigil.answer": ""}
    assert record_of(llm(extra=declared)).answer == ""
    blocked = replace(ROOT, attributes={**ROOT.attributes, **declared})
    assert record_of(llm(), root=blocked).answer == ""


@pytest.mark.parametrize(
    "output", [{"ragvigil.answer": ""}, {"output.value": '{"answer": "", "sources": []}'}]
)
def test_a_service_without_model_spans_has_empty_answers_as_well(output: Attributes) -> None:
    root = replace(ROOT, attributes={**ROOT.attributes, **output})
    (record,) = records(trace(root, retriever()))
    assert record.answer == ""


def test_the_reason_names_the_finish_reason() -> None:
    record = record_of(genai(reason="content_filter"))
    explanation = AnswerCompleteText().score(record).explanation
    assert explanation == "the answer has no text (finish reason content_filter)"


def around(output: object, **more: AttributeValue) -> tuple[Span, Span]:
    """A model whose reply an instrumentor left out, and the chain around it, which returned."""
    attributes = {"traceloop.span.kind": "workflow", "traceloop.entity.output": json.dumps(output)}
    asked = {"gen_ai.input.messages": json.dumps([{"role": "user", "content": PROMPT}])}
    call = span("llm", {**CHAT, **asked, **more}, parent="chain", at=(0.3, 0.9))
    return span("chain", attributes, parent="root", at=(0.25, 0.95)), call


RETURNED_NOTHING = [
    {"outputs": {"question": QUESTION, "answer": ""}, "kwargs": {"tags": []}},
    {"outputs": "", "kwargs": {}},
    {"answer": " \n"},
    "",
]


@pytest.mark.parametrize("output", RETURNED_NOTHING)
def test_a_chain_that_returned_nothing_tells_of_a_reply_that_was_left_out(output: object) -> None:
    chain, call = around(output)
    record = record_of(call, chain)
    assert record.answer == ""
    assert "answer" not in record.absent


@pytest.mark.parametrize(
    "more",
    [
        {"gen_ai.response.finish_reasons": ["tool_calls"]},
        {"gen_ai.response.finish_reasons": ["error"]},
        {"gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "tool_call", "name": "search"}]}])},
    ],
    ids=["tool call, not sent", "aborted", "tool call"],
)  # fmt: skip
@pytest.mark.parametrize("output", RETURNED_NOTHING)
def test_a_reply_that_is_no_answer_stays_unknown(output: object, more: Attributes) -> None:
    chain, call = around(output, **more)
    assert record_of(call, chain).answer is None


def test_a_chain_that_returned_nothing_and_failed_has_no_answer() -> None:
    chain, call = around({"outputs": {"answer": ""}})
    record = record_of(replace(call, status=StatusCode.ERROR), chain)
    assert (record.answer, record.absent["answer"]) == (None, Absent.ERRORED)


@pytest.mark.parametrize(
    "output", [{"outputs": {"documents": []}}, {"outputs": None}, {"result": ""}, []]
)
def test_a_chain_that_returned_something_else_tells_nothing(output: object) -> None:
    chain, call = around(output)
    assert record_of(call, chain).answer is None
