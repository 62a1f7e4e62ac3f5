"""Reads and edits the set's file line by line; lines of other cases stay byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from clustering.golden.case import BadCase, line, parse
from clustering.golden.content import Normalise, content_hash
from clustering.golden.verbs import IN_SET
from ragvigil.model.golden import CaseState, GoldenCase


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line that is not empty, with its number: its case, or what is wrong with it."""

    number: int
    case: GoldenCase | None = None
    wrong: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidCase:
    """A case of the file that nobody signed as it stands, or a signed one that is not there."""

    case_id: str
    number: int
    """Its line, 0 if it is not in the file."""
    why: str


def read(text: str) -> list[Line]:
    """The lines of a file in order, without empty ones."""
    return list(_read(text))


def _read(text: str) -> Iterator[Line]:
    for number, row in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not row.strip():
            continue
        try:
            yield Line(number=number, case=parse(json.loads(row)))
        except (BadCase, ValueError, RecursionError) as error:
            yield Line(number=number, wrong=str(error))


def put(text: str, case: GoldenCase) -> str:
    """The file's text with this case: in place of the line with its id, else at the end."""
    numbers = [row.number for row in read(text) if row.case and row.case.case_id == case.case_id]
    if numbers:
        rows = text.split("\n")
        rows[numbers[0] - 1] = line(case)
        return "\n".join(rows)
    # A file that people edited may end without a line break.
    between = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{between}{line(case)}\n"


def cases_of(lines: Iterable[Line]) -> list[GoldenCase]:
    """The cases among the lines."""
    return [row.case for row in lines if row.case]


def is_as_signed(case: GoldenCase) -> bool:
    """Whether a case of the file was signed with the content that it has."""
    return bool(case.approved_by) and case.content_hash == content_hash(case)


def adopted(stored: GoldenCase | None, case: GoldenCase) -> GoldenCase | None:
    """What the store must take over of a case of the file; None if it is up to date.

    This restores what was signed when a crash came between commit and store, what others signed,
    and what the store has lost. A proposal to change a signed case stays a proposal.
    """
    if not is_as_signed(case):
        return None
    signed = replace(case, state=CaseState.SIGNED)
    if stored is None:
        return signed
    if stored.state is CaseState.REJECTED:
        return replace(signed, revision=max(stored.revision, case.revision) + 1)
    is_newer = stored.state in IN_SET and case.revision > stored.revision
    is_same = (stored.content_hash, stored.revision) == (case.content_hash, case.revision)
    return signed if is_newer or (is_same and stored.state is CaseState.PROPOSED) else None


def invalid_cases(lines: Sequence[Line], normalise: Normalise) -> list[InvalidCase]:
    """Finds what is wrong in a file alone: lines that are no case, edited or unsigned cases, and
    cases with one question or one id.

    A line without a hash was written by hand and counts as unsigned.
    """
    first_line: dict[str, int] = {}
    invalid: list[InvalidCase] = []
    for row in lines:
        case = row.case
        if case is None:
            invalid.append(InvalidCase(case_id="", number=row.number, why=row.wrong))
            continue
        if why := _unsigned(case):
            invalid.append(InvalidCase(case_id=case.case_id, number=row.number, why=why))
        for key in (f"asks {normalise(case.question)}", f"id {case.case_id}"):
            if key in first_line and key != "id ":
                what = "asks the same" if key.startswith("asks") else "has the same id"
                why = f"line {first_line[key]} {what}"
                invalid.append(InvalidCase(case_id=case.case_id, number=row.number, why=why))
            first_line.setdefault(key, row.number)
    return invalid


def _unsigned(case: GoldenCase) -> str:
    if not case.content_hash or not case.approved_by:
        return "is not signed"
    if case.content_hash != content_hash(case):
        return "was edited after it was signed: its content has another hash"
    return ""


def differing(lines: Sequence[Line], stored: Mapping[str, GoldenCase]) -> list[InvalidCase]:
    """Finds signed cases of the store that the file lacks or has with another hash.

    A case that is a proposal again is not compared: the file keeps its signed revision.
    """
    written = {row.case.case_id: (row.number, row.case) for row in lines if row.case}
    invalid = []
    for name, case in stored.items():
        if case.state not in IN_SET:
            continue
        number, own = written.get(name, (0, None))
        if own is None:
            why = "was signed and is not in the file"
        elif own.content_hash != case.content_hash:
            why = f"is in the file with a hash that {case.approved_by} did not sign here"
        else:
            continue
        invalid.append(InvalidCase(case_id=name, number=number, why=why))
    return invalid
