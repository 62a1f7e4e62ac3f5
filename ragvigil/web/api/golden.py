"""Golden cases, proposed, edited, signed and run: `/api/v1/golden`, `/api/v1/golden-set`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Protocol

from fastapi import APIRouter, Depends, HTTPException, Query, Request

from ragvigil.model.golden import CaseRun, GoldenCase
from ragvigil.store.issues import golden as stored
from ragvigil.web.errors import Error
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


class WrongCase(ValueError):
    """The content is not a case; `str(error)` names the key."""


class GoldenSource(Protocol):
    """Keeps the golden set; the composition root provides it.

    The verbs raise NoSuchCase, CaseRefused or WrongCase.
    """

    def golden_set(self) -> SetForm:
        """The set as it is committed, and what is wrong with it."""
        ...

    def checks(self, case: GoldenCase) -> ChecksForm:
        """What must be known before a case is signed."""
        ...

    def propose(self, post: ProposePost) -> GoldenCase:
        """Makes a stored record a proposed case."""
        ...

    def add(self, line: Line, actor: str) -> GoldenCase:
        """Makes an imported line a proposed case."""
        ...

    def edit(self, case_id: str, post: EditPost) -> GoldenCase:
        """Changes a case."""
        ...

    def sign(self, case_id: str, post: SignPost) -> CaseRun:
        """Commits a case and runs it."""
        ...

    def reject(self, case_id: str, post: RejectPost) -> GoldenCase:
        """Declines a proposal."""
        ...

    def run(self, case_id: str) -> CaseRun:
        """Runs a case now."""
        ...


def _source(request: Request) -> GoldenSource:
    source: GoldenSource | None = request.app.state.golden
    if source is None:
        raise HTTPException(404, "no golden set is kept here")
    return source


Source = Annotated[GoldenSource, Depends(_source)]
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
        broken=golden_set.broken,
        problem=golden_set.problem,
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
    return case_story(case_form(found), checks, events, runs)


@router.post(
    "/golden",
    summary="Propose a stored record as a case",
    responses=REFUSED,
    dependencies=TRIAGE,
)
def propose(source: Source, post: ProposePost) -> CaseForm:
    """A person then edits what a good answer needs, and another person signs."""
    with _StatusOfErrors():
        return case_form(source.propose(post))


@router.post(
    "/golden-import",
    summary="Propose cases by the keys of the set's file",
    responses=REFUSED,
    dependencies=TRIAGE,
)
def add(source: Source, post: ImportPost) -> ImportResultsForm:
    """Lines are proposed one by one: a wrong line does not keep the others out."""
    return ImportResultsForm(cases=[_added(source, line, post.actor) for line in post.cases])


@router.post(
    "/golden/{case_id}/edit",
    summary="Change a case; a signed one becomes a proposal again",
    responses=REFUSED,
    dependencies=TRIAGE,
)
def edit(source: Source, case_id: str, post: EditPost) -> CaseForm:
    """The set keeps a signed case as it is until the change is signed."""
    with _StatusOfErrors():
        return case_form(source.edit(case_id, post))


@router.post(
    "/golden/{case_id}/sign",
    summary="Approve a case: one commit, then its first run",
    responses=REFUSED,
    dependencies=[Depends(Requires(Permission.APPROVE))],
)
def sign(request: Request, source: Source, case_id: str, post: SignPost) -> SignedCaseForm:
    """The hash is that of the case as you saw it: a case changed since then is refused."""
    with _StatusOfErrors():
        run = source.sign(case_id, post)
    return signed_form(case_form(_case(request, case_id)), run)


@router.post(
    "/golden/{case_id}/reject",
    summary="Decline a proposal",
    responses=REFUSED,
    dependencies=TRIAGE,
)
def reject(source: Source, case_id: str, post: RejectPost) -> CaseForm:
    """A signed case that the proposal would have changed stays as it was."""
    with _StatusOfErrors():
        return case_form(source.reject(case_id, post))


@router.post(
    "/golden/{case_id}/run",
    summary="Run a case now, against the service or its stored trace",
    responses=REFUSED,
    dependencies=TRIAGE,
)
def run(source: Source, case_id: str) -> RunForm:
    """A signed case that passes is no longer run by itself."""
    with _StatusOfErrors():
        return run_form(source.run(case_id))


class _StatusOfErrors:
    """Turns the errors of a source into HTTP statuses."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        for refusal, status in ((NoSuchCase, 404), (CaseRefused, 409), (WrongCase, 422)):
            if isinstance(error, refusal):
                raise HTTPException(status, str(error)) from error


def _added(source: GoldenSource, line: Line, actor: str) -> ImportResultForm:
    try:
        return ImportResultForm(case_id=source.add(line, actor).case_id, refused="")
    except (CaseRefused, WrongCase) as error:
        return ImportResultForm(case_id="", refused=str(error))


def _case(request: Request, case_id: str) -> GoldenCase:
    found = stored.get(request.app.state.store, case_id)
    if found is None:
        raise HTTPException(404, f"there is no case {case_id}")
    return found
