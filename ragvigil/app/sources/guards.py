"""Drafts guards of issues: a pattern where one separates the members, else a judge's rubric.

Recall and precision are of answers that the guard was not made from: of a pattern those of the half
that was not searched, of a rubric those that its prompt did not show. The week's are of all.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ragvigil.app.sources.guard_drafts import Tally, draft_form, free_name, pattern_file
from ragvigil.model.clock import Clock
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues.neighbours import neighbours
from ragvigil.store.scores import judged, label_candidates
from ragvigil.store.scores.label_candidates import CandidateFilter
from ragvigil.web.api.issues import NoSuchIssue
from ragvigil.web.api.rubrics import GuardDraftForm, NoGuard
from scorers.guards.search import Caught, FoundPattern, Text, best_pattern
from scorers.pattern_table import PatternField, text_of
from scorers.rubric import load_rubrics

if TYPE_CHECKING:
    from clustering.issues.job import IssueJob
    from ragvigil.llm.client import Client
    from ragvigil.model.issue import Issue
    from ragvigil.model.record import RagRecord
    from ragvigil.store.engine.store import Store
    from scorers.judge.job import JudgeJob
    from scorers.rubric import Rubric

DAY = 86_400
WEEK_DAYS = 7
MOST_MEMBERS, MOST_BESIDE, MOST_OF_WEEK = 200, 40, 1000
"""Members that are read, those whose neighbours are looked for, and answers of the week."""
AT_ONCE = 200
JUDGED_EACH, JUDGED_OF_WEEK = 10, 20
"""Answers that a drafted rubric is tried on: members, and as many that pass; and of the week."""
SALT = "guards"
FIELDS = (PatternField.ANSWER, PatternField.CONTEXT)
"""Where a pattern is looked for. Not in the question: what is asked is no fault of the service."""
OUTSIDE_JUDGE = "no judge can be asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Answers that a guard is drafted from and measured on; `week` holds both of its kinds.

    `reasons` say why each of `members` failed; the newest comes first.
    """

    issue: Issue
    members: Sequence[RagRecord]
    reasons: Sequence[str]
    passing: Sequence[RagRecord]
    week: Sequence[RagRecord]
    failing_of_week: frozenset[judged.Key]


class Guards:
    """Drafts guards; keeps nothing. Any thread; blocks while a model is asked."""

    def __init__(self, store: Store, issues: IssueJob, judging: JudgeJob, clock: Clock) -> None:
        self._store, self._issues, self._judging, self._clock = store, issues, judging, clock

    def draft(self, issue_id: str, how: str) -> GuardDraftForm:
        """A guard of an issue: `pattern`, `judge`, or `any`. Raises NoSuchIssue or NoGuard."""
        evidence = self._evidence(issue_id)
        if not evidence.members:
            raise NoGuard(f"no answer of issue {issue_id} is stored any more")
        why = "a judge was asked for"
        if how != "judge":
            found = _searched(evidence)
            if found is not None and found.separates:
                return self._of_pattern(evidence, found)
            why = _why_not(evidence, found)
            if how == "pattern":
                raise NoGuard(why)
        if self._judging.model_settings is None:
            reason = self._judging.reason or OUTSIDE_JUDGE
            raise NoGuard(f"{why}; and a rubric needs a judge: {reason}")
        return self._of_judge(evidence, why)

    def _evidence(self, issue_id: str) -> Evidence:
        from clustering.issues.redirects import IssueRedirects

        redirects = IssueRedirects(self._issues.issues())
        issue = redirects.home(issue_id)
        if issue is None:
            raise NoSuchIssue(f"there is no issue {issue_id}")
        ids = tuple(redirects.ids([issue]))
        rows = failed.find(
            self._store,
            failed.FailureFilter(issue_ids=ids, newest_first=True, limit=MOST_MEMBERS),
        )
        beside = neighbours(self._store, issue, rows[:MOST_BESIDE])
        since = int(self._clock() - WEEK_DAYS * DAY)
        drawn = label_candidates.find(
            self._store,
            CandidateFilter(
                drawn_from="all", service=issue.service, since=since, salt=SALT, limit=MOST_OF_WEEK
            ),
        )
        week = self._records(drawn)
        failing = self._failing(drawn, since)
        near = self._records([(each.trace_id, each.record_id) for each in beside])
        passing = {_key(record): record for record in (*near, *week)}
        reasons = {row.key: row.failure.reason for row in rows}
        members = self._records(reasons)
        return Evidence(
            issue=issue,
            members=members,
            reasons=[reasons[_key(record)] for record in members],
            passing=[record for key, record in passing.items() if key not in failing],
            week=week,
            failing_of_week=failing,
        )

    def _failing(self, keys: Sequence[judged.Key], since: int) -> frozenset[judged.Key]:
        filter_ = failed.FailureFilter(
            trace_ids=tuple(sorted({trace_id for trace_id, _ in keys})),
            since=since,
            limit=MOST_OF_WEEK,
        )
        return (
            frozenset(row.key for row in failed.find(self._store, filter_)) if keys else frozenset()
        )

    def _records(self, keys: Iterable[judged.Key]) -> list[RagRecord]:
        """Those of the records that are stored, in the order of their keys."""
        listed = list(dict.fromkeys(keys))
        stored: dict[judged.Key, judged.StoredRecord] = {}
        for start in range(0, len(listed), AT_ONCE):
            stored |= judged.read(self._store, listed[start : start + AT_ONCE])
        return [stored[key].record for key in listed if key in stored]

    def _of_pattern(self, evidence: Evidence, found: FoundPattern) -> GuardDraftForm:
        name = free_name(evidence.issue)
        table, of_week = found.table, Tally()
        for record in evidence.week:
            text = text_of(record, table.field)
            if text is not None:
                of_week.add(table.fails_on(text), _key(record) in evidence.failing_of_week)
        return draft_form(
            evidence.issue,
            name,
            how="pattern",
            text=pattern_file(evidence.issue, name, table, found.words),
            check=found.words,
            members=found.members,
            passing=found.passing,
            week=of_week,
        )

    def _of_judge(self, evidence: Evidence, why: str) -> GuardDraftForm:
        from ragvigil.llm.budget import pot_of
        from ragvigil.llm.outcome import Purpose
        from ragvigil.llm.settings import price_of
        from scorers.judge.draft import NoDraft

        async def ask(client: Client) -> GuardDraftForm:
            before = client.budget.spent(pot_of(Purpose.TRY))
            form = await self._drafted(client, evidence, why)
            after = client.budget.spent(pot_of(Purpose.TRY))
            settings = self._judging.model_settings
            today = datetime.fromtimestamp(self._clock(), UTC).date()
            is_priced = settings is not None and price_of(settings, today) is not None
            spent = {
                "usd": after.money - before.money if is_priced else None,
                "tokens": int(after.tokens - before.tokens),
            }
            return form.model_copy(update=spent)

        try:
            form = self._judging.with_client(ask)
        except NoDraft as error:
            raise NoGuard(f"{why}; {error}") from error
        if form is None:
            raise NoGuard(f"{why}; {OUTSIDE_JUDGE}")
        return form

    async def _drafted(self, client: Client, evidence: Evidence, why: str) -> GuardDraftForm:
        from scorers.judge.draft import MOST_EXAMPLES, Examples, draft_rubric

        issue, settings = evidence.issue, self._judging.model_settings
        shown = [record.answer or "" for record in evidence.passing[:MOST_EXAMPLES]]
        draft = await draft_rubric(
            client,
            f"Fails answers like those of the issue: {issue.name}",
            taken=load_rubrics().keys(),
            author=settings.model if settings else "",
            layer=issue.family,
            name=free_name(issue),
            examples=Examples(
                failing=evidence.reasons[:MOST_EXAMPLES],
                passing=shown,
                delimiter=secrets.token_hex(8),
            ),
        )
        asking = _Trial(self._judging, client, draft.rubric)
        # Not those whose reasons, or answers, the draft was made from.
        members = evidence.members[MOST_EXAMPLES:]
        passing = evidence.passing[MOST_EXAMPLES:]
        of_members = await asking.caught(members[:JUDGED_EACH])
        of_passing = await asking.caught(passing[:JUDGED_EACH])
        week = Tally()
        for record, fails in await asking.verdicts(evidence.week[:JUDGED_OF_WEEK]):
            week.add(fails, _key(record) in evidence.failing_of_week)
        return draft_form(
            issue,
            draft.rubric.name,
            how="judge",
            text=draft.text,
            check=draft.rubric.description,
            why=why,
            members=of_members,
            passing=of_passing,
            week=week,
        )


