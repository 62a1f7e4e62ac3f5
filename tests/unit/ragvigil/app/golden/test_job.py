"""The golden set on a real store and real git repositories: no case lost or silently changed."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from clustering.golden.content import content_hash
from clustering.golden.git import RepositoryRefuses
from clustering.golden.set_file import cases_of, read
from clustering.golden.verbs import Refused
from ragvigil.app.golden import job as golden_job
from ragvigil.app.golden.job import GoldenJob
from ragvigil.app.golden.trace import NotStored
from ragvigil.model.golden import CaseState, CaseVerb, GoldenCase
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import golden
from scorers.golden import question_key, read_golden
from tests.flow.test_api import NOW, keep, outcome
from tests.golden_sets import git, job_of, work_tree

ANSWER = {"expected_facts": ["Refunds take 5 to 7 days."], "gold_chunk_ids": ["refund-02"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return work_tree(tmp_path / "set")


@pytest.fixture
def job(store: Store, folder: Path) -> GoldenJob:
    keep(store, [outcome(number, NOW - 60, value=0.2) for number in (1, 2)])
    return job_of(store, folder)[0]


def state(store: Store, case_id: str) -> CaseState:
    found = golden.get(store, case_id)
    assert found is not None
    return found.state


def proposal(job: GoldenJob, question: str = "", **changes: Any) -> GoldenCase:
    """A case of trace 1, or by hand one of this question, ready to be signed by others."""
    if not question:
        case = job.propose(f"{1:032x}", "", "issue-1", "ada")
        return job.edit(case.case_id, {**ANSWER, **changes}, "ada")
    made = GoldenCase(case_id="", question=question, gold_answer="So.", service="desk")
    return job.add(made, "ada")


def sign(job: GoldenJob, case: GoldenCase, actor: str = "bob", **more: bool) -> Any:
    return job.sign(case.case_id, actor, case.content_hash, **more)


def in_file(folder: Path) -> list[GoldenCase]:
    return cases_of(read((folder / "golden.jsonl").read_text()))


def commits(folder: Path) -> int:
    return int(git(folder, "rev-list", "--count", "HEAD"))


def test_a_failing_trace_becomes_a_signed_case_that_scorers_read(
    job: GoldenJob, store: Store, folder: Path
) -> None:
    case = proposal(job)
    assert (case.question, case.failure_mode) == ("How long do refunds take?", "quote_not_found")
    assert (case.service, case.route, case.issue_id) == ("desk", "/refunds", "issue-1")
    run = sign(job, case)
    assert (run.against, run.is_pass) == ("stored", True)
    assert "states every vital fact" in run.why
    message = git(folder, "log", "-1", "--format=%B")
    for line in (
        f"Golden-case: {case.case_id}", f"Content-hash: {case.content_hash}", "Proposed-by: ada",
        "Approved-by: bob", f"Trace: {1:032x}", "Issue: issue-1",
    ):  # fmt: skip
        assert line in message
    found = read_golden(folder / "golden.jsonl")[question_key("how long do refunds take")]
    assert [fact.text for fact in found.facts] == ["Refunds take 5 to 7 days."]
    assert [event.verb for event in golden.events(store, case.case_id)] == [
        CaseVerb.PROPOSE, CaseVerb.EDIT, CaseVerb.SIGN, CaseVerb.PASSED
    ]  # fmt: skip
    assert golden.events(store, case.case_id)[2].text == git(folder, "rev-parse", "HEAD").strip()


def test_a_trace_is_proposed_once_and_again_after_it_was_rejected(
    job: GoldenJob, store: Store
) -> None:
    case = proposal(job)
    with pytest.raises(Refused, match="already, proposed"):
        job.propose(f"{1:032x}", "", "", "eve")
    job.reject(case.case_id, "bob", "a duplicate")
    assert state(store, case.case_id) is CaseState.REJECTED
    again = job.propose(f"{1:032x}", "", "", "eve")
    assert (again.revision, again.proposed_by, again.gold_chunk_ids) == (3, "eve", ())
    for trace, why in ((f"{9:032x}", "there is no trace"), (f"{1:032x}", "already")):
        with pytest.raises((NotStored, Refused), match=why):
            job.propose(trace, "", "", "eve")


def test_nobody_signs_what_they_wrote(job: GoldenJob, folder: Path) -> None:
    case = proposal(job)
    for actor in ("ada", "ADA "):
        with pytest.raises(Refused, match="somebody else must sign"):
            sign(job, case, actor)
    case = job.edit(case.case_id, {"tags": ["edge"]}, "bob")
    with pytest.raises(Refused, match="somebody else must sign"):
        sign(job, case, "bob")
    assert not (folder / "golden.jsonl").exists()
    sign(job, case, "eve")
    assert in_file(folder)[0].edited_by == ("bob",)


def test_one_person_signs_where_the_settings_allow_it(store: Store, folder: Path) -> None:
    alone, _ = job_of(store, folder, two_people=False)
    sign(alone, proposal(alone, "Why?"), "ada")
    assert in_file(folder)[0].approved_by == "ada"


def test_a_case_that_was_changed_since_it_was_seen_is_not_signed(
    job: GoldenJob, folder: Path
) -> None:
    seen = proposal(job)
    job.edit(seen.case_id, {"gold_answer": "9 days"}, "eve")
    with pytest.raises(Refused, match="changed since you saw it"):
        sign(job, seen)
    with pytest.raises(Refused, match="at revision 3 by now"):
        job.edit(seen.case_id, {"tags": ["edge"]}, "bob", revision=seen.revision)
    assert not (folder / "golden.jsonl").exists()


def test_two_who_sign_the_same_case_make_one_commit(job: GoldenJob, folder: Path) -> None:
    case = proposal(job)
    answers: list[str] = []

    def sign_as(actor: str) -> None:
        try:
            sign(job, case, actor)
            answers.append("signed")
        except Refused as error:
            answers.append(str(error))

    threads = [threading.Thread(target=sign_as, args=(name,)) for name in ("bob", "eve")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer == "signed" for answer in answers) == [False, True]
    assert any("only a proposed case is signed" in answer for answer in answers)
    assert (commits(folder), len(in_file(folder))) == (2, 1)


def test_many_who_sign_at_a_time_lose_no_case(job: GoldenJob, store: Store, folder: Path) -> None:
    other, _ = job_of(store, folder)  # a second daemon on the same repository
    texts = ("apples", "boats", "clouds", "drums", "eagles", "forests")
    cases = [proposal(job, f"What do we know of {text} in May?") for text in texts]
    threads = [
        threading.Thread(
            target=sign, args=((job, other)[place % 2], case), kwargs={"despite_warnings": True}
        )
        for place, case in enumerate(cases)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {case.case_id for case in in_file(folder)} == {case.case_id for case in cases}
    assert commits(folder) == 1 + len(cases)
    assert all(state(store, case.case_id) is CaseState.SIGNED for case in cases)
    assert job.read_set().broken == []


def test_a_line_that_was_edited_after_signing_is_told_and_not_believed(
    job: GoldenJob, store: Store, folder: Path
) -> None:
    case = proposal(job)
    sign(job, case)
    path = folder / "golden.jsonl"
    path.write_text(path.read_text().replace("5 to 7", "50 to 70"))
    assert "differs from the last commit" in job.read_set().problem
    git(folder, "commit", "-qam", "Make it pass")
    found = job.read_set()
    assert [(line.case_id, line.number) for line in found.broken] == [(case.case_id, 1)]
    assert "edited after it was signed" in found.broken[0].why
    kept = golden.get(store, case.case_id)
    assert kept is not None
    assert kept.expected_facts[0].text == "Refunds take 5 to 7 days."


def test_a_line_that_was_given_a_hash_of_its_own_is_told(job: GoldenJob, folder: Path) -> None:
    case = proposal(job)
    sign(job, case)
    path = folder / "golden.jsonl"
    row = json.loads(path.read_text()) | {"gold_answer": "9 days"}
    (forged,) = cases_of(read(json.dumps(row)))
    path.write_text(json.dumps(row | {"content_hash": content_hash(forged)}) + "\n")
    git(folder, "commit", "-qam", "Cleverly")
    (broken,) = job.read_set().broken
    assert "a hash that bob did not sign here" in broken.why


def test_a_line_that_was_taken_out_is_told_until_the_case_is_rejected(
    job: GoldenJob, store: Store, folder: Path
) -> None:
    case = proposal(job)
    sign(job, case)
    with pytest.raises(Refused, match="take its line out"):
        job.reject(case.case_id, "eve", "")
    (folder / "golden.jsonl").write_text("")
    git(folder, "commit", "-qam", "Drop it")
    assert [line.why for line in job.read_set().broken] == ["was signed and is not in the file"]
    job.reject(case.case_id, "eve", "the product is gone")
    assert job.read_set().broken == []
    assert state(store, case.case_id) is CaseState.REJECTED


def test_a_dirty_file_a_conflict_and_no_repository_lose_no_proposal(
    job: GoldenJob, store: Store, folder: Path
) -> None:
    case = proposal(job)
    (folder / "golden.jsonl").write_text('{"question": "By hand?"}\n')
    with pytest.raises(RepositoryRefuses, match="differs from the last commit"):
        sign(job, case)
    assert state(store, case.case_id) is CaseState.PROPOSED
    (folder / "golden.jsonl").unlink()
    (folder / ".git/MERGE_HEAD").write_text(git(folder, "rev-parse", "HEAD"))
    with pytest.raises(RepositoryRefuses, match="a merge is under way"):
        sign(job, case)
    (folder / ".git/MERGE_HEAD").unlink()
    nowhere, _ = job_of(store, None)
    with pytest.raises(RepositoryRefuses, match="repository is not set"):
        sign(nowhere, case)
    assert "repository is not set" in nowhere.read_set().problem
    assert (state(store, case.case_id), commits(folder)) == (CaseState.PROPOSED, 1)
    sign(job, case)
    assert commits(folder) == 2


def test_marks_of_a_conflict_that_somebody_committed_are_refused(
    job: GoldenJob, folder: Path
) -> None:
    case = proposal(job)
    (folder / "golden.jsonl").write_text("<<<<<<< HEAD\n")
    git(folder, "add", "golden.jsonl")
    git(folder, "commit", "-qm", "Too early")
    with pytest.raises(Refused, match="line 1 of the set's file is no case"):
        sign(job, case)
    assert (folder / "golden.jsonl").read_text() == "<<<<<<< HEAD\n"


class Cut(Exception):
    """The process ends here."""


def test_a_crash_between_commit_and_store_finds_the_commit_again(
    job: GoldenJob, store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = proposal(job)
    write = GoldenJob._write

    def cut(self: GoldenJob, case: GoldenCase, verb: CaseVerb, *more: str) -> GoldenCase:
        if verb is CaseVerb.SIGN:
            raise Cut
        return write(self, case, verb, *more)

    with monkeypatch.context() as patch:
        patch.setattr(GoldenJob, "_write", cut)
        with pytest.raises(Cut):
            sign(job, case)
    assert (commits(folder), state(store, case.case_id)) == (2, CaseState.PROPOSED)
    fresh, hands = job_of(store, folder)
    hands.now += 60
    fresh.watch()
    event = golden.events(store, case.case_id)[2]
    assert (event.verb, event.actor) == (CaseVerb.FOUND, "bob")
    assert event.text == git(folder, "rev-parse", "HEAD").strip()
    with pytest.raises(Refused, match="only a proposed case"):
        sign(fresh, case, "eve")
    assert (commits(folder), len(in_file(folder))) == (2, 1)


def test_a_crash_in_the_middle_of_a_commit_is_no_signature(
    job: GoldenJob, store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = proposal(job)

    def cut(*_: object) -> str:
        raise Cut

    with monkeypatch.context() as patch:
        patch.setattr(golden_job, "commit", cut)
        with pytest.raises(Cut):
            sign(job, case)
    assert (commits(folder), state(store, case.case_id)) == (1, CaseState.PROPOSED)
    sign(job, case)
    assert commits(folder) == 2


def test_a_change_of_a_signed_case_replaces_its_line_once_it_is_signed(
    job: GoldenJob, store: Store, folder: Path
) -> None:
    first = proposal(job)
    sign(job, first)
    change = job.edit(first.case_id, {"gold_answer": "5 to 7 days"}, "eve")
    assert state(store, first.case_id) is CaseState.PROPOSED
    assert in_file(folder)[0].content_hash == first.content_hash
    job.watch()
    assert state(store, first.case_id) is CaseState.PROPOSED
    sign(job, change, "ada")
    assert [case.gold_answer for case in in_file(folder)] == ["5 to 7 days"]
    assert (commits(folder), job.read_set().broken) == (3, [])


def test_a_declined_change_leaves_the_signed_case_standing(job: GoldenJob, folder: Path) -> None:
    first = proposal(job)
    sign(job, first)
    job.edit(first.case_id, {"gold_answer": "anything"}, "eve")
    after = job.reject(first.case_id, "bob", "no")
    assert (after.state, after.gold_answer) == (CaseState.SIGNED, "")
    assert (job.read_set().broken, commits(folder)) == ([], 2)


def test_cases_that_others_committed_are_known_and_unsigned_ones_are_shown(
    job: GoldenJob, store: Store, folder: Path
) -> None:
    sign(job, proposal(job))
    text = (folder / "golden.jsonl").read_text()
    store.change("TRUNCATE TABLE golden_cases")
    (folder / "golden.jsonl").write_text(text + '{"question": "By hand?"}\n')
    git(folder, "commit", "-qam", "More")
    found = job.read_set()
    assert [line.why for line in found.broken] == ["is not signed"]
    assert [case.state for case in golden.find(store, golden.CaseFilter())] == [CaseState.SIGNED]
    assert (folder / "golden.jsonl").read_text().endswith('{"question": "By hand?"}\n')


def test_what_asks_the_same_is_not_signed_and_what_is_near_is_shown_first(
    job: GoldenJob, folder: Path
) -> None:
    sign(job, proposal(job))
    same = proposal(job, "how LONG do refunds take")
    with pytest.raises(Refused, match="the set asks that already"):
        sign(job, same, despite_warnings=True)
    near = proposal(job, "How long do the refunds take?")
    with pytest.raises(Refused, match="despite warnings: asks nearly"):
        sign(job, near)
    sign(job, near, despite_warnings=True)
    assert len(in_file(folder)) == 2


def test_what_the_redactor_marks_does_not_enter(job: GoldenJob, store: Store) -> None:
    case = proposal(job)
    with pytest.raises(Refused, match="holds what is redacted: key"):
        job.edit(case.case_id, {"gold_answer": "the password is hunter2"}, "ada")
    with pytest.raises(Refused, match="holds what is redacted: key"):
        proposal(job, "Is it hunter2?")
    assert [case.revision for case in golden.find(store, golden.CaseFilter())] == [2]


def test_a_case_without_an_expectation_is_not_signed(job: GoldenJob) -> None:
    case = job.propose(f"{2:032x}", "", "", "ada")
    with pytest.raises(Refused, match="nothing says what a good answer needs"):
        sign(job, case)


def test_a_stored_trace_that_fails_keeps_its_case_watched(job: GoldenJob, store: Store) -> None:
    case = proposal(job, expected_facts=["Refunds take 2 days."])
    run = sign(job, case)
    assert (run.against, run.is_pass) == ("stored", False)
    assert "does not state: Refunds take 2 days." in run.why
    assert state(store, case.case_id) is CaseState.SIGNED


def runs(store: Store, case: GoldenCase) -> int:
    return len(golden.runs(store, case.case_id))


def test_a_case_is_run_daily_and_after_a_deploy_until_it_passes(store: Store, folder: Path) -> None:
    from ragvigil.model.deploy import Deploy
    from ragvigil.store.watch.deploys import batch

    watch, hands = job_of(store, folder)
    case = proposal(watch, "Why?")
    sign(watch, case)
    assert runs(store, case) == 1
    watch.watch()
    assert runs(store, case) == 1
    at = int(hands() * 10**9)
    mark = Deploy(deploy_id="d", service="desk", environment="", version="2", time_unix_nano=at)
    store.write(batch([mark], at))
    watch.watch()
    watch.watch()
    assert runs(store, case) == 2
    hands.now += 24 * 3600
    watch.watch()
    assert runs(store, case) == 3
