"""The digest of a week from stored rows to the API and the command, as text and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ragvigil.model.golden import CaseState, GoldenCase
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import golden
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from ragvigil.web.views.topics import ShareForm, TopicForm, TopicMapForm, TopicsForm
from tests.flow.test_api import Quiet
from tests.issues import NANOS, NOW, failure, issue, keep
from tests.served_api import Commands, commands

DAY = 86_400


def share(part: float) -> ShareForm:
    return ShareForm(count=round(100 * part), of=100, share=part, low=part, high=part)


def topic(name: str, *, is_gap: bool) -> TopicForm:
    return TopicForm(
        topic_id=name[:2],
        name=name,
        asked=share(0.3),
        failing=share(0.2),
        thumbs_down=share(0),
        verdict="cannot_tell",
        golden_cases=0,
        is_gap=is_gap,
        examples=["Where is *my* parcel? @all"],
    )


class Charted:
    """A map of one service with a gap."""

    def topics(self) -> TopicsForm:
        time = datetime.fromtimestamp(NOW, UTC)
        parts = [topic("parcels", is_gap=True), topic("refunds", is_gap=False)]
        drawn = TopicMapForm(
            service="helpdesk", environment="prod", built=time, since=time, questions=100,
            topics=parts, rest=topic("", is_gap=False),
        )  # fmt: skip
        return TopicsForm(maps=[drawn])


def case(number: int, state: CaseState, days: int) -> GoldenCase:
    time = (NOW - days * DAY) * NANOS
    is_signed = state is not CaseState.PROPOSED
    return GoldenCase(
        case_id=f"c{number}",
        question=f"question {number}",
        service="helpdesk",
        environment="prod",
        state=state,
        proposed_by="ann",
        proposed_unix_nano=time,
        approved_unix_nano=time if is_signed else 0,
    )


@pytest.fixture
def daemon(store: Store, tmp_path: Path) -> Iterator[Commands]:
    clock = datetime.fromtimestamp(NOW, UTC)
    web = api(store, Quiet(), WebSettings(), charting=Charted(), clock=lambda: clock)
    with commands(web, tmp_path) as made:
        yield made


def test_a_digest_names_what_to_read_decide_and_renew(store: Store, daemon: Commands) -> None:
    keep(store, [failure(number, ago=60 + number) for number in range(12)], issue())
    keep(store, [failure(50, rubric="refusal", label="refused", question="Hello *you*?")])
    keep(store, [failure(60, ago=30 * DAY, rubric="completeness")])
    cases = [
        case(1, CaseState.PROPOSED, 9),
        case(2, CaseState.PROPOSED, 3),
        case(3, CaseState.PASSING, 100),
        case(4, CaseState.SIGNED, 20),
        case(5, CaseState.REJECTED, 1),
    ]
    golden.write(store, NOW * NANOS, cases=cases)
    reply = json.loads(daemon.say("digest", "--json"))
    causes = [(row["issue_id"], row["rubric"], row["failing"]) for row in reply["failures"]]
    assert causes[:2] == [("i1", "groundedness", 12), ("", "refusal", 1)]
    assert len(causes) == 10
    assert len({row["trace_id"] for row in reply["failures"]}) == 10
    assert [gap["name"] for gap in reply["uncovered"]] == ["parcels"]
    assert (reply["waiting"], reply["proposals"][0]["case_id"]) == (2, "c1")
    assert (reply["golden"]["cases"], reply["golden"]["median_days"]) == (2, 60)
    printed = daemon.say("digest")
    assert "Ten failures to read" in printed
    assert "Hello *you*?" in printed
    assert "parcels: 30 % of questions, 20 % of them fail" in printed
    assert "2 signed cases" in printed
    assert "no judge" in printed
    page = daemon.page("/digest")
    said = "This week: 10 failures to read, 2 proposals to decide and 1 topic without a golden case"
    assert said in page
    assert (
        "2 signed cases, the last signed 20 days ago; half of them are older than 60 days" in page
    )
    for row in reply["failures"]:
        assert row["question"] in page
    assert "Nothing of this week waits for you" in daemon.page("/digest?service=other")
    assert "Nothing of this week waits for you" in daemon.page("/digest?environment=test")
    assert said in daemon.page("/digest?environment=prod")
    assert not json.loads(daemon.say("digest", "--json", "--service", "other"))["failures"]


def test_as_markdown_texts_of_users_have_no_meaning(store: Store, daemon: Commands) -> None:
    keep(store, [failure(50, question="Hello *you*?")])
    printed = daemon.say("digest", "--markdown")
    assert printed.startswith("# RAG quality, ")
    assert "## One failures to read" not in printed
    assert "## One failure to read" in printed
    assert "Hello \\*you\\*?" in printed
    assert "@\u200ball" in printed
