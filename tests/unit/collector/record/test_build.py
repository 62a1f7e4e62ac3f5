"""Where records begin and end, and what each of their fields says or why it says nothing."""

from __future__ import annotations

import gc
import json
from dataclasses import replace

import pytest

from collector.decode.spans import decode_spans
from collector.record.build import records, records_of_each
from ragvigil.model.record import Absent, ContextSource
from ragvigil.model.span import MAX_VALUE_CHARACTERS, Event, Scope, SpanKind, StatusCode
from scorers.retrieval_shape import RetrievalShape
from tests.otlp import spans_of, trace_request
from tests.traces import (
    ANSWER,
    DOCUMENTS,
    PROMPT,
    QUESTION,
    TRACE_ID,
    llm,
    rag_trace,
    retriever,
    span,
    trace,
)

CHAIN = {"openinference.span.kind": "CHAIN"}
RERANKER = {"openinference.span.kind": "RERANKER", "reranker.query": QUESTION}


def reranker(given: tuple, returned: tuple, **more):  # type: ignore[no-untyped-def]
    attributes = dict(RERANKER)
    for stage, documents in (("input", given), ("output", returned)):
        for index, (identifier, text) in enumerate(documents):
            prefix = f"reranker.{stage}_documents.{index}.document."
            attributes[prefix + "content"] = text
            if identifier:
                attributes[prefix + "id"] = identifier
    return span("rerank", attributes, parent="root", at=(0.2, 0.3), **more)


def ids(documents: tuple) -> list[str]:  # type: ignore[type-arg]
    return [document.chunk_id for document in documents]


def test_traces_that_are_read_together_have_the_records_of_each_alone() -> None:
    traces = [rag_trace(), trace(span("root", CHAIN)), rag_trace("Within 30 days.")]
    together = records_of_each(traces)
    assert together == [records(trace) for trace in traces]
    assert [len(some) for some in together] == [1, 0, 1]
    assert records_of_each([]) == []


def test_a_plain_rag_trace_is_one_record() -> None:
    (record,) = records(rag_trace())
    assert record.query == QUESTION
    assert record.answer == ANSWER
    assert ids(record.retrieved) == [name for name, _ in DOCUMENTS]
    assert record.context_source is ContextSource.RETRIEVED
    assert [citation.chunk_id for citation in record.citations] == ["refund-01"]
    assert record.absent == {"reranked": Absent.NOT_RUN, "usage": Absent.NOT_SENT}
    assert record.service == "shop"


def test_what_a_trace_was_read_into_is_freed_at_once() -> None:
    records(rag_trace())
    gc.collect()
    gc.disable()
    try:
        records(rag_trace())
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_trace_without_retrieval_is_no_record() -> None:
    chat = llm(answer="Hello!", prompt="Say hello. 1. be kind 2. be short")
    assert records(trace(span("root", CHAIN), chat)) == ()


def test_a_search_without_an_answer_is_no_record() -> None:
    assert records(trace(span("root", CHAIN), retriever())) == ()


def test_a_search_that_writes_its_hits_one_after_the_other_is_no_record() -> None:
    formatted = "\n".join(text for _, text in DOCUMENTS)
    assert records(trace(span("root", {**CHAIN, "output.value": formatted}), retriever())) == ()


def test_an_uninstrumented_model_leaves_a_record_by_its_roots_output() -> None:
    root = span("root", {**CHAIN, "input.value": QUESTION, "output.value": ANSWER})
    (record,) = records(trace(root, retriever()))
    assert (record.query, record.answer) == (QUESTION, ANSWER)


def test_a_session_of_several_turns_is_several_records() -> None:
    turns = []
    for number in range(3):
        name, at = f"turn{number}", (number * 10.0, number * 10 + 5.0)
        turns += [
            span(name, CHAIN, parent="session", at=at),
            retriever(f"r{number}", query=f"question {number}?", parent=name, at=at),
            llm(f"l{number}", f"Answer number {number}.", parent=name, at=at),
        ]
    answers = records(trace(span("session", at=(0, 30)), *turns))
    assert [record.record_id for record in answers] == ["turn0", "turn1", "turn2"]
    assert [record.query for record in answers] == ["question 0?", "question 1?", "question 2?"]


