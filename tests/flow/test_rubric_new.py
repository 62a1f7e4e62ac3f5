"""`ragvigil rubric new`: drafted by a judge, tried on stored answers, live after a yes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragvigil.app.client.api import Refused
from ragvigil.store.engine.store import Store
from scorers.rubric import accepted_rubrics, read_rubric
from tests.guarded_desk import DRAFT, GuardedDesk, Judge, fill, forget
from tests.llm_server import LlmServer, serving
from tests.served_api import Commands

SENTENCE = "An answer about refunds says how long they take."


@pytest.fixture(autouse=True)
def _forgets() -> Iterator[None]:
    yield
    forget()


@pytest.fixture
def judge() -> Judge:
    return Judge()


@pytest.fixture
def server(judge: Judge) -> Iterator[LlmServer]:
    with serving(judge.answer) as made:
        yield made


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> GuardedDesk:
    fill(store)
    made = GuardedDesk(store, tmp_path)
    made.judging.reason = ""  # the daemon's own judge is on
    return made


@pytest.fixture
def daemon(
    desk: GuardedDesk, server: LlmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Commands]:
    monkeypatch.chdir(tmp_path)
    lines = ["[judge]", 'model = "openai:stand-in"', f'base_url = "{server.openai}"', "retries = 0"]
    with desk.commands(tmp_path, "\n".join(lines)) as made:
        yield made


def test_a_sentence_becomes_a_file_that_is_tried_and_live_after_a_yes(
    daemon: Commands, desk: GuardedDesk, tmp_path: Path
) -> None:
    told = daemon.say("rubric", "new", SENTENCE, typed="y\n")
    rubric = read_rubric(tmp_path / "names_a_deadline.toml")
    assert (rubric.name, rubric.layer, rubric.fails_below) == (
        "names_a_deadline", "generation", 0.5,
    )  # fmt: skip
    assert rubric.needs == ("query", "context", "document_texts", "answer")
    rows = [line for line in told.splitlines() if " refund " in line]
    assert len(rows) == 10
    assert sum("fails citation_validity: quote_not_found" in row for row in rows) == 5
    assert any("passes 1.00" in row and row.rstrip().endswith("passes") for row in rows), told
    assert "cost price unknown, " in told
    assert "file names_a_deadline.toml" in told
    assert told.splitlines()[-1].endswith(
        "live: names_a_deadline, by the judge's sample, from now on"
    )
    assert list(accepted_rubrics()) == ["names_a_deadline"]
    assert desk.bars["names_a_deadline"] == 0.5
    assert "names_a_deadline  judge  generation  no issue  on  accepted by approver" in daemon.say(
        "issues", "guards"
    )


def test_a_no_and_nobody_leave_a_file_that_can_be_accepted_later(
    daemon: Commands, desk: GuardedDesk, tmp_path: Path
) -> None:
    for typed in ("n\n", ""):
        file = f"{len(typed)}.toml"
        told = daemon.say("rubric", "new", SENTENCE, "--to", file, "--answers", "1", typed=typed)
        assert told.endswith(f"not live: `ragvigil rubric accept {len(typed)}.toml` makes it so\n")
    assert not accepted_rubrics()
    (tmp_path / "latin.toml").write_bytes(b"\xe9")
    assert "latin.toml: cannot be read" in daemon.say("rubric", "accept", "latin.toml", status=1)
    daemon.say("rubric", "accept", "0.toml")
    assert list(accepted_rubrics()) == ["names_a_deadline"]
    assert "off: removed by approver" in daemon.say("rubric", "remove", "names_a_deadline")
    assert not accepted_rubrics()
    assert "names_a_deadline" not in desk.bars


def _new(daemon: Commands, *options: str) -> dict[str, Any]:
    """The JSON of `rubric new`; lines of the daemon's log come before it here."""
    told = daemon.say("rubric", "new", SENTENCE, "--json", *options)
    made: dict[str, Any] = json.loads(told.splitlines()[-1])
    return made


def test_a_script_gets_json_and_makes_it_live_with_yes(daemon: Commands) -> None:
    made = _new(daemon, "--answers", "4")
    assert made["live"] is None
    assert len(made["tried"]) == 4
    assert made["tokens"] > 0
    made = _new(daemon, "--yes", "--answers", "1")
    assert made["live"]["is_on"] is True
    assert made["file"] == "names_a_deadline_2.toml"


def test_a_bad_draft_is_asked_for_once_more_and_then_refused_with_the_reason(
    daemon: Commands, judge: Judge, tmp_path: Path
) -> None:
    judge.drafts = [DRAFT | {"layer": "tone"}, DRAFT]
    daemon.say("rubric", "new", SENTENCE, "--answers", "1")
    assert "layer: tone is not one of" in judge.prompts[1]
    for wrong, reason in (
        ({"name": "groundedness"}, "groundedness is taken by another rubric"),
        ({"grades": DRAFT["grades"][:1]}, "grades: [{"),
        ({"shows": []}, "shows: names nothing that the judge could see"),
        ({"grades": [{"name": n, "means": "x", "value": 1.0} for n in "ab"]}, "one must be under"),
    ):
        judge.drafts = [DRAFT | wrong]
        told = daemon.say("rubric", "new", SENTENCE, "--answers", "1", status=2)
        assert "the judge's draft is no rubric: draft.toml: " in told, wrong
        assert reason in told
    assert [path.name for path in tmp_path.glob("*.toml")].count("groundedness.toml") == 0


def test_what_no_judge_can_decide_is_refused_with_the_reason(
    daemon: Commands, judge: Judge, tmp_path: Path
) -> None:
    judge.drafts = [DRAFT | {"cannot": "one answer does not show how fast others were"}]
    told = daemon.say("rubric", "new", "Answers are faster than last week", status=2)
    assert told == (
        "no judge can decide this from one answer: one answer does not show how fast others were\n"
    )
    assert len(judge.prompts) == 1
    assert not (tmp_path / "names_a_deadline.toml").exists()


def test_a_file_is_not_written_over(daemon: Commands, judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("x")
    told = daemon.say("rubric", "new", SENTENCE, "--to", "mine.toml", status=2)
    assert told == "mine.toml exists; name another file with --to\n"
    assert (tmp_path / "mine.toml").read_text() == "x"
    assert not judge.prompts


def test_a_name_that_is_live_is_refused(daemon: Commands) -> None:
    daemon.say("rubric", "new", SENTENCE, "--yes", "--answers", "1")
    with pytest.raises(Refused, match="names_a_deadline is the name of another rubric"):
        daemon.say("rubric", "accept", "names_a_deadline.toml")
    assert "names_a_deadline is taken by" in daemon.say("rubric", "new", SENTENCE, status=2)
