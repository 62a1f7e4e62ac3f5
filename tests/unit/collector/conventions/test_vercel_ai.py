"""Vercel AI SDK: calls and their wrappers, tools, reranking, names of several versions."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions import vercel_ai
from collector.record.build import records
from ragvigil.model.record import RagRecord
from ragvigil.model.span import AttributeValue, Span, SpanKind
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

NAMES = [name for name, _ in DOCUMENTS]
TEXTS = [text for _, text in DOCUMENTS]
SHOWN = "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
SYSTEM = {"role": "system", "content": "Answer."}
ASKED = {"role": "user", "content": [{"type": "text", "text": QUESTION}]}
CALL = {"role": "assistant", "content": [
    {"type": "tool-call", "toolCallId": "c1", "toolName": "search", "input": {"query": "refund"}},
]}  # fmt: skip


def ai(
    operation: str,
    attributes: dict[str, AttributeValue] | None = None,
    *,
    parent: str = "POST",
    at: tuple[float, float] = (0.1, 0.9),
) -> Span:
    """A span of the SDK, named for its operation."""
    named: dict[str, AttributeValue] = {"ai.operationId": operation, **(attributes or {})}
    identifier = operation if at[1] > 0.3 else f"{operation} first"
    return span(operation, named, parent=parent, at=at, scope="ai", span_id=identifier)


SERVER = span("POST", {"http.route": "/api/chat"}, kind=SpanKind.SERVER)
EMBED = ai("ai.embed", {"ai.value": json.dumps(QUESTION)}, at=(0.01, 0.05))
EMBEDDED = ai("ai.embed.doEmbed", {"ai.values": [json.dumps(QUESTION)], "ai.usage.tokens": 14},
              parent="ai.embed first", at=(0.02, 0.04))  # fmt: skip


def turn(**more: AttributeValue) -> Span:
    """The wrapper around the calls of one turn."""
    prompt = json.dumps({"system": "Answer.", "prompt": QUESTION})
    return ai("ai.generateText", {"ai.prompt": prompt, "ai.response.text": ANSWER, **more})


def call(
    messages: object, attributes: dict[str, AttributeValue], *, at: tuple[float, float] = (0.4, 0.8)
) -> Span:
    named: dict[str, AttributeValue] = {"ai.prompt.messages": json.dumps(messages), **attributes}
    return ai("ai.generateText.doGenerate", named, parent="ai.generateText", at=at)


def asking(calls: object = None) -> Span:
    """The first call of a turn: the model asks for the tool."""
    named = [{"toolCallId": "c1", "toolName": "search", "input": '{"query": "refund"}'}]
    return call([SYSTEM, ASKED], {"ai.response.toolCalls": json.dumps(calls or named)},
                at=(0.12, 0.2))  # fmt: skip


def tool(result: object, **more: AttributeValue) -> Span:
    attributes: dict[str, AttributeValue] = {
        "ai.toolCall.name": "search",
        "ai.toolCall.args": '{"query": "refund"}',
        "ai.toolCall.result": json.dumps(result),
        **more,
    }
    return ai("ai.toolCall", attributes, parent="ai.generateText", at=(0.2, 0.3))


def result_message(output: object, name: str = "output") -> dict[str, object]:
    part = {"type": "tool-result", "toolCallId": "c1", "toolName": "search", name: output}
    return {"role": "tool", "content": [part]}


def read(*spans: Span) -> RagRecord:
    (record,) = records(trace(*spans))
    return record


def test_a_prompt_with_the_context_in_it_is_a_record() -> None:
    prompt = json.dumps({"system": "Answer.", "prompt": PROMPT})
    wrapper = ai("ai.streamText", {"ai.prompt": prompt, "ai.response.text": ANSWER})
    messages = [SYSTEM, {"role": "user", "content": [{"type": "text", "text": PROMPT}]}]
    inner = ai("ai.streamText.doStream", {"ai.prompt.messages": json.dumps(messages),
               "ai.response.text": ANSWER}, parent="ai.streamText", at=(0.2, 0.8))  # fmt: skip
    record = read(SERVER, EMBED, EMBEDDED, wrapper, inner)
    assert (record.query, record.answer, record.route) == (QUESTION, ANSWER, "/api/chat")
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (SHOWN, result_message({"type": "text", "value": SHOWN})),
        (SHOWN, result_message(SHOWN, "result")),
        ([{"id": n, "content": t} for n, t in DOCUMENTS],
         result_message({"type": "json", "value": [{"id": n, "content": t}
                                                   for n, t in DOCUMENTS]})),
        ({"content": [{"type": "text", "text": SHOWN}]},
         result_message({"type": "content", "value": [{"type": "text", "text": SHOWN}]})),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_tool_seen", [True, False])
def test_a_tool_that_searches_is_the_retrieval(
    result: object, message: object, is_tool_seen: bool
) -> None:
    final = call([SYSTEM, ASKED, CALL, message], {"ai.response.text": ANSWER})
    record = read(SERVER, turn(), asking(), *([tool(result)] if is_tool_seen else []), final)
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_words_beside_a_tool_call_are_no_answer() -> None:
    first = call([SYSTEM, ASKED], {"ai.response.text": "Let me look that up.",
                 "ai.response.toolCalls": '[{"toolName": "search"}]'}, at=(0.12, 0.2))  # fmt: skip
    final = call([SYSTEM, ASKED, CALL, result_message(SHOWN, "result")],
                 {"ai.response.text": ANSWER})  # fmt: skip
    wrapper = ai("ai.generateText", {"ai.prompt": json.dumps({"messages": [ASKED]})})
    record = read(SERVER, wrapper, first, tool(SHOWN), final)
    assert (record.query, record.answer) == (QUESTION, ANSWER)


def test_a_tool_that_does_not_search_is_no_retrieval() -> None:
    final = call([ASKED, CALL, result_message("20 degrees", "result")],
                 {"ai.response.text": "It is 20 degrees."})  # fmt: skip
    assert records(trace(SERVER, turn(), asking(), tool("20 degrees"), final)) == ()


@pytest.mark.parametrize(
    "prompt",
    [
        {"prompt": QUESTION},
        {"messages": [ASKED]},
        {"system": "Answer.", "prompt": [{"role": "user", "content": QUESTION}]},
        [SYSTEM, ASKED],
    ],
)
def test_the_question_is_what_the_user_wrote_last(prompt: object) -> None:
    wrapper = turn(**{"ai.prompt": json.dumps(prompt)})
    final = call([CALL, result_message(SHOWN, "result")], {"ai.response.text": ANSWER})
    assert read(SERVER, wrapper, asking(), tool(SHOWN), final).query == QUESTION


def test_the_usage_of_the_wrapper_is_not_added() -> None:
    used: dict[str, AttributeValue] = {"ai.usage.inputTokens": 30, "ai.usage.outputTokens": 7}
    final = call([SYSTEM, ASKED, CALL, result_message(SHOWN, "result")], {
        "ai.response.text": ANSWER, "ai.usage.promptTokens": 30, "ai.usage.completionTokens": 7,
        "ai.usage.cachedInputTokens": 5, "ai.usage.reasoningTokens": 2})  # fmt: skip
    usage = read(SERVER, turn(**used), tool(SHOWN), final).usage
    assert (usage.input_tokens, usage.output_tokens) == (30, 7)
    assert (usage.cache_read_tokens, usage.reasoning_tokens) == (5, 2)


def test_older_names_of_results_are_read() -> None:
    final = call([SYSTEM, {"role": "user", "content": PROMPT}],
                 {"ai.result.text": ANSWER, "ai.finishReason": "length",
                  "ai.stream.msToFirstChunk": 250})  # fmt: skip
    wrapper = ai("ai.generateText", {"ai.prompt": json.dumps({"prompt": PROMPT})})
    record = read(SERVER, wrapper, final)
    assert (record.answer, record.truncated) == (ANSWER, ("answer",))
    assert record.latencies.first_token == 0.25


def test_a_generated_object_answers() -> None:
    answer = json.dumps({"answer": ANSWER, "citations": [{"id": "refund-01"}]})
    wrapper = ai("ai.generateObject", {"ai.response.object": answer})
    inner = ai("ai.generateObject.doGenerate", {"ai.response.object": answer,
               "ai.prompt.messages": json.dumps([{"role": "user", "content": PROMPT}])},
               parent="ai.generateObject", at=(0.2, 0.8))  # fmt: skip
    record = read(SERVER, wrapper, inner)
    assert record.answer == ANSWER
    assert [citation.chunk_id for citation in record.citations] == ["refund-01"]


def test_an_operation_without_its_id_is_known_by_its_name() -> None:
    final = span("chat", {"operation.name": "ai.generateText.doGenerate help",
                 "ai.prompt.messages": json.dumps([{"role": "user", "content": PROMPT}]),
                 "ai.response.text": ANSWER}, parent="POST", at=(0.2, 0.8))  # fmt: skip
    assert read(SERVER, final).answer == ANSWER


@pytest.mark.parametrize("wrapped", [TEXTS, [{"id": n, "text": t} for n, t in DOCUMENTS]])
def test_a_ranking_orders_the_documents(wrapped: list[object]) -> None:
    documents: list[AttributeValue] = [json.dumps(document) for document in wrapped]
    ranking: list[AttributeValue] = ['{"index":2,"relevanceScore":0.9}',
                                     '{"index":0,"relevanceScore":0.8}']  # fmt: skip
    rerank = ai("ai.rerank", {"ai.documents": documents}, at=(0.1, 0.2))
    inner = ai("ai.rerank.doRerank", {"ai.documents": documents, "ai.ranking": ranking},
               parent="ai.rerank first", at=(0.12, 0.18))  # fmt: skip
    final = call([{"role": "user", "content": PROMPT}], {"ai.response.text": ANSWER})
    record = read(SERVER, EMBED, EMBEDDED, rerank, inner, turn(), final)
    assert [document.content for document in record.retrieved] == TEXTS
    assert [document.content for document in record.reranked] == [TEXTS[2], TEXTS[0]]
    assert [document.score for document in record.reranked] == [0.9, 0.8]


@pytest.mark.parametrize("place", ['{"index":9}', '{"index":-1}', "{}", "x", '{"index":"a"}'])
def test_a_ranking_of_unknown_documents_is_none(place: str) -> None:
    rerank = ai("ai.rerank.doRerank", {"ai.documents": [json.dumps(text) for text in TEXTS],
                "ai.ranking": [place]}, at=(0.1, 0.2))  # fmt: skip
    final = call([{"role": "user", "content": PROMPT}], {"ai.response.text": ANSWER})
    assert read(SERVER, rerank, turn(), final).reranked == ()


def test_the_steps_of_version_7_are_one_answer() -> None:
    def step(name: str, attributes: dict[str, AttributeValue], parent: str, at: float) -> Span:
        return span(name, attributes, parent=parent, at=(at, at + 0.1), scope="gen_ai")

    def part(kind: str, **more: object) -> dict[str, object]:
        return {"type": kind, **more}

    user = {"role": "user", "parts": [part("text", content=QUESTION)]}
    asks = {"role": "assistant", "parts": [part("tool_call", id="c", name="search")]}
    tells = {"role": "tool", "parts": [part("tool_call_response", id="c", response=SHOWN)]}
    says = {"role": "assistant", "parts": [part("text", content=ANSWER)]}
    chats: list[dict[str, AttributeValue]] = [
        {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(given),
         "gen_ai.output.messages": json.dumps([said])}
        for given, said in (([user], asks), ([user, asks, tells], says))
    ]  # fmt: skip
    record = read(
        SERVER,
        span("agent", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "help",
             "gen_ai.input.messages": json.dumps([user])}, parent="POST", at=(0.1, 0.9)),
        step("step 1", {"gen_ai.operation.name": "agent_step"}, "agent", 0.2),
        step("chat 1", chats[0], "step 1", 0.2),
        step("tool", {"gen_ai.operation.name": "execute_tool",
             "gen_ai.tool.call.arguments": '{"query": "refund"}',
             "gen_ai.tool.call.result": json.dumps(SHOWN)}, "step 1", 0.4),
        step("step 2", {"gen_ai.operation.name": "agent_step"}, "agent", 0.6),
        step("chat 2", chats[1], "step 2", 0.6),
    )  # fmt: skip
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_of_a_prompt_with_the_context_only_the_question_is_taken() -> None:
    short = "Kontext:\n[a] Dreißig Tage.\n[b] Vier Euro.\n\nFrage: Wie lange?"
    wrapper = ai("ai.generateText", {"ai.prompt": json.dumps({"prompt": short})})
    final = call([{"role": "user", "content": short}], {"ai.response.text": "Dreißig. [a]"})
    record = read(SERVER, wrapper, final)
    assert record.query == "Wie lange?"
    assert [document.chunk_id for document in record.retrieved] == ["a", "b"]


def test_metadata_of_the_telemetry_says_who_asked() -> None:
    final = call([{"role": "user", "content": PROMPT}], {
        "ai.response.text": ANSWER, "ai.telemetry.metadata.sessionId": "s",
        "ai.telemetry.metadata.userId": "u", "ai.telemetry.metadata.tenant": "acme",
        "ai.telemetry.metadata.langfusePrompt": '{"name": "help", "version": 7}',
        "ai.model.id": "m", "ai.response.model": "m-2026", "ai.response.id": "r-1",
        "ai.settings.temperature": 0.5, "ai.settings.maxOutputTokens": 64})  # fmt: skip
    record = read(SERVER, turn(), final)
    assert (record.session_id, record.user_id, record.response_ids) == ("s", "u", ("r-1",))
    dimensions = record.dimensions
    assert (dimensions.tenant, dimensions.prompt_version) == ("acme", "7")
    assert (dimensions.llm_model, dimensions.temperature) == ("m-2026", 0.5)
    assert dimensions.max_tokens == 64


def test_without_a_server_the_function_is_the_route() -> None:
    top = ai("ai.generateText", {"ai.telemetry.functionId": "help-rag",
             "ai.prompt": json.dumps({"prompt": QUESTION})}, parent="")  # fmt: skip
    final = call([{"role": "user", "content": PROMPT}], {"ai.response.text": ANSWER})
    assert read(top, final).route == "help-rag"


def test_a_cut_prompt_shows_no_context() -> None:
    messages = json.dumps([{"role": "user", "content": PROMPT}])
    final = ai("ai.generateText.doGenerate", {"ai.prompt.messages": messages[:70],
               "ai.response.text": ANSWER}, parent="ai.generateText")  # fmt: skip
    record = read(SERVER, turn(), tool(SHOWN), final)
    assert [document.chunk_id for document in record.context] == NAMES
    assert record.answer == ANSWER


SAID = (
    "ai.generateText", "ai.generateText.doGenerate", "ai.toolCall", "ai.rerank", "ai.",
    '{"prompt": [3]}', '[{"role": "tool", "content": [{"type": "tool-result"}]}]', '{"index": 1e9}',
)  # fmt: skip


ODD: list[AttributeValue] = [{"": b"x"}, {"n": 2**70}, "{(1, 2): 3}"]


def test_documents_of_no_known_form_are_read_whatever_they_hold() -> None:
    found = said_of(vercel_ai, ai("ai.rerank", {"ai.documents": ODD}))
    assert found


@given(spans_of(vercel_ai, said=SAID))
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(vercel_ai, any_span)
