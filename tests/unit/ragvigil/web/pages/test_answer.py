"""The pages of an answer and of a trace, over a real store: what is known is said, no more."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from typing import Any

import httpx2
import pytest

from ragvigil.model.outcome import Outcome, ScoredRecord, TraceOutcome
from ragvigil.model.record import Absent, Citation, Dimensions, Document, RagRecord
from ragvigil.model.score import Layer, Score
from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import RubricFacts, TraceRows
from scorers.chunk_utilization import ChunkUtilization
from scorers.citation_validity import CitationValidity
from scorers.refusal import Refusal
from scorers.retrieval_shape import RetrievalShape
from scorers.rubric import house_rubrics
from tests.browser.payloads import ELSEWHERE
from tests.flow.test_api import client
from tests.outcomes import NOW, SECOND, trace_of

FACTS = {
    name: RubricFacts(version=rubric.version, fails_below=rubric.fails_below)
    for name, rubric in house_rubrics().items()
}
CARD = "Card refunds take 5 to 7 business days to appear."
PAYPAL = "PayPal refunds appear on the same day."
INVENTED = "Our founders guarantee this in writing"
ANSWER = f"Our rules say “{INVENTED}” [refund-02]. {CARD[:-1]} [refund-02]."
SECOND_CLAIM = ANSWER.index("Card")
QUESTION = "How long does a refund take?"
FOUND = (
    Document(chunk_id="ship-01", content="Parcels are sent twice a day.", score=0.8),
    Document(
        chunk_id="refund-02", content=f"{CARD} {PAYPAL}", score=0.7, metadata={"title": "Refunds"}
    ),
)
MINUTE = 60 * SECOND


def _cites(at: int, begin: int, end: int, quote: str | None = None) -> Citation:
    return Citation(
        target="refund-02", chunk_id="refund-02", marker="[refund-02]", start=at,
        end=at + len("[refund-02]"), claim_start=begin, claim_end=end, quote=quote,
    )  # fmt: skip


CITATIONS = (
    _cites(ANSWER.index("["), 0, SECOND_CLAIM - 1, INVENTED),
    _cites(ANSWER.rindex("["), SECOND_CLAIM, len(ANSWER)),
)


def record_of(number: int, **more: Any) -> RagRecord:
    """A failing answer of a trace of this number, whose first span is its root."""
    values: dict[str, Any] = {
        "query": QUESTION, "answer": ANSWER, "citations": CITATIONS, "retrieved": FOUND,
        "reranked": FOUND[1:], "context": FOUND[1:], "service": "desk", "route": "/ask",
        "dimensions": Dimensions(prompt_version="v5"),
    }  # fmt: skip
    return RagRecord(
        record_id=f"{number:08x}{0:08x}", trace_id=f"{number:032x}", **{**values, **more}
    )


def write(store: Store, *records: RagRecord, at: int = NOW) -> None:
    """Stores each record with the scores of code, as a trace of its own or with those of it."""
    rows = TraceRows(FACTS)
    by_trace: dict[str, list[RagRecord]] = {}
    for record in records:
        by_trace.setdefault(record.trace_id, []).append(record)
    for trace_id, of_trace in by_trace.items():
        rows.add(
            Outcome(
                trace=trace_of(int(trace_id, 16), received=at),
                outcome=TraceOutcome.SCORED,
                time_unix_nano=at,
                records=tuple(
                    ScoredRecord(record=record, scores=_scores(record)) for record in of_trace
                ),
            )
        )
    store.write(rows.take())


def _scores(record: RagRecord) -> tuple[Score, ...]:
    scorers = (CitationValidity(), ChunkUtilization(), Refusal(), RetrievalShape())
    layers = {name: rubric.layer for name, rubric in house_rubrics().items()}
    scores = [scorer.score(record) for scorer in scorers]
    return tuple(
        replace(score, layer=layers.get(score.rubric, Layer.GENERATION)) for score in scores
    )


async def page(store: Store, path: str, **query: str) -> httpx2.Response:
    async with client(store, NOW // SECOND) as asked:
        return await asked.get(path, params=query)


async def html(store: Store, path: str, **query: str) -> str:
    reply = await page(store, path, **query)
    assert reply.status_code == 200, reply.text
    return reply.text


def text_of(html: str) -> str:
    main = html[html.index("<main") : html.index("</main>")]
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", main)))


async def test_the_page_says_what_happened_and_strikes_out_what_stands_nowhere(
    store: Store,
) -> None:
    write(store, record_of(1))
    answer = await html(store, f"/answers/{1:08x}{0:08x}")
    said = text_of(answer)
    assert "The answer quoted a sentence that does not exist. " in said
    assert "failed at the citation" in said
    assert "Quote not found. These words stand in no chunk of the prompt." in said
    assert "2 chunks found, 1 reached the prompt, 1 was used" in said
    assert '<a class="cite stands" href="#chunk-1"' in answer
    assert '<a class="cite fails" href="#chunk-1"' in answer
    assert 'id="chunk-1"' in answer
    assert f'<span class="used">{CARD}</span>' in answer
    assert "One check fails, two pass" in said
    assert answer.count("<h1>") == 1


async def test_the_page_says_what_the_api_says(store: Store) -> None:
    write(store, record_of(1))
    said = text_of(await html(store, f"/traces/{1:032x}"))
    trace = (await page(store, f"/api/v1/traces/{1:032x}")).json()
    listed = (await page(store, "/api/v1/records")).json()
    (verdict,) = (record["verdict"] for record in trace["records"])
    assert listed["records"][0]["verdict"] == verdict
    assert " ".join(verdict["sentences"]) in said
    assert verdict["support"] in said
    one = (await page(store, f"/api/v1/records/{1:08x}{0:08x}")).json()
    assert one == trace["records"][0]


async def test_an_id_may_be_short_while_it_names_one_answer(store: Store) -> None:
    write(store, record_of(0x1A), record_of(0x1B))
    assert (await page(store, "/answers/0000001a")).status_code == 200
    several = await page(store, "/answers/000000")
    assert several.status_code == 409
    assert "begins several records" in several.text
    missing = await page(store, "/answers/ffff")
    assert missing.status_code == 404
    assert "no record ffff is stored; it may still come" in missing.text
    assert (await page(store, "/answers/not-hex")).status_code == 422
    assert (await page(store, f"/traces/{9:032x}")).status_code == 404


async def test_one_record_id_in_two_traces_is_told_apart_by_the_trace(store: Store) -> None:
    twin = replace(record_of(2), record_id=record_of(1).record_id, query="The twin?")
    write(store, record_of(1), twin)
    path = f"/answers/{twin.record_id}"
    assert (await page(store, path)).status_code == 409
    assert "The twin?" in await html(store, path, trace=twin.trace_id)


async def test_the_same_question_stands_beside_its_answer_before_and_after(store: Store) -> None:
    before = record_of(
        1, query=f" {QUESTION.upper()}", answer=CARD, citations=(),
        dimensions=Dimensions(prompt_version="v3"),
    )  # fmt: skip
    other = replace(record_of(4), query="Something else?", dimensions=before.dimensions)
    elsewhere = replace(record_of(5), route="/other", dimensions=before.dimensions)
    write(store, before, other, elsewhere, at=NOW - 60 * MINUTE)
    write(store, record_of(2), record_of(3), at=NOW)
    said = text_of(await html(store, f"/answers/{2:08x}{0:08x}"))
    assert "Same question, before prompt v3 → v5" in said
    assert CARD in said
    assert "It cites nothing." in said
    assert "Same question, after" not in said
    said = text_of(await html(store, f"/answers/{1:08x}{0:08x}"))
    assert "Same question, after prompt v3 → v5" in said
    assert "1 of 2 citations fails." in said


async def test_without_another_version_there_is_nothing_beside(store: Store) -> None:
    write(store, record_of(1, dimensions=Dimensions()), record_of(2))
    said = text_of(await html(store, f"/answers/{2:08x}{0:08x}"))
    assert "It was not asked at another version" not in said
    write(store, record_of(3, query=None, absent={"query": Absent.HIDDEN}))
    said = text_of(await html(store, f"/answers/{3:08x}{0:08x}"))
    assert "The question is hidden: the instrumentation left it out." in said
    assert "Without its text it cannot be found elsewhere." in said


HIDDEN = {"answer": Absent.HIDDEN, "document_texts": Absent.HIDDEN, "citations": Absent.HIDDEN}


@pytest.mark.parametrize(
    ("more", "sentences"),
    [
        (
            {
                "answer": None,
                "citations": (),
                "context": (Document(chunk_id="a"),),
                "absent": HIDDEN,
            },
            (
                "The text of the answer is hidden: the instrumentation left it out.",
                "The text of this chunk is hidden: the instrumentation left it out.",
            ),
        ),
        (
            {"answer": "", "citations": ()},
            ("The answer is empty.",),
        ),
        (
            {
                "answer": "I'm sorry, I could not find that in the documents.",
                "citations": (),
                "retrieved": (),
                "reranked": (),
                "context": (),
            },
            (
                "The answer refuses.",
                "No chunk was found, none reached the prompt",
                "Retrieval ran, and nothing came back.",
                "No chunk reached the prompt.",
            ),
        ),
        (
            {
                "answer": None,
                "citations": (),
                "error": "Timeout after 30 s\nstack",
                "absent": {"answer": Absent.ERRORED},
            },
            (
                "The model failed, so there is no answer.",
                "Timeout after 30 s",
                "There is no answer: the step that writes it failed.",
            ),
        ),
        (
            {"truncated": ("answer",)},
            ("Cut before it was sent: answer.",),
        ),
        (
            {
                "retrieved": (),
                "reranked": (),
                "absent": {"retrieved": Absent.NOT_SENT, "reranked": Absent.NOT_SENT},
            },
            (
                "1 chunk reached the prompt",
                "The spans do not show what was retrieved: not sent.",
            ),
        ),
    ],
)
async def test_what_the_spans_lack_is_said(
    store: Store, more: Mapping[str, Any], sentences: tuple[str, ...]
) -> None:
    write(store, record_of(1, **more))
    said = text_of(await html(store, f"/answers/{1:08x}{0:08x}"))
    for sentence in sentences:
        assert sentence in said


HOSTILE = (
    f"""</title>"><script src="{ELSEWHERE}/x.js"></script><img src=x onerror=alert(1)>\u202e"""
)


