"""Explains an issue: the report by code, and a model's finding where a model is configured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from clustering.rca.agent import AgentRun, Asker, investigate
from clustering.rca.evidence import CheckedFinding
from clustering.rca.reader import IssueReader
from clustering.rca.report import facts_of, likely_cause, lines
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
    known = facts_of(issue, reading, terms)
    facts = lines(issue, known)
    by_code = RootCause(
        issue_id=issue.issue_id,
        time_unix_nano=now_unix_nano,
        by=CODE,
        cause=likely_cause(known),
        ended=reason,
        layer=issue.family,
        text="\n".join(facts),
    )
    if asker is None:
        return by_code
    case = Case(issue=issue, reading=reading)
    run = investigate(case, facts, asker, settings, clock=clock, delimiter=delimiter)
    return _written(by_code, asker.model, run)


def _written(by_code: RootCause, model: str, run: AgentRun) -> RootCause:
    """The report by code with what the model submitted, and how its run went."""
    report = replace(
        by_code,
        ended=run.ended,
        transcript=run.transcript,
        turns=run.turns,
        cost_usd=run.cost_usd,
    )
    if run.submission is None:
        return report
    finding = run.submission.finding
    report = replace(
        report,
        by=model,
        cause="",
        quotes=run.submission.quotes,
        text="\n".join([*_opinion(run.submission, model), by_code.text]),
    )
    if not finding.is_determinable:
        return report
    return replace(
        report, cause=finding.cause, layer=finding.layer, fix=finding.fix, grades=finding.grades
    )


def _opinion(submission: CheckedFinding, model: str) -> list[str]:
    """What the model says, marked as its opinion: only the quotes of it are checked."""
    finding = submission.finding
    if not finding.is_determinable:
        return [f"Not determinable, says {model}. Missing: {finding.missing}"]
    return [f"Cause, says {model}: {finding.cause}", f"At once: {finding.fix}"]
