"""The page of labels over a real store: blind, one answer a screen, and what the labels say."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.types import ASGIApp

from ragvigil.app.sources.judges import judge_source
from ragvigil.model.score import Kind
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import canary, labels
from ragvigil.store.scores.canary import CanaryRecord, CanarySet
from ragvigil.web.labelling.rules import DEFAULT_QUEUES, Fill, LabelQueue
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from scorers.rubric import house_rubrics
from tests.flow.test_api import Quiet
from tests.judged import JUDGE, RUBRICS, ids, keep_judged, verdict
from tests.outcomes import NOW, outcome_of
from tests.page_readers import BASE, PEOPLE, Reader, tokens_file

BARS = {name: facts.fails_below or 0.0 for name, facts in RUBRICS.items()}
LATER = NOW / 1e9 + 60
VERDICT = "the judge found it wanting"
LOCAL = verdict(0.1, judge="sentences", kind=Kind.MODEL)


@pytest.fixture
def app(store: Store, tmp_path: Path) -> ASGIApp:
    return served(store, tmp_path)


def served(store: Store, folder: Path, *queues: LabelQueue) -> ASGIApp:
    more = {"label_queues": queues} if queues else {}
    settings = WebSettings.model_validate({"tokens_file": tokens_file(folder), **more})
    return api(
        store,
        Quiet(),
        settings,
        judging=judge_source(store, house_rubrics, BARS, lambda: LATER),
        clock=lambda: datetime.fromtimestamp(LATER, UTC),
    )


def judged(store: Store, number: int) -> None:
    """Answers of which every second one is good, as the judge says."""
    keep_judged(store, {n: [verdict(0.9 if n % 2 else 0.1)] for n in range(1, number + 1)})


async def label(reader: Reader, queue: str, choice: str, comment: str = "") -> httpx2.Response:
    """Labels the answer that stands on the page of the queue."""
    page = await reader.page(f"/label/{queue}")
    hidden = dict(re.findall(r'name="(trace_id|record_id)" value="([0-9a-f]+)"', page))
    fields = {"verdict": choice, "comment": comment, **hidden}
    return await reader.send(f"/label/{queue}", fields, of_page=f"/label/{queue}")


async def answers(app: ASGIApp, path: str, name: str = "mara") -> dict[str, Any]:
    headers = {"authorization": f"Bearer {PEOPLE[name][1]}"}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=BASE) as client:
        reply = await client.get(f"/api/v1/{path}", headers=headers)
        assert reply.status_code == 200, reply.text
        found: dict[str, Any] = reply.json()
        return found


def shown_id(page: str) -> str:
    found = re.search(r'name="trace_id" value="([0-9a-f]+)"', page)
    return found[1] if found else ""


async def test_the_page_holds_no_verdict_of_anybody(store: Store, app: ASGIApp) -> None:
    judged(store, 1)
    others = labels.Label(
        label_id="x", rubric="groundedness", trace_id=ids(1)[0], record_id=ids(1)[1],
        time_unix_nano=NOW, value=0.0, labeller="okafor", comment="invented from nothing",
    )  # fmt: skip
    store.write(labels.batch([others], NOW))
    reply = await Reader(app, "mara").get("/label/sampled")
    assert 'It says "five to seven" [1].' in reply.text.replace("&#34;", '"')
    assert "Card refunds take five to seven business days" in reply.text
    assert "Do the chunks support every claim of the answer?" in reply.text
    for hidden in ("okafor", "invented", "0.9", "0.25", JUDGE, "quote_not_found", "why", "failed"):
        assert hidden not in reply.text.replace("Why, if you like", ""), hidden
    shown = await answers(app, "label-queues/sampled/next")
    assert set(shown["answer"]) == {
        "trace_id", "record_id", "service", "route", "question", "answer", "chunks", "citations",
    }  # fmt: skip


async def test_the_next_answer_comes_and_none_comes_back(store: Store, app: ASGIApp) -> None:
    judged(store, 5)
    mara = Reader(app, "mara")
    seen = []
    for place, choice in enumerate(("fail", "pass", "unsure", "pass", "fail"), start=1):
        page = await mara.page("/label/sampled")
        assert f"{place} of 5" in page
        seen.append(shown_id(page))
        reply = await label(mara, "sampled", choice, "so it is\r\n")
        assert reply.status_code == 303
        assert reply.headers["location"].startswith("/label/sampled?done=label&last=")
    assert len(set(seen)) == 5
    assert "You have labelled all five answers" in await mara.page("/label/sampled")
    found = labels.find(store, labels.LabelFilter())
    assert {each.labeller for each in found} == {"mara"}
    assert {each.comment for each in found} == {"so it is"}
    assert sorted(str(each.value) for each in found) == ["0.0", "0.0", "1.0", "1.0", "None"]
    assert "1 of 5" in await Reader(app, "okafor").page("/label/sampled")


async def test_two_people_see_the_same_answers_in_the_same_order(
    store: Store, app: ASGIApp
) -> None:
    judged(store, 12)
    mara, okafor = Reader(app, "mara"), Reader(app, "okafor")
    for _ in range(3):
        pages = [await reader.page("/label/sampled") for reader in (mara, okafor)]
        assert shown_id(pages[0]) == shown_id(pages[1])
        await label(mara, "sampled", "pass")
        await label(okafor, "sampled", "pass")
    (people,) = (await answers(app, "label-queues"))["people"]
    assert (people["rubric"], people["answers"], people["agreement"]) == ("groundedness", 3, 1.0)


async def test_a_label_is_taken_back_by_who_gave_it(store: Store, app: ASGIApp) -> None:
    judged(store, 3)
    mara = Reader(app, "mara")
    first = shown_id(await mara.page("/label/sampled"))
    reply = await label(mara, "sampled", "fail")
    last = reply.headers["location"].partition("last=")[2]
    page = f"/label/sampled?last={last}"
    assert "Take back" in await mara.page(page)
    refused = await Reader(app, "okafor").send(
        "/label/sampled/undo", {"label_id": last}, of_page=page
    )
    assert refused.status_code == 403
    reply = await mara.send("/label/sampled/undo", {"label_id": last}, of_page=page)
    assert reply.status_code == 303
    assert shown_id(await mara.page("/label/sampled")) == first
    assert labels.find(store, labels.LabelFilter()) == []
    await label(mara, "sampled", "pass")
    (found,) = labels.find(store, labels.LabelFilter())
    assert (found.value, found.trace_id) == (1.0, first)


async def test_unsure_is_kept_and_measures_nothing(store: Store, app: ASGIApp) -> None:
    judged(store, 2)
    await label(Reader(app, "mara"), "sampled", "unsure")
    (found,) = labels.find(store, labels.LabelFilter())
    assert (found.value, found.label) == (None, "unsure")
    (judge,) = (await answers(app, "judges"))["judges"]
    assert (judge["labels"], judge["missing"]) == (0, 30)


async def test_a_verdict_of_another_rubric_is_refused(store: Store, app: ASGIApp) -> None:
    judged(store, 1)
    assert (await label(Reader(app, "mara"), "sampled", "splendid")).status_code == 422
    assert labels.find(store, labels.LabelFilter()) == []


async def test_a_reader_reads_and_labels_nothing(store: Store, app: ASGIApp) -> None:
    judged(store, 2)
    rita = Reader(app, "rita")
    page = await rita.page("/label")
    assert "A reader reads" in page
    assert "Label sampled" not in page
    assert (await rita.get("/label/sampled")).status_code == 403


async def test_the_judge_is_measured_as_the_api_says(store: Store, app: ASGIApp) -> None:
    judged(store, 40)
    given = [
        labels.Label(
            label_id=f"l{n}", rubric="groundedness", trace_id=ids(n)[0], record_id=ids(n)[1],
            time_unix_nano=NOW + n, value=float(n % 2 if n > 3 else 1 - n % 2), labeller="mara",
        )
        for n in range(1, 41)
    ]  # fmt: skip
    store.write(labels.batch(given, NOW))
    (judge,) = (await answers(app, "judges"))["judges"]
    page = await Reader(app, "mara").page("/label")
    assert judge["state"] == "trusted"
    for number in (f"{judge['kappa']:.2f}", f"{judge['low']:.2f}", f"{judge['high']:.2f}"):
        assert number in page
    assert f"{100 * judge['agreement']:.0f} %" in page
    assert "The judge agrees with people on one rubric" in page


async def test_who_has_labelled_an_answer_sees_who_says_otherwise(
    store: Store, app: ASGIApp
) -> None:
    judged(store, 2)
    mara, okafor = Reader(app, "mara"), Reader(app, "okafor")
    assert "Nobody contradicts you" in await mara.page("/label")
    for reader, choice, comment in ((mara, "fail", "<b>no</b>"), (okafor, "pass", "")):
        for _ in range(2):
            await label(reader, "sampled", choice, comment)
    page = (await mara.get("/label")).text
    assert page.count("How long?") == 2
    assert "<q>&lt;b&gt;no&lt;/b&gt;</q>" in page
    assert f"the judge {JUDGE} says <b>0.90</b>" in page
    assert "Nobody contradicts you" in await Reader(app, "tess").page("/label")
    assert (await answers(app, "label-disputes", "tess"))["disputes"] == []


async def test_a_sample_is_the_same_after_a_restart_and_lies_in_a_larger_one(
    store: Store, tmp_path: Path
) -> None:
    judged(store, 400)

    async def drawn(share: float, name: str = "s") -> int:
        app = served(store, tmp_path, LabelQueue(name=name, share=share, most=1000))
        (queue,) = (await answers(app, "label-queues"))["queues"]
        return int(queue["total"])

    assert await drawn(0.25) == await drawn(0.25)
    assert 60 < await drawn(0.25) < 140
    assert await drawn(1.0) == 400
    assert await drawn(0.25) != await drawn(0.25, "other")
    app = served(store, tmp_path, LabelQueue(name="s", share=0.25), LabelQueue(name="t"))
    firsts = [shown_id(await Reader(app, "mara").page(f"/label/{name}")) for name in ("s", "t")]
    whole = served(store, tmp_path, LabelQueue(name="s"))
    assert shown_id(await Reader(whole, "mara").page("/label/s")) == firsts[0] != firsts[1]


async def test_each_queue_holds_its_answers_alone(store: Store, tmp_path: Path) -> None:
    keep_judged(store, {1: [verdict(1.0), LOCAL], 2: [verdict(0.9)]})
    keep_judged(store, {3: [verdict(0.1)]}, route="/other")
    keep_judged(store, {4: [verdict(0.9, rubric="context_relevance")]})
    frozen = CanarySet(
        set_id="c1",
        chosen_unix_nano=NOW,
        members=(CanaryRecord(record=outcome_of(2).records[0].record, kind="good"),),
    )
    store.write(canary.members_batch(frozen))
    app = served(
        store,
        tmp_path,
        LabelQueue(name="all"),
        LabelQueue(name="other", route="/other"),
        LabelQueue(name="bad", fill=Fill.SUSPICIOUS, route="/other"),
        LabelQueue(name="worded", label="quote_not_found", rubric="answer_relevance"),
        LabelQueue(name="none", label="cut"),
        LabelQueue(name="disputed", fill=Fill.DISAGREEMENTS),
        LabelQueue(name="canaries", fill=Fill.CANARY),
        LabelQueue(name="unjudged", rubric="answer_relevance"),
    )
    queues = (await answers(app, "label-queues"))["queues"]
    totals = {each["name"]: each["total"] for each in queues}
    assert totals == {
        "all": 3, "other": 1, "bad": 1, "worded": 4, "none": 0, "disputed": 1, "canaries": 1,
        "unjudged": 4,
    }  # fmt: skip
    mara = Reader(app, "mara")
    for name, number in (("other", 3), ("bad", 3), ("disputed", 1), ("canaries", 2)):
        assert shown_id(await mara.page(f"/label/{name}")) == ids(number)[0], name
    assert "No answer waits in this queue" in await mara.page("/label/none")
    assert (await mara.get("/label/no-such-queue")).status_code == 404


async def test_words_of_a_rubric_are_its_choices(store: Store, tmp_path: Path) -> None:
    judged(store, 1)
    app = served(store, tmp_path, LabelQueue(name="refusals", rubric="refusal"))
    mara = Reader(app, "mara")
    page = await mara.page("/label/refusals")
    assert re.findall(r'name="verdict" value="(\w+)" data-key="(\d)"', page) == [
        ("refused", "1"), ("partial", "2"), ("answered", "3"), ("unsure", "4"),
    ]  # fmt: skip
    await label(mara, "refusals", "answered")
    (found,) = labels.find(store, labels.LabelFilter())
    assert (found.rubric, found.value, found.label) == ("refusal", None, "answered")


async def test_labels_leave_and_come_back_as_they_were(store: Store, app: ASGIApp) -> None:
    hostile = ["=cmd|'/c calc'!A0", "+1", "-1", "@SUM(A1)", "'=x", "''", 'a,"b"\nc', "ä 日本 👍"]
    given = [
        labels.Label(
            label_id=f"l{n}", rubric="groundedness", trace_id=ids(n)[0], record_id=ids(n)[1],
            time_unix_nano=NOW + n * 1000, value=0.25, labeller="mara", comment=comment,
        )
        for n, comment in enumerate(hostile, start=1)
    ]  # fmt: skip
    store.write(labels.batch(given, NOW))
    mara = Reader(app, "mara")
    reply = await mara.get("/labels.csv")
    assert reply.headers["content-disposition"] == 'attachment; filename="labels.csv"'
    for line in reply.text.splitlines():
        for cell in line.split(","):
            assert not cell.strip('"').startswith(("=", "+", "-", "@")), line
    before = {each.label_id: each.comment for each in labels.find(store, labels.LabelFilter())}
    store.change("TRUNCATE TABLE labels")
    sent = await mara.send(
        "/label-import", {}, of_page="/label", file=("labels.csv", reply.content)
    )
    assert f"{len(hostile)} labels stored" in sent.text
    after = {each.label_id: each.comment for each in labels.find(store, labels.LabelFilter())}
    assert after == before


async def test_an_upload_names_its_wrong_lines_and_stores_the_others(
    store: Store, app: ASGIApp
) -> None:
    judged(store, 1)
    trace_id, record_id = ids(1)
    sheet = (
        "rubric,trace_id,record_id,value,labeller\n"
        f"groundedness,{trace_id},{record_id},pass,\n"
        f"groundedness,{trace_id},{record_id},7,\n"
        f"eloquence,{trace_id},{record_id},pass,\n"
        f"groundedness,{trace_id},{record_id},pass,okafor\n"
    )
    mara = Reader(app, "mara")
    reply = await mara.send("/label-import", {}, of_page="/label", file=("a.csv", sheet.encode()))
    assert "1 label stored" in reply.text
    assert "3 lines refused" in reply.text
    for why in ("line 3: value", "line 4: ", "there is no rubric eloquence", "line 5: "):
        assert why in reply.text
    latin = await mara.send("/label-import", {}, of_page="/label", file=("a.csv", b"\xff\xfe,"))
    assert "is not UTF-8" in latin.text
    empty = await mara.send("/label-import", {}, of_page="/label")
    assert empty.status_code in (415, 422)


def test_the_default_queues_ask_by_rubrics_that_are_there() -> None:
    assert {queue.rubric for queue in DEFAULT_QUEUES} <= set(house_rubrics())