def test_several_models_under_one_root_are_one_record_and_the_last_answers() -> None:
    rewriter = llm("rewrite", "refund period", prompt="Rewrite the question", at=(0.0, 0.05))
    root = span("root", {**CHAIN, "input.value": QUESTION})
    rewritten = retriever(query="refund period")
    (record,) = records(trace(root, rewriter, rewritten, llm()))
    assert record.answer == ANSWER
    assert record.query == QUESTION, "the user's words, not the rewritten ones"
    assert record.retrievals[0].query == "refund period"


def test_a_failed_answer_after_a_rewriter_is_not_the_rewriters_text() -> None:
    rewriter = llm("rewrite", "refund period", prompt="Rewrite the question", at=(0.0, 0.05))
    failed = llm(answer=None, status=StatusCode.ERROR, message="500")
    (record,) = records(trace(span("root", CHAIN), rewriter, retriever(), failed))
    assert record.answer is None
    assert record.absent["answer"] is Absent.ERRORED
    assert record.error == "500"


def test_a_fallback_model_answers_for_the_one_that_failed() -> None:
    failed = llm("first", None, at=(0.3, 0.4), status=StatusCode.ERROR)
    (record,) = records(trace(span("root", CHAIN), retriever(), failed, llm(at=(0.4, 0.9))))
    assert record.answer == ANSWER
    assert record.error is None


def test_a_hypothetical_answer_before_the_retrieval_does_not_split_the_record() -> None:
    inner = span("hyde", CHAIN, parent="root", at=(0.0, 0.3))
    guess = llm("guess", "Maybe 14 days.", parent="hyde", prompt="Guess", at=(0.0, 0.1))
    found = retriever(parent="hyde")
    (record,) = records(trace(span("root", CHAIN), inner, guess, found, llm()))
    assert (record.record_id, record.answer) == ("root", ANSWER)


def test_a_models_judgement_inside_the_retriever_is_not_the_answer() -> None:
    grader = llm("grade", "relevant", prompt="Is it relevant?", parent="retrieve", at=(0.95, 0.99))
    (record,) = records(trace(span("root", CHAIN), retriever(at=(0.1, 1.0)), grader, llm()))
    assert record.answer == ANSWER


def test_a_lost_root_keeps_retriever_and_model_together_under_its_id() -> None:
    whole = records(trace(span("root", CHAIN), retriever(), llm()))
    lost = records(trace(retriever(), llm()))
    assert (
        [record.record_id for record in lost] == [record.record_id for record in whole] == ["root"]
    )
    assert lost[0].retrieved == whole[0].retrieved


def test_a_gateway_a_search_service_and_a_model_make_one_record() -> None:
    spans = (
        span("gateway", {"http.route": "/ask"}, kind=SpanKind.SERVER, at=(0, 2)),
        span("call", kind=SpanKind.CLIENT, parent="gateway", at=(0, 0.3)),
        span("search", {"http.route": "/search"}, kind=SpanKind.SERVER, parent="call",
             service="search"),
        retriever(parent="search", service="search"),
        llm(parent="gateway"),
    )  # fmt: skip
    (record,) = records(trace(*spans))
    assert (record.record_id, record.route, record.service) == ("gateway", "/ask", "shop")


def test_an_answering_service_behind_its_own_server_span_joins_the_retrieval() -> None:
    spans = (
        span("gateway", {"http.route": "/ask"}, kind=SpanKind.SERVER, at=(0, 2)),
        retriever(parent="gateway"),
        span("proxy", {"http.route": "/v1/chat"}, kind=SpanKind.SERVER, parent="gateway",
             at=(0.3, 1)),
        llm(parent="proxy"),
    )  # fmt: skip
    (record,) = records(trace(*spans))
    assert record.record_id == "gateway"


