"""Cursors of `/api/v1/records`: where a page ended, in a text that a client sends back as it is.

A cursor holds the time that the first page looked at, so that `24h` does not move on between two
pages, and a hash of the filter: with another filter the place in the order means nothing.
"""

from __future__ import annotations

import base64
from dataclasses import asdict, replace
from hashlib import blake2b

import orjson
from fastapi import HTTPException

from ragvigil.store.records.record_filter import LATEST, RecordFilter, RecordPlace

NOT_OURS = "query.cursor: this is no `next` of a reply to these parameters"


def write_cursor(page: RecordFilter) -> str:
    """The cursor that leads on from the place `after` of a page."""
    assert page.after is not None
    written = orjson.dumps([_digest(page), page.since, page.until, *page.after])
    return base64.urlsafe_b64encode(written).decode().rstrip("=")


def read_cursor(cursor: str, filter_: RecordFilter) -> RecordFilter:
    """The filter of the page behind a cursor; raises HTTPException (422) if it is not of `filter_`.

    >>> first = RecordFilter(route="/ask", since=60, after=RecordPlace(0.25, 7, "ab", "cd"))
    >>> read_cursor(write_cursor(first), RecordFilter(route="/ask")) == first
    True
    """
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        digest, since, until, place, nanos, trace_id, record_id = orjson.loads(
            base64.b64decode(padded, altchars=b"-_", validate=True)
        )
        after = RecordPlace(float(place), int(nanos), str(trace_id), str(record_id))
        page = replace(filter_, since=int(since), until=int(until), after=after)
    except (ValueError, TypeError, OverflowError) as error:
        raise HTTPException(422, NOT_OURS) from error
    if digest != _digest(page) or not (0 <= page.since < page.until <= LATEST):
        raise HTTPException(422, NOT_OURS)
    return page


def _digest(page: RecordFilter) -> str:
    """A hash of what chooses and orders the records; the length of a page may change."""
    asked = {**asdict(replace(page, limit=0)), "after": tuple(page.after or ())}
    return blake2b(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()
