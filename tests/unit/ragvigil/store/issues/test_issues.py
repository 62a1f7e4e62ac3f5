"""Failing records, issues, their members, events, pairs and root causes in the embedded store."""

from __future__ import annotations

from dataclasses import replace

from ragvigil.model.issue import (
    IssueEvent,
    IssuePair,
    IssueState,
    IssueVerb,
    MemberBy,
    PairVerdict,
    Quote,
    RootCause,
)
from ragvigil.model.score import Kind, Layer, Stream
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues import issues, memberships, root_causes
from ragvigil.store.issues.failing_rows import KeptFailure, MemberOf
from ragvigil.store.records.traces import TraceRows
from ragvigil.store.scores import rollups
from tests.failure_rows import MODEL, issue, kept_failure, member
from tests.judged import RUBRICS, ids
from tests.outcomes import NOW, SECOND, outcome_of

HOUR = 3600


def keep(store: Store, *given: KeptFailure) -> None:
    store.write(issues.batch(NOW, failures=given))


def keys(store: Store, **wanted: object) -> list[tuple[str, str]]:
    found = failed.find(store, failed.FailureFilter(**wanted))  # type: ignore[arg-type]
    return [kept.failure.key for kept in found]


def test_a_failing_record_is_read_as_it_was_written_last(store: Store) -> None:
    whole = kept_failure(
        1,
        question=None,
        scorer_kind=Kind.JUDGE,
        stream=Stream.BOOST,
        inclusion_probability=0.05,
        service_version="1.4",
        prompt_version="p2",
        index_epoch="e3",
        llm_model="m",
    )
    keep(store, replace(whole, masked="before"))
    store.write(issues.batch(NOW + 1, failures=[whole]))
    (found,) = failed.find(store, failed.FailureFilter())
    assert found == replace(whole, reason_vector=b"", question_vector=b"")


def test_vectors_are_read_of_one_model_only(store: Store) -> None:
    first, other, waiting = (
        kept_failure(1),
        kept_failure(2, vector_model="other@2"),
        kept_failure(3, vector_model=""),
    )
    keep(store, first, other, waiting)
    (found,) = failed.vectors(store, [first, other, waiting], MODEL)
    assert found == {first.failure.key: (first.reason_vector, first.question_vector)}
    assert keys(store, without_vectors_of=MODEL) == [ids(2), ids(3)]