def test_requests_of_one_worker_stay_apart_even_where_one_retrieves_nothing() -> None:
    spans = (
        span("worker", at=(0, 20)),
        span("one", kind=SpanKind.SERVER, parent="worker", at=(0, 5)),
        retriever(parent="one"),
        llm(parent="one"),
        span("two", kind=SpanKind.SERVER, parent="worker", at=(6, 9)),
        llm("chat", "Hi there!", prompt="Hello", parent="two", at=(6, 9)),
    )
    assert [record.record_id for record in records(trace(*spans))] == ["one"]


def test_a_doubled_exporter_changes_nothing() -> None:
    once = rag_trace()
    twice = trace(*once.spans, *once.spans)
    assert [record.retrieved for record in records(twice)] == [
        record.retrieved for record in records(once)
    ]
    assert len(records(twice)) == 1


def test_tokens_are_counted_once_where_a_wrapper_repeats_them() -> None:
    tokens = {"llm.token_count.prompt": 100, "llm.token_count.completion": 20}
    wrapper = llm("wrapper", extra=tokens)
    inner = llm("inner", parent="wrapper", extra=tokens)
    (record,) = records(trace(span("root", CHAIN), retriever(), wrapper, inner))
    assert (record.usage.input_tokens, record.usage.output_tokens) == (100, 20)


def test_tokens_are_counted_once_where_two_instrumentors_see_one_call() -> None:
    tokens = {"llm.token_count.prompt": 100, "llm.token_count.completion": 20}
    first = llm("one", extra=tokens, scope="a")
    other = llm("other", extra=tokens, scope="b", at=(0.31, 0.89))
    (record,) = records(trace(span("root", CHAIN), retriever(), first, other))
    assert record.usage.input_tokens == 100


def test_two_instrumentors_that_count_one_call_differently_are_counted_once() -> None:
    (record,) = records(
        trace(
            span("root", CHAIN),
            retriever(),
            llm(scope="framework", extra={"llm.token_count.prompt": 114}),
            llm("client", scope="client", at=(0.4, 0.8), extra={"llm.token_count.prompt": 83}),
        )
    )
    assert record.usage is not None
    assert record.usage.input_tokens == 114


def test_the_tokens_of_all_models_of_an_answer_are_summed() -> None:
    first = llm("a", "x y z", at=(0, 0.05), extra={"llm.token_count.prompt": 10})
    last = llm(extra={"llm.token_count.prompt": 100})
    (record,) = records(trace(span("root", CHAIN), first, retriever(), last))
    assert record.usage.input_tokens == 110


def test_the_reranked_chunks_are_the_context() -> None:
    returned = (DOCUMENTS[2], DOCUMENTS[0])
    prompt = "Context:\n" + "\n".join(text for _, text in returned)
    spans = (span("root", CHAIN), retriever(), reranker(DOCUMENTS, returned), llm(prompt=prompt))
    (record,) = records(trace(*spans))
    assert ids(record.reranked) == ids(record.context) == ["acct-03", "refund-01"]
    assert record.context_source is ContextSource.RERANKED
    assert len(record.retrieved) == 3


def test_a_reranker_without_ids_is_matched_by_text() -> None:
    returned = (("", DOCUMENTS[1][1]),)
    spans = (span("root", CHAIN), retriever(), reranker((), returned), llm())
    (record,) = records(trace(*spans))
    assert ids(record.reranked) == ["ship-02"]


def test_what_a_joiner_made_of_several_retrievers_is_what_was_retrieved() -> None:
    joined = (DOCUMENTS[2], DOCUMENTS[0], DOCUMENTS[1])
    spans = (
        span("root", CHAIN),
        retriever("bm25", DOCUMENTS[:2]),
        retriever("dense", (DOCUMENTS[2],)),
        reranker(joined, joined[:1]),
        llm(),
    )
    (record,) = records(trace(*spans))
    assert ids(record.retrieved) == ["acct-03", "refund-01", "ship-02"]


