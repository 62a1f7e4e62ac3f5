"""`ragvigil issues`, against the API on a port of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ragvigil.app.cli.main import app
from ragvigil.app.client.api import Refused
from ragvigil.model.issue import IssueState, RootCause
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import root_causes
from tests.flow.test_api import keep as keep_outcomes
from tests.flow.test_api import outcome
from tests.issues import DAY, NANOS, NOW, failure, issue, keep
from tests.served_api import Commands, commands
from tests.served_issues import served

TOKENS = {"triager_token": "tr1ager", "reader_token": "r3ader"}


@pytest.fixture
def daemon(store: Store, tmp_path: Path) -> Iterator[Commands]:
    with commands(served(store, tmp_path, **TOKENS), tmp_path, TOKENS) as made:
        yield made


def some_issues(store: Store) -> None:
    keep_outcomes(store, [outcome(100 + n, NOW - 60) for n in range(50)])
    keep(store, [failure(n, ago=60 + n) for n in range(4)], issue("i1", members=4))
    sampled = [failure(10 + n, ago=DAY * (n % 3), inclusion_probability=0.07) for n in range(22)]
    back = issue("i2", members=22, state=IssueState.REGRESSED, name="Days mixed up")
    keep(store, sampled, back)
    keep(store, [failure(60), failure(61)])


def test_a_list_ends_with_what_is_in_no_issue(store: Store, daemon: Commands) -> None:
    some_issues(store)
    told = daemon.say("issues", "list").splitlines()
    assert told[0].split()[:4] == ["i2", "regressed", "generation", "since"]
    assert told[0].endswith("█")
    assert told[1] == "  22 seen, about 310 [200, 470], about 110 answers a day: Days mixed up"
    assert "not grouped: 2 failing answers of 7 days" in told
    assert any(
        "generation: 2 of 50 answers fail outside of issues; background rate 0.9 %" in line
        for line in told
    )
    assert "and 1 more: `--limit 2`" in daemon.say("issues", "list", "--limit", "1")
    found = json.loads(daemon.say("issues", "list", "--state", "new", "--json"))
    assert [row["issue_id"] for row in found["issues"]] == ["i1"]


def test_a_list_without_issues_says_what_makes_one(daemon: Commands) -> None:
    told = daemon.say("issues", "list").splitlines()
    assert told[0].startswith("no issues: three failing answers")
    assert told[1] == "not grouped: 0 failing answers of 7 days"
    assert told[2].startswith("failing answers have not been grouped since the daemon started")


def test_show_is_a_story(store: Store, daemon: Commands) -> None:
    some_issues(store)
    both = ("groundedness", "chunk_attribution")
    keep(store, [failure(n, ago=60 + n, rubrics=both) for n in range(3)], issue("i1", members=4))
    cause = RootCause(
        issue_id="i1", time_unix_nano=NOW * NANOS, by="openai:m", ended="submitted",
        cause="the prompt asks for business days", fix="roll back to v1",
        grades=(("severity", 4, "users wait"),),
    )  # fmt: skip
    store.write(root_causes.batch(cause, NOW * NANOS))
    daemon.say("issues", "ack", "i1", "-m", "mine")
    told = daemon.say("issues", "show", "i1")
    for words in (
        "i1  acknowledged, assigned to triager, provisional",
        "groundedness: another number of days (/refunds)",
        "4 seen",
        "why (openai:m, severity 4/5), ",
        "the prompt asks for business days",
        "at once: roll back to v1",
        "rubrics   groundedness 4, chunk_attribution 3",
        "routes    /refunds 4 (since",
        "releases  2.4.0 4 (since",
        "asked: How long do refunds take?",
        "fails: the answer names another number of days than the chunk",
        "acknowledge by triager  mine",
    ):
        assert words in told, told
    assert len(told.splitlines()) < 40


def test_verbs_are_one_line_each(store: Store, daemon: Commands) -> None:
    some_issues(store)
    name = "groundedness: another number of days (/refunds)"
    for said, expected in (
        (("ack", "i1"), f"i1 is acknowledged, assigned to triager, provisional: {name}"),
        (("assign", "i1", "bob"), f"i1 is acknowledged, assigned to bob, provisional: {name}"),
        (("assign", "i1", ""), f"i1 is acknowledged, provisional: {name}"),
        (("ignore", "i1", "--forever"), f"i1 is ignored for ever, provisional: {name}"),
        (("reopen", "i1"), f"i1 is ongoing, provisional: {name}"),
        (
            ("ignore", "i1", "--count", "10"),
            f"i1 is ignored until it has 14 members, provisional: {name}",
        ),
        (("rename", "i1", "Wrong days"), "Wrong days"),
        (("resolve", "i1", "--in", "2.4.1"), "i1 is resolved in 2.4.1, assigned to triager"),
        (("merge", "i1", "i2"), "i1 is resolved in 2.4.1"),
        (("unmerge", "i2"), "i2 is regressed"),
    ):
        assert expected in daemon.say("issues", *said), said
    assert "is ignored until 20" in daemon.say("issues", "ignore", "i2", "--for", "7d")
    assert "no two issues look alike" in daemon.say("issues", "pairs")


def test_an_ignoring_has_one_clear_end() -> None:
    for said in ((), ("--forever", "--count", "3"), ("--for", "soon")):
        done = CliRunner().invoke(app, ["issues", "ignore", "i1", *said])
        assert done.exit_code == 2, said


def test_what_does_not_fit_is_one_sentence(store: Store, daemon: Commands) -> None:
    some_issues(store)
    with pytest.raises(Refused, match="it is open already"):
        daemon.say("issues", "reopen", "i1")
    with pytest.raises(Refused, match="there is no issue none"):
        daemon.say("issues", "resolve", "none")


def test_an_explanation_is_printed_as_it_was_found(store: Store, daemon: Commands) -> None:
    some_issues(store)
    told = daemon.say("issues", "explain", "i1")
    assert "\nwhat code can tell, " in told
    assert "Look at 0000" in told
    last = daemon.say("issues", "explain", "i1", "--json").splitlines()[-1]
    assert json.loads(last)["by"] == "code"
