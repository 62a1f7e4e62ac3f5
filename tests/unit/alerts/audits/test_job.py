"""Audits over a real store: before against after, step by step, and through a restart."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from alerts.audits.job import AuditJob
from alerts.audits.pairs import Ask
from alerts.audits.settings import AuditSettings
from alerts.audits.step import STEP_PAIRS
from ragvigil.model.audit import Audit, AuditState
from ragvigil.model.deploy import Deploy
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.notice import Cause, ChangeKind, Notice
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Kind, Layer, Score
from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import TraceRows
from ragvigil.store.watch import audits, notices
from tests.judged import RUBRICS
from tests.outcomes import NOW, SECOND, outcome_of
from tests.patience import PATIENCE_SECONDS

HOUR = 3600 * SECOND
ANCHOR = NOW - 2 * HOUR
LAYERS = {"context_relevance": Layer.RETRIEVAL}
QUESTIONS = ("How long does a refund take?", "Where is my parcel?", "How do I reset a password?")
Scorer = Callable[[RagRecord, str], float | None]


def chance(*parts: object) -> float:
    """A number in 0..1 by a hash: same parts, same number."""
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:8], 16) / 2**32


def is_after(record: RagRecord) -> bool:
    return int(record.trace_id, 16) >= 10_000


def level(after: float, before: float = 0.9, *, of: str = "groundedness") -> Scorer:
    """Scores of 0 or 1 with these means by side; all other rubrics are steady."""

    def scored(record: RagRecord, rubric: str) -> float | None:
        mean = after if rubric == of and is_after(record) else before
        return 1.0 if chance(record.trace_id, rubric) < mean else 0.0

    return scored


@dataclass(kw_only=True)
class Watched:
    """The job of audits with a clock, and a judge with scores that the test sets."""

    store: Store
    scorer: Scorer
    settings: AuditSettings = field(default_factory=lambda: AuditSettings(records=96))
    page_drop: float = 0.1
    label: str = ""
    is_there: bool = True
    now: float = (NOW + 60 * SECOND) / 1e9
    calls: list[tuple[str, str]] = field(default_factory=list)
    batches: list[tuple[tuple[str, ...], tuple[bool, ...]]] = field(default_factory=list)
    auditing: AuditJob = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.auditing = self.audited_by(self.ask)

    def audited_by(self, ask: Ask) -> AuditJob:
        return AuditJob(self.store, self.settings, ask, lambda: self.now, page_drop=self.page_drop)

    def ask(
        self, records: Sequence[RagRecord], rubrics: Sequence[str]
    ) -> list[tuple[Score, ...]] | None:
        if not self.is_there:
            return None
        if records:
            self.batches.append((tuple(rubrics), tuple(is_after(record) for record in records)))
        return [tuple(self._score(record, rubric) for rubric in rubrics) for record in records]

    def _score(self, record: RagRecord, rubric: str) -> Score:
        self.calls.append((record.trace_id, rubric))
        value = None if self.label else self.scorer(record, rubric)
        return Score(
            rubric=rubric, value=value, label=self.label, kind=Kind.JUDGE, version="1",
            layer=LAYERS.get(rubric, Layer.GENERATION), scorer="openai:m",
            absent="" if value is not None else "judge",
        )  # fmt: skip

    def turn(self, *notices: Notice, **given: Sequence[object]) -> tuple[Finding, ...]:
        """Runs the job, waits for the steps that it starts, and returns the findings of the run."""
        found = self.auditing.run(
            self.now, notices, given.get("deploys", ()), given.get("moved", ())  # type: ignore[arg-type]
        )  # fmt: skip
        self.auditing.wait(PATIENCE_SECONDS)
        self.now += 61
        return found

    def turns(self, *notices: Notice, most: int = 60) -> tuple[Finding, ...]:
        """Runs until the audit ends."""
        self.turn(*notices)
        for _ in range(most):
            self.turn()
            if not self.audit.is_running:
                break
        return self.turn()

    @property
    def audit(self) -> Audit:
        return audits.find(self.store)[0]


@pytest.fixture
def watched(store: Store) -> Watched:
    return Watched(store=store, scorer=level(0.9))


def keep(
    store: Store, numbers: range, start: int, span: int, *, routes: Sequence[str] = ("/ask",)
) -> None:
    """Stores records evenly over a span of time, of three questions in turn."""
    rows = TraceRows(RUBRICS)
    for place, number in enumerate(numbers):
        at = start + span * place // len(numbers)
        outcome = outcome_of(
            number, time_unix_nano=at, received=at, route=routes[place % len(routes)]
        )
        scored = outcome.records[0]
        asked = replace(scored.record, query=QUESTIONS[place % len(QUESTIONS)])
        rows.add(replace(outcome, records=(replace(scored, record=asked),)))
    store.write(rows.take())


def traffic(store: Store, *, before: int = 260, after: int = 200, **more: Sequence[str]) -> None:
    keep(store, range(1, before + 1), ANCHOR - HOUR, HOUR, **more)
    keep(store, range(10_000, 10_000 + after), ANCHOR, 2 * HOUR, **more)


def notice(
    kind: ChangeKind = ChangeKind.PROMPT, *, route: str = "/ask", since: int = ANCHOR
) -> Notice:
    return Notice(
        notice_id=f"{kind}{route}{since}",
        kind=kind,
        service="helpdesk",
        environment="prod",
        route=route,
        since_unix_nano=since,
        noticed_unix_nano=since + 60 * SECOND,
        requests=9,
    )


def moved(since: int = ANCHOR) -> Finding:
    return Finding(
        finding_id=f"moved{since}",
        kind=FindingKind.MOVED,
        service="helpdesk",
        environment="prod",
        routes=("/ask",),
        signal="citations",
        layer=Layer.GENERATION,
        since_unix_nano=since,
    )


def test_a_drop_is_confirmed_once_with_its_cause_and_the_judge_asked_on_both_sides(
    watched: Watched,
) -> None:
    traffic(watched.store)
    watched.scorer = level(0.3)
    (found,) = watched.turns(notice())
    assert (found.kind, found.signal) == (FindingKind.AUDIT, "groundedness")
    assert (found.routes, found.since_unix_nano) == (("/ask",), ANCHOR)
    assert found.is_open
    assert found.value is not None
    assert found.reference is not None
    assert found.reference - found.value > 0.2
    assert all(int(trace, 16) >= 10_000 for trace in found.traces)
    assert watched.audit.state is AuditState.DROPPED
    assert all(sum(sides) * 2 == len(sides) for _, sides in watched.batches)
    assert len(set(watched.calls)) == len(watched.calls)  # nothing is paid for twice


def test_a_drop_of_relevance_ends_the_audit_at_once(watched: Watched) -> None:
    traffic(watched.store)
    watched.scorer = level(0.2, of="context_relevance")
    (found,) = watched.turns(notice(ChangeKind.RECHUNKED))
    assert found.causes == (Cause.RETRIEVAL, Cause.CORPUS)
    assert watched.audit.pairs < 100


@pytest.mark.slow
def test_a_drop_that_does_not_page_is_told_at_once_and_measured_with_all_its_records(
    watched: Watched,
) -> None:
    traffic(watched.store)
    watched.page_drop, watched.scorer = 0.9, level(0.3)
    watched.restart()
    watched.turn(notice())
    while not (told := watched.turn()):
        assert watched.audit.is_running
    first = told[0]
    assert first.n < 96
    (found,) = watched.turns()
    assert found.n == 96
    assert found.words != first.words
    assert (watched.audit.state, watched.audit.why) == (AuditState.DROPPED, "")
    assert len(set(watched.calls)) == len(watched.calls)
    judged = {result.rubric: result.state for result in watched.audit.results}
    assert judged["completeness"] is not AuditState.RUNNING
    watched.restart()
    assert watched.turn() == (found,)


def test_no_change_ends_with_words_and_no_finding(watched: Watched) -> None:
    traffic(watched.store)
    watched.settings = AuditSettings(records=96, then=())
    watched.restart()
    watched.scorer = lambda record, rubric: 0.9 + 0.1 * chance(record.trace_id, rubric)
    assert watched.turns(notice(ChangeKind.RECHUNKED)) == ()
    assert watched.audit.state is AuditState.STEADY
    assert watched.audit.progress == (
        "context_relevance: no drop over 4 points; prompt_relevance: no drop over 4 points; "
        "rerank_gain: no drop over 4 points; groundedness: no drop over 4 points"
    )


def test_where_the_first_are_steady_a_change_of_generation_is_judged_for_completeness_too(
    watched: Watched,
) -> None:
    traffic(watched.store)
    worse = level(0.2, of="completeness")
    watched.scorer = lambda record, rubric: (
        worse(record, rubric) if rubric == "completeness" else 0.9
    )
    (found,) = watched.turns(notice())
    assert (found.signal, found.causes) == ("completeness", (Cause.GENERATION,))
    judged = {trace for trace, rubric in watched.calls if rubric == "completeness"}
    assert judged <= {trace for trace, rubric in watched.calls if rubric == "groundedness"}


def test_at_the_end_of_the_records_it_is_undecided_and_says_so(watched: Watched) -> None:
    traffic(watched.store)
    watched.settings = AuditSettings(records=40, then=())
    watched.scorer = level(0.55, 0.6)
    watched.restart()
    watched.turns(notice())
    assert watched.audit.state is AuditState.UNDECIDED
    assert watched.audit.why.startswith("it lacked answers: all its ")
    assert "more [alerts.audit] records show smaller ones" in watched.audit.why
    assert 40 <= watched.audit.pairs <= 80


def test_a_refusal_of_the_budget_is_no_score_and_ends_it(watched: Watched) -> None:
    traffic(watched.store)
    watched.turn(notice())
    watched.turn()
    judged = watched.audit.pairs
    assert judged > 0
    watched.label = "budget"
    watched.turns()
    assert watched.audit.state is AuditState.UNDECIDED
    assert watched.audit.why == "it lacked budget: today's reserve of the judge is spent"
    stored = audits.pairs_of(watched.store, watched.audit.audit_id)
    assert {verdict.label for pair in stored for verdict in pair.after.verdicts} == {""}


@pytest.mark.slow
def test_a_judge_that_is_away_costs_an_audit_nothing_but_time(watched: Watched) -> None:
    traffic(watched.store)
    watched.label = "timeout"
    watched.turn(notice())
    watched.turn()
    assert watched.audit.is_running
    assert audits.pairs_of(watched.store, watched.audit.audit_id) == []
    watched.label, watched.scorer = "", level(0.3)
    assert watched.turns() != ()


def test_after_traces_are_judged_as_they_come(watched: Watched) -> None:
    keep(watched.store, range(1, 261), ANCHOR - HOUR, HOUR)
    watched.now = ANCHOR / 1e9 + 120
    watched.turn(notice())
    assert watched.audit.pairs == 0
    keep(watched.store, range(10_000, 10_010), ANCHOR, 60 * SECOND)
    watched.turn()
    watched.turn()
    assert watched.audit.pairs == 10
    assert watched.audit.progress.startswith("after 10 of 96 pairs: ")


def test_after_the_hours_it_gives_up(watched: Watched) -> None:
    traffic(watched.store, after=40)
    watched.scorer = level(0.6, 0.6)
    watched.turn(notice())
    watched.turn()
    watched.turn()
    watched.now += 6 * 3600
    watched.turn()
    watched.turn()
    assert watched.audit.state is AuditState.UNDECIDED
    assert watched.audit.why == (
        "it lacked traffic: 40 answers came, and 40 of 96 pairs were judged in 6 hours"
    )


def test_an_audit_whose_judge_gives_no_verdict_lacked_verdicts_not_traffic(
    watched: Watched,
) -> None:
    traffic(watched.store)
    watched.label = "timeout"
    watched.turn(notice())
    watched.turn()
    watched.now += 6 * 3600
    watched.turn()
    watched.turn()
    assert watched.audit.state is AuditState.UNDECIDED
    assert watched.audit.why.startswith("it lacked verdicts: ")
    assert watched.audit.why.endswith("but 0 of 96 pairs were judged in 6 hours")


@pytest.mark.slow
def test_a_restart_goes_on_where_it_was_and_tells_a_drop_again(watched: Watched) -> None:
    traffic(watched.store)
    watched.scorer = level(0.3)
    watched.turn(notice())
    watched.turn()
    watched.restart()
    (found,) = watched.turns()
    assert len(set(watched.calls)) == len(watched.calls)
    watched.restart()
    (again,) = watched.turn()
    assert again == found


@pytest.mark.slow
def test_a_drop_is_over_after_a_day_and_said_to_be_once(watched: Watched) -> None:
    traffic(watched.store)
    watched.scorer = level(0.3)
    assert watched.turns(notice())[0].is_open
    watched.now += 25 * 3600
    (over,) = watched.turn()
    assert not over.is_open
    assert watched.turn() == ()


def test_without_a_judge_a_change_waits_for_one(watched: Watched) -> None:
    traffic(watched.store)
    watched.is_there = False
    watched.turn(notice())
    assert audits.find(watched.store) == []
    watched.is_there = True
    watched.turn()
    assert watched.audit.reason == "prompt"


def test_two_a_day_and_the_last_one_for_a_change(watched: Watched) -> None:
    keep(watched.store, range(1, 1201), ANCHOR - HOUR, 3 * HOUR, routes=("/ask", "/chat", "/mail"))
    later = ANCHOR + HOUR * 2 // 3
    mail = replace(moved(later), routes=("/mail",))
    today = watched.now
    watched.turn(moved=[moved(), mail])
    assert [audit.routes for audit in audits.find(watched.store)] == [("/ask",)]
    watched.now = today
    change = notice(ChangeKind.RECHUNKED, route="/chat", since=ANCHOR + 75 * 60 * SECOND)
    watched.turn(change, moved=[mail])
    assert {audit.routes for audit in audits.find(watched.store)} == {("/chat",), ("/ask",)}
    watched.now = today
    watched.turn(notice(route="/mail", since=ANCHOR + 90 * 60 * SECOND))
    assert len(audits.find(watched.store)) == 2


def test_what_came_back_while_it_waited_for_an_audit_needs_none(watched: Watched) -> None:
    traffic(watched.store)
    watched.is_there = False
    watched.turn(moved=[moved()])
    watched.is_there = True
    watched.turn()
    assert audits.find(watched.store) == []
    watched.turn(moved=[moved()])
    assert watched.audit.reason == "citations moved"


@pytest.mark.parametrize(("minutes", "is_audited"), [(40, True), (31, False)])
def test_a_number_that_moved_is_audited_on_this_side_of_the_last_change(
    watched: Watched, minutes: int, *, is_audited: bool
) -> None:
    """Else its two sides would be those of the change, for which it does not answer."""
    traffic(watched.store, before=100)
    change = notice(since=ANCHOR - minutes * 60 * SECOND)
    watched.store.write(notices.batch([change], NOW))
    watched.turn(moved=[moved()])
    begun = audits.find(watched.store)
    assert bool(begun) is is_audited
    for audit in begun:
        pairs = audits.pairs_of(watched.store, audit.audit_id)
        last = 100 - 100 * minutes // 60
        assert pairs
        assert all(last <= int(pair.before.trace_id, 16) <= 100 for pair in pairs)


def test_0_a_day_is_never(watched: Watched) -> None:
    traffic(watched.store)
    watched.settings = AuditSettings(per_day=0)
    watched.restart()
    watched.turn(notice())
    assert audits.find(watched.store) == []


def test_without_enough_from_before_there_is_none(watched: Watched) -> None:
    traffic(watched.store, before=50)
    watched.turn(notice())
    watched.turn(moved=[moved()])
    assert audits.find(watched.store) == []


def test_one_audit_stands_for_a_change_on_several_routes(watched: Watched) -> None:
    traffic(watched.store, routes=("/ask", "/chat"))
    watched.scorer = level(0.3)
    (found,) = watched.turns(notice(), notice(route="/chat", since=ANCHOR + 60 * SECOND))
    assert len(audits.find(watched.store)) == 1
    assert found.routes == ("/ask", "/chat")
    pairs = audits.pairs_of(watched.store, watched.audit.audit_id)
    assert {pair.after.route for pair in pairs} == {"/ask", "/chat"}
    assert all(pair.after.route == pair.before.route for pair in pairs)


def test_a_mark_that_names_no_environment_is_for_those_with_traffic(watched: Watched) -> None:
    traffic(watched.store)
    mark = Deploy(deploy_id="d", service="helpdesk", time_unix_nano=ANCHOR, version="1.4")
    watched.turn(deploys=[mark, replace(mark, deploy_id="x", service="other")])
    assert len(audits.find(watched.store)) == 1
    assert (watched.audit.environment, watched.audit.reason) == ("prod", "deploy 1.4")
    watched.turn(deploys=[mark])
    assert len(audits.find(watched.store)) == 1
    assert watched.audit.pairs > 0


def test_a_mark_of_long_ago_starts_nothing(watched: Watched) -> None:
    traffic(watched.store)
    mark = Deploy(deploy_id="d", service="helpdesk", time_unix_nano=ANCHOR - 5 * HOUR)
    watched.turn(notice(since=ANCHOR - 7 * HOUR), deploys=[mark])
    assert audits.find(watched.store) == []


def test_rubrics_that_the_judge_never_speaks_of_end_the_audit(watched: Watched) -> None:
    traffic(watched.store)
    silent = watched.ask

    def ask(records: Sequence[RagRecord], rubrics: Sequence[str]) -> list[tuple[Score, ...]] | None:
        silent(records, rubrics)
        return [() for _ in records]

    watched.auditing = watched.audited_by(ask)
    watched.turns(notice())
    assert watched.audit.state is AuditState.UNDECIDED
    assert watched.audit.why == (
        "it lacked rubrics: the judge is configured for none of its own ([judge] rubrics)"
    )
    assert watched.audit.pairs == STEP_PAIRS


def test_a_rubric_that_applies_to_no_record_keeps_no_audit_open(watched: Watched) -> None:
    traffic(watched.store)
    watched.settings = AuditSettings(then=("factual_accuracy",))
    watched.restart()
    usual = watched.ask
    without = {"rerank_gain", "factual_accuracy"}

    def ask(records: Sequence[RagRecord], rubrics: Sequence[str]) -> list[tuple[Score, ...]] | None:
        judged = usual(records, rubrics)
        return judged and [
            tuple(
                replace(score, value=None, explanation="there is none")
                if score.rubric in without
                else score
                for score in scores
            )
            for scores in judged
        ]

    watched.scorer = lambda _record, _rubric: 0.9
    watched.auditing = watched.audited_by(ask)
    watched.turns(notice())
    assert watched.audit.state is AuditState.STEADY
    assert {result.rubric for result in watched.audit.results}.isdisjoint(without)
    assert watched.audit.pairs < 300


@pytest.mark.slow
def test_a_pair_of_which_a_side_was_erased_is_left_out(watched: Watched) -> None:
    traffic(watched.store)
    watched.scorer = level(0.3)
    (found,) = watched.turns(notice())
    pairs = audits.pairs_of(watched.store, watched.audit.audit_id)
    erased = "ALTER TABLE audit_scores DELETE WHERE pair = 0 AND side = 'before'"
    watched.store.change(f"{erased} SETTINGS mutations_sync = 2")
    assert audits.pairs_of(watched.store, watched.audit.audit_id) == pairs[1:]
    watched.restart()
    (again,) = watched.turn()
    assert again.finding_id == found.finding_id