def test_an_ensembles_own_list_is_what_was_retrieved() -> None:
    spans = (
        span("root", CHAIN),
        retriever("ensemble", (DOCUMENTS[1], DOCUMENTS[0])),
        retriever("bm25", (DOCUMENTS[0], DOCUMENTS[2]), parent="ensemble"),
        retriever("dense", (DOCUMENTS[1],), parent="ensemble"),
        llm(),
    )
    (record,) = records(trace(*spans))
    assert ids(record.retrieved) == ["ship-02", "refund-01"]
    assert len(record.retrievals) == 1


def test_several_retrievals_are_merged_and_the_first_position_wins() -> None:
    spans = (
        span("root", CHAIN),
        retriever("a", (DOCUMENTS[0], DOCUMENTS[1])),
        retriever("b", (DOCUMENTS[1], DOCUMENTS[2]), query="another"),
        llm(),
    )
    (record,) = records(trace(*spans))
    assert ids(record.retrieved) == ["refund-01", "ship-02", "acct-03"]
    assert [document.rank for document in record.retrieved] == [0, 1, 2]


def test_a_chunk_that_the_prompt_does_not_show_is_not_context() -> None:
    prompt = f"Context:\n{DOCUMENTS[1][1]}\n{DOCUMENTS[0][1]}\n\nQuestion: {QUESTION}"
    (record,) = records(trace(span("root", CHAIN), retriever(), llm(prompt=prompt)))
    assert ids(record.context) == ["ship-02", "refund-01"], "in the order of the prompt"
    assert len(record.retrieved) == 3


def test_chunks_lost_before_a_short_prompt_leave_an_empty_context_that_is_a_finding() -> None:
    (record,) = records(trace(span("root", CHAIN), retriever(), llm(prompt=QUESTION)))
    assert record.context == ()
    assert "context" not in record.absent


