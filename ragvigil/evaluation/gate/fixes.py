"""Whether a release fixes what its commits say it fixes: the golden cases of these issues. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragvigil.evaluation.result import Condition, Result
from ragvigil.model.figures import counted, listed

MOST_NAMES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """An issue that a commit names, and its golden cases in the new run, by their ids."""

    issue_id: str
    passing: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()

    @property
    def is_asked(self) -> bool:
        """Whether any case of it was asked."""
        return bool(self.passing or self.failing)


def fixes_of(results: Sequence[Result], issue_ids: Iterable[str]) -> tuple[Fix, ...]:
    """What the run shows of these issues; an id may be the first letters of one."""
    return tuple(_fix(results, issue_id) for issue_id in issue_ids)


def _fix(results: Sequence[Result], issue_id: str) -> Fix:
    own = [
        each
        for each in results
        if each.issue_id.startswith(issue_id) and each.condition is Condition.RETRIEVED
    ]
    return Fix(
        issue_id=issue_id,
        passing=tuple(each.case_id for each in own if not each.fails),
        failing=tuple(each.case_id for each in own if each.fails),
    )


def not_fixed(fix: Fix) -> str:
    """Why an issue is not fixed, in a sentence."""
    return (
        f"a commit says that it fixes issue {fix.issue_id}, and "
        f"{counted(len(fix.failing), 'case')} of it "
        f"{'fails' if len(fix.failing) == 1 else 'fail'}: {listed(fix.failing, MOST_NAMES)}"
    )


def note(fix: Fix) -> str:
    """What is known of an issue that does not stop the release.

    >>> note(Fix(issue_id="3f2a", passing=("c1", "c2")))
    'issue 3f2a: 2 cases of it pass'
    """
    if not fix.is_asked:
        return (
            f"issue {fix.issue_id}: no case of the set is of it; "
            f"`ragvigil evaluate --issue {fix.issue_id}` asks its own questions"
        )
    verb = "passes" if len(fix.passing) == 1 else "pass"
    return f"issue {fix.issue_id}: {counted(len(fix.passing), 'case')} of it {verb}"
