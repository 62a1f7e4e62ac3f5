"""Golden cases, proposed, edited, signed and run: `/api/v1/golden`, `/api/v1/golden-set`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Literal, Protocol

from fastapi import APIRouter, Depends, HTTPException, Query, Request

from ragvigil.model.golden import CaseRun, GoldenCase
from ragvigil.store.issues import golden as stored
from ragvigil.web.acts import write_act
from ragvigil.web.errors import Error
from ragvigil.web.identity import Person
from ragvigil.web.metrics import IDENTITY_REFUSED, Refusal
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.golden import (
    CaseForm,
    CasesForm,
    CaseStoryForm,
    ChecksForm,
    EditPost,
    ImportPost,
    ImportResultForm,
    ImportResultsForm,
    Line,
    ProposePost,
    RejectPost,
    RunForm,
    SetForm,
    SignedCaseForm,
    SignPost,
    Standing,
    case_form,
    case_story,
    run_form,
    signed_form,
)

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]
REFUSED: dict[int | str, dict[str, Any]] = {
    409: {"model": Error, "description": "The case, or the set's repository, does not take it."}
}


class NoSuchCase(LookupError):
    """There is no case, trace or record of this id."""


class CaseRefused(ValueError):
    """The verb does not fit the case or the repository; `str(error)` says why."""


class OwnCase(CaseRefused):
    """Who would sign the case proposed or edited it."""


class OutsideTags(CaseRefused):
    """The case is outside of the tags that its approver may sign."""


class WrongCase(ValueError):
    """The content is not a case; `str(error)` names the key."""


class GoldenSource(Protocol):
    """Keeps the golden set; the composition root provides it.

    The verbs raise NoSuchCase, CaseRefused or WrongCase.
    """

    @property
    def two_people(self) -> bool:
        """Whether whoever wrote a case may not sign it."""
        ...

    def golden_set(self) -> SetForm:
        """The set as it is committed, and what is wrong with it."""
        ...

    def standings(self) -> dict[str, Standing]:
        """Whether the cases that passed still do, by id."""
        ...

    def checks(self, case: GoldenCase) -> ChecksForm:
        """What must be known before a case is signed."""
        ...

    def propose(self, post: ProposePost, actor: str) -> GoldenCase:
        """Makes a stored record a proposed case."""
        ...

    def add(self, line: Line, actor: str) -> GoldenCase:
        """Makes an imported line a proposed case."""
        ...

    def edit(self, case_id: str, post: EditPost, actor: str) -> GoldenCase:
        """Changes a case."""
        ...

    def sign(self, case_id: str, post: SignPost, actor: str, tags: Collection[str]) -> CaseRun:
        """Commits a case and runs it; `tags` bound what the actor may sign, none is no bound.

        Raises OwnCase and OutsideTags besides.
        """
        ...

    def reject(self, case_id: str, post: RejectPost, actor: str) -> GoldenCase:
        """Declines a proposal."""
        ...

    def run(self, case_id: str) -> CaseRun:
        """Runs a case now."""
        ...


def source_of(request: Request) -> GoldenSource:
    """What keeps the golden set. Raises HTTPException (404) where nothing does."""
    source: GoldenSource | None = request.app.state.golden
    if source is None:
        raise HTTPException(404, "no golden set is kept here")
    return source


Source = Annotated[GoldenSource, Depends(source_of)]
READ = [Depends(Requires(Permission.READ))]
TRIAGE = [Depends(Requires(Permission.TRIAGE))]


@router.get(
    "/golden", summary="Golden cases: proposed, signed, passing or rejected", dependencies=READ
)
def cases(
    request: Request,
    source: Source,
    state: Literal["", "proposed", "signed", "passing", "rejected"] = "",
    service: Name = "",
    query_type: Literal["", "canonical", "adversarial", "failure"] = "",
    issue: Name = "",
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> CasesForm:
    """Those changed last first; with them, what is broken in the set's file."""
    golden_set = source.golden_set()  # first: the store learns from the file
    filter_ = stored.CaseFilter(
        state=state, service=service, query_type=query_type, issue_id=issue, limit=limit
    )
    found = stored.find(request.app.state.store, filter_)
    return CasesForm(
        cases=[case_form(case) for case in found],
        standings=source.standings(),
        broken=golden_set.broken,
        problem=golden_set.problem,
        mix=golden_set.mix,
    )


@router.get(
    "/golden-set",
    summary="The set as it is committed: signed cases, what is broken, and its composition",
    dependencies=READ,
)
def golden_set(source: Source) -> SetForm:
    """Cases have the keys of the set's file."""
    return source.golden_set()


