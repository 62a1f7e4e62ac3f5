"""Golden cases: proposals in the store, signed cases in git, runs until they pass."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import structlog

from clustering.golden import set_file, verbs
from clustering.golden.case import as_json
from clustering.golden.check import CaseChecks, TextTools, secrets
from clustering.golden.repository import clean_tree, commit, locked, message, repository
from clustering.golden.schedule import Change, cases_due
from clustering.golden.set_file import Line
from clustering.golden.settings import GoldenSettings
from clustering.golden.verbs import Refused
from ragvigil.app.golden import committed as golden_set
from ragvigil.app.golden.committed import GoldenSet
from ragvigil.app.golden.passing import PassingCases
from ragvigil.app.golden.run import Trial, run_case
from ragvigil.app.golden.trace import NotStored, case_of, record_form
from ragvigil.model.clock import Clock
from ragvigil.model.golden import CaseEvent, CaseRun, CaseState, CaseVerb, GoldenCase
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import golden
from ragvigil.store.issues.golden import CaseFilter
from ragvigil.store.watch import deploys, notices
from scorers.golden import parse_case

log = structlog.get_logger()

NANOS = 10**9
CHANGE_DAYS = 30


class GoldenJob:
    """Changes golden cases for people and runs them by the clock; one change at a time.

    Its verbs raise Refused, BadCase, NotStored, RepositoryRefuses and StoreError.
    """

    def __init__(
        self,
        store: Store,
        settings: GoldenSettings,
        known: TextTools,
        trial: Trial,
        clock: Clock = time.time,
    ) -> None:
        self._store, self._settings, self._known = store, settings, known
        self._trial, self._clock = trial, clock
        self.two_people = settings.two_people
        self.passing = PassingCases(store, lambda case_id: self.run(case_id, trial))
        # Reentrant: `reject` and `propose` call other verbs that take it again.
        self._lock = threading.RLock()

    def propose(self, trace_id: str, record_id: str, issue_id: str, actor: str) -> GoldenCase:
        """Makes a failing record a proposed case, with its question redacted."""
        case = case_of(record_form(self._store, trace_id, record_id), issue_id)
        return self.add(replace(case, question=self._marked(case.question)), actor)

    def add(self, case: GoldenCase, actor: str) -> GoldenCase:
        """Stores a new proposal; a rejected case may be proposed again."""
        with self._lock:
            after = verbs.propose(replace(case, revision=0), actor, self._now())
            before = golden.get(self._store, after.case_id)
            if before and before.state is not CaseState.REJECTED:
                raise Refused(f"that is case {before.case_id} already, {before.state}")
            after = replace(after, revision=before.revision + 1 if before else 1)
            return self._write(after, CaseVerb.PROPOSE, after.proposed_by)

    def edit(
        self, case_id: str, changes: Mapping[str, Any], actor: str, revision: int | None = None
    ) -> GoldenCase:
        """Changes values by the keys of a case's line.

        `revision` is what the person saw; a case with another revision by now is refused.
        """
        with self._lock:
            case = known_case(self._store, case_id)
            if revision is not None and revision != case.revision:
                raise Refused(f"{case_id} is at revision {case.revision} by now: look at it first")
            after = verbs.edit(case, changes, actor, self._now())
            return self._write(after, CaseVerb.EDIT, actor, ", ".join(sorted(changes)))

    def sign(
        self,
        case_id: str,
        actor: str,
        seen_hash: str,
        *,
        despite_warnings: bool = False,
        tags: Collection[str] = (),
    ) -> CaseRun:
        """Commits a proposal as the person saw it, then runs it: a new case should fail.

        `tags` bound what the person may sign, none is no bound; they bound what the proposal
        replaces, too: to edit a case into somebody's tags does not make it theirs.
        """
        with self._lock, locked(repo := repository(self._settings)):
            tree = clean_tree(repo)
            written = golden_set.reconciled(self._store, repo, tree, self._now())
            _require_readable(written)
            case, signed = known_case(self._store, case_id), set_file.cases_of(written)
            for version in (case, *(each for each in signed if each.case_id == case_id)):
                verbs.require_within(version, tags)
            after = verbs.sign(case, actor, seen_hash, self._now(), two_people=self.two_people)
            self._require_ready(after, signed, despite_warnings=despite_warnings)
            commit_id = commit(repo, tree, set_file.put(tree.text, after), message(after))
            self._write(after, CaseVerb.SIGN, after.approved_by, commit_id)
        # Outside of the lock: a run waits for the service, up to its timeout.
        return self.run(case_id)

    def reject(self, case_id: str, actor: str, text: str) -> GoldenCase:
        """Declines a proposal; a signed case that it would have changed is restored."""
        with self._lock:
            file = self.read_set()
            # A set that cannot be read may hold the case.
            is_in_file = bool(file.problem) or case_id in {case.case_id for case in file.cases}
            case = known_case(self._store, case_id)
            self._write(
                verbs.reject(case, actor, is_in_file=is_in_file), CaseVerb.REJECT, actor, text
            )
            self.read_set()  # restores the signed case from the file
            return known_case(self._store, case_id)

    def run(self, case_id: str, trial: Trial | None = None) -> CaseRun:
        """Runs a case now; a signed case that passes is no longer run by itself.

        Without a `trial` no judge is asked.
        """
        case = known_case(self._store, case_id)
        run = run_case(case, trial or replace(self._trial, judge=lambda _: ()), self._now())
        run = replace(run, why=self._marked(run.why), answer=self._marked(run.answer))
        with self._lock:
            golden.write(self._store, self._now(), runs=[run])
            # The case may have been edited or rejected while it ran.
            newest = known_case(self._store, case_id)
            is_same = newest.content_hash == case.content_hash
            if run.is_pass and is_same and newest.state is CaseState.SIGNED:
                passing = replace(newest, state=CaseState.PASSING)
                self._write(passing, CaseVerb.PASSED, "", run.why)
        return run

    def checks(self, case: GoldenCase) -> CaseChecks:
        """Checks a case before it is signed."""
        written = self.read_set().cases
        return golden_set.checks(self._store, self._settings, self._known, case, written)

    def read_set(self) -> GoldenSet:
        """The set as it is committed; signatures made elsewhere are stored."""
        with self._lock:
            return golden_set.read_set(self._store, self._settings, self._known, self._now())

    def watch(self) -> None:
        """Stores signatures made elsewhere, then runs the due cases with the judge; a job."""
        if self._settings.repository is None:
            return
        if problem := self.read_set().problem:
            log.warning("golden set cannot be read", reason=problem)
        signed = golden.find(self._store, CaseFilter(state=CaseState.SIGNED))
        changes, hours = list(self._changes()), self._settings.run_hours
        if signed:
            newest = golden.newest_runs(self._store)
            for case in cases_due(signed, newest, changes, self._now(), hours):
                self.run(case.case_id, self._trial)
        if self._trial.target.url:  # a stored trace passes again for ever
            self.passing.watch(changes, self._now(), hours)

    def _require_ready(
        self, case: GoldenCase, written: Sequence[GoldenCase], *, despite_warnings: bool
    ) -> None:
        """Raises Refused where the case may not enter the set as it is."""
        checks = golden_set.checks(self._store, self._settings, self._known, case, written)
        blocking = [*checks.blocking, *_clashes(case, written, self._known)]
        if blocking:
            raise Refused("; ".join(blocking))
        try:
            parse_case(as_json(case))
        except ValueError as error:  # such a line in the file would stop the daemon's next start
            raise Refused(f"scorers could not read it: {error}") from error
        if checks.warnings and not despite_warnings:
            raise Refused(f"to be signed despite warnings: {'; '.join(checks.warnings)}")

    def _write(self, case: GoldenCase, verb: CaseVerb, actor: str, text: str = "") -> GoldenCase:
        if verb in (CaseVerb.PROPOSE, CaseVerb.EDIT):
            self._require_clean(case)
        event = CaseEvent(
            case_id=case.case_id,
            time_unix_nano=self._now(),
            verb=verb,
            revision=case.revision,
            actor=actor,
            text=text,
        )
        golden.write(self._store, self._now(), cases=[case], events=[event])
        return case

    def _require_clean(self, case: GoldenCase) -> None:
        if secret_kinds := secrets(case, self._known):
            kinds = ", ".join(sorted(secret_kinds))
            raise Refused(f"holds what is redacted: {kinds}; take it out")

    def _marked(self, text: str) -> str:
        """Redacts a text: what a service answers here did not pass the intake, which redacts."""
        return self._known.redact(text, Counter())

    def _changes(self) -> Iterator[Change]:
        since = int(self._clock()) - CHANGE_DAYS * 86_400
        for mark in deploys.marks(self._store, since=since):
            yield Change(mark.service, mark.environment, mark.time_unix_nano)
        for notice in notices.find(self._store, since=since):
            yield Change(notice.service, notice.environment, notice.noticed_unix_nano)

    def _now(self) -> int:
        return int(self._clock() * NANOS)


def known_case(store: Store, case_id: str) -> GoldenCase:
    """The newest revision of a case. Raises NotStored."""
    case = golden.get(store, case_id)
    if case is None:
        raise NotStored(f"there is no case {case_id}")
    return case


def _require_readable(written: Sequence[Line]) -> None:
    """Raises Refused where a line is not a case; the marks of a merge conflict are not."""
    for line in written:
        if line.wrong:
            raise Refused(f"line {line.number} of the set's file is no case: {line.wrong}")


def _clashes(case: GoldenCase, written: Sequence[GoldenCase], known: TextTools) -> Iterator[str]:
    """Says where the file has the same question, or this case at the same or a later revision."""
    key = known.normalise(case.question)
    for other in written:
        if other.case_id != case.case_id and known.normalise(other.question) == key:
            yield f"the set asks that already: {other.case_id or other.question}"
        if other.case_id == case.case_id and other.revision >= case.revision:
            yield f"the set has {other.case_id} at revision {other.revision}: edit that one"
