"""The page of golden cases: is the set good, and what waits for me?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, StreamingResponse
from pydantic import ValidationError
from starlette.responses import Response

from ragvigil.web.api.golden import Source, case, cases, golden_set, propose
from ragvigil.web.api.reports.evaluations import evaluations
from ragvigil.web.api.topics import topics
from ragvigil.web.drawings.mix import mix_bar
from ragvigil.web.pages.case import signer_of
from ragvigil.web.pages.forms import Fields, back_to
from ragvigil.web.pages.frame import render
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.scope import scope_of
from ragvigil.web.views.cases.words import (
    composition_says,
    contract,
    contract_says,
    golden_heading,
    is_match,
    set_lead,
    waiting,
)
from ragvigil.web.views.golden import CaseForm, CasesForm, ProposePost
from ragvigil.web.views.reports import headings
from ragvigil.web.views.reports.digest import SIGNED, golden_age, uncovered

router = APIRouter()

READ = [Depends(Requires(Permission.READ))]
MOST = 10_000
SHOWN = 200
NO_FILTER = {"state": "", "kind": "", "tag": "", "issue": "", "standing": ""}
NO_SET = "No golden set is kept here"
State = Literal["", "proposed", "signed", "passing", "rejected"]
Kind = Literal["", "canonical", "adversarial", "failure"]
Name = Annotated[str, Query(max_length=256)]


@router.get("/golden", include_in_schema=False, dependencies=READ, summary="The golden set")
def golden_page(
    request: Request,
    state: State = "",
    kind: Kind = "",
    tag: Name = "",
    issue: Name = "",
    standing: Literal["", "flaky", "fails_again"] = "",
) -> HTMLResponse:
    """Proposals, the mix of the set, and its cases; how to begin one where there is none."""
    chosen = {"state": state, "kind": kind, "tag": tag, "issue": issue, "standing": standing}
    return _page(request, chosen)


def _page(request: Request, chosen: Mapping[str, str], problem: str = "") -> HTMLResponse:
    if request.app.state.golden is None:
        return render(
            request, "golden_none.html", title="No golden set is kept here", page="golden"
        )
    source, person = request.app.state.golden, request.state.person
    listed = cases(
        request=request, source=source, state="", service="", query_type="", issue="", limit=MOST
    )
    proposals = [each for each in listed.cases if each.state == "proposed"]
    found = waiting(proposals, signer_of(person, source))
    scope = scope_of(request)
    place = {name: getattr(scope, name) for name in ("service", "environment", "route")}
    matches = [each for each in listed.cases if _is_chosen(each, listed, {**chosen, **place})]
    first = found.first
    return render(
        request,
        "golden.html",
        title=golden_heading(found, listed.mix),
        page="golden",
        found=found,
        listed=listed,
        lead=set_lead(listed.mix),
        missing=composition_says(listed.mix),
        **_standing(request, listed),
        bars=[
            mix_bar(**part.model_dump(exclude={"query_type"}), name=part.query_type)
            for part in listed.mix.parts
        ],
        first=case(request=request, source=source, case_id=first.case_id) if first else None,
        matches=matches[:SHOWN],
        all_matches=len(matches),
        chosen=chosen,
        page_filters={name: value for name, value in chosen.items() if value},
        problem=problem,
        status=409 if problem else 200,
        path="/golden",
        tags=sorted({each for listed_case in listed.cases for each in listed_case.tags})[:60],
    )


def _is_chosen(each: CaseForm, listed: CasesForm, chosen: Mapping[str, str]) -> bool:
    standing = chosen["standing"]
    is_standing = standing in ("", listed.standings.get(each.case_id))
    return is_standing and is_match(each, {**chosen, "standing": ""})


def _standing(request: Request, listed: CasesForm) -> dict[str, Any]:
    """Whether the set still holds what it held: standings, age, gaps, the last run of CI."""
    scope, holds = scope_of(request), contract(listed)
    return {
        "holds": holds,
        "holds_says": contract_says(holds),
        "age": golden_age(
            [each.approved for each in listed.cases if each.state in SIGNED],
            request.app.state.clock(),
        ),
        "gaps": uncovered(topics(request, scope.service, scope.environment).maps),
        "last_run": next(iter(evaluations(request, limit=1).evaluations), None),
        "words": headings,
    }


@router.get("/golden.jsonl", include_in_schema=False, dependencies=READ, summary="The signed set")
def golden_jsonl(source: Source) -> StreamingResponse:
    """The cases that are as they were signed, as `ragvigil golden export` writes them."""
    headers = {"content-disposition": 'attachment; filename="golden.jsonl"'}
    kept = golden_set(source=source)
    signed = (line for place, line in enumerate(kept.cases) if place not in set(kept.unsigned))
    lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in signed)
    return StreamingResponse(lines, media_type="application/jsonl", headers=headers)


@router.post(
    "/golden",
    include_in_schema=False,
    dependencies=[Depends(Requires(Permission.TRIAGE))],
    summary="Propose an answer as a case",
)
def propose_case(request: Request, source: Source, fields: Fields) -> Response:
    """Leads to the case, to be edited; a refusal is said above the cases."""
    named = {name: fields.get(name, "") for name in ("trace_id", "record_id", "issue_id")}
    try:
        made = propose(request=request, source=source, post=ProposePost(**named))
    except ValidationError as error:
        raise HTTPException(422, "this form names no answer") from error
    except HTTPException as refusal:
        if refusal.status_code != 409:
            raise
        return _page(request, NO_FILTER, str(refusal.detail))
    return back_to(f"/golden/{made.case_id}", request, "propose")
