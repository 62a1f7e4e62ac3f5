"""Rubrics that people make live while the daemon runs; and guards, drafted from issues."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import structlog

from ragvigil.model.clock import Clock
from ragvigil.model.score import Layer
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records.record_rows import RubricFacts
from ragvigil.store.scores import accepted_rubrics as stored
from ragvigil.store.scores.accepted_rubrics import AcceptedRubric
from ragvigil.web.api.rubrics import (
    AcceptedRubricForm,
    GuardDraftForm,
    NoGuard,
    RubricPost,
    RubricRefused,
)
from scorers.rubric import (
    BadRubric,
    Rubric,
    accepted_rubrics,
    all_accepted,
    load_rubrics,
    parse_rubric,
    use_accepted,
)

if TYPE_CHECKING:
    from ragvigil.app.sources.guards import Guards
    from ragvigil.llm.judge import JudgeAccess
    from ragvigil.store.engine.store import Store

log = structlog.get_logger()

NANOS = 10**9
RENEWED_DAYS = 30
"""Rows written longer ago are written anew at a start, so that none reaches its time to live."""
MOST_LIVE = 50
"""Accepted rubrics at a time: each judged one costs a call on every sampled answer."""


class AcceptedRubrics:
    """`load` before the core's parts are made, `bind` after; the rest from any thread.

    Loading changes `load_rubrics` of this process. `guards` drafts those of issues, None where
    failing answers are not grouped.
    """

    guards: Guards | None = None

    def __init__(self, store: Store, clock: Clock = time.time) -> None:
        self._store, self._clock = store, clock
        self._facts: dict[str, RubricFacts] = {}
        self._bars: dict[str, float] = {}
        self._judging: JudgeAccess | None = None
        self._lock = threading.Lock()

    def load(self) -> None:
        """Takes up what people accepted, and writes rows anew that grow old. Raises StoreError."""
        rows = stored.find(self._store)
        use_accepted(rubric for row in rows if (rubric := _parsed(row)) is not None)
        oldest = max(0, int(self._clock()) - RENEWED_DAYS * 86_400)
        for row in stored.written_before(self._store, oldest):
            stored.write(self._store, row, self._now())

    def bind(
        self, facts: dict[str, RubricFacts], bars: dict[str, float], judging: JudgeAccess
    ) -> None:
        """Keeps what a rubric that is accepted or removed changes: facts and bars, by rubric.

        Other threads read both meanwhile: entries are set and taken out one at a time, so whoever
        goes through all of them takes a copy first.
        Enters those that `load` took up: facts of a runner made before do not know their bars.
        """
        self._facts, self._bars, self._judging = facts, bars, judging
        self._use(tuple(all_accepted().values()))

    def refresh(self) -> None:
        """Takes up what another daemon of the fleet accepted or removed. Raises StoreError."""
        with self._lock:
            rows = stored.find(self._store, priority=Priority.TICK)
            found = [rubric for row in rows if (rubric := _parsed(row)) is not None]
            if {rubric.name: rubric for rubric in found} != dict(all_accepted()):
                self._use(found)

    def accepted(self) -> Sequence[AcceptedRubricForm]:
        """The live rubrics, the newest first."""
        return [self._form(row) for row in stored.find(self._store)]

    def accept(self, post: RubricPost, person: str) -> AcceptedRubricForm:
        """Makes a rubric live. Raises RubricRefused."""
        with self._lock:
            rubric = self._checked(post.text)
            row = AcceptedRubric(
                name=rubric.name,
                text=post.text,
                accepted_by=person,
                accepted_unix_nano=self._now(),
                issue_id=post.issue_id,
                sentence=post.sentence,
            )
            stored.write(self._store, row, self._now())
            self._use([*all_accepted().values(), rubric])
            log.info("rubric accepted", rubric=rubric.name, person=person, issue=post.issue_id)
            return self._form(row)

    def remove(self, name: str, person: str) -> AcceptedRubricForm | None:
        """Takes a rubric out; None where there is none."""
        with self._lock:
            rows = {row.name: row for row in stored.find(self._store)}
            if name not in rows:
                return None
            row = replace(rows[name], is_removed=True, removed_by=person)
            stored.write(self._store, row, self._now())
            self._use([each for each in all_accepted().values() if each.name != name])
            log.info("rubric removed", rubric=name, person=person)
            return self._form(row)

    def draft(self, issue_id: str, how: str) -> GuardDraftForm:
        """Drafts a guard, which may take minutes. Raises NoSuchIssue or NoGuard."""
        if self.guards is None:
            raise NoGuard("failing answers are not grouped here: [clustering] enabled")
        return self.guards.draft(issue_id, how)

    def _use(self, rubrics: Sequence[Rubric]) -> None:
        gone = accepted_rubrics().keys() - {rubric.name for rubric in rubrics}
        use_accepted(rubrics)
        for name in gone:
            self._facts.pop(name, None)
            self._bars.pop(name, None)
        for rubric in accepted_rubrics().values():
            self._facts[rubric.name] = RubricFacts(
                version=rubric.version, fails_below=rubric.fails_below
            )
            if rubric.fails_below is not None:
                self._bars[rubric.name] = rubric.fails_below

    def _checked(self, text: str) -> Rubric:
        try:
            rubric = parse_rubric(text, "rubric")
        except BadRubric as error:
            raise RubricRefused(str(error)) from error
        if rubric.judge is None and rubric.pattern is None:
            raise RubricRefused(f"{rubric.name}: needs a [judge] or a [pattern] table")
        if rubric.name in load_rubrics():
            raise RubricRefused(f"{rubric.name} is the name of another rubric; take another one")
        if rubric.judge is not None and (reason := self._no_judge):
            raise RubricRefused(f"{rubric.name} asks a judge: {reason}")
        if len(accepted_rubrics()) >= MOST_LIVE:
            raise RubricRefused(f"{MOST_LIVE} accepted rubrics are live; remove one first")
        return rubric

    def _form(self, row: AcceptedRubric) -> AcceptedRubricForm:
        rubric = _parsed(row)
        why_off = self._why_off(row, rubric)
        how: Literal["pattern", "judge"] = "pattern" if rubric and rubric.pattern else "judge"
        return AcceptedRubricForm(
            name=row.name,
            layer=rubric.layer if rubric else Layer.CROSS_CUTTING,
            how=how,
            description=rubric.description if rubric else "",
            text=row.text,
            issue_id=row.issue_id,
            sentence=row.sentence,
            accepted_by=row.accepted_by,
            accepted=datetime.fromtimestamp(row.accepted_unix_nano / NANOS, UTC),
            is_on=not why_off,
            why_off=why_off,
        )

    def _why_off(self, row: AcceptedRubric, rubric: Rubric | None) -> str:
        if row.is_removed:
            return f"removed by {row.removed_by or 'somebody'}"
        if rubric is None:
            return "this version cannot read its file"
        if row.name not in accepted_rubrics():
            return "another rubric has its name"
        return self._no_judge if rubric.judge is not None else ""

    @property
    def _no_judge(self) -> str:
        """Why no model can be asked; empty if one can."""
        return self._judging.reason if self._judging else ""

    def _now(self) -> int:
        return int(self._clock() * NANOS)


def _parsed(row: AcceptedRubric) -> Rubric | None:
    """The rubric of a row; None, and a line in the log, where it cannot be read."""
    try:
        return parse_rubric(row.text, row.name)
    except BadRubric as error:
        log.warning("an accepted rubric cannot be read", rubric=row.name, reason=str(error))
        return None