class _Trial:
    """A rubric, asked of answers now; an answer without a verdict is left out."""

    def __init__(self, judging: JudgeJob, client: Client, rubric: Rubric) -> None:
        from scorers.judge.asker import Asker

        settings = judging.model_settings
        assert settings is not None
        self._rubric, self._asker = rubric, Asker.of(client, settings)

    async def verdicts(self, records: Sequence[RagRecord]) -> list[tuple[RagRecord, bool]]:
        """The answers that got a verdict, and whether they fail."""
        import asyncio

        from ragvigil.llm.outcome import Purpose

        scores = await asyncio.gather(
            *(self._asker.score(record, self._rubric, Purpose.TRY) for record in records)
        )
        bar = self._rubric.fails_below or 0.0
        return [
            (record, score.value < bar)
            for record, score in zip(records, scores, strict=True)
            if score.value is not None
        ]

    async def caught(self, records: Sequence[RagRecord]) -> Caught:
        """How many of the answers with a verdict fail."""
        found = await self.verdicts(records)
        return Caught(fails=sum(fails for _, fails in found), answers=len(found))


def _searched(evidence: Evidence) -> FoundPattern | None:
    """The pattern that separates, else the best of those that do not."""
    found = [
        pattern
        for field in FIELDS
        if (
            pattern := best_pattern(
                _texts(evidence.members, field), _texts(evidence.passing, field), field
            )
        )
    ]
    whole = (pattern for pattern in found if pattern.separates)
    return next(whole, max(found, key=lambda each: each.members.share, default=None))


def _texts(records: Iterable[RagRecord], field: PatternField) -> list[Text]:
    return [
        Text(trace_id=record.trace_id, text=text)
        for record in records
        if (text := text_of(record, field)) is not None
    ]


def _why_not(evidence: Evidence, found: FoundPattern | None) -> str:
    if found is None:
        members, passing = len(evidence.members), len(evidence.passing)
        return f"no pattern tells {members} members from {passing} passing answers"
    members_, passing_ = found.members, found.passing
    return (
        f"no pattern separates: the best ({found.words}) fails {members_.fails} of "
        f"{members_.answers} members and {passing_.fails} of {passing_.answers} passing answers "
        "that it was not made from"
    )


def _key(record: RagRecord) -> judged.Key:
    return record.trace_id, record.record_id
