"""Which field that is needed a record lacks, and why, in the words that every score says it in."""

from __future__ import annotations

from collections.abc import Iterable

from ragvigil.model.record import RagRecord

NOTHING = ("", "")


def first_absent(record: RagRecord, fields: Iterable[str]) -> tuple[str, str]:
    """The first of the fields that is absent, and the reason; both empty where none is.

    >>> from ragvigil import Absent
    >>> record = RagRecord(record_id="1", trace_id="1", absent={"answer": Absent.HIDDEN})
    >>> first_absent(record, ("query", "answer")), first_absent(record, ("query",))
    (('answer', 'answer is absent: hidden'), ('', ''))
    """
    absent = record.absent
    if not absent:
        return NOTHING
    for field in fields:
        if field in absent:
            return field, f"{field} is absent: {absent[field]}"
    return NOTHING
