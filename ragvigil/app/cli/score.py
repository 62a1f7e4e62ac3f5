"""`ragvigil score FILE`: records in JSON lines to scores, without a daemon."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from ragvigil.app.cli.input.record_line import (
    OTHER_NAMES,
    RECORD_KEYS,
    BadLine,
    object_of,
    record_of,
)
from ragvigil.app.cli.output.console import JsonObject, print_text
from ragvigil.app.settings import Settings, SettingsError
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score


def score_file(path: Path, settings: Settings, *, as_json: bool) -> int:
    """Prints the scores of each record; returns the exit status.

    1 where a line was refused, 2 where the file cannot be read or holds no line. Keys that nothing
    reads are named once. Raises SettingsError where the settings name an unknown rubric.
    """
    from scorers.runner import Runner, UnknownRubric, load_scorers

    try:
        runner = Runner(load_scorers(settings.scorers), settings.scorers)
    except UnknownRubric as error:
        raise SettingsError(str(error)) from error
    lines = refused = 0
    unread: set[str] = set()
    try:
        for number, line in _lines(path):
            lines += 1
            try:
                row = object_of(line, number)
                record = record_of(row, number)
            except BadLine as error:
                print_text(error, to=sys.stderr)
                refused += 1
                continue
            _name_unread(row, number, unread)
            _show(record, runner.score_all(record), as_json=as_json)
    except OSError as error:
        print_text(f"{path}: cannot be read: {error.strerror or error}", to=sys.stderr)
        return 2
    if not lines:
        print_text(
            f"{path}: is empty; `ragvigil help record file` says what it holds", to=sys.stderr
        )
        return 2
    return 1 if refused else 0


def _name_unread(row: JsonObject, number: int, named: set[str]) -> None:
    """Says which keys of a line nothing reads, each key once."""
    unread = sorted(row.keys() - RECORD_KEYS.keys() - OTHER_NAMES - named)
    named.update(unread)
    if unread:
        known = ", ".join(RECORD_KEYS)
        sentence = f"line {number}: nothing reads {', '.join(unread)}; the keys are {known}"
        print_text(sentence, to=sys.stderr)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are not empty, each with its number in the file."""
    source = sys.stdin.buffer if str(path) == "-" else path.open("rb")
    with source:
        yield from ((number, line) for number, line in enumerate(source, start=1) if line.strip())


def _show(record: RagRecord, scores: tuple[Score, ...], *, as_json: bool) -> None:
    if as_json:
        plain = [_plain(score) for score in scores]
        print(json.dumps({"trace_id": record.trace_id, "scores": plain}))
        return
    print_text(f"{record.trace_id}  {record.query or ''}")
    for score in scores:
        value = "    –" if score.value is None else f"{score.value:5.2f}"
        line = f"{score.layer:<13} {score.rubric:<22} {value}  {score.label}  {score.explanation}"
        print_text(f"  {line}")


def _plain(score: Score) -> JsonObject:
    return {
        "rubric": score.rubric,
        "layer": score.layer,
        "kind": score.kind,
        "value": score.value,
        "label": score.label,
        "explanation": score.explanation,
        "absent": score.absent,
        "scorer": score.scorer,
        "version": score.version,
        "details": dict(score.details),
    }
