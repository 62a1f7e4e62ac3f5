"""A desk whose answers failed in one way, with the API that drafts guards and takes rubrics."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clustering.grouping.process import ClusteringChild
from clustering.issues.job import IssueJob
from clustering.settings import ClusteringSettings
from ragvigil.app.sources.guards import Guards
from ragvigil.app.sources.rubrics import AcceptedRubrics
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings
from ragvigil.model.outcome import Outcome
from ragvigil.model.score import Score
from ragvigil.store.engine.store import Store
from ragvigil.store.records.record_rows import RubricFacts
from ragvigil.store.scores import judged, rollups
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from scorers.guards.job import PatternScoring
from scorers.judge.job import JudgeJob
from scorers.judge.settings import JudgeSettings
from scorers.rubric import use_accepted
from tests.content_judge import ContentJudge
from tests.flow.test_api import Quiet, keep, outcome
from tests.issues import NOW, failure, issue
from tests.issues import keep as keep_issues
from tests.served_api import Commands, commands

MEMBERS, PASSING = 40, 60
TOKENS = {"approver_token": "appr0ver", "triager_token": "tr1ager", "reader_token": "r3ader"}
DRAFT: dict[str, Any] = {
    "name": "names_a_deadline",
    "layer": "generation",
    "description": "Whether the answer says how long something takes.",
    "asks": "Does the answer say how long it takes?",
    "shows": ["question", "context", "answer"],
    "instruction": "Look for a time in days.",
    "grades": [
        {"name": "named", "means": "a number of days is said", "value": 1.0},
        {"name": "missing", "means": "none is said", "value": 0.0},
    ],
    "failure_types": ["no_deadline"],
    "cannot": "",
}


def answered(number: int, text: str, *, fails: bool = False) -> Outcome:
    """A stored answer with this text, a minute before noon of today."""
    made = outcome(number, NOW - 60, value=0.0 if fails else 1.0)
    (scored,) = made.records
    record = replace(scored.record, answer=text, query=f"How long does refund {number} take?")
    return replace(made, records=(replace(scored, record=record),))


def refusing(number: int) -> str:
    """A member's answer: no two of them are the same."""
    return f"As an AI model I cannot tell how long refund {number} takes."


def fill(store: Store, *, bad: Sequence[str] | None = None, is_newest_last: bool = False) -> None:
    """An issue `i1` of answers that talk about themselves, and answers that pass.

    Its members failed at one time, or each a minute after the one before, for a reason of its own.
    """
    texts = bad or [refusing(number) for number in range(1, MEMBERS + 1)]
    members = [answered(n, text, fails=True) for n, text in enumerate(texts, 1)]
    good = [answered(1000 + n, "Refunds take 5 to 7 days [1].") for n in range(PASSING)]
    keep(store, [*members, *good], NOW - 30)
    failures = [
        failure(n, rubric="citation_validity", label="quote_not_found", question=None)
        for n in range(1, len(texts) + 1)
    ]
    if is_newest_last:
        failures = [
            replace(
                each,
                time_unix_nano=(NOW - 60 * (100 - n)) * 10**9,
                reason=f"why it failed: {n}",
            )
            for n, each in enumerate(failures, 1)
        ]
    own = issue("i1", rubric="citation_validity", label="quote_not_found", members=len(texts))
    # Before what the desk writes, whose clock says NOW: the newer row of a record wins.
    keep_issues(store, failures, own, NOW - 30)


class Judge:
    """Drafts what it is told to, and judges by the words of the answers."""

    def __init__(self, *drafts: dict[str, object]) -> None:
        self.drafts = list(drafts) or [DRAFT]
        self.prompts: list[str] = []
        self._court = ContentJudge()

    def answer(self, prompt: str) -> str:
        """The reply, as JSON."""
        if not prompt.startswith("You write the rubric"):
            return self._court.answer(prompt)
        self.prompts.append(prompt)
        return json.dumps(self.drafts[min(len(self.prompts), len(self.drafts)) - 1])


class GuardedDesk:
    """The parts of the core that rubrics concern, on one store; `facts` and `bars` as theirs."""

    def __init__(self, store: Store, folder: Path, judge: JudgeSettings | None = None) -> None:
        self.store = store
        self.facts = {"citation_validity": RubricFacts(version="1", fails_below=1.0)}
        self.bars = {"citation_validity": 1.0}
        clock = lambda: float(NOW)  # noqa: E731
        settings = judge or JudgeSettings()
        self.judging = JudgeJob(settings, store, folder / "judge", {}, None, self.deliver)
        clusters = ClusteringChild(ClusteringSettings(), folder)
        inference = Inference(InferenceSettings(enabled=False))
        self.issues = IssueJob(store, inference, ClusteringSettings(), self.bars, clusters, clock)
        self.patterns = PatternScoring(store, self.deliver, clock)
        self.accepted = AcceptedRubrics(store, clock)
        self.accepted.load()
        judging = self.judging
        self.accepted.bind(self.facts, self.bars, judging)
        self.accepted.guards = Guards(store, self.issues, judging, clock)
        self.web = api(
            store,
            Quiet(),
            WebSettings.model_validate({"allowed_hosts": ("testserver",), **TOKENS}),
            accepting=self.accepted,
            clock=lambda: datetime.fromtimestamp(NOW, UTC),
        )

    def deliver(self, verdicts: Sequence[tuple[judged.StoredRecord, Sequence[Score]]]) -> None:
        """Stores scores, as the core does."""
        written = judged.write(self.store, verdicts, self.facts)
        rollups.recompute(self.store, written.minutes, version=NOW * 10**9)

    @contextmanager
    def commands(self, folder: Path, more: str = "") -> Iterator[Commands]:
        """The command line of an approver."""
        with commands(self.web, folder, TOKENS, more) as daemon:
            yield daemon


def forget() -> None:
    """Takes the accepted rubrics out of this process."""
    use_accepted(())
