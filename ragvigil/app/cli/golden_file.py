"""Golden cases in files: imported, exported, and checked without a daemon."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from clustering.golden import csv_table as table
from clustering.golden import set_file as lines
from clustering.golden.case import BadCase, as_json, line, parse
from clustering.golden.settings import GoldenSettings
from ragvigil.app.cli.api_client import Refused, post
from ragvigil.app.settings import Settings, SettingsError
from scorers.golden import BadGolden, question_key, read_golden

AT_ONCE = 20
Numbered = tuple[int, Mapping[str, Any]]


def import_cases(path: Path, settings: Settings, actor: str, *, as_json: bool) -> int:
    """Sends every case; returns the exit status: 1 where one was refused, 2 for no file.

    Raises Unreachable where no daemon takes them; the same file may be sent again.
    """
    refused: list[tuple[int, str]] = []
    proposed: list[str] = []
    try:
        rows = iter(_rows(path, refused))
        while some := list(islice(rows, AT_ONCE)):
            _send(settings, some, actor, proposed, refused)
    except OSError as error:
        print(f"{path}: cannot be read: {error.strerror or error}", file=sys.stderr)
        return 2
    except UnicodeDecodeError as error:
        print(f"{path}: is not UTF-8: {error.reason}", file=sys.stderr)
        return 2
    for number, why in refused:
        print(f"line {number}: {why}", file=sys.stderr)
    if as_json:
        wrong = [{"line": number, "reason": why} for number, why in refused]
        print(json.dumps({"proposed": proposed, "refused": wrong}))
    else:
        print(f"{len(proposed)} cases proposed; {len(refused)} lines refused")
    return 1 if refused else 0


def _rows(path: Path, refused: list[tuple[int, str]]) -> Iterator[Numbered]:
    source = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    text = source.decode("utf-8-sig")
    if path.suffix.lower() == ".csv":
        try:
            yield from table.read(text)
        except BadCase as error:
            refused.append((0, str(error)))
        return
    for one in lines.read(text):
        if one.case is None:
            refused.append((one.number, one.wrong))
        else:
            yield one.number, as_json(one.case)


def _send(
    settings: Settings,
    some: Sequence[Numbered],
    actor: str,
    proposed: list[str],
    refused: list[tuple[int, str]],
) -> None:
    """Sends them together; where they are refused together, one by one."""
    try:
        body = {"actor": actor, "cases": [row for _, row in some]}
        reply = post(settings, "golden-import", body, role="triager")
    except Refused as error:
        if len(some) == 1:
            refused.append((some[0][0], str(error)))
            return
        for one in some:
            _send(settings, [one], actor, proposed, refused)
        return
    for (number, _), one in zip(some, reply["cases"], strict=True):
        if one["refused"]:
            refused.append((number, one["refused"]))
        else:
            proposed.append(one["case_id"])


def export_cases(found: Mapping[str, Any], form: str) -> int:
    """Prints what was signed; returns 1 where the set is broken, and names why."""
    wrong = {one["line"]: one["why"] for one in found["broken"]}
    cases = [parse(one) for one in found["cases"]]
    good = [one for one in cases if lines.is_as_signed(one)]
    if form == "csv":
        sys.stdout.write(table.written(good))
    else:
        sys.stdout.writelines(f"{line(one)}\n" for one in good)
    for why in [*filter(None, [found["problem"]]), *(f"line {n}: {w}" for n, w in wrong.items())]:
        print(why, file=sys.stderr)
    return 1 if wrong or found["problem"] else 0


def check_file(path: Path | None, settings: GoldenSettings, *, as_json: bool) -> int:
    """Prints what is wrong with a set's file; 1 where something is, 2 where there is none.

    Raises SettingsError where neither a file nor a repository is named.
    """
    if path is None:
        if settings.repository is None:
            raise SettingsError("[golden] repository is not set, and no file was named")
        path = settings.repository / settings.file
    try:
        read_golden(path)
        found = lines.broken(lines.read(path.read_text(encoding="utf-8-sig")), question_key)
    except BadGolden as error:
        print(error, file=sys.stderr)
        return 2
    if as_json:
        print(json.dumps({"file": str(path), "broken": [asdict(one) for one in found]}))
        return 1 if found else 0
    for one in found:
        print(f"{path}:{one.number}: {one.case_id} {one.why}")
    if not found:
        print(f"{path}: every case is as it was signed")
    return 1 if found else 0