def test_a_model_that_counts_more_tokens_than_its_messages_have_was_given_more() -> None:
    def context(tokens: int) -> list[str]:
        told = {"llm.token_count.prompt": tokens}
        (record,) = records(
            trace(span("root", CHAIN), retriever(), llm(prompt=QUESTION, extra=told))
        )
        return ids(record.context)

    assert context(len(QUESTION) + 1) == [name for name, _ in DOCUMENTS]
    assert context(len(QUESTION) // 4) == []


def test_rewritten_chunks_count_as_shown() -> None:
    prompt = "Summary of the sources: " + "refunds, shipping, accounts. " * 20
    (record,) = records(trace(span("root", CHAIN), retriever(), llm(prompt=prompt)))
    assert len(record.context) == 3


def test_without_documents_the_prompts_blocks_are_the_chunks() -> None:
    (record,) = records(trace(span("root"), llm()))
    assert record.context_source is ContextSource.PROMPT
    assert ids(record.context) == ids(record.retrieved) == [name for name, _ in DOCUMENTS]
    assert [document.content for document in record.context] == [text for _, text in DOCUMENTS]
    assert record.query == QUESTION


def test_a_prompt_whose_context_is_empty_is_an_answer_for_which_nothing_was_found() -> None:
    (record,) = records(
        trace(span("root"), llm(prompt=f"Context:\n\nQuestion: {QUESTION}\nAnswer:"))
    )
    assert (record.retrieved, record.context) == ((), ())
    assert not {"retrieved", "context"} & record.absent.keys()
    assert RetrievalShape().score(record).label == "empty"


def test_an_empty_retrieval_is_a_finding_and_not_absent() -> None:
    attributes = {
        "openinference.span.kind": "RETRIEVER",
        "input.value": QUESTION,
        "output.value": '{"documents": []}',
    }
    nothing = span("retrieve", attributes, parent="root", at=(0.1, 0.2))
    answer = llm(answer="I do not know.", prompt=f"Question: {QUESTION}")
    (record,) = records(trace(span("root", CHAIN), nothing, answer))
    assert record.retrieved == ()
    assert "retrieved" not in record.absent


def test_a_retriever_that_says_nothing_is_absent_and_not_empty() -> None:
    attributes = {"openinference.span.kind": "RETRIEVER", "input.value": QUESTION}
    silent = span("retrieve", attributes, parent="root", at=(0.1, 0.2))
    answer = llm(answer="I do not know.", prompt=f"Question: {QUESTION}")
    (record,) = records(trace(span("root", CHAIN), silent, answer))
    assert record.absent["retrieved"] is Absent.NOT_SENT


def test_redacted_content_is_hidden_and_not_text() -> None:
    hidden = tuple(("__REDACTED__", "__REDACTED__") for _ in range(3))
    spans = (
        span("root", {**CHAIN, "input.value": "__REDACTED__", "output.value": "__REDACTED__"}),
        retriever(documents=hidden, query="__REDACTED__"),
        llm(answer="__REDACTED__", prompt="__REDACTED__"),
    )
    (record,) = records(trace(*spans))
    assert (record.query, record.answer, record.retrieved, record.context) == (None, None, (), ())
    fields = ("query", "retrieved", "document_texts", "document_ids", "context", "answer",
              "citations")  # fmt: skip
    assert {record.absent[name] for name in fields} == {Absent.HIDDEN}


def test_dropped_attributes_make_the_list_truncated_and_not_short() -> None:
    left = retriever(dropped=12)
    hidden = llm(prompt=None)
    (record,) = records(trace(span("root", CHAIN), left, hidden))
    assert record.retrieved == ()
    assert record.absent["retrieved"] is Absent.TRUNCATED
    assert {"retrieved", "attributes"} <= set(record.truncated)


def test_a_cut_list_is_made_whole_where_the_prompt_shows_all_of_it() -> None:
    full = retriever(dropped=2)
    kept = {k: v for k, v in full.attributes.items() if not k.startswith("retrieval.documents.0.")}
    cut = retriever(dropped=2)
    object.__setattr__(cut, "attributes", kept)
    (record,) = records(trace(span("root", CHAIN), cut, llm()))
    assert ids(record.retrieved) == [name for name, _ in DOCUMENTS]


def test_a_stream_that_was_cut_keeps_its_part_and_says_so() -> None:
    cut = llm(answer="Within 30", status=StatusCode.ERROR, message="CancelledError")
    (record,) = records(trace(span("root", CHAIN), retriever(), cut))
    assert record.answer == "Within 30"
    assert "answer" in record.truncated
    assert record.error == "CancelledError"


def test_a_request_that_failed_before_its_model_ran_is_a_record_without_answer() -> None:
    spans = (
        span("root", {"input.value": QUESTION}, kind=SpanKind.SERVER, status=StatusCode.ERROR,
             message="timed out"),
        span("call", kind=SpanKind.CLIENT, parent="root", status=StatusCode.ERROR),
        retriever(parent="call"),
    )  # fmt: skip
    (record,) = records(trace(*spans))
    assert (record.query, record.answer, record.error) == (QUESTION, None, "timed out")
    assert record.retrieved == (), "what a failed call returned did not arrive"
    assert record.absent["retrieved"] is Absent.ERRORED


def test_spans_that_are_their_own_ancestors_end_in_records_all_the_same() -> None:
    circle = (
        span("root", CHAIN, parent="llm"),
        retriever(),
        llm(),
        span("self", CHAIN, parent="self"),
    )
    assert len(records(trace(*circle))) == 1


def test_the_answer_is_the_roots_where_the_root_returns_one() -> None:
    root = span("root", {**CHAIN, "output.value": '{"docs": [], "answer": "Edited answer."}'})
    (record,) = records(trace(root, retriever(), llm()))
    assert record.answer == "Edited answer."


def test_a_status_word_at_the_root_is_not_the_answer() -> None:
    root = span("root", {**CHAIN, "output.value": "ok"})
    (record,) = records(trace(root, retriever(), llm()))
    assert record.answer == ANSWER


def test_the_answer_inside_a_json_reply_is_the_answer() -> None:
    reply = '```json\n{"answer": "In 30 days.", "citations": [{"id": "refund-01"}]}\n```'
    (record,) = records(rag_trace(reply))
    assert record.answer == "In 30 days."
    assert [(citation.chunk_id, citation.style) for citation in record.citations] == [
        ("refund-01", "json")
    ]


def test_latencies_are_wall_time_and_the_first_token_is_seen() -> None:
    event = Event(name="First Token Stream Event", time_unix_nano=100_500_000_000)
    spans = (
        span("root", CHAIN),
        retriever("a", at=(0.1, 0.3)),
        retriever("b", at=(0.2, 0.4)),
        llm(events=(event,)),
    )
    (record,) = records(trace(*spans))
    latencies = record.latencies
    assert latencies.total == pytest.approx(1.0)
    assert latencies.retrieval == pytest.approx(0.3)
    assert latencies.generation == pytest.approx(0.6)
    assert latencies.first_token == pytest.approx(0.2)
    assert latencies.rerank is None


def test_dimensions_tell_what_a_release_may_change() -> None:
    extra = {
        "llm.invocation_parameters": '{"temperature": 0.2, "max_completion_tokens": 300}',
        "llm.finish_reason": "length",
        "llm.input_messages.1.message.role": "system",
        "llm.input_messages.1.message.content": "Be short.",
    }
    spans = (
        span("root", CHAIN, resource={"service.version": "1.4", "deployment.environment": "eu"}),
        span("embed", {"openinference.span.kind": "EMBEDDING", "embedding.model_name": "e5"},
             parent="root"),
        retriever(),
        llm(extra=extra),
    )  # fmt: skip
    (record,) = records(trace(*spans))
    dimensions = record.dimensions
    assert (dimensions.llm_model, dimensions.embedding_model) == ("test-model", "e5")
    assert (dimensions.temperature, dimensions.max_tokens) == (0.2, 300)
    assert dimensions.finish_reason == "length"
    assert "answer" in record.truncated
    assert (dimensions.service_version, record.environment) == ("1.4", "eu")
    assert dimensions.prompt_version.startswith("sha:")
    assert dimensions.top_k == 3


def test_an_unset_service_name_is_no_name() -> None:
    spans = [span("root", CHAIN, service="unknown_service:python"), retriever(), llm()]
    assert records(trace(*spans))[0].service == ""


def test_a_prompt_without_context_in_a_trace_without_retrieval_is_no_record() -> None:
    instructions = "You are kind.\n\nRules:\n1. Be short.\n2. Be clear.\n\nQuestion: Who are you?"
    assert records(trace(span("root"), llm(prompt=instructions))) == ()
    remark = "Context: you talk to a child.\n\nQuestion: Who are you?"
    assert records(trace(span("root"), llm(prompt=remark))) == ()
    assert len(records(trace(span("root"), llm(prompt=PROMPT)))) == 1


def test_a_tools_marked_text_is_a_retrieval_and_its_plain_text_is_not() -> None:
    marked = "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
    weather = "Temperature: 20\nWind: 3"
    for result, expected in ((marked, 1), (weather, 0)):
        tool = {"openinference.span.kind": "TOOL", "output.value": result}
        spans = (
            span("root", {"openinference.span.kind": "AGENT"}),
            span("tool", tool, parent="root", at=(0.1, 0.2)),
            llm(prompt=f"{QUESTION}\n{result}"),
        )
        assert len(records(trace(*spans))) == expected


def test_tool_results_among_the_messages_are_the_context() -> None:
    extra = {
        "llm.input_messages.1.message.role": "tool",
        "llm.input_messages.1.message.content": "\n".join(f"[{n}] {t}" for n, t in DOCUMENTS),
    }
    (record,) = records(trace(span("root"), llm(prompt=QUESTION, extra=extra)))
    assert ids(record.context) == [name for name, _ in DOCUMENTS]
    assert record.query == QUESTION


def test_a_call_that_retrieves_and_generates_at_once_is_a_record() -> None:
    both = dict(retriever().attributes)
    both["output.value"] = "Within 30 days. [1]"
    (record,) = records(trace(span("bedrock.retrieve_and_generate", both)))
    assert (record.query, record.answer) == (QUESTION, "Within 30 days. [1]")
    assert ids(record.retrieved) == [name for name, _ in DOCUMENTS]


def test_texts_in_the_metadata_of_a_hit_are_its_content() -> None:
    hits = tuple(
        Event(name="db.query.result", time_unix_nano=1, attributes={
            "db.query.result.id": name, "db.query.result.metadata": str({"text": text, "n": None})})
        for name, text in DOCUMENTS
    )  # fmt: skip
    store = span("pinecone.query", {"db.system": "Pinecone"}, parent="root", events=hits)
    (record,) = records(trace(span("root"), store, llm()))
    assert [document.content for document in record.retrieved] == [text for _, text in DOCUMENTS]


def test_two_instrumentors_of_one_service_make_one_record_with_each_chunk_once() -> None:
    listed = json.dumps({"documents": [{"page_content": text, "metadata": {}}
                                       for _, text in DOCUMENTS]})  # fmt: skip
    second = {
        "gen_ai.operation.name": "vector_db_retrieve",
        "traceloop.entity.name": "VectorStoreRetriever",
        "traceloop.span.kind": "task",
        "traceloop.entity.input": json.dumps({"query": QUESTION}),
        "traceloop.entity.output": listed,
    }
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": json.dumps([{"role": "user", "content": PROMPT}]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "content": ANSWER}]),
        "gen_ai.usage.input_tokens": 100,
    }
    spans = (
        span("root", CHAIN),
        retriever(),
        span("vector_db_retrieve", second, parent="root", at=(0.1, 0.2), scope="other"),
        llm(extra={"llm.token_count.prompt": 100}),
        span("chat", chat, parent="root", at=(0.31, 0.89), scope="other"),
    )
    (record,) = records(trace(*spans))
    assert ids(record.retrieved) == ids(record.context) == [name for name, _ in DOCUMENTS]
    assert (record.answer, record.usage.input_tokens) == (ANSWER, 100)
    assert record.conventions == ("openinference", "openllmetry", "otel_genai")


