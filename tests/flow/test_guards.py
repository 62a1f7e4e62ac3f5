"""`ragvigil issues guard`: drafted from members and neighbours, accepted, at work a turn later."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ragvigil.app.client.api import Refused, Unreachable
from ragvigil.app.sources.rubrics import AcceptedRubrics
from ragvigil.model.issue import MemberBy
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.scores import accepted_rubrics as stored
from scorers.judge.settings import JudgeSettings
from scorers.rubric import accepted_rubrics, load_rubrics
from tests.flow.test_api import keep
from tests.guarded_desk import DRAFT, MEMBERS, GuardedDesk, Judge, answered, fill, forget, refusing
from tests.issues import NOW
from tests.llm_server import serving
from tests.patience import PATIENCE_SECONDS
from tests.served_api import Commands


@pytest.fixture(autouse=True)
def _forgets() -> Iterator[None]:
    yield
    forget()


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> GuardedDesk:
    return GuardedDesk(store, tmp_path)


@pytest.fixture
def daemon(desk: GuardedDesk, tmp_path: Path) -> Iterator[Commands]:
    with desk.commands(tmp_path) as made:
        yield made


def passing(store: Store, *numbers: int) -> list[int]:
    """Those of these answers that the guard scored and passes."""
    parameters = {
        "minutes": [NOW - 60],
        "trace_ids": [f"{number:032x}" for number in numbers],
        "rubric": "guard_i1",
        "labels": [],
        "unscored": [],
    }
    return [int(row["trace_id"], 16) for row in store.read("neighbours_passing", parameters)]


def test_a_guard_is_a_pattern_with_its_figures_and_fails_what_comes(
    store: Store, desk: GuardedDesk, daemon: Commands
) -> None:
    fill(store)
    told = daemon.say("issues", "guard", "i1", typed="y\n")
    assert "guard_i1: the answer has “ai model i cannot tell” (code, on every answer)" in told
    assert "members that it was not made from" in told
    rows = {line.split()[0]: line for line in told.splitlines() if line.startswith("  ")}
    assert "100 % [" in rows["recall"]
    assert "0 of " in rows["neighbours"]
    assert "40 of 100, 40 % [" in rows["week"]
    assert "40 of these 40 fail another rubric, too" in told
    assert "guard_i1  pattern  generation  issue i1  on  accepted by approver" in told
    assert load_rubrics()["guard_i1"].layer == "generation"
    keep(store, [answered(7001, refusing(7001)), answered(7002, "It takes 5 days [1].")], NOW)
    assert desk.patterns.run() == 102
    assert passing(store, 7001, 7002) == [7002]
    desk.issues.run()
    members = failed.find(store, failed.FailureFilter(issue_ids=("i1",)))
    (joined,) = [row for row in members if row.failure.trace_id == f"{7001:032x}"]
    assert joined.membership is not None
    assert (joined.failure.rubrics, joined.membership.by) == (("guard_i1",), MemberBy.GUARD)
    assert len(desk.issues.issues()) == 1
    assert desk.patterns.run() == 0


def test_a_guard_outlives_the_process_and_can_be_removed(
    store: Store, desk: GuardedDesk, daemon: Commands, tmp_path: Path
) -> None:
    fill(store)
    daemon.say("issues", "guard", "i1", "--yes")
    forget()
    AcceptedRubrics(store, lambda: float(NOW)).load()
    assert list(accepted_rubrics()) == ["guard_i1"]
    started = GuardedDesk(store, tmp_path)
    assert started.bars["guard_i1"] == 0.5
    assert started.facts["guard_i1"].fails_below == 0.5
    assert "guard_i1  pattern" in daemon.say("issues", "guards")
    daemon.say("rubric", "remove", "guard_i1")
    assert "no guards" in daemon.say("issues", "guards")
    assert "guard_i1" not in desk.bars
    assert desk.patterns.run() == 0
    forget()
    AcceptedRubrics(store, lambda: float(NOW)).load()
    assert not accepted_rubrics()


def test_another_daemon_of_the_fleet_takes_it_up_and_lets_it_go(
    store: Store, desk: GuardedDesk, daemon: Commands
) -> None:
    fill(store)
    daemon.say("issues", "guard", "i1", "--yes")
    forget()  # as in the other's process
    desk.bars.clear()
    desk.accepted.refresh()
    assert (list(accepted_rubrics()), desk.bars) == (["guard_i1"], {"guard_i1": 0.5})
    rows = stored.find(store)
    stored.write(store, replace(rows[0], is_removed=True), (NOW + 1) * 10**9)
    desk.accepted.refresh()
    assert (list(accepted_rubrics()), desk.bars) == ([], {})


def test_a_pattern_of_long_words_is_accepted(store: Store, daemon: Commands) -> None:
    fill(store, bad=[" ".join("abcd"[n % 4] * 100 + end for end in "vwxyz") for n in range(40)])
    daemon.say("issues", "guard", "i1", "--yes")
    assert len(stored.find(store)[0].sentence) == 500


def test_nobody_accepts_for_a_person(store: Store, daemon: Commands) -> None:
    fill(store)
    told = daemon.say("issues", "guard", "i1")
    assert "Accept guard_i1?" in told
    assert not accepted_rubrics()
    with pytest.raises(Unreachable, match="the role triager may not approve"):
        daemon.say("issues", "guard", "i1", "--yes", token="tr1ager")
    with pytest.raises(Refused, match="there is no issue none"):
        daemon.say("issues", "guard", "none")


def test_without_a_pattern_that_separates_a_judge_is_needed(store: Store, daemon: Commands) -> None:
    fill(store, bad=["Refunds take 5 to 7 days [1]."] * 30)
    with pytest.raises(
        Refused, match=r"no pattern .*; and a rubric needs a judge: no judge is conf"
    ):
        daemon.say("issues", "guard", "i1")


@contextmanager
def judged_desk(store: Store, folder: Path, address: str) -> Iterator[GuardedDesk]:
    """A desk whose judge has started."""
    settings = JudgeSettings(model="openai:stand-in", base_url=address, retries=0)
    desk = GuardedDesk(store, folder, settings)
    desk.judging.start()
    give_up = time.monotonic() + PATIENCE_SECONDS
    while desk.judging.model_settings is None and time.monotonic() < give_up:
        time.sleep(0.01)
    yield desk
    desk.judging.stop()


def test_a_judge_drafts_a_guard_and_is_measured_on_answers_that_it_did_not_see(
    store: Store, tmp_path: Path
) -> None:
    fill(store)
    judge = Judge(DRAFT)
    with (
        serving(judge.answer) as server,
        judged_desk(store, tmp_path, server.openai) as desk,
    ):
        with desk.commands(tmp_path) as daemon:
            told = daemon.say("issues", "guard", "i1", "--how", "judge", typed="y\n")
        assert "guard_i1: Whether the answer says how long something takes. (a judge" in told
        assert "10 of 10, 100 % [" in told
        assert "0 of 10, 0 % [" in told
        assert f'"{refusing(1)}"' not in judge.prompts[0]
        assert "another number of days than the chunk" in judge.prompts[0]
        assert "guard_i1" in desk.judging.judged
    rubric = load_rubrics()["guard_i1"]
    assert (rubric.layer, rubric.pattern) == ("generation", None)


@pytest.mark.parametrize(("count", "recall"), [(8, "3 of 3, 100 % ["), (5, "0 of 0 members")])
def test_the_members_whose_reasons_a_judge_saw_are_not_among_those_that_measure_it(
    store: Store, tmp_path: Path, count: int, recall: str
) -> None:
    oldest = [refusing(n) for n in range(1, count - 4)]
    fill(store, bad=[*oldest, *["Refunds take 5 to 7 days [1]."] * 5], is_newest_last=True)
    judge = Judge(DRAFT)
    with (
        serving(judge.answer) as server,
        judged_desk(store, tmp_path, server.openai) as desk,
        desk.commands(tmp_path) as daemon,
    ):
        told = daemon.say("issues", "guard", "i1", "--how", "judge")
    assert f"recall     {recall}" in told
    seen = [n for n in range(1, count + 1) if f"why it failed: {n}" in judge.prompts[0]]
    assert seen == list(range(count - 4, count + 1))


def test_a_withdrawn_guard_lets_go_of_the_answers_that_only_it_failed(
    store: Store, desk: GuardedDesk, daemon: Commands
) -> None:
    fill(store)
    daemon.say("issues", "guard", "i1", "--yes")
    keep(store, [answered(7001, refusing(7001)), answered(7002, refusing(7002), fails=True)], NOW)
    desk.patterns.run()
    desk.issues.run()
    guarded = {
        int(row.failure.trace_id, 16): row.failure.rubrics
        for row in failed.find(store, failed.FailureFilter(issue_ids=("i1",)))
        if row.membership and row.membership.by is MemberBy.GUARD
    }
    both = ("guard_i1", "citation_validity")
    assert guarded == dict.fromkeys(range(1, MEMBERS + 1), both) | {
        7001: ("guard_i1",),
        7002: both,
    }
    daemon.say("rubric", "remove", "guard_i1")
    desk.issues.run()
    desk.issues.run()
    left = failed.find(store, failed.FailureFilter(limit=5000))
    numbers = {int(row.failure.trace_id, 16): row for row in left}
    assert 7001 not in numbers
    assert numbers[7002].failure.rubrics == ("citation_validity",)
    assert not [r for r in left if r.membership and r.membership.by is MemberBy.GUARD]
