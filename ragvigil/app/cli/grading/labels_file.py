"""Labels from a file to the daemon and back: JSON lines, or CSV with a heading."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import typer

from ragvigil.app.cli.output.console import JsonObject, print_text
from ragvigil.app.client.api import Refused, get_from, post
from ragvigil.app.client.connection import to_api
from ragvigil.app.settings import Settings
from ragvigil.web.labelling.table import (
    Line,
    ReadLabel,
    csv_lines,
    json_lines,
    labels_of,
    to_csv,
    to_json_lines,
)
from ragvigil.web.views.labels import LabelsForm
from ragvigil.web.views.posts import LabelPost

AT_ONCE = 200
"""Labels in one request; the API takes up to 1,000."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What became of the lines; `matched` counts labels whose answer is stored."""

    accepted: int = 0
    matched: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)


def import_labels(path: Path, settings: Settings, *, as_json: bool) -> int:
    """Sends every line; returns the exit status: 1 where a line was refused, 2 for no file.

    Raises Unreachable where no daemon answers; what was sent before is stored, and the same
    file may be sent again.
    """
    done, labeller = Outcome(), str(get_from(to_api(settings, "triager"), "person")["name"])
    try:
        for chunk in _chunks(_checked(labels_of(_lines(path), labeller), done)):
            _send(settings, chunk, done)
    except OSError as error:
        print(f"{path}: cannot be read: {error.strerror or error}", file=sys.stderr)
        return 2
    except UnicodeDecodeError as error:
        print(f"{path}: is not UTF-8: {error.reason}", file=sys.stderr)
        return 2
    _report(done, as_json=as_json)
    return 1 if done.refused else 0


def _lines(path: Path) -> Iterator[Line]:
    """The lines of a file of JSON lines or CSV; `-` is JSON lines on standard input."""
    if path.suffix.lower() == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as text:
            yield from csv_lines(text)
        return
    source = sys.stdin.buffer if str(path) == "-" else path.open("rb")
    with source:
        yield from json_lines(source)


def _checked(lines: Iterable[ReadLabel], done: Outcome) -> Iterator[tuple[int, LabelPost]]:
    """The lines that are labels; the others are refused with the reason."""
    for line in lines:
        if line.post is None:
            _refuse(done, line.number, line.wrong)
        else:
            yield line.number, line.post


def _chunks(
    labels: Iterable[tuple[int, LabelPost]],
) -> Iterator[list[tuple[int, LabelPost]]]:
    source = iter(labels)
    while chunk := list(islice(source, AT_ONCE)):
        yield chunk


def _send(settings: Settings, chunk: Sequence[tuple[int, LabelPost]], done: Outcome) -> None:
    """Sends labels together. A refused chunk is halved until the wrong line is alone.

    The API stores all labels of a request or none.
    """
    body = [label.model_dump(mode="json", exclude_unset=True) for _, label in chunk]
    try:
        reply = post(settings, "labels", body, role="triager")
    except Refused as error:
        if len(chunk) == 1:
            _refuse(done, chunk[0][0], str(error))
            return
        middle = len(chunk) // 2
        _send(settings, chunk[:middle], done)
        _send(settings, chunk[middle:], done)
        return
    done.accepted += len(reply["labels"])
    done.matched += sum(bool(label["matched"]) for label in reply["labels"])


def _refuse(done: Outcome, number: int, reason: str) -> None:
    print_text(f"line {number}: {reason}", to=sys.stderr)
    done.refused.append((number, reason))


def _report(done: Outcome, *, as_json: bool) -> None:
    if as_json:
        refused = [{"line": number, "reason": reason} for number, reason in done.refused]
        print(json.dumps({"accepted": done.accepted, "matched": done.matched, "refused": refused}))
        return
    unmatched = done.accepted - done.matched
    waiting = f", {unmatched} of answers that are not stored (yet)" if unmatched else ""
    print(f"{done.accepted} labels stored{waiting}; {len(done.refused)} lines refused")


def export_labels(reply: JsonObject, form: str) -> None:
    """Prints the labels of a reply. Raises typer.BadParameter for a form that is none."""
    write = {"csv": to_csv, "jsonl": to_json_lines}.get(form)
    if write is None:
        raise typer.BadParameter(f"--format {form} is not csv or jsonl")
    sys.stdout.writelines(write(LabelsForm.model_validate(reply).labels))
