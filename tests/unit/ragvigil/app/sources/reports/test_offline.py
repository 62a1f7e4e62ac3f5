"""Golden sets sent to the daemon: beside live traffic, and never in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ragvigil.app.cli.evaluation import send
from ragvigil.app.client.api import Refused
from ragvigil.app.sources.reports.offline import Offline
from ragvigil.model.figures import points
from ragvigil.model.score import Layer, Score, Stream
from ragvigil.model.topic import Topic, TopicMap
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import topics
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import Quiet
from tests.outcomes import NOW, SECOND, outcome_of
from tests.served_api import Commands, commands

RUBRIC = "citation_validity"
AGO = NOW - 1800 * SECOND
TOKENS = {"ingest_token": "ingest-" + "i" * 30, "read_token": "reader-" + "r" * 30}


@pytest.fixture
def daemon(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Commands]:
    monkeypatch.chdir(tmp_path)
    clock = datetime.fromtimestamp(NOW // SECOND, UTC)
    web = api(store, Quiet(), WebSettings(), comparing=Offline(store, 0.05), clock=lambda: clock)
    with commands(web, tmp_path) as made:
        yield made


def live_answers(store: Store, count: int, *, release: str, right: float) -> None:
    """Answers to different questions on /ask, of which a share is right."""
    rows = TraceRows({RUBRIC: RubricFacts(version="1", fails_below=0.5)})
    for number in range(count):
        made = outcome_of(number, time_unix_nano=AGO)
        value = float(number < right * count)
        scores = (
            Score(rubric=RUBRIC, value=value, layer=Layer.GENERATION),
            Score(rubric=RUBRIC, value=0.0, layer=Layer.GENERATION, stream=Stream.SUSPICIOUS),
        )
        scored = made.records[0]
        dimensions = replace(scored.record.dimensions, service_version=release)
        record = replace(scored.record, query=f"question {number}", dimensions=dimensions)
        rows.add(replace(made, records=(replace(scored, record=record, scores=scores),)))
    store.write(rows.take())


def topic(name: str, *, golden_cases: int) -> Topic:
    return Topic(
        topic_id=name,
        name=name,
        questions=50,
        failing=5,
        rated=0,
        down=0,
        golden_cases=golden_cases,
    )


def cases(count: int) -> str:
    """A set on /ask of the live service, and the answers to it: all cite well."""
    service = outcome_of(0).records[0].record.service
    Path("set.jsonl").write_text(
        "".join(
            json.dumps({"case_id": f"c{n}", "question": f"What of {n}?", "service": service,
                        "route": "/ask", "gold_answer": "It is so."}) + "\n"
            for n in range(count)
        )
    )  # fmt: skip
    Path("answers.jsonl").write_text(
        "".join(
            json.dumps({"case_id": f"c{n}", "answer": "It is so [a].", "chunk_ids": ["a"],
                        "chunk_texts": ["It is so."]}) + "\n"
            for n in range(count)
        )
    )  # fmt: skip
    return service


def sent(daemon: Commands, *more: str) -> Any:
    said = daemon.say(
        "evaluate", "set.jsonl", "--target", "answers.jsonl", "--release", "2.4.1", "--send", *more
    )
    run_id = said.partition("sent as ")[2].partition(".")[0]
    assert len(run_id) == 16
    return said


def test_a_set_that_is_easier_than_users_is_said_to_be_with_the_topics_that_it_lacks(
    store: Store, daemon: Commands
) -> None:
    service = cases(30)
    live_answers(store, 200, release="2.4.1", right=0.6)
    topic_map = TopicMap(
        service=service,
        environment="prod",
        built_unix_nano=NOW,
        since_unix_nano=AGO,
        vector_model="m",
        topics=(topic("gift cards", golden_cases=0), topic("returns", golden_cases=3)),
        rest=topic("", golden_cases=0),
    )
    store.write(topics.map_batch(topic_map, NOW))
    said = sent(daemon)
    assert "The set is not what users ask: citation_validity on /ask is 1.00 on the set" in said
    assert "0.60 live of 2.4.1" in said
    assert "It lacks 1 large topics, the largest of them: gift cards (33%)." in said


@pytest.mark.slow
def test_live_answers_of_another_release_are_not_compared(store: Store, daemon: Commands) -> None:
    cases(30)
    live_answers(store, 200, release="2.4.0", right=0.6)
    assert "Too few live answers of 2.4.1" in sent(daemon)


def test_what_is_sent_is_in_no_live_table_and_replaces_itself(
    store: Store, daemon: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send, "AT_ONCE", 2)
    cases(5)
    sent(daemon)
    counts = {row["table"]: int(row["rows"]) for row in store.read("row_counts")}
    written = {table for table, rows in counts.items() if rows} - {"migrations", "acts"}
    assert written == {"offline_scores"}
    sent(daemon)
    runs = store.read("offline_runs", {"run_id": "", "limit": 10})
    assert [(run["cases"], run["failed"]) for run in runs] == [(5, 0), (5, 0)]


def test_what_the_gate_said_of_a_run_stands_beside_it(store: Store, daemon: Commands) -> None:
    service = cases(30)
    live_answers(store, 200, release="2.4.1", right=0.6)
    assert "No evaluation has been sent yet" in daemon.page("/evaluations")
    daemon.say("evaluate", "set.jsonl", "--target", "answers.jsonl", "--out", "base.jsonl")
    said = sent(daemon, "--out", "new.jsonl")
    run_id = said.partition("sent as ")[2].partition(".")[0]
    assert not read(daemon, f"evaluations/{run_id}")["gate"]
    document = json.loads(
        daemon.say("gate", "base.jsonl", "new.jsonl", "--send", "--json", status=3)
    )
    online = read(daemon, f"evaluations/{run_id}")
    assert online["gate"]["state"] == online["evaluation"]["gate"] == document["state"]
    assert online["gate"]["sentences"] == document["reasons"]
    compared = {each["rubric"]: each for each in document["overall"] if each["n"]}
    for each in online["gate"]["comparisons"]:
        if not each["dimension"]:
            known = compared.pop(each["rubric"])
            assert each["base"] == pytest.approx(known["base"], abs=1e-6)
            assert (each["n"], each["verdict"]) == (known["n"], known["verdict"])
    assert not compared
    page = daemon.page(f"/evaluations/{run_id}")
    assert "2.4.1 has too few cases for the gate to say. The set is easier" in page
    for sentence in (*online["sentences"], *online["gate"]["sentences"]):
        assert sentence in page
    for gap in online["gaps"]:
        mean = f"{gap['offline']['mean']:.2f} {gap['offline']['n']} {gap['live']['mean']:.2f}"
        assert mean in page
        assert f"{points(gap['gap'])} {points(gap['low'])} to {points(gap['high'])}" in page
    listed = daemon.page("/evaluations")
    assert "2.4.1 set.jsonl at answers.jsonl" in listed
    assert "too few cases" in listed
    assert service in page


def test_a_gate_of_an_unknown_run_is_refused(daemon: Commands) -> None:
    cases(5)
    for name in ("base.jsonl", "new.jsonl"):
        daemon.say("evaluate", "set.jsonl", "--target", "answers.jsonl", "--out", name)
    with pytest.raises(Refused, match="send the run first"):
        daemon.say("gate", "base.jsonl", "new.jsonl", "--send")


def read(daemon: Commands, path: str) -> Any:
    return httpx2.get(f"http://127.0.0.1:{daemon.port}/api/v1/{path}", timeout=60).json()
