"""A drafted guard as the API shows it: the file of its rubric, and what it catches."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ragvigil.model.issue import Issue
from ragvigil.model.wilson import wilson
from ragvigil.web.api.rubrics import CaughtForm, GuardDraftForm
from scorers.guards.search import Caught
from scorers.judge.draft import toml_text
from scorers.pattern_table import NEEDS, PatternTable
from scorers.rubric import load_rubrics, parse_rubric


@dataclass(slots=True)
class Tally:
    """Answers of a week: all, those that a guard fails, and of these those that fail anyhow."""

    answers: int = 0
    fails: int = 0
    fails_anyhow: int = 0

    def add(self, fails: bool, fails_anyhow: bool) -> None:
        """Counts one answer."""
        self.answers += 1
        self.fails += fails
        self.fails_anyhow += fails and fails_anyhow


def pattern_file(issue: Issue, name: str, table: PatternTable, words: str) -> str:
    """The TOML of a rubric with a pattern, which the loader of rubrics takes."""
    text = "\n".join(
        (
            f"name = {json.dumps(name)}",
            f"layer = {json.dumps(issue.family.value)}",
            'version = "1"',
            'scale = "0..1"',
            f"needs = {json.dumps(list(NEEDS[table.field]))}",
            "fails_below = 0.5",
            f"description = {toml_text(f'Guards issue {issue.issue_id}, {issue.name}: {words}.')}",
            f"labels = {json.dumps([table.fails.value])}",
            "",
            "[pattern]",
            f"in = {json.dumps(table.field.value)}",
            f"matches = {toml_text(table.matches)}",
            f"fails = {json.dumps(table.fails.value)}",
            "",
        )
    )
    parse_rubric(text, name)
    return text


def free_name(issue: Issue) -> str:
    """`guard_` and the beginning of the issue's id; with a number where that is taken."""
    name, known = f"guard_{issue.issue_id[:8]}", load_rubrics()
    return next(
        each for number in range(1, len(known) + 2)
        if (each := name if number == 1 else f"{name}_{number}") not in known
    )  # fmt: skip


def draft_form(
    issue: Issue,
    name: str,
    *,
    how: str,
    text: str,
    check: str,
    members: Caught,
    passing: Caught,
    week: Tally,
    why: str = "",
) -> GuardDraftForm:
    failed_both = members.fails + passing.fails
    return GuardDraftForm.model_validate(
        {
            "issue_id": issue.issue_id,
            "name": name,
            "how": how,
            "text": text,
            "check": check,
            "why_no_pattern": why,
            "recall": caught_form(members),
            "neighbours": caught_form(passing),
            "precision": caught_form(Caught(fails=members.fails, answers=failed_both)),
            "week": caught_form(Caught(fails=week.fails, answers=week.answers)),
            "week_failing": week.fails_anyhow,
            "usd": 0.0,
            "tokens": 0,
        }
    )


def caught_form(caught: Caught) -> CaughtForm:
    low, high = wilson(caught.fails, caught.answers)
    is_known = caught.answers > 0
    return CaughtForm(
        fails=caught.fails,
        answers=caught.answers,
        share=caught.share if is_known else None,
        low=low if is_known else None,
        high=high if is_known else None,
    )
