"""Reads the committed golden set and brings the store up to date with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from clustering.golden import set_file
from clustering.golden.check import CaseChecks, TextTools, check
from clustering.golden.git import RepositoryRefuses
from clustering.golden.repository import (
    CleanTree,
    Repository,
    clean_tree,
    commit_of,
    locked,
    repository,
)
from clustering.golden.set_file import InvalidCase, Line
from clustering.golden.settings import GoldenSettings
from ragvigil.app.golden.trace import chunks_of, prompt_of
from ragvigil.model.golden import CaseEvent, CaseState, CaseVerb, GoldenCase
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import golden
from ragvigil.store.issues.golden import CaseFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenSet:
    """The set's file: its cases and invalid lines; `problem` says why it cannot be read."""

    cases: Sequence[GoldenCase] = ()
    broken: Sequence[InvalidCase] = ()
    problem: str = ""


def read_set(store: Store, settings: GoldenSettings, known: TextTools, now: int) -> GoldenSet:
    """Reads the set, and stores signatures that the store does not have yet.

    `now` is in nanoseconds. A set that cannot be read is returned empty, with its problem.
    """
    try:
        with locked(repo := repository(settings)):
            written = reconciled(store, repo, clean_tree(repo), now)
    except RepositoryRefuses as error:
        return GoldenSet(problem=str(error))
    stored = {case.case_id: case for case in golden.find(store, CaseFilter())}
    broken = [
        *set_file.invalid_cases(written, known.normalise),
        *set_file.differing(written, stored),
    ]
    return GoldenSet(cases=set_file.cases_of(written), broken=broken)


def reconciled(store: Store, repo: Repository, found: CleanTree, now: int) -> list[Line]:
    """The lines of the file; their signatures are in the store on return. `now` in nanoseconds."""
    written = set_file.read(found.text)
    stored = {case.case_id: case for case in golden.find(store, CaseFilter())}
    adopted = [
        after
        for case in set_file.cases_of(written)
        if (after := set_file.adopted(stored.get(case.case_id), case)) is not None
    ]
    events = [
        CaseEvent(
            case_id=case.case_id,
            time_unix_nano=now,
            verb=CaseVerb.FOUND,
            revision=case.revision,
            actor=case.approved_by,
            text=commit_of(repo, case.case_id, case.content_hash),
        )
        for case in adopted
    ]
    if adopted:
        golden.write(store, now, cases=adopted, events=events)
    return written


def checks(
    store: Store,
    settings: GoldenSettings,
    known: TextTools,
    case: GoldenCase,
    written: Sequence[GoldenCase],
) -> CaseChecks:
    """Checks a case before it is signed, against proposals and the file's cases in `written`."""
    proposals = golden.find(store, CaseFilter(state=CaseState.PROPOSED))
    named = [
        other if other.case_id else replace(other, case_id=f"line {number}")
        for number, other in enumerate(written, start=1)
    ]
    others = {other.case_id: other for other in (*proposals, *named)}
    prompt = prompt_of(store, case.trace_id)
    chunks = chunks_of(store, case.trace_id) if prompt else ()
    return check(case, others.values(), prompt, chunks, known, settings)