async def test_a_strangers_text_is_text(store: Store) -> None:
    chunk = Document(
        chunk_id=HOSTILE, content=f"{HOSTILE} {CARD}", metadata={"title": HOSTILE}, score=0.5
    )
    cites = Citation(target=HOSTILE, chunk_id=HOSTILE, marker="[x]", start=0, end=3, quote=HOSTILE)
    write(
        store,
        record_of(
            1, query=HOSTILE, answer=f"[x] {HOSTILE}", citations=(cites,), route=HOSTILE,
            retrieved=(chunk,), reranked=(chunk,), context=(chunk,),
            dimensions=Dimensions(prompt_version=HOSTILE),
        ),
    )  # fmt: skip
    for path in (f"/answers/{1:08x}{0:08x}", f"/traces/{1:032x}"):
        page_text = await html(store, path)
        for tag in re.findall(r"<[a-z][^>]*>", page_text):
            assert "onerror" not in re.sub(r'"[^"]*"', '""', tag)
        assert f'<script src="{ELSEWHERE}' not in page_text
        assert "<img" not in page_text
        assert "\u202e" not in page_text
        assert "style=" not in re.sub(r'"[^"]*"', '""', page_text)


async def test_a_very_long_answer_of_many_chunks_stays_a_page(store: Store) -> None:
    chunks = tuple(
        Document(chunk_id=f"c{place}", content="long text. " * 2_000, rank=place, score=0.5)
        for place in range(200)
    )
    write(
        store,
        record_of(
            1, answer="word " * 200_000, citations=(), retrieved=chunks, reranked=(),
            context=chunks,
        ),
    )  # fmt: skip
    answer = await html(store, f"/answers/{1:08x}{0:08x}")
    said = text_of(answer)
    assert "The answer goes on for 1,000,000 characters in all" in said
    assert "188 more chunks" in said
    assert "180 more chunks not drawn" in said
    assert len(answer) < 2_000_000


