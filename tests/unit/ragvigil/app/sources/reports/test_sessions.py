"""Sessions from stored answers and feedback to the API and the command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from alerts.settings import AlertsSettings
from ragvigil.app.sources.reports.reports import Reports
from ragvigil.app.sources.reports.sessions import MOST_QUESTIONS, SameMeaning, session_forms
from ragvigil.model.feedback import FeedbackEvent
from ragvigil.model.score import Layer, Score
from ragvigil.store.engine.store import Store
from ragvigil.store.records import feedback
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.reports.sessions import Session, Turn
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import Quiet
from tests.no_model import NO_MODEL
from tests.outcomes import NOW, SECOND, outcome_of
from tests.served_api import commands

HOUR = 3600 * SECOND
SESSIONS = {
    "s1": ["How long do refunds take?", "When will I get my money back?", "Is a fee charged?"],
    "s2": ["Where is my parcel?", "where is my parcel"],
    "s3": ["How do I reset it?"],
    "": ["Nobody's question?"],
}


def store_sessions(store: Store) -> None:
    rows = TraceRows({"refusal": RubricFacts(version="1")})
    number = 0
    for session_id, questions in SESSIONS.items():
        for place, question in enumerate(questions):
            made = outcome_of(number, time_unix_nano=NOW - 2 * HOUR)
            label = "refused" if question.startswith("How do I") else "answered"
            record = replace(
                made.records[0].record,
                query=question,
                session_id=session_id,
                started_unix_nano=NOW - 2 * HOUR + place * 60 * SECOND,
            )
            score = Score(rubric="refusal", label=label, layer=Layer.GENERATION)
            rows.add(
                replace(made, records=(replace(made.records[0], record=record, scores=(score,)),))
            )
            number += 1
    still_on = outcome_of(number, time_unix_nano=NOW - 60 * SECOND)
    record = replace(still_on.records[0].record, session_id="now", query="Hello?")
    rows.add(replace(still_on, records=(replace(still_on.records[0], record=record),)))
    store.write(rows.take())
    said = FeedbackEvent(
        feedback_id="f1", kind="escalation", time_unix_nano=NOW, session_id="s2", value=None
    )
    store.write(feedback.batch([said], NOW))


def by_topic(texts: Sequence[str]) -> np.ndarray:
    """Vectors of a model that knows money and nothing else."""
    return np.array(
        [[1.0, 0.0] if "refund" in text or "money" in text else [0.0, 1.0] for text in texts]
    )


def test_sessions_are_read_by_words_and_it_is_said_why(store: Store, tmp_path: Path) -> None:
    clock = datetime.fromtimestamp(NOW // SECOND, UTC)
    reports = Reports(store, {}, AlertsSettings(), NO_MODEL)
    web = api(store, Quiet(), WebSettings(), reporting=reports, clock=lambda: clock)
    with commands(web, tmp_path) as daemon:
        assert daemon.say("sessions").startswith("no answer has a session id")
        store_sessions(store)
        (found,) = json.loads(daemon.say("sessions", "--json"))["services"]
        printed = daemon.say("sessions")
    assert (found["sessions"], found["turns"]) == (3, 6)
    assert found["retries"]["value"] == pytest.approx(1 / 3)
    assert found["escalations"]["value"] == pytest.approx(1 / 3)
    means = {row["rubric"]: row["mean"]["value"] for row in found["rubrics"]}
    assert means["session_resolved"] == pytest.approx(1 / 3)  # one refused, one escalated
    assert (found["by"], found["reformulations"]["value"]) == ("words", 0)
    assert "by words: no model here" in printed
    assert "helpdesk prod: 3 sessions, 6 turns" in printed


def test_a_local_model_tells_what_asks_the_same_in_other_words() -> None:
    turns = [
        Turn(trace_id="", record_id="", question=question, is_unanswered=False)
        for question in SESSIONS["s1"]
    ]
    session = Session(service="desk", environment="", session_id="s1", turns=turns)
    (found,) = session_forms([session], SameMeaning(by_topic))
    assert (found.by, found.why, found.turns_to_resolution) == ("meaning", "", 1.5)
    assert found.reformulations is not None
    assert found.reformulations.value == 0.5


def test_too_many_questions_for_the_model_are_compared_by_words() -> None:
    pairs = [(f"question {number}", "another") for number in range(MOST_QUESTIONS)]
    assert "too many" in str(SameMeaning(by_topic).of(pairs))
    assert SameMeaning(by_topic).of([]) == frozenset()
