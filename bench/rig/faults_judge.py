"""A judge that sees texts alone: it reads the rubric's own prompt, and answers by its words."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from bench.rig.noisy_judge import NoisyJudge
from scorers.judge.material import Item
from scorers.judge.question import Question
from tests.content_judge import ContentJudge

MODEL = "content"


@dataclass(frozen=True, kw_only=True)
class TextJudge(NoisyJudge):
    """What it thinks of a prompt is kept: the same answer is judged again and again."""

    _known: dict[str, str] = field(default_factory=dict)

    def reply(self, question: Question) -> dict[str, Any]:
        """What the words tell of each item, or of the nuggets that it finds itself."""
        key = question.key(MODEL)
        if key not in self._known:
            self._known[key] = ContentJudge().answer(question.prompt)
        told = json.loads(self._known[key])
        if question.items:
            verdicts = told["verdicts"]
            return {
                "verdicts": {
                    item.name: self._or_in_error(question, item, verdicts[item.name])
                    for item in question.items
                }
            }
        return {
            "nuggets": [
                self._or_in_error(question, Item(name=f"n{place}", text=nugget["nugget"]), nugget)
                for place, nugget in enumerate(told["nuggets"])
            ]
        }

    def _or_in_error(
        self, question: Question, item: Item, verdict: dict[str, Any]
    ) -> dict[str, Any]:
        grades = {grade.name: grade for grade in question.table.grades}
        drawn = self.verdict(question, item, grades[str(verdict["grade"])])
        return verdict if drawn["grade"] == verdict["grade"] else verdict | drawn