@router.get(
    "/golden/{case_id}",
    summary="One case: its checks before signing, what was done, its runs",
    dependencies=READ,
)
def case(request: Request, source: Source, case_id: str) -> CaseStoryForm:
    """Events are ordered by time, runs are the newest first."""
    found = _case(request, case_id)
    store = request.app.state.store
    checks = source.checks(found)
    events, runs = stored.events(store, case_id), stored.runs(store, case_id)
    return case_story(case_form(found), checks, events, runs, source.standings().get(case_id))


@router.post(
    "/golden",
    summary="Propose a stored record as a case",
    responses=REFUSED,
    dependencies=TRIAGE,
)
def propose(request: Request, source: Source, post: ProposePost) -> CaseForm:
    """A person then edits what a good answer needs, and another person signs."""
    with _StatusOfErrors():
        proposed = source.propose(post, request.state.person.name)
    write_act(request, "propose", f"golden/{proposed.case_id}")
    return case_form(proposed)


@router.post(
    "/golden-import",
    summary="Propose cases by the keys of the set's file",
    responses=REFUSED,
    dependencies=TRIAGE,
)
def add(request: Request, source: Source, post: ImportPost) -> ImportResultsForm:
    """Lines are proposed one by one: a wrong line does not keep the others out."""
    return ImportResultsForm(cases=[_added(request, source, line) for line in post.cases])


@router.post(
    "/golden/{case_id}/edit",
    summary="Change a case; a signed one becomes a proposal again",
    responses=REFUSED,
    dependencies=TRIAGE,
)
def edit(request: Request, source: Source, case_id: str, post: EditPost) -> CaseForm:
    """The set keeps a signed case as it is until the change is signed."""
    with _StatusOfErrors():
        edited = source.edit(case_id, post, request.state.person.name)
    write_act(request, "edit", f"golden/{case_id}")
    return case_form(edited)


@router.post(
    "/golden/{case_id}/sign",
    summary="Approve a case: one commit, then its first run",
    responses=REFUSED,
    dependencies=[Depends(Requires(Permission.APPROVE))],
)
def sign(request: Request, source: Source, case_id: str, post: SignPost) -> SignedCaseForm:
    """The hash is that of the case as you saw it: a case changed since then is refused.

    Who proposed or edited a case does not sign it, and tags of an approver bound what they sign.
    """
    person: Person = request.state.person
    with _StatusOfErrors():
        run = source.sign(case_id, post, person.name, person.tags)
    write_act(request, "sign", f"golden/{case_id}")
    return signed_form(case_form(_case(request, case_id)), run)


@router.post(
    "/golden/{case_id}/reject",
    summary="Decline a proposal",
    responses=REFUSED,
    dependencies=TRIAGE,
)
def reject(request: Request, source: Source, case_id: str, post: RejectPost) -> CaseForm:
    """A signed case that the proposal would have changed stays as it was."""
    with _StatusOfErrors():
        rejected = source.reject(case_id, post, request.state.person.name)
    write_act(request, "reject", f"golden/{case_id}")
    return case_form(rejected)


@router.post(
    "/golden/{case_id}/run",
    summary="Run a case now, against the service or its stored trace",
    responses=REFUSED,
    dependencies=TRIAGE,
)
def run(request: Request, source: Source, case_id: str) -> RunForm:
    """A signed case that passes is no longer run by itself."""
    with _StatusOfErrors():
        done = source.run(case_id)
    write_act(request, "run", f"golden/{case_id}")
    return run_form(done)


class _StatusOfErrors:
    """Turns the errors of a source into HTTP statuses."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OwnCase):
            IDENTITY_REFUSED.labels(Refusal.OWN_CASE).inc()
        if isinstance(error, OutsideTags):
            IDENTITY_REFUSED.labels(Refusal.OTHER_TAGS).inc()
            raise HTTPException(403, str(error)) from error
        for refusal, status in ((NoSuchCase, 404), (CaseRefused, 409), (WrongCase, 422)):
            if isinstance(error, refusal):
                raise HTTPException(status, str(error)) from error


def _added(request: Request, source: GoldenSource, line: Line) -> ImportResultForm:
    try:
        added = source.add(line, request.state.person.name)
    except (CaseRefused, WrongCase) as error:
        return ImportResultForm(case_id="", refused=str(error))
    write_act(request, "propose", f"golden/{added.case_id}")
    return ImportResultForm(case_id=added.case_id, refused="")


def _case(request: Request, case_id: str) -> GoldenCase:
    found = stored.get(request.app.state.store, case_id)
    if found is None:
        raise HTTPException(404, f"there is no case {case_id}")
    return found
