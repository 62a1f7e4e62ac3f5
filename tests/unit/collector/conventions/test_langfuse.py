"""Langfuse: typed observations of LangChain, of decorated functions, and of other SDKs."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given as drawn_from

from collector.conventions import langfuse
from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import AttributeValue, Span, SpanKind, StatusCode
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, SECOND, span, trace

NAMES = [name for name, _ in DOCUMENTS]
TEXTS = [text for _, text in DOCUMENTS]
IN, OUT = "langfuse.observation.input", "langfuse.observation.output"
LANGCHAIN = [
    {"id": n, "metadata": {"doc_id": n}, "page_content": t, "type": "Document"}
    for n, t in DOCUMENTS
]
MESSAGES = [{"role": "system", "content": "Answer."}, {"role": "user", "content": PROMPT}]


def observed(
    name: str,
    kind: str = "span",
    given: object = None,
    returned: object = None,
    *,
    parent: str = "help",
    at: tuple[float, float] = (0.1, 0.2),
    **more: AttributeValue,
) -> Span:
    """An observation; whatever is no text is sent as JSON text."""
    attributes: dict[str, AttributeValue] = {"langfuse.observation.type": kind}
    for key, value in ((IN, given), (OUT, returned)):
        if value is not None:
            attributes[key] = value if isinstance(value, str) else json.dumps(value)
    attributes.update({f"langfuse.{key}".replace("__", "."): v for key, v in more.items()})
    return span(name, attributes, parent=parent, at=at, scope="langfuse-sdk")


def root(**more: AttributeValue) -> Span:
    call = {"args": [QUESTION], "kwargs": {}}
    return observed("help", "span", call, ANSWER, parent="", at=(0, 1), **more)


def retrieval(returned: object = LANGCHAIN, kind: str = "retriever", name: str = "search") -> Span:
    return observed(name, kind, QUESTION, returned)


def generation(given: object = MESSAGES, returned: object = None, **more: AttributeValue) -> Span:
    reply = {"role": "assistant", "content": ANSWER} if returned is None else returned
    return observed("chat", "generation", given, reply, at=(0.3, 0.9), **more)


def read(*spans: Span) -> RagRecord:
    (record,) = records(trace(*spans))
    return record


def test_a_chain_of_observations_is_one_record() -> None:
    record = read(root(), retrieval(), generation())
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [document.chunk_id for document in record.retrieved] == NAMES
    assert [document.content for document in record.retrieved] == TEXTS
    assert [citation.chunk_id for citation in record.citations] == NAMES[:1]
    assert record.conventions == ("langfuse",)


@pytest.mark.parametrize(
    "returned",
    [
        [{"id": n, "content": t} for n, t in DOCUMENTS],
        [[{"id": n, "page_content": t}, 0.25] for n, t in DOCUMENTS],
        {"documents": [{"chunk_id": n, "text": t} for n, t in DOCUMENTS]},
        {"ids": [NAMES], "documents": [TEXTS], "distances": [[0.1, 0.2, 0.3]], "metadatas": None},
        [{"node": {"id_": n, "text": t}, "score": 0.5} for n, t in DOCUMENTS],
    ],
)
def test_a_retriever_may_return_documents_in_any_shape(returned: object) -> None:
    record = read(root(), retrieval(returned), generation())
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_a_retriever_may_return_bare_texts() -> None:
    record = read(root(), retrieval(TEXTS), generation())
    assert [document.content for document in record.retrieved] == TEXTS
    assert [document.chunk_id for document in record.retrieved] == [
        o.text_hash for o in record.retrieved
    ]


def test_bare_ids_are_no_texts() -> None:
    record = read(root(), retrieval(NAMES), generation("Say hello."))
    assert record.retrieved == ()
    assert record.absent["retrieved"] is Absent.NOT_SENT


def test_a_function_named_for_its_retrieval_needs_no_type() -> None:
    record = read(root(), retrieval(kind="span", name="retrieve_chunks"), generation())
    assert [document.chunk_id for document in record.retrieved] == NAMES


def test_a_tool_that_searches_is_a_retrieval() -> None:
    message = {
        "content": "\n".join(f"[{n}] {t}" for n, t in DOCUMENTS),
        "type": "tool",
        "tool_call_id": "call_1",
    }
    record = read(root(), retrieval(message, kind="tool"), generation())
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_a_reranker_is_told_by_its_name_and_its_documents() -> None:
    call = {"args": [QUESTION, LANGCHAIN], "kwargs": {"top_n": 2}}
    ranked = observed("rerank", "span", call, LANGCHAIN[1::-1], at=(0.2, 0.25))
    record = read(root(), retrieval(), ranked, generation())
    assert [document.chunk_id for document in record.retrieved] == NAMES
    assert [document.chunk_id for document in record.reranked] == NAMES[1::-1]


def test_a_root_that_only_has_rerank_in_its_name_still_answers() -> None:
    top = replace(root(), name="rag_with_rerank")
    record = read(top, retrieval(), generation())
    assert (record.query, record.answer) == (QUESTION, ANSWER)


@pytest.mark.parametrize(
    "returned",
    [
        ANSWER,
        "[refund-01] says: within 30 days.",
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
        {"choices": [{"message": {"role": "assistant", "content": ANSWER}}]},
        {"answer": ANSWER, "sources": ["refund-01"]},
    ],
)
def test_a_generation_may_return_a_text_a_message_or_a_response(returned: object) -> None:
    bare = observed("help", "span", {"args": [QUESTION]}, parent="", at=(0, 1))
    record = read(bare, retrieval(), generation(returned=returned))
    assert record.answer == (ANSWER if "30 days of" in str(returned) else returned)


@pytest.mark.parametrize(
    "given",
    [
        PROMPT,
        {"args": [PROMPT], "kwargs": {"model": "m"}},
        {"messages": MESSAGES, "tools": []},
        {"args": [], "kwargs": {"messages": MESSAGES}},
        [*MESSAGES, {"role": "tool", "content": {"type": "function", "function": {"name": "s"}}}],
    ],
)
def test_a_prompt_may_be_a_text_messages_or_arguments(given: object) -> None:
    record = read(root(), generation(given))
    assert [document.chunk_id for document in record.context] == NAMES


def test_the_traces_output_is_the_users_answer() -> None:
    top = observed("help", "span", {"request": 1}, {"status": 200}, parent="", at=(0, 1),
                   trace__input=QUESTION, trace__output="Thirty days.")  # fmt: skip
    record = read(top, observed("search", "retriever", [0.1, 0.2], LANGCHAIN), generation())
    assert (record.query, record.answer) == (QUESTION, "Thirty days.")


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"input": 242, "output": 72, "total": 314}, (242, 72, None, None)),
        ({"input": 40, "input_cache_read": 200, "output": 10, "output_reasoning": 62,
          "total": 312}, (240, 72, 200, 62)),
        ({"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}, (9, 4, None, None)),
        ({"input": 9, "input_cached_tokens": 5, "output": 4, "total": 13}, (9, 4, 5, None)),
        ({"input": "many", "output": -1}, (None, None, None, None)),
    ],
)  # fmt: skip
def test_details_that_were_taken_out_of_the_usage_are_added_again(
    usage: object, tokens: tuple[int | None, ...]
) -> None:
    found = read(
        root(), retrieval(), generation(observation__usage_details=json.dumps(usage))
    ).usage
    assert tokens == (
        found.input_tokens, found.output_tokens, found.cache_read_tokens, found.reasoning_tokens
    )  # fmt: skip


@pytest.mark.parametrize(
    ("costs", "dollars"),
    [({"input": 0.01, "output": 0.02}, 0.03), ({"input": 0.01, "total": 0.5}, 0.5), ({}, None)],
)
def test_costs_are_the_total_or_its_parts(costs: object, dollars: float | None) -> None:
    spent = {"observation__usage_details": '{"input": 1, "output": 1}',
             "observation__cost_details": json.dumps(costs)}  # fmt: skip
    assert read(root(), retrieval(), generation(**spent)).cost_usd == dollars


def test_what_else_a_generation_states_is_read() -> None:
    first = datetime.fromtimestamp(100.4, UTC).isoformat().replace("+00:00", "Z")
    record = read(
        root(environment="prod", trace__name="help-flow", user__id="u", session__id="s",
             trace__metadata__tenant='"acme"'),
        retrieval(),
        generation(
            observation__model__name="gpt-x", observation__prompt__version=7,
            observation__prompt__name="help",
            observation__model__parameters='{"temperature": 0.2, "max_completion_tokens": 64}',
            observation__completion_start_time=json.dumps(first),
        ),
    )  # fmt: skip
    dimensions = record.dimensions
    assert (dimensions.llm_model, dimensions.prompt_version) == ("gpt-x", "7")
    assert (dimensions.temperature, dimensions.max_tokens) == (0.2, 64)
    assert (record.environment, record.route, dimensions.tenant) == ("prod", "help-flow", "acme")
    assert (record.user_id, record.session_id) == ("u", "s")
    assert record.latencies.first_token == pytest.approx(0.1)


@pytest.mark.parametrize("moment", ["soon", "2001-01-01T00:00:00Z", "2100-01-01", ""])
def test_a_first_token_outside_of_its_span_is_not_believed(moment: str) -> None:
    record = read(root(), retrieval(), generation(observation__completion_start_time=moment))
    assert record.latencies.first_token is None


def test_who_asked_may_stand_under_the_names_of_opentelemetry() -> None:
    asked = {"session.id": "s", "user.id": "u"}
    search = retrieval()
    record = read(root(), replace(search, attributes={**search.attributes, **asked}), generation())
    assert (record.session_id, record.user_id) == ("s", "u")


def test_masked_content_is_hidden_and_no_text() -> None:
    mask = "<fully masked due to failed mask function>"
    top = observed("help", "span", mask, mask, parent="", at=(0, 1))
    search = observed("search", "retriever", mask, mask)
    record = read(top, search, generation(mask, mask))
    assert (record.query, record.answer, record.retrieved) == (None, None, ())
    for name in ("query", "answer", "retrieved"):
        assert record.absent[name] is Absent.HIDDEN, name


def test_a_cut_list_is_told_to_be_cut() -> None:
    cut = json.dumps(LANGCHAIN)[:-60]
    record = read(root(), retrieval(cut), generation("Say hello."))
    assert record.retrieved == ()
    assert record.absent["retrieved"] is Absent.TRUNCATED


def test_observations_below_a_server_span_take_its_route() -> None:
    server = span("POST", {"http.route": "/ask"}, kind=SpanKind.SERVER, at=(0, 1))
    top = observed("help", "span", QUESTION, ANSWER, parent="POST", at=(0, 1))
    inner = [
        observed("search", "retriever", QUESTION, LANGCHAIN, parent="help"),
        observed("chat", "generation", MESSAGES, ANSWER, parent="help", at=(0.3, 0.9)),
    ]
    assert read(server, top, *inner).route == "/ask"
    assert top.start_unix_nano == 100 * SECOND


SAID = (
    "generation", "retriever", "tool", "span", "[[1, 2]]", '{"args": [[]], "kwargs": 3}',
    '{"ids": [["a"]], "documents": [null]}', '{"input": 1, "total": []}',
)  # fmt: skip


@drawn_from(spans_of(langfuse, said=SAID))
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(langfuse, any_span)


LEVEL, SAID = "observation.level", "observation.status_message"


@pytest.mark.parametrize(
    ("level", "said", "expected"),
    [
        ("ERROR", "rate limit", "rate limit"),
        ("ERROR", None, "error"),
        ("WARNING", "slow", None),
        ("DEFAULT", None, None),
    ],
)
def test_a_level_of_error_is_the_records_error_with_its_message(
    level: str, said: str | None, expected: str | None
) -> None:
    """The SDK sets the level where the user's code caught the exception: the status is unset."""
    told: dict[str, AttributeValue] = {LEVEL: level} | ({SAID: said} if said else {})
    assert read(root(**told), retrieval(), generation()).error == expected
    assert read(root(), retrieval(), generation(**told)).error == expected


def test_an_answer_that_failed_by_its_level_is_absent_for_that_reason() -> None:
    failed = generation(returned="", **{LEVEL: "ERROR", SAID: "rate limit"})
    silent = replace(root(), attributes={**root().attributes, OUT: ""})
    record = read(silent, retrieval(), failed)
    assert (record.answer, record.absent["answer"]) == (None, Absent.ERRORED)
    assert record.error == "rate limit"


def test_the_spans_own_message_says_more_than_the_level() -> None:
    failed = replace(
        root(**{LEVEL: "ERROR"}), status=StatusCode.ERROR, status_message="connection reset"
    )
    assert read(failed, retrieval(), generation()).error == "connection reset"
