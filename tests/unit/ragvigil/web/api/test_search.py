"""Search by words, by meaning and by ids, over the real store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from ragvigil.app.sources.meaning import Meaning
from ragvigil.inference.outcome import Unavailable
from ragvigil.inference.process import Inference
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import issues as issue_rows
from ragvigil.store.issues import topics
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import NANOS, NOW, Quiet, keep
from tests.issues import AN_ISSUE
from tests.unit.ragvigil.store.records.test_record_filter import answer
from tests.word_vectors import WordVectors

QUESTIONS = {
    1: "How do I get my money back?",
    2: "When does the parcel arrive?",
    3: "Can I change my password?",
    4: "What is the weather in Köln?",
}


def asking(store: Store, inference: Inference | None = None) -> httpx2.AsyncClient:
    app = api(
        store,
        Quiet(),
        WebSettings(),
        embedding=Meaning(inference) if inference else None,
        clock=lambda: datetime.fromtimestamp(NOW, UTC),
    )
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8088")


def ask(store: Store, questions: Mapping[int, str] = QUESTIONS) -> None:
    keep(store, [answer(number, query=text) for number, text in questions.items()])


def embed(store: Store, inference: Inference, numbers: Sequence[int] = (1, 2, 3)) -> None:
    """Stores vectors of some of the questions, as the daemon's job does."""
    vectors = inference.embed([QUESTIONS[number] for number in numbers])
    assert not isinstance(vectors, Unavailable), vectors
    kept = [
        topics.Question(
            minute=NOW - number - (NOW - number) % 60,
            trace_id=f"{number:032x}",
            record_id=f"{number:016x}",
            service="desk",
            environment="prod",
            question=QUESTIONS[number],
            is_sampled=True,
        )
        for number in numbers
    ]
    batch = topics.question_batch(kept, vectors.tolist(), inference.embedding_version, NOW * NANOS)
    store.write(batch)


async def search(client: httpx2.AsyncClient, **asked: object) -> Any:
    reply = await client.get("/api/v1/search", params=asked)  # type: ignore[arg-type]
    assert reply.status_code == 200, reply.text
    return reply.json()


def numbers(found: Any) -> list[int]:
    return [int(record["trace_id"], 16) for record in found["records"]]


async def test_by_words_pages_follow_one_another(store: Store) -> None:
    keep(store, [answer(number, query="Refunds, please") for number in range(1, 6)])
    client, seen, cursor = asking(store), list[int](), ""
    while cursor is not None:
        found = await search(client, q="REFUND", limit=2, cursor=cursor)
        seen, cursor = seen + numbers(found), found["next"]
    assert seen == [1, 2, 3, 4, 5]
    assert (found["by"], found["why"], found["vectors"]) == ("words", "", None)


async def test_other_conditions_hold_too(store: Store) -> None:
    ask(store)
    client = asking(store)
    assert numbers(await search(client, q="my", text="password")) == [3]
    assert numbers(await search(client, q="koln")) == [4]
    assert numbers(await search(client, q="my", route="/nowhere")) == []


async def test_by_meaning_the_nearest_come_first(store: Store) -> None:
    model = WordVectors()
    ask(store)
    embed(store, model)
    found = await search(asking(store, model), q="get my money back now", by="meaning")
    assert numbers(found) == [1]
    assert found["records"][0]["likeness"] == pytest.approx(3 / (7 * 5) ** 0.5, abs=1e-6)
    assert (found["by"], found["next"]) == ("meaning", None)
    assert found["vectors"] == {"answers": 4, "with_vector": 3}
    without = await search(asking(store, model), q="weather koln", by="meaning")
    assert numbers(without) == []
    elsewhere = await search(asking(store, model), q="my money", by="meaning", service="shop")
    assert (numbers(elsewhere), elsewhere["vectors"]) == ([], {"answers": 0, "with_vector": 0})


async def test_vectors_of_another_model_are_not_compared(store: Store) -> None:
    ask(store)
    embed(store, WordVectors("words-1"))
    found = await search(asking(store, WordVectors("words-2")), q="my money", by="meaning")
    assert (numbers(found), found["vectors"]["with_vector"]) == ([], 0)


async def test_without_a_model_it_is_by_words_and_says_so(store: Store) -> None:
    ask(store)
    for inference, why in (
        (None, "this daemon has no local models"),
        (WordVectors(""), "local models are switched off"),
    ):
        found = await search(asking(store, inference), q="password change", by="meaning")
        assert (numbers(found), found["by"], found["why"]) == ([3], "words", why)


async def test_what_has_an_id_is_named(store: Store) -> None:
    ask(store)
    issue = replace(AN_ISSUE, issue_id="5e1f00aa11bb22cc")
    store.write(issue_rows.batch(NOW * NANOS, failures=[], members=[], issues=[issue]))
    client = asking(store)

    async def named(q: str) -> object:
        found = (await search(client, q=q, since="30d"))["named"]
        return found and (found["kind"], found["id"])

    trace, record = f"{1:032x}", f"{1:016x}"
    assert await named(trace) == ("traces", trace)
    assert await named(f" {trace.upper()} ") == ("traces", trace)
    assert await named("5e1f00") == ("issues", "5e1f00aa11bb22cc")
    assert await named(record) == ("records", record)
    assert await named("0" * 15) is None  # several begin so
    for words in ("5e1f", "facade", "5e1f01", "5e1f00%", "' OR 1=1", "5e1f00 aa"):
        assert await named(words) is None


@pytest.mark.parametrize(
    "wrong", [{}, {"q": ""}, {"q": "x" * 10_240}, {"q": "?!"}, {"q": "a", "by": "luck"},
              {"q": "a", "of": "b"}, {"q": " ".join(f"w{n}" for n in range(21))}]
)  # fmt: skip
async def test_what_cannot_be_searched_is_refused(store: Store, wrong: dict[str, str]) -> None:
    reply = await asking(store).get("/api/v1/search", params=wrong)
    assert reply.status_code == 422
