"""MLflow: every value JSON-encoded, autologged clients and functions of the user's own."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions import mlflow
from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, llm, retriever, span, trace

NAMES = [name for name, _ in DOCUMENTS]
TEXTS = [text for _, text in DOCUMENTS]
PAGES = [{"page_content": t, "metadata": {"doc_uri": f"kb/{n}"}, "id": n} for n, t in DOCUMENTS]
MESSAGES = [{"role": "system", "content": "Answer."}, {"role": "user", "content": PROMPT}]
CHAT = {"choices": [{"message": {"role": "assistant", "content": ANSWER},
                     "finish_reason": "length"}]}  # fmt: skip


def traced(
    name: str,
    kind: str | None,
    inputs: object = None,
    outputs: object = None,
    *,
    parent: str = "help",
    at: tuple[float, float] = (0.1, 0.2),
    **more: object,
) -> Span:
    """A span of MLflow; every value is sent as JSON text."""
    named = {"mlflow.spanType": kind, "mlflow.spanInputs": inputs, "mlflow.spanOutputs": outputs}
    named.update({key.replace("__", "."): value for key, value in more.items()})
    attributes: dict[str, AttributeValue] = {
        key: json.dumps(value) for key, value in named.items() if value is not None
    }
    return span(name, attributes, parent=parent, at=at, scope="mlflow.tracing.provider")


def root(**more: object) -> Span:
    outputs = {"answer": ANSWER, "docs": PAGES}
    return traced("help", "CHAIN", {"question": QUESTION}, outputs, parent="", at=(0, 1), **more)


def retrieval(outputs: object = PAGES, kind: str | None = "RETRIEVER", name: str = "s") -> Span:
    return traced(name, kind, QUESTION, outputs)


def call(inputs: object = None, outputs: object = CHAT, **more: object) -> Span:
    inputs = {"messages": MESSAGES} if inputs is None else inputs
    return traced("llm", "CHAT_MODEL", inputs, outputs, at=(0.3, 0.9), **more)


def read(*spans: Span) -> RagRecord:
    (record,) = records(trace(*spans))
    return record


def test_texts_are_read_without_the_quotes_of_their_encoding() -> None:
    record = read(root(), retrieval(), call())
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )
    assert [citation.chunk_id for citation in record.citations] == NAMES[:1]
    assert record.conventions == ("mlflow",)


def test_a_type_without_quotes_is_read_as_well() -> None:
    attributes: dict[str, AttributeValue] = {
        "mlflow.spanType": "RETRIEVER",
        "mlflow.spanInputs": QUESTION,
        "mlflow.spanOutputs": json.dumps(PAGES),
    }
    record = read(root(), span("s", attributes, parent="help", at=(0.1, 0.2)), call())
    assert [document.chunk_id for document in record.retrieved] == NAMES


def test_a_reranker_takes_and_returns_documents() -> None:
    taken = {"query": QUESTION, "documents": PAGES}
    ranked = traced("rerank", "RERANKER", taken, PAGES[1::-1], at=(0.2, 0.25))
    record = read(root(), retrieval(), ranked, call())
    assert [document.chunk_id for document in record.retrieved] == NAMES
    assert [document.chunk_id for document in record.reranked] == NAMES[1::-1]


@pytest.mark.parametrize(
    "outputs", [TEXTS, {"passages": TEXTS}, [[page, 0.5] for page in PAGES], {"docs": PAGES}]
)
def test_a_retriever_may_return_texts_pairs_or_a_mapping(outputs: object) -> None:
    record = read(root(), retrieval(outputs), call())
    assert [document.content for document in record.retrieved] == TEXTS


@pytest.mark.parametrize("kind", [None, "UNKNOWN", "CHAIN", "search_step"])
def test_a_function_named_for_its_retrieval_needs_no_type(kind: str | None) -> None:
    record = read(root(), retrieval(kind=kind, name="retrieve_chunks"), call())
    assert [document.chunk_id for document in record.retrieved] == NAMES


def test_the_documents_that_the_root_returns_are_no_retrieval() -> None:
    assert len(read(root(), retrieval(), call()).retrievals) == 1


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        ({"messages": MESSAGES, "model": "m"}, CHAT),
        ([[{"type": "human", "content": PROMPT}]],
         {"generations": [[{"text": ANSWER, "message": {"type": "ai", "content": ANSWER}}]]}),
        ({"input": PROMPT, "instructions": "Answer."},
         {"output": [{"type": "message", "role": "assistant",
                      "content": [{"type": "output_text", "text": ANSWER}]}]}),
        ({"system": "Answer.", "messages": [{"role": "user", "content": PROMPT}]},
         {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]}),
        ({"contents": PROMPT},
         {"candidates": [{"content": {"role": "model", "parts": [{"text": ANSWER}]}}]}),
        ({"messages": [{"role": "user", "content": [{"text": PROMPT}]}]},
         {"output": {"message": {"role": "assistant", "content": [{"text": ANSWER}]}}}),
        ({"prompt": PROMPT, "messages": None}, [ANSWER]),
        ({"prompt": PROMPT, "model": "m"}, ANSWER),
        (PROMPT, {"text": ANSWER}),
    ],
)  # fmt: skip
def test_every_clients_request_and_response_is_read(inputs: object, outputs: object) -> None:
    top = traced("help", "CHAIN", {"question": QUESTION}, parent="", at=(0, 1))
    record = read(top, call(inputs, outputs))
    assert record.answer == ANSWER
    assert [document.chunk_id for document in record.context] == NAMES


def test_older_messages_end_with_the_reply() -> None:
    messages = [*MESSAGES, {"role": "assistant", "content": ANSWER}]
    top = traced("help", "CHAIN", {"question": QUESTION}, parent="", at=(0, 1))
    older = traced("llm", "LLM", at=(0.3, 0.9), mlflow__chat__messages=messages)
    record = read(top, older)
    assert record.answer == ANSWER
    assert [document.chunk_id for document in record.context] == NAMES


def test_a_tool_that_searches_is_a_retrieval() -> None:
    content = "\n".join(f"[{n}] {t}" for n, t in DOCUMENTS)
    tool = traced("search", "TOOL", {"query": QUESTION}, {"content": content, "type": "tool"})
    top = traced("help", "AGENT", {"question": QUESTION}, ANSWER, parent="", at=(0, 1))
    record = read(top, tool, call())
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_a_question_under_any_name_is_the_only_text_among_the_arguments() -> None:
    top = traced("help", "CHAIN", {"frage": QUESTION, "k": 4}, ANSWER, parent="", at=(0, 1))
    search = traced("s", "RETRIEVER", {"vektor": [0.1, 0.2]}, PAGES)
    assert read(top, search, call()).query == QUESTION


def test_what_else_a_call_states_is_read() -> None:
    record = read(
        root(mlflow__trace__session="s", mlflow__trace__user="u", mlflow__traceName="help-flow"),
        retrieval(),
        call(
            {"messages": MESSAGES, "temperature": 0.5, "max_tokens": 64},
            mlflow__llm__model="gpt-x",
            mlflow__chat__tokenUsage={"input_tokens": 9, "output_tokens": 4,
                                      "cache_read_input_tokens": 5},
            mlflow__llm__cost={"input_cost": 0.1, "output_cost": 0.2, "total_cost": 0.3},
            mlflow__linkedPrompts=[{"name": "help", "version": "7"}],
        ),
    )  # fmt: skip
    usage, dimensions = record.usage, record.dimensions
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (9, 4, 5)
    assert (record.cost_usd, dimensions.llm_model, dimensions.prompt_version) == (0.3, "gpt-x", "7")
    assert (dimensions.temperature, dimensions.max_tokens) == (0.5, 64)
    assert (dimensions.finish_reason, record.truncated) == ("length", ("answer",))
    assert (record.session_id, record.user_id, record.route) == ("s", "u", "help-flow")


def test_who_asked_may_stand_under_the_names_of_opentelemetry() -> None:
    record = read(root(session__id="s", user__id="u"), retrieval(), call())
    assert (record.session_id, record.user_id) == ("s", "u")


def test_a_wrapper_that_repeats_the_usage_is_not_added() -> None:
    used = {"input_tokens": 9, "output_tokens": 4}
    outer = traced("outer", "LLM", PROMPT, ANSWER, at=(0.25, 0.95), mlflow__chat__tokenUsage=used)
    inner = traced("llm", "CHAT_MODEL", {"messages": MESSAGES}, CHAT, parent="outer",
                   at=(0.3, 0.9), mlflow__chat__tokenUsage=used)  # fmt: skip
    assert read(root(), retrieval(), outer, inner).usage.input_tokens == 9


def test_several_linked_prompts_are_named() -> None:
    linked = [{"name": "a", "version": "1"}, {"name": "b", "version": "2"}]
    record = read(root(), retrieval(), call(mlflow__linkedPrompts=linked))
    assert record.dimensions.prompt_version == "a:1,b:2"


def test_cut_outputs_are_told_to_be_cut() -> None:
    attributes: dict[str, AttributeValue] = {
        "mlflow.spanType": '"RETRIEVER"',
        "mlflow.spanOutputs": json.dumps(PAGES)[:-40],
    }
    cut = span("s", attributes, parent="help", at=(0.1, 0.2))
    record = read(root(), cut, call({"messages": [{"role": "user", "content": "Say hello."}]}))
    assert record.retrieved == ()
    assert record.absent["retrieved"] is Absent.TRUNCATED


def test_a_cut_answer_is_none() -> None:
    top = traced("help", "CHAIN", {"question": QUESTION}, parent="", at=(0, 1))
    attributes: dict[str, AttributeValue] = {
        "mlflow.spanType": '"LLM"',
        "mlflow.spanOutputs": json.dumps(ANSWER)[:-9],
    }
    record = read(top, retrieval(), span("llm", attributes, parent="help", at=(0.3, 0.9)))
    assert record.answer is None
    assert record.absent["answer"] is Absent.TRUNCATED


SAID = (
    '"LLM"', '"RETRIEVER"', "RERANKER", '"TOOL"', '"cut', '{"choices": [3]}', '{"prompt": 3}',
    '[["a", 0.5], ["b"]]', '[{"role": "assistant"}]', '{"generations": [[]]}',
)  # fmt: skip


@given(spans_of(mlflow, said=SAID))
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(mlflow, any_span)


def test_tokens_that_only_the_root_states_are_those_of_the_answer() -> None:
    usage = {"mlflow.chat.tokenUsage": '{"input_tokens": 12, "output_tokens": 3}'}
    root = span("root", {"mlflow.spanType": '"CHAIN"', **usage})
    (record,) = records(trace(root, retriever(), llm()))
    assert record.usage is not None
    assert (record.usage.input_tokens, record.usage.output_tokens) == (12, 3)
