"""Golden cases that passed: run again after every change and every night, until one fails again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from clustering.golden import metrics
from clustering.golden.schedule import Change, cases_due
from clustering.golden.standing import LOOKED_AT, Standing, is_settled, standing
from ragvigil.model.golden import CaseEvent, CaseRun, CaseState, CaseVerb, GoldenCase
from ragvigil.model.issue import IssueEvent, IssueVerb
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import golden, issues
from ragvigil.store.issues.golden import CaseFilter

AT_ONCE = 4
"""Questions on their way: with 4 s an answer, 120 cases take two minutes."""


class PassingCases:
    """Runs cases that passed; `run` runs one by its id and stores the run."""

    def __init__(self, store: Store, run: Callable[[str], CaseRun]) -> None:
        self._store, self._run = store, run

    def watch(self, changes: Iterable[Change], now: int, hours: float) -> None:
        """Runs the due cases, `now` in nanoseconds, at least every so many hours; shows the gauges.

        One that fails is run again at once, until it passes or fails often enough in a row. Raises
        StoreError.
        """
        cases = golden.find(self._store, CaseFilter(state=CaseState.PASSING))
        histories = self._histories(cases)
        newest = {case_id: runs[0] for case_id, runs in histories.items() if runs}
        self._show(cases, histories)
        due = list(cases_due(cases, newest, changes, now, hours))
        if not due:
            return
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="golden") as pool:
            tried = pool.map(lambda case: self._again(case, histories[case.case_id]), due)
            for case, runs in zip(due, tried, strict=True):
                histories[case.case_id] = runs
                # A ticket does not wait for the other cases.
                self._show(cases, histories)

    def standings(self) -> dict[str, Standing]:
        """The standing of every case that passed, by id. Raises StoreError."""
        cases = golden.find(self._store, CaseFilter(state=CaseState.PASSING))
        return {case_id: standing(runs) for case_id, runs in self._histories(cases).items()}

    def _histories(self, cases: Sequence[GoldenCase]) -> dict[str, Sequence[CaseRun]]:
        """The newest runs of each case since it was signed: those before were of another one."""
        runs = golden.last_runs(self._store, LOOKED_AT)
        return {
            case.case_id: [
                run
                for run in runs.get(case.case_id, ())
                if run.time_unix_nano >= case.approved_unix_nano
            ]
            for case in cases
        }

    def _again(self, case: GoldenCase, before: Sequence[CaseRun]) -> Sequence[CaseRun]:
        """Runs a case as often as it takes; returns its runs, newest first."""
        runs = list(before)
        while True:
            run = self._run(case.case_id)
            runs.insert(0, run)
            if run.is_pass is None or is_settled(runs):
                break
        was, is_now = standing(before), standing(runs)
        if is_now is Standing.FAILS_AGAIN and was is not Standing.FAILS_AGAIN:
            self._tell(case, CaseVerb.FAILED, IssueVerb.CASE_FAILED, run)
        if was is Standing.FAILS_AGAIN and run.is_pass:
            self._tell(case, CaseVerb.PASSED, IssueVerb.CASE_PASSED, run)
        return runs

    def _tell(self, case: GoldenCase, verb: CaseVerb, issue_verb: IssueVerb, run: CaseRun) -> None:
        """Writes an event of the case, and of the issue that it was made of."""
        now = run.time_unix_nano
        event = CaseEvent(
            case_id=case.case_id,
            time_unix_nano=now,
            verb=verb,
            revision=case.revision,
            text=run.why,
        )
        golden.write(self._store, now, events=[event])
        if case.issue_id:
            text = f"{case.case_id}: {run.why}"
            of_issue = IssueEvent(
                issue_id=case.issue_id, time_unix_nano=now, verb=issue_verb, text=text
            )
            store = self._store
            store.write(
                issues.batch(now, events=[of_issue], replica=store.replica, epoch=store.epoch)
            )

    def _show(
        self, cases: Sequence[GoldenCase], histories: Mapping[str, Sequence[CaseRun]]
    ) -> None:
        metrics.show((case, standing(histories[case.case_id])) for case in cases)
