"""One question through the service: embed, retrieve, rerank, prompt, answer, each a span."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from openinference.instrumentation import (
    OITracer,
    TracerProvider,
    using_metadata,
    using_prompt_template,
    using_session,
)
from opentelemetry.trace import Status, StatusCode, format_trace_id, get_current_span

from examples.helpdesk import telemetry
from examples.helpdesk.answering import Answer, Answerer, Prompt, Request, make_prompt
from examples.helpdesk.chunking import Chunk, by_paragraph, by_window
from examples.helpdesk.corpus import TOPICS_BY_ROUTE, load_articles
from examples.helpdesk.faults import Fault, FaultBoard
from examples.helpdesk.retrieval import Embedder, HashedWords, Hit, Index, fuse

TOP_K = 4
CANDIDATES_PER_CHUNK = 2
FIRST_TOKEN_SECONDS = 1.0
TOKEN_SECONDS = 0.008
QUICKEST, SLOWEST = 0.6, 1.6
"""Bounds of a question's own factor on the usual seconds."""

Sleep = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A customer's question to a route."""

    route: str
    question: str
    language: str = "en"
    session: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The answer with the chunks that it was made from."""

    answer: str
    context: tuple[Chunk, ...]
    trace_id: str


class Helpdesk:
    """The service without its HTTP: indexes for every state of the corpus, a model, spans.

    Its own model sleeps until a request has taken the seconds of one with a hosted model. So it
    takes as long on every machine, and a recording can be compared with the running service.
    """

    def __init__(
        self,
        *,
        embedder: Embedder,
        answerer: Answerer,
        provider: TracerProvider,
        board: FaultBoard,
        sleep: Sleep,
    ) -> None:
        self.board = board
        self._sleep = sleep
        self.provider = provider
        self._answerer = answerer
        self._embedder = embedder
        self._tracer: OITracer = telemetry.tracer_of(provider)
        self._index = lru_cache(maxsize=16)(self._build_index)

    def warm_up(self) -> None:
        """Builds the index of the healthy service, so that the first answer is quick."""
        self._index(_index_faults(frozenset()))

    def ask(self, asked: Asked) -> Told:
        """Answers one question; the whole is a CHAIN span under the request's SERVER span."""
        start = time.monotonic()
        faults = self.board.on(asked.route)
        metadata = {"index_version": index_version(faults), "locale": asked.language}
        with (
            using_session(asked.session or "none"),
            using_metadata(metadata),
            self._tracer.start_as_current_span(
                "answer question", openinference_span_kind="chain"
            ) as span,
        ):
            span.set_input(asked.question)
            context = self._find(asked, faults)
            answer = self._answer(asked, context, faults, start)
            span.set_output(answer.text)
            span.set_status(Status(StatusCode.OK))
            trace_id = format_trace_id(get_current_span().get_span_context().trace_id)
        return Told(answer=answer.text, context=tuple(context), trace_id=trace_id)

    def _find(self, asked: Asked, faults: frozenset[Fault]) -> list[Chunk]:
        top_k = TOP_K * 2 if Fault.TOP_K_DOUBLED in faults else TOP_K
        hits = self._retrieve(asked, faults, top_k)
        if Fault.RERANKER_OFF in faults:
            return [hit.chunk for hit in hits[:top_k]]
        return self._rerank(asked.question, hits, top_k)

    def _retrieve(self, asked: Asked, faults: frozenset[Fault], top_k: int) -> list[Hit]:
        index = self._index(_index_faults(faults))
        start = self._tracer.start_as_current_span
        with start("hybrid search", openinference_span_kind="retriever") as span:
            span.set_input(asked.question)
            with start("embed question", openinference_span_kind="embedding") as inner:
                inner.set_attributes(telemetry.embedding(index.embedder.name, asked.question))
                vector = index.embedder.embed([asked.question])[0]
            topics = TOPICS_BY_ROUTE.get(asked.route, frozenset())
            wanted = top_k * CANDIDATES_PER_CHUNK
            hits = index.search(vector, asked.question, topics, wanted)
            span.set_attributes(telemetry.retrieved(hits))
            return hits

    def _rerank(self, question: str, hits: Sequence[Hit], top_k: int) -> list[Chunk]:
        with self._tracer.start_as_current_span(
            "fuse rankings", openinference_span_kind="reranker"
        ) as span:
            fused = fuse(hits, top_k)
            span.set_attributes(telemetry.reranked(question, hits, fused))
            return [hit.chunk for hit, _ in fused]

    def _answer(
        self, asked: Asked, context: list[Chunk], faults: frozenset[Fault], start: float
    ) -> Answer:
        prompt = make_prompt(asked.question, context, faults)
        request = Request(
            question=asked.question,
            language=asked.language,
            context=context,
            prompt=prompt,
            faults=faults,
        )
        with using_prompt_template(template=prompt.system, version=prompt.version):
            if self._answerer.traces_itself:
                return self._answerer.answer(request)
            return self._answer_in_span(request, prompt, start)

    def _answer_in_span(self, request: Request, prompt: Prompt, start: float) -> Answer:
        with self._tracer.start_as_current_span(
            "generate answer", openinference_span_kind="llm"
        ) as span:
            span.set_attributes(telemetry.asked(self._answerer.model_name, prompt))
            answer = self._answerer.answer(request)
            due = start + usual_seconds(request.question, answer.completion_tokens)
            self._sleep(max(0.0, due - time.monotonic()))
            span.set_attributes(telemetry.answered(prompt, answer))
            return answer

    def _build_index(self, faults: frozenset[Fault]) -> Index:
        articles = load_articles(
            stale=Fault.STALE_CORPUS in faults, injected=Fault.INJECTED_DOCUMENT in faults
        )
        embedder = HashedWords() if Fault.EMBEDDER_CHANGE in faults else self._embedder
        chunker = by_window if Fault.CHUNKER_CHANGE in faults else by_paragraph
        return Index([chunk for article in articles for chunk in chunker(article)], embedder)


def usual_seconds(question: str, tokens: int) -> float:
    """Seconds of a request whose model is a hosted one; the same for the same question."""
    share = zlib.crc32(question.encode()) % 1000 / 1000
    factor = QUICKEST * (SLOWEST / QUICKEST) ** share
    return factor * (FIRST_TOKEN_SECONDS + TOKEN_SECONDS * tokens)


def index_version(faults: frozenset[Fault]) -> str:
    """What a careful team would stamp on its index: date and content, not the fault's name."""
    day = "2023-01-15" if Fault.STALE_CORPUS in faults else "2026-06-08"
    return f"{day}-{'w' if Fault.CHUNKER_CHANGE in faults else 'p'}"


def _index_faults(faults: frozenset[Fault]) -> frozenset[Fault]:
    """The faults that need an index of their own."""
    return faults & {
        Fault.CHUNKER_CHANGE,
        Fault.EMBEDDER_CHANGE,
        Fault.STALE_CORPUS,
        Fault.INJECTED_DOCUMENT,
    }
