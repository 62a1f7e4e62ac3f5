"""Issues of the store, explained through the judge's own client by a scripted model."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from clustering.rca.job import SETTLE_SECONDS, Busy, NoSuchIssue, RootCauseJob
from clustering.rca.settings import RootCauseSettings
from clustering.rca.store_reader import StoreIssueReader, terms_of
from ragvigil.model.deploy import Deploy
from ragvigil.model.issue import Issue, IssueState, IssueVerb, Quote
from ragvigil.model.outcome import Outcome
from ragvigil.model.score import Kind, Layer, Stream
from ragvigil.store.engine.errors import QueryFailed, Unavailable
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import causes, issues, root_causes
from ragvigil.store.records.traces import TraceRows
from ragvigil.store.scores import rollups
from ragvigil.store.watch import deploys
from scorers.judge.job import JudgeJob
from scorers.judge.settings import JudgeSettings
from tests.issues import A_FAILURE, NANOS, issue, keep
from tests.judged import RUBRICS
from tests.llm_server import LlmServer, serving
from tests.outcomes import CHUNK, NOW, outcome_of
from tests.patience import PATIENCE_SECONDS
from tests.root_causes import finding
from tests.tool_turns import answers, calling
from tests.unit.clustering.issues.test_incident_issues import incident_of, open_incident

AT = NOW // NANOS * NANOS
LATER = AT / NANOS + 3600
ISSUE = issue(
    service="helpdesk",
    members=12,
    routes=("/ask",),
    first_unix_nano=AT,
    last_unix_nano=AT + NANOS,
    opened_unix_nano=AT,
    state_unix_nano=AT,
)
MEMBERS, OTHERS = range(1, 13), range(101, 141)


def trace_id(number: int) -> str:
    return f"{number:032x}"


def span_id(number: int, place: int = 0) -> str:
    return f"{number:08x}{place:08x}"


def versioned(number: int, prompt: str, **fields: object) -> Outcome:
    """A scored trace whose record has a prompt version."""
    outcome = outcome_of(number, time_unix_nano=AT, received=AT, **fields)  # type: ignore[arg-type]
    (scored,) = outcome.records
    dimensions = replace(scored.record.dimensions, prompt_version=prompt, top_k=4)
    record = replace(scored.record, dimensions=dimensions)
    return replace(outcome, records=(replace(scored, record=record),))


def keep_all(store: Store, issue: Issue = ISSUE) -> None:
    """Twelve members with prompt 7, forty passing records with prompt 6, a mark between."""
    rows = TraceRows(RUBRICS)
    for number in MEMBERS:
        rows.add(versioned(number, "7"))
    for number in OTHERS:
        rows.add(versioned(number, "6", value=1.0))
    rows.add(versioned(201, "6", value=1.0, route="/other"))
    store.write(rows.take())
    rollups.recompute(store, {AT // NANOS // 60 * 60}, version=time.time_ns())
    failures = [
        replace(
            A_FAILURE,
            trace_id=trace_id(number),
            record_id=span_id(number),
            time_unix_nano=AT,
            service="helpdesk",
            route="/ask",
        )
        for number in MEMBERS
    ]
    keep(store, failures, issue)
    mark = Deploy(
        deploy_id="d1", service="helpdesk", time_unix_nano=AT - 600 * NANOS, version="2.5"
    )
    store.write(deploys.batch([mark, replace(mark, deploy_id="d2", service="desk")], AT))


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with serving(lambda _: "I am not sure.") as server:
        yield server


@pytest.fixture
def judging(store: Store, server: LlmServer, tmp_path: Path) -> Iterator[JudgeJob]:
    settings = JudgeSettings(
        model="openai:gpt-4.1-mini", base_url=server.openai, retries=0, sample_rate=0,
        timeout_seconds=5,
    )  # fmt: skip
    job = JudgeJob(settings, store, tmp_path, {}, None, lambda _: None)
    job.start()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while job.model_settings is None and time.monotonic() < deadline:
        time.sleep(0.01)
    yield job
    job.stop()


@pytest.fixture
def unjudged(store: Store, tmp_path: Path) -> JudgeJob:
    return JudgeJob(JudgeSettings(), store, tmp_path, {}, None, lambda _: None)


def explaining(
    store: Store, judging: JudgeJob, *, now: float = LATER, **given: int
) -> RootCauseJob:
    return RootCauseJob(
        store,
        RootCauseSettings(**given),
        judging,
        clock=lambda: now,
        chance=random.Random(7),
    )


def events(store: Store, issue_id: str = "i1") -> Sequence[tuple[str, str, str]]:
    rows = issues.events(store, issue_id)
    return [(row.verb, row.actor, row.text) for row in rows]


def test_what_is_read_is_of_the_issue_and_its_routes(store: Store) -> None:
    keep_all(store)
    reading = StoreIssueReader(store, ISSUE, ["i1"])
    assert {member.trace_id for member in reading.members()} == {trace_id(n) for n in MEMBERS}
    assert {record.trace_id for record in reading.failing()} == {trace_id(n) for n in MEMBERS}
    assert {record.trace_id for record in reading.passing()} == {trace_id(n) for n in OTHERS}
    assert reading.passing()[0].dimensions == {"prompt_version": "6", "top_k": "4"}
    assert [hour.requests for hour in reading.hours()] == [len(MEMBERS) + len(OTHERS)]
    assert [(change.kind, change.text) for change in reading.changes()] == [("deploy", "2.5")]
    assert len(reading.spans(trace_id(1))) == 2
    assert reading.trace(trace_id(1))[0]["record_id"] == span_id(1)
    assert reading.trace("f" * 32) == reading.spans("f" * 32) == []
    rows = reading.search(route="/other", rubric="", label="")
    assert [row["trace_id"] for row in rows] == [trace_id(201)]
    assert terms_of(store, ISSUE, ["i1"]) == ()


def test_the_incident_is_that_whose_answers_the_issue_holds(store: Store) -> None:
    incident = incident_of("refusal:refused")
    open_incident(store, incident)
    own = replace(ISSUE, incident_id=incident.incident_id)
    found = StoreIssueReader(store, own, ["i1"]).incident()
    assert found is not None
    assert found.findings == incident.findings
    assert StoreIssueReader(store, ISSUE, ["i1"]).incident() is None


def test_what_is_too_much_to_compare_is_compared_for_the_last_day(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_all(store)
    read, asked = Store.read, []

    def bounded(store: Store, name: str, parameters: dict[str, int], **more: object) -> object:
        if name == "cause_passing":
            asked.append(parameters["last"] - parameters["first"])
            if asked[-1] > causes.DAY:
                raise QueryFailed("over its limits")
        return read(store, name, parameters, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "read", bounded)
    assert len(causes.passing(store, ISSUE)) == len(OTHERS)
    assert asked == [causes.DAY + 1, causes.DAY]


def test_a_finding_is_stored_with_its_event_and_only_with_quotes_that_stand(
    store: Store, judging: JudgeJob, server: LlmServer
) -> None:
    keep_all(store)
    quotes = ((CHUNK, trace_id(1), span_id(1)), ("the moon did all of it", trace_id(1), span_id(1)))
    tools = ("list_members", "search_traces", "compare_with_passing", "timeline")
    server.faults += [
        calling(*[(name, {}) for name in tools]),
        calling(
            ("read_trace", {"trace_id": trace_id(1)}),
            ("read_span", {"trace_id": trace_id(1), "span_id": span_id(1)}),
            ("get_children", {"trace_id": trace_id(1), "span_id": span_id(1)}),
            ("compare_with_passing", {"trace_id": trace_id(1)}),
        ),
        calling(("submit_finding", finding(*quotes))),
    ]
    report = explaining(store, judging).explain_now("i1", "ann")
    (stored,) = root_causes.find(store, "i1")
    assert stored == report
    assert report.quotes == (Quote(text=CHUNK, trace_id=trace_id(1), span_id=span_id(1)),)
    assert (report.by, report.layer, report.turns) == ("openai:gpt-4.1-mini", Layer.RETRIEVAL, 3)
    assert "prompt_version = 7: 12 of 12 members, 0 of 40 passing" in report.text
    assert "Change 10 min before the first: deploy 2.5" in report.text
    assert events(store) == [(IssueVerb.EXPLAINED, "ann", report.ended)]
    messages = answers(server.calls[2])
    assert len(messages) == 8
    assert not any("Refused" in row or "wrong" in row or "could not" in row for row in messages)
    assert trace_id(1) in messages[0]
    assert '"more_often"' in messages[2]
    assert '"retrieve"' in messages[6]
    assert "asked_alike" in messages[7]
    assert json.loads(report.transcript)[0]["calls"][0]["tool"] == "list_members"


def test_a_trace_of_another_service_is_not_shown(
    store: Store, judging: JudgeJob, server: LlmServer
) -> None:
    keep_all(store)
    keep(store, [], issue("i2", service="billing", first_unix_nano=AT, last_unix_nano=AT))
    server.faults += [
        calling(("read_trace", {"trace_id": trace_id(1)}), ("search_traces", {})),
        calling(("submit_finding", finding((CHUNK, trace_id(1), span_id(1))))),
    ]
    server.every = calling(("submit_finding", {"is_determinable": False}))
    report = explaining(store, judging).explain_now("i2")
    refused, records = answers(server.calls[1])
    assert refused.startswith("Refused: no trace with this id belongs")
    assert '"records": []' in records
    assert (report.quotes, report.cause) == ((), "")
    assert CHUNK not in json.dumps(server.calls[2].body["messages"][:5])


def test_without_a_judge_code_reports(store: Store, unjudged: JudgeJob) -> None:
    keep_all(store)
    report = explaining(store, unjudged).explain_now("i1")
    assert (report.by, report.cause, report.turns) == ("code", "", 0)
    assert report.ended == "written by code: no model is asked"
    assert "prompt_version = 7" in report.text
    assert root_causes.find(store, "i1") == [report]


def test_a_new_issue_is_explained_unasked_once(store: Store, unjudged: JudgeJob) -> None:
    keep_all(store)
    duty = explaining(store, unjudged)
    for _ in range(2):
        duty.run()
        duty.wait(PATIENCE_SECONDS)
    assert len(root_causes.find(store, "i1")) == 1
    worse = replace(ISSUE, state=IssueState.ESCALATING, state_unix_nano=AT + 3601 * NANOS)
    keep(store, [], worse)
    later = explaining(store, unjudged, now=LATER + 3600)
    later.run()
    later.wait(PATIENCE_SECONDS)
    assert len(root_causes.find(store, "i1")) == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"state": IssueState.ONGOING},
        {"state": IssueState.IGNORED},
        {"merged_into": "i2"},
        {"state_unix_nano": int((LATER - SETTLE_SECONDS + 1) * NANOS)},
    ],
    ids=["ongoing", "ignored", "merged", "too young"],
)
def test_an_issue_that_is_not_new_or_worse_or_too_young_is_left(
    store: Store, unjudged: JudgeJob, fields: dict[str, object]
) -> None:
    keep_all(store, replace(ISSUE, **fields))  # type: ignore[arg-type]
    duty = explaining(store, unjudged)
    duty.run()
    duty.wait(PATIENCE_SECONDS)
    assert root_causes.find(store, "i1") == []


def test_the_worst_is_explained_first(store: Store, unjudged: JudgeJob) -> None:
    keep_all(store)
    for name, state in (("i2", IssueState.REGRESSED), ("i3", IssueState.ESCALATING)):
        keep(store, [], replace(ISSUE, issue_id=name, state=state))
    duty = explaining(store, unjudged)
    order = []
    for _ in range(3):
        duty.run()
        duty.wait(PATIENCE_SECONDS)
        last, _ = causes.explained(store, 0)
        order += [name for name in last if name not in order]
    assert order == ["i3", "i2", "i1"]


def test_when_the_runs_of_the_day_are_made_code_reports_but_who_asks_is_answered(
    store: Store, judging: JudgeJob, server: LlmServer
) -> None:
    keep_all(store)
    keep(store, [], replace(ISSUE, issue_id="i2"))
    server.every = calling(("submit_finding", {"is_determinable": False}))
    duty = explaining(store, judging, runs_per_day=1)
    for _ in range(2):
        duty.run()
        duty.wait(PATIENCE_SECONDS)
    reports = [root_causes.find(store, name)[0] for name in ("i1", "i2")]
    assert [row.by for row in reports] == ["openai:gpt-4.1-mini", "code"]
    assert reports[1].ended == "written by code: the model has made its runs of the day"
    assert len(server.calls) == 1
    assert duty.explain_now("i2").turns == 1
    next_day = explaining(store, judging, now=LATER + 86_400, runs_per_day=1)
    assert causes.explained(store, int((LATER + 86_400) // 86_400 * 86_400) * NANOS)[1] == 0
    next_day.run()  # nothing is new


def test_one_issue_at_a_time(store: Store, judging: JudgeJob, server: LlmServer) -> None:
    keep_all(store)
    server.every = calling(("submit_finding", {"is_determinable": False}), seconds=1.0)
    duty = explaining(store, judging)
    first = threading.Thread(target=duty.explain_now, args=("i1",))
    first.start()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not server.calls and time.monotonic() < deadline:
        time.sleep(0.01)
    with pytest.raises(Busy, match="another issue"):
        duty.explain_now("i1")
    first.join(20)
    assert len(root_causes.find(store, "i1")) == 1


def test_a_judge_that_stops_meanwhile_ends_the_run_with_a_report(
    store: Store, judging: JudgeJob, server: LlmServer
) -> None:
    keep_all(store)
    server.every = calling(("timeline", {}), seconds=2.0)
    duty = explaining(store, judging)
    duty.run()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not server.calls and time.monotonic() < deadline:
        time.sleep(0.01)
    judging.stop()
    duty.wait(PATIENCE_SECONDS)
    (report,) = root_causes.find(store, "i1")
    assert report.by == "code"
    assert "unavailable: the judge is stopped" in report.ended


def test_a_run_that_ends_with_the_daemon_is_made_anew(
    store: Store, judging: JudgeJob, server: LlmServer
) -> None:
    keep_all(store)
    server.every = calling(("timeline", {}), seconds=1.0)
    duty = explaining(store, judging)
    duty.run()
    duty.stop()
    judging.stop()
    duty.wait(PATIENCE_SECONDS)
    assert root_causes.find(store, "i1") == []


def test_a_run_whose_report_was_lost_is_not_paid_for_again_at_once(
    store: Store, judging: JudgeJob, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_all(store)
    server.every = calling(("submit_finding", {"is_determinable": False}))
    now = LATER
    duty = RootCauseJob(store, RootCauseSettings(), judging, clock=lambda: now)
    with monkeypatch.context() as away:
        away.setattr(Store, "write", _unavailable)
        for _ in range(3):
            duty.run()
            duty.wait(PATIENCE_SECONDS)
    assert (len(server.calls), root_causes.find(store, "i1")) == (1, [])
    now += 3600
    duty.run()
    duty.wait(PATIENCE_SECONDS)
    assert len(root_causes.find(store, "i1")) == 1


def _unavailable(*_: object) -> None:
    raise Unavailable("down")


def test_an_issue_that_was_merged_is_explained_as_what_it_is_now(
    store: Store, unjudged: JudgeJob
) -> None:
    keep_all(store)
    part = replace(
        A_FAILURE,
        trace_id=trace_id(101),
        record_id=span_id(101),
        time_unix_nano=AT,
        service="helpdesk",
        route="/ask",
    )
    keep(store, [part], replace(ISSUE, issue_id="i2", merged_into="i1"))
    report = explaining(store, unjudged).explain_now("i2")
    assert report.issue_id == "i1"
    assert "prompt_version = 7: 12 of 13 members, 0 of 39 passing" in report.text
    with pytest.raises(NoSuchIssue, match="i9"):
        explaining(store, unjudged).explain_now("i9")


def test_sampled_failures_count_as_failing_too(store: Store) -> None:
    keep_all(store)
    loose = replace(
        A_FAILURE,
        trace_id=trace_id(101),
        record_id=span_id(101),
        time_unix_nano=AT,
        service="helpdesk",
        route="/ask",
        scorer_kind=Kind.JUDGE,
        stream=Stream.SUSPICIOUS,
    )
    keep(store, [loose])
    assert trace_id(101) not in {record.trace_id for record in causes.passing(store, ISSUE)}