def test_failing_records_are_found_by_what_they_are(store: Store) -> None:
    keep(
        store,
        kept_failure(1, time_unix_nano=NOW - HOUR * SECOND),
        kept_failure(2, route="/chat", label="uncited"),
        kept_failure(3, family=Layer.RETRIEVAL, rubric="context_relevance"),
    )
    assert keys(store) == [ids(1), ids(2), ids(3)]
    assert keys(store, newest_first=True, limit=2) == [ids(2), ids(3)]
    assert keys(store, route="/chat") == keys(store, label="uncited") == [ids(2)]
    assert keys(store, family="retrieval") == keys(store, rubric="context_relevance") == [ids(3)]
    assert keys(store, since=NOW // SECOND - 60) == [ids(2), ids(3)]
    assert keys(store, until=NOW // SECOND - 60) == [ids(1)]
    assert keys(store, trace_ids=(ids(2)[0],)) == [ids(2)]
    assert keys(store, service="other") == keys(store, environment="dev") == []


def test_the_residue_is_what_no_lasting_issue_holds(store: Store) -> None:
    known = {number: kept_failure(number) for number in range(1, 5)}
    placed = [
        (known[1], member(1, "provisional")),
        (known[2], member(2, "lasting")),
        (known[3], member(3, "never-stored")),
    ]
    lasting = issue("lasting", is_provisional=False)
    store.write(
        issues.batch(
            NOW, failures=known.values(), members=placed, issues=[issue("provisional"), lasting]
        )
    )
    assert keys(store, placed=MemberOf.LOOSE) == [ids(3), ids(4)]
    assert keys(store, placed=MemberOf.RESIDUE) == [ids(1), ids(3), ids(4)]
    assert keys(store, issue_ids=("lasting",)) == [ids(2)]
    assert memberships.member_counts(store) == {"provisional": 1, "lasting": 1, "never-stored": 1}


def test_a_membership_is_read_with_the_next_issues(store: Store) -> None:
    whole = replace(
        member(1, "i"), by=MemberBy.ASSIGNED, strength=0.75, others=(("j", 0.2), ("k", 0.05))
    )
    kept = kept_failure(1)
    for found in (member(1, "j"), whole):
        store.write(
            issues.batch(NOW, failures=[kept], members=[(kept, found)], issues=[issue("i")])
        )
    (read,) = failed.find(store, failed.FailureFilter())
    assert read.membership == whole


def test_failing_records_are_counted_by_issue_and_hour(store: Store) -> None:
    early = NOW - 2 * HOUR * SECOND
    known = [
        kept_failure(1, time_unix_nano=early),
        kept_failure(2),
        kept_failure(3),
        kept_failure(4, route="/chat"),
    ]
    placed = [(kept, member(number, "i")) for number, kept in enumerate(known[:3], 1)]
    store.write(issues.batch(NOW, failures=known, members=placed, issues=[issue("i")]))
    found = memberships.tally(store, 0, issue_ids=["i"])
    assert [(tally.start, tally.records) for tally in found] == [
        (early // SECOND // HOUR * HOUR, 1),
        (NOW // SECOND // HOUR * HOUR, 2),
    ]
    (loose,) = memberships.tally(store, 0, is_loose=True)
    assert (loose.issue_id, loose.route, loose.records) == ("", "/chat", 1)
    assert memberships.tally(store, NOW // SECOND + 60) == []


def test_requests_are_counted_once_however_many_rubrics_saw_them(store: Store) -> None:
    rows = TraceRows(RUBRICS)
    for number in range(1, 4):
        rows.add(outcome_of(number, route="/ask" if number < 3 else "/chat"))
    store.write(rows.take())
    minute = NOW // SECOND // 60 * 60
    for version in (1, 2):
        rollups.recompute(store, [minute], version=version)
    found = memberships.requests(store, minute - 60)
    assert [(requests.route, requests.requests) for requests in found] == [
        ("/ask", 2),
        ("/chat", 1),
    ]


def test_an_issue_is_read_as_it_was_written_last(store: Store) -> None:
    whole = issue(
        "i",
        state=IssueState.IGNORED,
        is_provisional=False,
        is_name_frozen=True,
        routes=("/ask", "/chat"),
        centroid=(0.5, -0.25),
        vector_model=MODEL,
        assignee="ada",
        state_unix_nano=NOW + 1,
        resolved_in="1.4",
        resolved_unix_nano=NOW + 2,
        ignored_until_unix_nano=NOW + 3,
        ignored_members=50,
        merged_into="j",
    )
    store.write(issues.batch(NOW, issues=[issue("i")]))
    store.write(issues.batch(NOW + 1, issues=[whole]))
    wanted = issues.IssueFilter(issue_id="i", with_centroids=True)
    assert issues.find(store, wanted) == [whole]
    assert issues.find(store, replace(wanted, with_centroids=False)) == [
        replace(whole, centroid=())
    ]


def test_issues_are_found_by_what_they_are_and_merged_ones_by_id_only(store: Store) -> None:
    later = issue("b", last_unix_nano=NOW + SECOND, name="Fees are invented", routes=("/chat",))
    merged = issue("c", merged_into="b")
    past = {"first_unix_nano": NOW - 7200 * SECOND, "last_unix_nano": NOW - 3600 * SECOND}
    old = issue("d", state=IssueState.STALE, service="search", assignee="ada", **past)
    store.write(issues.batch(NOW, issues=[issue("a"), later, merged, old]))

    def found(**wanted: object) -> list[str]:
        return [match.issue_id for match in issues.find(store, issues.IssueFilter(**wanted))]  # type: ignore[arg-type]

    assert found() == ["b", "a", "d"]
    assert found(limit=1) == ["b"]
    assert found(issue_id="c") == ["c"]
    assert set(found(with_merged=True)) == {"a", "b", "c", "d"}
    assert found(text="FEES") == found(text="b") == found(route="/chat") == ["b"]
    assert found(states=("stale", "regressed")) == found(service="search") == ["d"]
    assert found(owner="ada") == found(until=NOW // SECOND - 3600) == ["d"]
    assert found(owner="nobody") == found(since=NOW // SECOND - 60) == ["b", "a"]
    assert found(environment="dev") == found(family="retrieval") == []


def test_events_are_read_in_the_order_of_time_and_once(store: Store) -> None:
    done = [
        IssueEvent(issue_id="i", time_unix_nano=NOW, verb=IssueVerb.OPENED),
        IssueEvent(
            issue_id="i", time_unix_nano=NOW + 1, verb=IssueVerb.ASSIGN, actor="ada", text="eve"
        ),
    ]
    for written in (NOW, NOW + 1):
        store.write(issues.batch(written, events=reversed(done)))
    assert issues.events(store, "i") == done
    assert issues.events(store, "j") == []


def test_the_newest_verdict_on_a_pair_counts(store: Store) -> None:
    pair = IssuePair(
        kept="a",
        merged="b",
        verdict=PairVerdict.PROPOSED,
        likeness=0.8,
        shared=0.5,
        time_unix_nano=NOW,
    )
    other = replace(pair, merged="c", likeness=0.9)
    apart = replace(pair, verdict=PairVerdict.APART, actor="ada", time_unix_nano=NOW + 1)
    store.write(issues.batch(NOW, pairs=[pair, other]))
    store.write(issues.batch(NOW + 1, pairs=[apart]))
    assert issues.pairs(store) == [other, apart]
    assert issues.pairs(store, verdict=PairVerdict.PROPOSED) == [other]
    assert issues.pairs(store, issue_id="b") == [apart]


def test_root_causes_are_read_as_they_were_found_newest_first(store: Store) -> None:
    plain = RootCause(issue_id="i", time_unix_nano=NOW, by="code", cause="", ended="no judge")
    whole = RootCause(
        issue_id="i",
        time_unix_nano=NOW + 1,
        by="openai:m",
        cause="the index lost refunds",
        ended="finding submitted",
        layer=Layer.RETRIEVAL,
        fix="index again",
        quotes=(Quote(text="no results", trace_id="t", span_id="s"),),
        grades=(("severity", 4, "wrong answers"),),
        text="# Report",
        transcript='[{"turn": 1}]',
        turns=7,
        cost_usd=0.02,
    )
    for report in (plain, whole):
        store.write(root_causes.batch(report, NOW))
    assert root_causes.find(store, "i") == [whole, plain]
    assert root_causes.find(store, "i", limit=1) == [whole]
    assert root_causes.find(store, "j") == []
