"""The whole proof in one command: every row of `rig/proof_rows.py`, and docs/proof.md from it.

    .venv/bin/python bench/proof.py [--full] [--only ROW ...] [--again] [--minutes N] [--list]
    .venv/bin/python bench/proof.py --full --again --only kill_storm \
        --more="--minutes 7 --folder .proof/kill_storm"        # a long row in parts of 7 minutes

`make proof` runs the small sizes, in a quarter of an hour on two quiet cores; `make proof-full` the
full ones, in some hours. Each row is a benchmark or some tests, in a process of its own. Results
are kept in `--folder`, one file a row and size: a run that broke off goes on, and a row is not run
again for the same commit unless `--again` says so. No row begins after `--minutes`. At the end
docs/proof.md is written from all results in the folder; a row without one keeps its line, or says
that it was not run. The exit status is that of the rows of this run: 1 if any failed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.rig.proof_rows import ROWS, Row
from bench.rig.report import bench_data, progress
from ragvigil.app.process.memory import cpus
from ragvigil.app.process.tied import run_tied

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "proof.md"
PATIENCE = 6.0
"""A row that takes so many times the minutes expected of it, and five more, has failed."""
MOST_FIGURES = 9
PASSED = re.compile(r"(\d+ passed[^=\n]*)")
SIZES = ("small", "full")
WORDS = {"pass": "passed", "fail": "**FAILED**", "timeout": "**took too long**"}


def run_row(row: Row, *, is_full: bool, more: Sequence[str] = ()) -> dict[str, Any]:
    """The result of one row: how it ended, what it measured, where and when.

    `more` are further arguments of its command.
    """
    command = (*row.command(is_full=is_full), *more)
    seconds = limit(row, SIZES[is_full])
    began = time.monotonic()
    result: dict[str, Any] = {
        "row": row.name,
        "size": SIZES[is_full],
        "commit": commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        "machine": machine(),
        "command": " ".join(command),
    }
    try:
        done = run_tied([sys.executable, *command], seconds=seconds, cwd=ROOT, env=environment())
    except subprocess.TimeoutExpired:
        return result | {"end": "timeout", "seconds": round(seconds), "measured": ""}
    result["seconds"] = round(time.monotonic() - began)
    result["end"] = "fail" if done.returncode else "pass"
    line = last_json(done.stdout)
    if line is None:
        found = PASSED.findall(done.stdout)
        failed = re.findall(r"\d+ (?:failed|errors?)", done.stdout)
        return result | {"measured": ", ".join([*failed[-1:], *found[-1:]])}
    result["seed"] = line.get("seed")
    result["failed_bars"] = [bar for bar, held in line.get("bars", {}).items() if not held]
    return result | {"measured": shown(line, row.shows)}


def limit(row: Row, size: str) -> float:
    """Seconds after which a row has failed."""
    return 60 * (PATIENCE * row.minutes[size == "full"] + 5)


def environment() -> dict[str, str]:
    """Of a row: no model process, which no row needs; data where the machine has it."""
    return {"RAGVIGIL_INFERENCE__ENABLED": "false", **os.environ}


def last_json(output: str) -> dict[str, Any] | None:
    """The JSON object of the last line that is one."""
    for line in reversed(output.splitlines()):
        if line.startswith("{"):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            return value if isinstance(value, dict) else None
    return None


def shown(figures: Mapping[str, Any], names: Sequence[str]) -> str:
    """The named figures, those that are there; without names the first MOST_FIGURES numbers."""
    parts = []
    numbers = [name for name, value in figures.items() if type(value) in (int, float)]
    for name in names or [name for name in numbers if name != "seed"][:MOST_FIGURES]:
        value: Any = figures
        for step in name.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        if value is not None:
            text = json.dumps(value) if isinstance(value, Mapping | list) else str(value)
            parts.append(f"{name.replace('_', ' ')} {text}")
    return ", ".join(parts)


def commit() -> str:
    """The commit that is checked out, with a mark where files differ from it.

    The document does not count: the run before this one wrote it.
    """
    others = f":!{DOCUMENT.relative_to(ROOT)}"
    try:
        head = _git("rev-parse", "--short=10", "HEAD")
        differ = _git("status", "--porcelain", "--untracked-files=no", "--", ".", others)
        return head + ("+" if differ else "")
    except (OSError, subprocess.CalledProcessError):
        return "no git"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def machine() -> str:
    """Cores, memory, system and Python, and how busy the machine was."""
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
    busy = os.getloadavg()[0]
    return (
        f"{cpus()} cores, {gib:.0f} GiB, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, load {busy:.1f}"
    )


def results(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """All results in the folder by row and size."""
    found = {}
    for file in sorted(folder.glob("*.json")):
        one = json.loads(file.read_text(encoding="utf-8"))
        found[one["row"], one["size"]] = one
    return found


def document(found: Mapping[tuple[str, str], Mapping[str, Any]], before: str = "") -> str:
    """docs/proof.md; rows without a result have the line that they have in the text `before`."""
    lines = before.splitlines()
    return "\n".join([*_head(found, lines), *_table(found, lines), ""])


def _head(
    found: Mapping[tuple[str, str], Mapping[str, Any]], before: Sequence[str]
) -> Iterator[str]:
    yield "# Proof"
    yield ""
    yield (
        "Written by `make proof` (small sizes) and `make proof-full` (full sizes), never by hand: "
        "what each promise says, the bar, and what was measured. A commit with `+` had changed "
        "files. *Not run* means so: nothing is claimed. "
        "Small sizes judge answers alone: bars of seconds "
        "and shares of a core are judged at full size."
    )
    yield ""
    has_data = "with" if bench_data() else "without"
    yield f"The last run was {has_data} the data of `RAGVIGIL_BENCH_DATA`. Machines:"
    yield ""
    machines: dict[str, set[str]] = {}
    for name, dates in re.findall(r"^\* (.*), on (.*)$", "\n".join(before), re.MULTILINE):
        machines[name] = set(dates.split(", "))
    for one in found.values():
        machines.setdefault(one["machine"].rpartition(", load")[0], set()).add(one["date"][:10])
    for name, days in sorted(machines.items()):
        yield f"* {name}, on {', '.join(sorted(days))}"
    yield ""


def _table(
    found: Mapping[tuple[str, str], Mapping[str, Any]], before: Sequence[str]
) -> Iterator[str]:
    yield "| what | bar | size | result | measured | seed | commit, date, load | command |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in ROWS:
        for is_full, size in enumerate(SIZES):
            if not is_full or row.small != row.full:
                yield _line(row, size, found.get((row.name, size)), before)


def _line(row: Row, size: str, one: Mapping[str, Any] | None, before: Sequence[str]) -> str:
    name = "both" if row.small == row.full else size
    if one is None:
        head = f"| {row.what} | {row.bar} | {name} | "
        kept = next((line for line in before if line.startswith(head)), None)
        return kept or f"{head}not run | | | | `--only {row.name}` |"
    failed = "; ".join(one.get("failed_bars", ()))
    measured = ". ".join(filter(None, [one["measured"], failed and f"Not held: {failed}"]))
    busy = one["machine"].rpartition("load ")[2]
    where = f"{one['commit']}, {one['date']}, {busy}"
    seed = "" if one.get("seed") is None else one["seed"]
    result = f"{WORDS[one['end']]} in {one['seconds']} s"
    command = one["command"].replace("|", "/")
    return (
        f"| {row.what} | {row.bar} | {name} | {result} | {measured.replace('|', '/')} "
        f"| {seed} | {where} | `{command}` |"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    names = [row.name for row in ROWS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="ROW")
    parser.add_argument("--more", type=shlex.split, default=[], help="arguments for the commands")
    parser.add_argument("--again", action="store_true", help="runs rows that have a result, too")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no row begins later")
    parser.add_argument("--folder", type=Path, default=ROOT / ".proof")
    parser.add_argument("--list", action="store_true", help="prints the rows and runs none")
    options = parser.parse_args()
    rows = [row for row in ROWS if row.name in options.only]
    if options.list:
        for row in rows:
            print(f"{row.name:24} {row.what}")
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = run_rows(rows, options)
    before = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.exists() else ""
    DOCUMENT.write_text(document(results(options.folder), before), encoding="utf-8")
    progress(f"{DOCUMENT.relative_to(ROOT)} is written; failed: {', '.join(failed) or 'none'}")
    sys.exit(1 if failed else 0)


def run_rows(rows: Sequence[Row], options: argparse.Namespace) -> list[str]:
    """Runs what has no result yet; the names of the rows that failed."""
    end, failed, now = time.monotonic() + 60 * options.minutes, [], commit()
    known = results(options.folder)
    for place, row in enumerate(rows, 1):
        head = f"[{place}/{len(rows)}] {row.name}"
        size = SIZES[options.full and row.small != row.full]
        before = known.get((row.name, size))
        if before and before["commit"] == now and not options.again:
            progress(f"{head}: {before['end']} before, at this commit")
        elif time.monotonic() > end:
            progress(f"{head}: not run, the time is over")
            continue
        else:
            progress(f"{head}: {row.what}; at most {limit(row, size) / 60:g} min")
            before = run_row(row, is_full=size == "full", more=options.more)
            file = options.folder / f"{row.name}.{size}.json"
            file.write_text(json.dumps(before, indent=1), encoding="utf-8")
            progress(f"{head}: {before['end']} in {before['seconds']} s; {before['measured']}")
        if before["end"] != "pass":
            failed.append(row.name)
    return failed


if __name__ == "__main__":
    main()
