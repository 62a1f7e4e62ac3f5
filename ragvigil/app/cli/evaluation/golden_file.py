"""Golden cases in files: imported, exported, and checked without a daemon."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from clustering.golden import csv_table, set_file
from clustering.golden.case import BadCase, as_json, line, parse
from clustering.golden.settings import GoldenSettings
from ragvigil.app.cli.output.console import JsonObject, print_text
from ragvigil.app.client.api import Refused, post
from ragvigil.app.settings import Settings, SettingsError
from scorers.golden import BadGolden, question_key, read_golden

AT_ONCE = 20
"""Cases in one request; the API takes up to 50."""
Numbered = tuple[int, JsonObject]
"""A case by the keys of the set's file, with the number of its line."""


def import_cases(path: Path, settings: Settings, *, as_json: bool) -> int:
    """Proposes every case; returns the exit status: 1 where a line was refused, 2 for no file.

    Raises Unreachable where no daemon answers; the same file may be sent again.
    """
    refused: list[tuple[int, str]] = []
    proposed: list[str] = []
    try:
        propose_cases(settings, _rows(path, refused), proposed, refused)
    except OSError as error:
        print(f"{path}: cannot be read: {error.strerror or error}", file=sys.stderr)
        return 2
    except UnicodeDecodeError as error:
        print(f"{path}: is not UTF-8: {error.reason}", file=sys.stderr)
        return 2
    for number, why in refused:
        print_text(f"line {number}: {why}", to=sys.stderr)
    if as_json:
        reasons = [{"line": number, "reason": why} for number, why in refused]
        print(json.dumps({"proposed": proposed, "refused": reasons}))
    else:
        print(f"{len(proposed)} cases proposed; {len(refused)} lines refused")
    return 1 if refused else 0


def propose_cases(
    settings: Settings,
    rows: Iterable[Numbered],
    proposed: list[str],
    refused: list[tuple[int, str]],
) -> None:
    """Proposes cases, some at once: `proposed` gets their ids, `refused` numbers with reasons.

    Raises Unreachable.
    """
    left = iter(rows)
    while chunk := list(islice(left, AT_ONCE)):
        _send(settings, chunk, proposed, refused)


def _rows(path: Path, refused: list[tuple[int, str]]) -> Iterator[Numbered]:
    source = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    text = source.decode("utf-8-sig")
    if path.suffix.lower() == ".csv":
        try:
            yield from csv_table.from_csv(text)
        except BadCase as error:
            refused.append((0, str(error)))
        return
    for each in set_file.read(text):
        if each.case is None:
            refused.append((each.number, each.wrong))
        else:
            yield each.number, as_json(each.case)


def _send(
    settings: Settings,
    chunk: Sequence[Numbered],
    proposed: list[str],
    refused: list[tuple[int, str]],
) -> None:
    """Proposes cases together; a refused request is sent again case by case."""
    try:
        body = {"cases": [row for _, row in chunk]}
        reply = post(settings, "golden-import", body, role="triager")
    except Refused as error:
        if len(chunk) == 1:
            refused.append((chunk[0][0], str(error)))
            return
        for row in chunk:
            _send(settings, [row], proposed, refused)
        return
    for (number, _), outcome in zip(chunk, reply["cases"], strict=True):
        if outcome["refused"]:
            refused.append((number, outcome["refused"]))
        else:
            proposed.append(outcome["case_id"])


def export_cases(golden_set: JsonObject, form: str) -> int:
    """Prints the cases that are as they were signed.

    Returns the exit status: 1 where the set is broken, with the reasons on standard error.
    """
    wrong = {line["line"]: line["why"] for line in golden_set["broken"]}
    cases = [parse(row) for row in golden_set["cases"]]
    signed = [case for case in cases if set_file.is_as_signed(case)]
    if form == "csv":
        sys.stdout.write(csv_table.to_csv(signed))
    else:
        sys.stdout.writelines(f"{line(case)}\n" for case in signed)
    problem = golden_set["problem"]
    for why in [*filter(None, [problem]), *(f"line {n}: {w}" for n, w in wrong.items())]:
        print_text(why, to=sys.stderr)
    return 1 if wrong or problem else 0


def check_file(path: Path | None, settings: GoldenSettings, *, as_json: bool) -> int:
    """Prints what is wrong with a set's file; returns 1 where something is, 2 for no file.

    Raises SettingsError where neither a file nor a repository is named.
    """
    if path is None:
        if settings.repository is None:
            raise SettingsError("[golden] repository is not set, and no file was named")
        path = settings.repository / settings.file
    try:
        read_golden(path)
        broken = set_file.invalid_cases(
            set_file.read(path.read_text(encoding="utf-8-sig")), question_key
        )
    except BadGolden as error:
        print_text(error, to=sys.stderr)
        return 2
    if as_json:
        print(json.dumps({"file": str(path), "broken": [asdict(each) for each in broken]}))
        return 1 if broken else 0
    for each in broken:
        print_text(f"{path}:{each.number}: {each.case_id} {each.why}")
    if not broken:
        print(f"{path}: every case is as it was signed")
    return 1 if broken else 0
