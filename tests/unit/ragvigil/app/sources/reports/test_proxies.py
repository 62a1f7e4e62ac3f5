"""Rubrics against users, from stored answers and feedback to the API and the command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from alerts.settings import AlertsSettings
from ragvigil.app.sources.reports.reports import Reports
from ragvigil.model.feedback import FeedbackEvent
from ragvigil.model.record import Feedback
from ragvigil.model.score import Layer, Score, Stream
from ragvigil.store.engine.store import Store
from ragvigil.store.records import feedback
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.reports import user_answers
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import Quiet
from tests.no_model import NO_MODEL
from tests.outcomes import NOW, SECOND, outcome_of
from tests.served_api import Commands, commands

AGO = NOW - 1800 * SECOND
FAILS_BELOW = {"groundedness": 0.5, "chunk_utilization": 0.5}


def store_answers(store: Store, count: int) -> None:
    """Answers to different questions: the first fifth fails groundedness, every third use."""
    rows = TraceRows({name: RubricFacts(version="1", fails_below=0.5) for name in FAILS_BELOW})
    for number in range(count):
        made = outcome_of(number, time_unix_nano=AGO)
        scores = (
            Score(rubric="groundedness", value=float(number >= count // 5), layer=Layer.GENERATION),
            Score(rubric="chunk_utilization", value=number % 3 / 2, layer=Layer.RETRIEVAL),
            Score(
                rubric="completeness", value=0.0, layer=Layer.GENERATION, stream=Stream.SUSPICIOUS
            ),
        )
        scored = made.records[0]
        record = replace(scored.record, query=f"question {number}")
        if number == 0:
            record = replace(record, feedback=(Feedback(kind="retry", time_unix_nano=NOW),))
        rows.add(replace(made, records=(replace(scored, record=record, scores=scores),)))
    store.write(rows.take())


def told(number: int, kind: str, value: float | None, **names: str) -> FeedbackEvent:
    named = names or {"trace_id": f"{number:032x}"}
    return FeedbackEvent(
        feedback_id=f"{number} {kind} {value} {names}",
        kind=kind,
        value=value,
        time_unix_nano=NOW,
        **named,
    )


@pytest.fixture
def daemon(store: Store, tmp_path: Path) -> Iterator[Commands]:
    clock = datetime.fromtimestamp(NOW // SECOND, UTC)
    reports = Reports(store, FAILS_BELOW, AlertsSettings(), NO_MODEL)
    web = api(store, Quiet(), WebSettings(), reporting=reports, clock=lambda: clock)
    with commands(web, tmp_path) as made:
        yield made


def test_an_answers_signals_come_from_spans_traces_and_response_ids(store: Store) -> None:
    store_answers(store, 20)
    said = [
        told(1, "thumbs", 1.0),
        told(1, "thumbs", 0.0),
        told(2, "escalation", None, span_id=f"{2:08x}{0:08x}"),
        told(3, "correction", None, response_id=f"resp-{3:04x}"),
        told(4, "thumbs", None),
        told(5, "escalation", None, session_id="session-1"),
    ]
    store.write(feedback.batch(said, NOW))
    answers = user_answers.read(store, NOW // SECOND - 86_400)
    assert len(answers) == 20
    signals = [dict(answer.signals) for answer in answers if answer.signals]
    assert sorted(signals, key=str) == [
        {"correction": True},
        {"escalation": True},
        {"retry": True},
        {"thumbs_down": True},
    ]
    # What was judged because it looked wrong tells nothing of other answers.
    assert {name for answer in answers for name in answer.scores} == set(FAILS_BELOW)
    assert {answer.weight for answer in answers} == {1.0}
    assert not user_answers.read(store, NOW // SECOND - 86_400, service="other")


def test_the_command_names_what_tracks_users_and_what_does_not(
    store: Store, daemon: Commands
) -> None:
    assert daemon.say("proxies").startswith("no feedback on a scored answer since ")
    assert "No user has said anything of a scored answer yet" in daemon.page("/proxies")
    store_answers(store, 500)
    # Rated are 400; of those that fail groundedness all but every fifth are disliked, else a tenth.
    disliked = {number for number in range(100) if number % 5} | set(range(100, 400, 10))
    said = [told(number, "thumbs", float(number not in disliked)) for number in range(400)]
    store.write(feedback.batch(said, NOW))
    (place,) = json.loads(daemon.say("proxies", "--json"))["services"]
    (signal, retries) = place["signals"]
    assert (signal["signal"], signal["n"], signal["bad"]) == ("thumbs_down", 400, len(disliked))
    rows = {row["rubric"]: row for row in signal["rubrics"]}
    assert rows["groundedness"]["verdict"] == "tracks users"
    assert rows["chunk_utilization"]["verdict"] == "does not track users"
    lift = rows["groundedness"]["lift"]
    assert lift["value"] == pytest.approx((80 / 100) / (110 / 400), abs=1e-9)
    assert lift["low"] > 2
    assert signal["together"]["odds"]["groundedness"]["low"] > 1
    assert (retries["signal"], retries["n"], retries["bad"]) == ("retry", 500, 1)
    printed = daemon.say("proxies")
    assert "helpdesk prod: thumbs-down, 110 of 400 answers" in printed
    assert "does not track users" in printed
    assert "all rubrics together: AUROC" in printed
    page = daemon.page("/proxies")
    assert "Groundedness tracks what users say" in page
    for row in signal["rubrics"]:
        auroc = row["auroc"]
        assert f"{auroc['value']:.2f} {auroc['low']:.2f} to {auroc['high']:.2f}" in page
        assert f"{row['n']} {row['bad']} complained of" in page