async def test_a_trace_with_several_answers_lists_them(store: Store) -> None:
    first = record_of(1)
    write(store, first, replace(first, record_id="a" * 16, query="And PayPal?"))
    said = text_of(await html(store, f"/traces/{1:032x}"))
    assert "This trace holds 2 answers" in said
    assert QUESTION in said
    assert "And PayPal?" in said


async def test_a_trace_without_an_answer_shows_its_spans_and_says_why(store: Store) -> None:
    rows = TraceRows(FACTS)
    trace = trace_of(1, spans=3)
    rows.add(Outcome(trace=trace, outcome=TraceOutcome.NOT_RAG, time_unix_nano=NOW))
    store.write(rows.take())
    answer = await html(store, f"/traces/{1:032x}")
    said = text_of(answer)
    assert "No answer in this trace" in said
    assert "No span of it says that a model answered." in said
    assert answer.count("<li") >= 3
    assert "top_k" in said


async def test_a_span_is_chosen_by_the_address(store: Store) -> None:
    write(store, record_of(1))
    second = f"{1:08x}{1:08x}"
    answer = await html(store, f"/answers/{1:08x}{0:08x}", span=second)
    rail = answer[answer.index('<div class="rail">\n<h3') :]
    assert ">retrieve</h3>" in rail[:100]
    assert re.search(r'<li aria-current="true">\s*<a[^>]*span=' + second, answer)
    unknown = await html(store, f"/answers/{1:08x}{0:08x}", span="<script>")
    assert "<script>" not in unknown[unknown.index("<main") :].split("</main>")[0]


async def test_spans_of_the_api_are_those_of_the_trace(store: Store) -> None:
    write(store, record_of(1))
    reply = (await page(store, f"/api/v1/traces/{1:032x}/spans")).json()
    assert [span["name"] for span in reply["spans"]] == ["ask", "retrieve"]
    assert reply["spans"][1]["parent_id"] == reply["spans"][0]["span_id"]
    assert reply["spans"][0]["attributes"]["top_k"] == "4"
