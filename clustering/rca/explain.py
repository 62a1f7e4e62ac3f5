"""Explains an issue: the report by code, and a model's finding where a model is configured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clustering.rca.agent import AgentRun, Asker, investigate
from clustering.rca.evidence import CheckedFinding
from clustering.rca.reader import IssueReader
from clustering.rca.report import facts_of, lines
from clustering.rca.settings import RootCauseSettings
from clustering.rca.tools import Case
from ragvigil.model.issue import Issue, RootCause

CODE = "code"
NO_MODEL = "written by code: no model is asked"


def explain(
    issue: Issue,
    reading: IssueReader,
    asker: Asker | None,
    now_unix_nano: int,
    *,
    settings: RootCauseSettings,
    clock: Callable[[], float],
    delimiter: str,
    terms: Sequence[str] = (),
    reason: str = NO_MODEL,
) -> RootCause:
    """The report on an issue; without an `asker` that of code, and `reason` says why.

    If the model's run ends without a finding, the report is that of code and says how the run
    ended. `terms` are phrases that only this issue's reasons use. Raises StoreError.
    """
    facts = lines(issue, facts_of(issue, reading, terms))
    if asker is None:
        return RootCause(
            issue_id=issue.issue_id,
            time_unix_nano=now_unix_nano,
            by=CODE,
            cause="",
            ended=reason,
            layer=issue.family,
            text="\n".join(facts),
        )
    case = Case(issue=issue, reading=reading)
    run = investigate(case, facts, asker, settings, clock=clock, delimiter=delimiter)
    return _written(issue, asker.model, run, facts, now_unix_nano)


def _written(
    issue: Issue, model: str, run: AgentRun, facts: Sequence[str], now_unix_nano: int
) -> RootCause:
    submission = run.submission
    finding = submission.finding if submission else None
    is_known = finding is not None and finding.is_determinable
    return RootCause(
        issue_id=issue.issue_id,
        time_unix_nano=now_unix_nano,
        by=model if submission else CODE,
        cause=finding.cause if finding and is_known else "",
        ended=run.ended,
        layer=finding.layer if finding and is_known else issue.family,
        fix=finding.fix if finding and is_known else "",
        quotes=submission.quotes if submission else (),
        grades=finding.grades if finding and is_known else (),
        text="\n".join([*_opinion(submission, model), *facts]),
        transcript=run.transcript,
        turns=run.turns,
        cost_usd=run.cost_usd,
    )


def _opinion(submission: CheckedFinding | None, model: str) -> list[str]:
    """What the model says, marked as its opinion: only the quotes of it are checked."""
    if submission is None:
        return []
    finding = submission.finding
    if not finding.is_determinable:
        return [f"Not determinable, says {model}. Missing: {finding.missing}"]
    return [f"Cause, says {model}: {finding.cause}", f"At once: {finding.fix}"]
