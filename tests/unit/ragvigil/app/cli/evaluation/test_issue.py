"""`ragvigil evaluate --issue`: the issue's questions asked again, and passing ones beside them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ragvigil.app.cli.main import app
from ragvigil.model.issue import FailureKind
from ragvigil.store.engine.store import Store
from tests import mended_desk
from tests.flow.test_api import keep as keep_outcomes
from tests.golden_sets import git, work_tree
from tests.issues import failure, issue, keep
from tests.served_api import Commands, commands
from tests.served_issues import served
from tests.unit.ragvigil.store.issues.test_neighbours import HOUR, RUBRIC, answered

ISSUE = "a" * 16
TARGET = ("--target", "tests.mended_desk:answer")
QUESTIONS = ("How long do refunds take?", "How long does a return take?", "Who pays the postage?")


@pytest.fixture
def daemon(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Commands]:
    """An issue of three questions, the first asked twice, and three passing neighbours."""
    monkeypatch.chdir(tmp_path)
    mended_desk.broken.clear()
    fields = {"rubric": RUBRIC, "rubrics": (RUBRIC,)}
    failures = [
        failure(number, ago=60 + number, question=question, **fields)
        for number, question in enumerate((*QUESTIONS, "how long do REFUNDS take?"), start=1)
    ]
    keep(store, failures, issue(ISSUE, rubric=RUBRIC))
    beside = ("How long do card refunds take?", "How long does a parcel take?", "Who pays postage?")
    keep_outcomes(
        store,
        [
            answered(10 + place, question, ago=HOUR, route="/refunds")
            for place, question in enumerate(beside)
        ],
    )
    with commands(served(store, tmp_path), tmp_path) as made:
        yield made


def evaluated(daemon: Commands, *more: str, status: int) -> str:
    return daemon.say("evaluate", "--issue", ISSUE[:6], *TARGET, *more, status=status)


def test_a_mended_issue_is_resolved_and_its_story_says_why(daemon: Commands) -> None:
    said = evaluated(daemon, "--resolve-in", "2.4.1", status=0)
    assert "3 of 3 failing questions pass now (29% to 100%)." in said
    assert "Of 3 passing neighbours none broke." in said
    assert "Resolved in 2.4.1." in said
    story = json.loads(daemon.say("issues", "show", ISSUE, "--json"))
    assert (story["state"], story["resolved_in"]) == ("resolved", "2.4.1")
    assert "3 of 3 failing questions pass now" in story["events"][-1]["text"]


@pytest.mark.slow
def test_what_still_fails_or_broke_is_named_and_nothing_resolved(daemon: Commands) -> None:
    mended_desk.broken |= {"return", "card"}
    said = evaluated(daemon, "--resolve-in", "2.4.1", status=1)
    assert "2 of 3 failing questions pass now" in said
    assert f"Of 3 passing neighbours 1 broke: neighbour {10:032x}" in said
    assert "Not resolved in 2.4.1." in said
    story = json.loads(daemon.say("issues", "show", ISSUE, "--json"))
    assert story["state"] == "new"


@pytest.mark.slow
def test_a_case_that_must_pass_is_asked_too(daemon: Commands) -> None:
    rows = (
        {"case_id": "m1", "question": "Is water wet?", "must_pass": True,
         "expected_facts": ["Water is wet"]},
        {"case_id": "o1", "question": "Is ice cold?"},
    )  # fmt: skip
    Path("set.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert "Of 1 must-pass case none broke." in evaluated(daemon, "set.jsonl", status=0)
    mended_desk.broken.add("wet")
    assert "1 broke: must pass m1" in evaluated(daemon, "set.jsonl", status=1)


@pytest.mark.slow
def test_of_what_code_cannot_ask_again_nothing_is_said(store: Store, daemon: Commands) -> None:
    other = "b" * 16
    disliked = failure(20, question="Why?", kind=FailureKind.THUMBS_DOWN, rubric="", rubrics=())
    judged = failure(21, question="Since when?", rubric="completeness", rubrics=("completeness",))
    keep(store, [disliked, judged], issue(other))
    said = daemon.say("evaluate", "--issue", other, *TARGET, status=3)
    assert "Of 2 nothing can be said: completeness was not measured; users disliked it" in said


def test_the_command_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def said(*arguments: str) -> str:
        done = CliRunner().invoke(app, ["evaluate", *arguments, *TARGET])
        assert done.exit_code == 2
        return done.output

    assert "SET or --issue is needed" in said()
    Path("set.jsonl").write_text('{"question": "Why?"}\n')
    assert "--resolve-in needs --issue" in said("set.jsonl", "--resolve-in", "2")


def test_a_deploy_resolves_what_its_commits_fix(daemon: Commands, tmp_path: Path) -> None:
    work_tree(tmp_path / "service")
    git(
        tmp_path / "service", "commit", "-q", "--allow-empty",
        "-m", f"Refunds\n\nRagvigil-Fixes: {ISSUE[:6]}, {'b' * 16}\n",
    )  # fmt: skip
    os.chdir(tmp_path / "service")
    said = daemon.say("deploy", "mark", "desk", "2.5.0", "--commits", "HEAD~1..HEAD", status=1)
    assert "desk 2.5.0 is marked." in said
    assert f"Issue {ISSUE[:6]}: resolved in 2.5.0, regressed if it comes back." in said
    assert f"Issue {'b' * 16}: not resolved: there is no issue" in said
    story = json.loads(daemon.say("issues", "show", ISSUE, "--json"))
    assert (story["state"], story["resolved_in"]) == ("resolved", "2.5.0")
    assert story["events"][-1]["text"] == "in 2.5.0: a commit of 2.5.0 says so"
