"""Labels from an uploaded file: those that are right are stored, the others named."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fastapi import HTTPException

from ragvigil.web.labelling.table import Line, csv_lines, labels_of
from ragvigil.web.views.posts import LabelPost, LabelsAccepted

AT_ONCE = 200
Save = Callable[[list[LabelPost]], LabelsAccepted]
"""Stores all of these labels or none; raises HTTPException (422)."""


@dataclass(slots=True, kw_only=True)
class Uploaded:
    """What became of the lines; `matched` counts labels whose answer is stored."""

    accepted: int = 0
    matched: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)


def read_upload(content: bytes, labeller: str, save: Save) -> Uploaded:
    """Stores the labels of a CSV file; `labeller` is who sends it."""
    done = Uploaded()
    lines: list[tuple[int, LabelPost]] = []
    for line in labels_of(_lines(content), labeller):
        if line.post is None:
            done.refused.append((line.number, line.wrong))
        else:
            lines.append((line.number, line.post))
    for first in range(0, len(lines), AT_ONCE):
        _store(lines[first : first + AT_ONCE], save, done)
    done.refused.sort()
    return done


def _lines(content: bytes) -> Sequence[Line]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return [Line(number=1, wrong=f"is not UTF-8: {error.reason}; save the sheet as CSV UTF-8")]
    return list(csv_lines(io.StringIO(text, newline="")))


def _store(lines: Sequence[tuple[int, LabelPost]], save: Save, done: Uploaded) -> None:
    """Stores labels together. Refused ones are halved until the wrong line is alone."""
    try:
        reply = save([post for _, post in lines])
    except HTTPException as error:
        if len(lines) == 1:
            done.refused.append((lines[0][0], str(error.detail)))
            return
        middle = len(lines) // 2
        _store(lines[:middle], save, done)
        _store(lines[middle:], save, done)
        return
    done.accepted += len(reply.labels)
    done.matched += sum(label.matched for label in reply.labels)
