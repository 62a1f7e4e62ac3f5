"""`/api/v1/search`: answers by the words or the meaning of a question, and ids of all kinds."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Protocol

from fastapi import APIRouter, Depends, Query, Request

from ragvigil.store.records import ids
from ragvigil.store.records.nearest import QueryVector, nearest, vector_counts
from ragvigil.web.api.chosen import Asked, Chosen, bounded, require_words
from ragvigil.web.api.records import page_of, times
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.records import RecordsForm, record_summary
from ragvigil.web.views.search import (
    By,
    FoundRecordForm,
    NamedForm,
    SearchForm,
    VectorCountsForm,
)
from ragvigil.web.views.values import view

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

router = APIRouter(prefix="/api/v1")

NOT_HERE = "this daemon has no local models"
AN_ID = re.compile(r"(?=.*\d)[\w.-]{6,64}")
"""What may be the begin of an id: shorter, or without a digit, it is a word."""
LEAST_OF_MANY = 8
"""Characters from which the begin of a trace's or record's id is one: of a million, fewer agree."""


class MeaningSource(Protocol):
    """Turns a text into a vector; the composition root provides it."""

    def vector(self, text: str) -> QueryVector | str:
        """The vector of a text, or why there is none, within seconds."""
        ...


@router.get(
    "/search",
    summary="Answers by words or by meaning; or what has this id",
    dependencies=[Depends(Requires(Permission.READ))],
)
def search(
    request: Request,
    asked: Asked,
    q: Annotated[str, Query(min_length=1, max_length=500, description="an id, words, a question")],
    by: By = "words",
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    cursor: Annotated[
        str, Query(max_length=1024, description="`next` of the page before, with its parameters")
    ] = "",
) -> SearchForm:
    """Among the answers that match the other parameters, which are those of `/records`.

    By words: all must begin a word of question or answer, whatever their case and accents; phrases
    in quotes. By meaning: the nearest of those whose questions have a vector; without local models
    by words, and `why` says so.
    """
    named = named_by(request.app.state.store, q)
    if named is not None:
        return SearchForm(
            named=named, by="words", records=[], is_part=False, next=None, **times(asked.filter)
        )
    return found_by(request, asked, q, by, limit, cursor)


def found_by(
    request: Request, asked: Chosen, q: str, by: By, limit: int, cursor: str
) -> SearchForm:
    """Answers by words or by meaning. Raises HTTPException (422) for a wrong cursor or no words."""
    source: MeaningSource | None = request.app.state.meaning
    if by == "words":
        return _by_words(request, asked, q, limit, cursor)
    vector = NOT_HERE if source is None else source.vector(q)
    if isinstance(vector, QueryVector):
        return _by_meaning(request, asked, vector, limit)
    return _by_words(request, asked, q, limit, cursor).model_copy(update={"why": vector})


def named_by(store: Store, typed: str) -> NamedForm | None:
    """What has this id, or alone begins with it; None where it is words. Raises StoreError."""
    prefix = typed.strip().lower()
    if not AN_ID.fullmatch(prefix):
        return None
    few = ("traces", "records") if len(prefix) < LEAST_OF_MANY else ()
    found = [pair for pair in ids.named(store, prefix) if pair[0] not in few]
    exact = [pair for pair in found if pair[1] == prefix]
    if not exact and len(found) != 1:
        return None
    kind, id_ = (exact or found)[0]
    return NamedForm.model_validate({"kind": kind, "id": id_})


def _by_meaning(request: Request, asked: Chosen, vector: QueryVector, limit: int) -> SearchForm:
    store, filter_ = request.app.state.store, replace(asked.filter, limit=limit)
    return SearchForm(
        named=None,
        by="meaning",
        vectors=view(VectorCountsForm, vector_counts(store, filter_, vector.model)),
        records=[
            FoundRecordForm(**dict(record_summary(each)), likeness=each["likeness"])
            for each in nearest(store, filter_, vector)
        ],
        is_part=asked.is_part,
        next=None,
        **times(filter_),
    )


def _by_words(request: Request, asked: Chosen, q: str, limit: int, cursor: str) -> SearchForm:
    text = require_words(f"{q} {asked.filter.text}".strip())
    chosen = bounded(request, replace(asked.filter, text=text))
    return as_search(page_of(request.app.state.store, chosen, limit, cursor))


def as_search(page: RecordsForm) -> SearchForm:
    """A page of answers as a search by words gives them."""
    return SearchForm(
        named=None,
        by="words",
        records=[FoundRecordForm(**dict(each)) for each in page.records],
        since=page.since,
        until=page.until,
        is_part=page.is_part,
        next=page.next,
    )
