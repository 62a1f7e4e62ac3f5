"""Labels in, judges measured: through the HTTP API and the embedded store."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from prometheus_client import REGISTRY

from ragvigil.app.sources.judges import judge_source
from ragvigil.model.score import Kind, Stream
from ragvigil.store.engine.store import Store
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from scorers.calibration import metrics
from scorers.calibration.report import Calibration
from tests.flow.test_api import Quiet
from tests.judged import JUDGE, RUBRICS, ids, keep_judged, verdict
from tests.outcomes import NOW

BARS = {name: facts.fails_below or 0.0 for name, facts in RUBRICS.items()}
LATER = NOW / 1e9 + 60


def client(store: Store, **settings: object) -> httpx2.AsyncClient:
    app = api(
        store,
        Quiet(),
        WebSettings.model_validate(settings),
        judging=judge_source(store, lambda: BARS, BARS, lambda: LATER),
        clock=lambda: datetime.fromtimestamp(LATER, UTC),
    )
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8088")


def post(number: int, value: object, **more: object) -> dict[str, object]:
    trace_id, record_id = ids(number)
    return {
        "rubric": "groundedness",
        "trace_id": trace_id,
        "record_id": record_id,
        "value": value,
        **more,
    }


async def labelled(asking: httpx2.AsyncClient, posts: list[dict[str, object]]) -> None:
    reply = await asking.post("/api/v1/labels", json=posts)
    assert reply.status_code == 201, reply.text


async def judges(asking: httpx2.AsyncClient, **wanted: str) -> list[dict[str, object]]:
    reply = await asking.get("/api/v1/judges", params=wanted)
    assert reply.status_code == 200, reply.text
    found: list[dict[str, object]] = reply.json()["judges"]
    return found


async def test_a_label_is_kept_once_and_a_second_word_replaces_it(store: Store) -> None:
    keep_judged(store, {1: [verdict(0.9)]})
    asking = client(store)
    replies = [await asking.post("/api/v1/labels", json=post(1, "fail")) for _ in range(2)]
    assert [reply.status_code for reply in replies] == [201, 201]
    assert replies[0].json() == replies[1].json()
    assert replies[0].json()["labels"][0]["matched"] is True
    await labelled(asking, [post(1, "pass", comment="on second thought")])
    (found,) = (await asking.get("/api/v1/labels")).json()["labels"]
    assert (found["value"], found["comment"]) == (1.0, "on second thought")
    assert found["id"] == replies[0].json()["labels"][0]["id"]


async def test_a_rubric_that_became_live_meanwhile_can_be_labelled(store: Store) -> None:
    keep_judged(store, {1: [verdict(0.9)]})
    known = ["groundedness"]
    judging = judge_source(store, lambda: known, BARS, lambda: LATER)
    app = api(store, Quiet(), WebSettings(), judging=judging)
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as asking:
        sent = {**post(1, "fail"), "rubric": "guard_i1"}
        assert (await asking.post("/api/v1/labels", json=sent)).status_code == 422
        known.append("guard_i1")
        assert (await asking.post("/api/v1/labels", json=sent)).status_code == 201


async def test_labels_of_two_people_and_of_an_own_id_stand_side_by_side(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "people").write_text("triager a-token ada\ntriager b-token bob\n")
    asking = client(store, tokens_file=tmp_path / "people")
    asking.headers["authorization"] = "Bearer b-token"
    await labelled(asking, [post(1, False)])
    asking.headers["authorization"] = "Bearer a-token"
    own = [post(2, 0.5, label_id="sheet-7"), post(2, 0.75, label_id="sheet-7")]
    await labelled(asking, [post(1, True), *own])
    found = (await asking.get("/api/v1/labels", params={"labeller": "ada"})).json()["labels"]
    assert sorted((verdict["value"], verdict["id"] == "sheet-7") for verdict in found) == [
        (0.75, True),
        (1.0, False),
    ]
    assert len((await asking.get("/api/v1/labels")).json()["labels"]) == 3
    asking.headers["authorization"] = "Bearer b-token"
    reply = await asking.post("/api/v1/labels", json=post(2, 0.0, label_id="sheet-7"))
    assert reply.status_code == 403
    assert reply.json()["error"]["message"] == "sheet-7 is the id of a label of somebody else"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"value": 7}, "body.many.1.value: Input should be less than or equal to 1"),
        ({"value": "nan"}, "body.many.1.value"),
        ({"value": None}, "a value, 1 good to 0 bad, or a label in words is needed"),
        ({"trace_id": "xyz"}, "body.many.1.trace_id"),
        ({"rubric": "eloquence"}, "label 2: there is no rubric eloquence; there are context_rel"),
        ({"stars": 3}, "body.many.1.stars: Extra inputs"),
        ({"comment": "a\x00b"}, "NUL"),
    ],
)
async def test_a_wrong_label_is_named_and_none_of_its_list_is_kept(
    store: Store, wrong: dict[str, object], message: str
) -> None:
    asking = client(store)
    reply = await asking.post("/api/v1/labels", json=[post(1, 1.0), {**post(2, 1.0), **wrong}])
    assert reply.status_code == 422
    assert message in reply.json()["error"]["message"]
    assert (await asking.get("/api/v1/labels")).json()["labels"] == []


async def test_a_service_that_may_post_feedback_may_not_label(store: Store) -> None:
    asking = client(store, ingest_token="1ngest", reader_token="r3ader", triager_token="tr1ager")
    codes = []
    for token in ("1ngest", "r3ader", "tr1ager"):
        headers = {"authorization": f"Bearer {token}"}
        reply = await asking.post("/api/v1/labels", json=post(1, 1.0), headers=headers)
        codes.append(reply.status_code)
    assert codes == [403, 403, 201]


async def test_a_judge_without_labels_is_unmeasured_and_nothing_is_made_up(store: Store) -> None:
    keep_judged(store, {1: [verdict(0.9)], 2: [verdict(0.9, judge="sentences", kind=Kind.MODEL)]})
    (found,) = await judges(client(store))
    assert (found["rubric"], found["judge"], found["version"]) == ("groundedness", JUDGE, "1")
    assert (found["labels"], found["state"]) == (0, "unmeasured")
    assert [found[name] for name in ("kappa", "low", "high", "agreement", "level")] == [None] * 5
    assert found["reason"] == "0 labels; 30 more are needed to measure the judge"
    assert await judges(client(store), rubric="context_relevance") == []


async def test_labels_make_a_judge_trusted_and_another_retired(store: Store) -> None:
    """80 records, half of them good; one judge agrees, the other tosses a coin."""
    keep_judged(
        store,
        {
            number: [
                verdict(0.9 if number % 2 else 0.1),
                verdict(0.9 if number % 3 else 0.1, judge="openai:coin"),
            ]
            for number in range(1, 161)
        },
    )
    asking = client(store)
    people = [post(number, "pass" if number % 2 else "fail") for number in range(1, 81)]
    await labelled(asking, people)
    good, coin = sorted(
        await judges(asking), key=lambda disagreement: disagreement["judge"] != JUDGE
    )
    assert (good["state"], good["kappa"], good["labels"]) == ("trusted", 1.0, 80)
    assert (good["agreement"], good["disagreements"]) == (1.0, 0)
    level = good["level"]
    assert isinstance(level, dict)
    assert level["mean"] == pytest.approx(0.5, abs=0.01)
    assert (level["labels"], level["records"]) == (80, 160)
    assert level["low"] < 0.5 < level["high"]
    assert coin["state"] == "retired"
    assert "the whole interval lies under 0.7" in str(coin["reason"])
    assert isinstance(coin["disagreements"], int)
    assert coin["disagreements"] > 30


async def test_a_label_without_its_record_speaks_of_the_only_one(store: Store) -> None:
    keep_judged(store, {1: [verdict(0.9)], 2: [verdict(0.1, stream=Stream.SUSPICIOUS)]})
    asking = client(store)
    await labelled(asking, [post(1, 1.0, record_id=""), post(2, 0.0, record_id="")])
    await labelled(asking, [post(9, 0.0), post(1, 0.0, record_id="f" * 16)])
    (found,) = await judges(asking)
    assert (found["labels"], found["agreement"]) == (2, 1.0)
    assert found["level"] is None


async def test_disagreements_are_listed_with_those_of_people_first(store: Store) -> None:
    local = verdict(0.1, judge="sentences", kind=Kind.MODEL)
    keep_judged(
        store,
        {
            1: [verdict(1.0), local],
            2: [verdict(0.9)],
            3: [verdict(1.0), verdict(0.0, rubric="context_relevance")],
            4: [verdict(0.9), verdict(0.9, rubric="context_relevance"), local],
        },
    )
    asking = client(store)
    await labelled(asking, [post(2, "fail"), post(4, "pass")])
    reply = await asking.get("/api/v1/disagreements")
    found = reply.json()["disagreements"]
    assert [(verdict["kind"], verdict["trace_id"]) for verdict in found] == [
        ("judge_against_person", ids(2)[0]),
        ("judge_against_scorer", ids(1)[0]),
        ("rubric_against_rubric", ids(3)[0]),
    ]
    assert found[0]["second"] == {
        "rubric": "groundedness",
        "by": "person",
        "name": "local",
        "value": 0.0,
    }
    assert found[0]["first"]["name"] == JUDGE
    assert found[0]["route"] == "/ask"
    assert found[2]["why"] == "groundedness 1.00, yet context_relevance 0.00"

    async def kinds(**wanted: object) -> list[str]:
        reply = await asking.get("/api/v1/disagreements", params=wanted)  # type: ignore[arg-type]
        return [disagreement["kind"] for disagreement in reply.json()["disagreements"]]

    assert await kinds(rubric="context_relevance") == ["rubric_against_rubric"]
    assert await kinds(kind="judge_against_scorer") == ["judge_against_scorer"]
    assert await kinds(limit=1) == ["judge_against_person"]
    assert await kinds(since=str(int(LATER) + 60)) == []


async def test_prometheus_is_told_what_the_api_says(store: Store) -> None:
    keep_judged(store, {number: [verdict(number % 2)] for number in range(1, 41)})
    await labelled(client(store), [post(number, number % 2) for number in range(1, 41)])
    Calibration(store, BARS, lambda: LATER).show_metrics()
    labels = {"rubric": "groundedness", "judge": f"{JUDGE} v1"}
    try:
        assert REGISTRY.get_sample_value("ragvigil_judge_kappa", labels) == 1.0
        assert REGISTRY.get_sample_value("ragvigil_judge_labels", labels) == 40
        trusted = {**labels, "state": "trusted"}
        assert REGISTRY.get_sample_value("ragvigil_judge_state", trusted) == 1
    finally:
        metrics.show([])