def test_a_record_names_the_scope_that_answered_and_then_the_one_that_retrieved() -> None:
    server = span("root", {"http.route": "/ask"}, scope="opentelemetry.instrumentation.fastapi")
    search = replace(retriever(), scope=Scope(name="shop.search"))
    (record,) = records(trace(server, search, replace(llm(), scope=Scope(name="openinference.x"))))
    assert record.instrumentors == ("openinference.x", "shop.search")


def test_the_usage_of_a_failed_call_is_lost_to_the_error() -> None:
    failed = span(
        "chat", {"openinference.span.kind": "LLM"}, parent="root", status=StatusCode.ERROR
    )
    (record,) = records(trace(span("root", CHAIN), retriever(), failed))
    assert record.absent["answer"] is record.absent["usage"] is Absent.ERRORED


def test_citations_of_an_endless_answer_are_said_to_be_cut() -> None:
    (short,), (long,) = records(rag_trace(ANSWER)), records(rag_trace("Paid [1]. " * 20_000))
    assert (short.truncated, long.truncated) == ((), ("citations",))


def test_a_prompt_too_large_to_be_searched_counts_as_not_visible() -> None:
    documents = tuple((f"doc-{number}", f"Refunds take {number} days.") for number in range(3_000))
    spans = (span("root", CHAIN), retriever(documents=documents), llm(prompt="x " * 50_000))
    (record,) = records(trace(*spans))
    assert (record.context_source, len(record.context)) == (ContextSource.RETRIEVED, 3_000)


@pytest.mark.parametrize("length", [MAX_VALUE_CHARACTERS, MAX_VALUE_CHARACTERS + 1])
def test_a_chunk_that_was_cut_because_of_its_length_is_said_to_be(length: int) -> None:
    request = trace_request()
    (sent,) = spans_of(request)
    sent.attributes.add(key="openinference.span.kind").value.string_value = "RETRIEVER"
    chunk = sent.attributes.add(key="retrieval.documents.0.document.content")
    chunk.value.string_value = "x" * length
    (decoded,) = decode_spans(request)
    found = replace(decoded, trace_id=TRACE_ID, parent_span_id="root")
    (record,) = records(trace(span("root", CHAIN), found, llm()))
    assert record.truncated == (() if length == MAX_VALUE_CHARACTERS else ("values",))
