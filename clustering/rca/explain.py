"""Why does an issue happen? What code can tell, and what a model found where one is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clustering.rca.agent import Asker, Run, investigate
from clustering.rca.evidence import CheckedFinding
from clustering.rca.reading import Reading
from clustering.rca.report import facts_of, lines
from clustering.rca.settings import RootCauseSettings
from clustering.rca.tools import Case
from ragvigil.model.issue import Issue, RootCause

CODE = "code"
NO_MODEL = "written by code: no model is asked"


def explain(
    issue: Issue,
    reading: Reading,
    asker: Asker | None,
    now_unix_nano: int,
    *,
    settings: RootCauseSettings,
    clock: Callable[[], float],
    delimiter: str,
    terms: Sequence[str] = (),
    reason: str = NO_MODEL,
) -> RootCause:
    """The report on an issue; without an `asker`, for the `reason`, what code can tell of it.

    Where the model's run ends without a finding, the report is that of code and says how it
    ended. `terms` are words of the issue's own. Raises StoreError where nothing can be read.
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
    issue: Issue, model: str, run: Run, facts: Sequence[str], now_unix_nano: int
) -> RootCause:
    found = run.found
    finding = found.finding if found else None
    is_known = finding is not None and finding.is_determinable
    return RootCause(
        issue_id=issue.issue_id,
        time_unix_nano=now_unix_nano,
        by=model if found else CODE,
        cause=finding.cause if finding and is_known else "",
        ended=run.ended,
        layer=finding.layer if finding and is_known else issue.family,
        fix=finding.fix if finding and is_known else "",
        quotes=found.quotes if found else (),
        grades=finding.grades if finding and is_known else (),
        text="\n".join([*_opinion(found, model), *facts]),
        transcript=run.transcript,
        turns=run.turns,
        cost_usd=run.cost_usd,
    )


def _opinion(found: CheckedFinding | None, model: str) -> list[str]:
    """What the model says, marked as that: of it only the quotes are checked."""
    if found is None:
        return []
    finding = found.finding
    if not finding.is_determinable:
        return [f"Not determinable, says {model}. Missing: {finding.missing}"]
    return [f"Cause, says {model}: {finding.cause}", f"At once: {finding.fix}"]
