"""`ragvigil import`: sends spans recorded elsewhere to the daemon as a declared backfill.

A note says how far the daemon acknowledged the source; the next run resumes there.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from collector.backfill.pieces import NotImportable, Piece
from collector.backfill.sources import Source, source_of
from collector.backfill.state import ImportNote, keep, load
from collector.backfill.window import Contents, Window, window
from ragvigil.app.cli.output.console import print_text
from ragvigil.app.demo.recording import PROTOBUF
from ragvigil.app.demo.replay import GaveUp, OutgoingRequest, SendOptions, Tally, send_all, teller
from ragvigil.model.span import Signal

MOST_REASONS = 5
"""Reasons for refusals that are printed."""


def import_source(
    form: str,
    named: str,
    sending: SendOptions,
    *,
    state: Path | None = None,
    since: str | None = None,
    until: str | None = None,
    dry_run: bool = False,
    as_json: bool = False,
) -> int:
    """Imports a source of a format; returns the exit status.

    0: done. 1: something was refused. 2: it could not be done. 130: Ctrl-C stopped it.
    """
    tally = Tally()
    try:
        source, times = source_of(form, named), window(since, until)
        note = state or source.note
        progress = ImportProgress(load(source.head, times, note), None if dry_run else note, times)
        outgoing = progress.outgoing(source.pieces(progress.done.offset))
        if dry_run:
            for _ in outgoing:
                progress.acknowledge()
        else:
            _send(outgoing, progress, sending, source, tally)
        progress.finish()
    except NotImportable as error:
        print_text(error, to=sys.stderr)
        return 2
    except GaveUp as error:
        print_text(f"{error}; the same command goes on from here", to=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    _report(progress, tally, dry_run=dry_run, as_json=as_json)
    return 1 if progress.done.refused or tally.counts["rejected"] else 0


class ImportProgress:
    """How far an import is. Writes the note after each acknowledged body; None writes none.

    Bodies are acknowledged in the order of sending, so that the note never runs ahead.
    """

    def __init__(self, done: ImportNote, note: Path | None, times: Window) -> None:
        self.done = done
        self.contents = Contents()
        self.reasons: list[str] = []
        self._note_path, self._times = note, times
        self._under_way: deque[Piece] = deque()

    def outgoing(self, pieces: Iterator[Piece]) -> Iterator[OutgoingRequest]:
        """Yields the body of each piece within the times; a piece without items is not sent."""
        for piece in pieces:
            narrow = self.contents.narrow(piece, self._times)
            self._under_way.append(narrow)
            if narrow.items:
                path = "/v1/logs" if narrow.signal is Signal.LOGS else "/v1/traces"
                yield OutgoingRequest(
                    body=narrow.payload, path=path, content_type=PROTOBUF, items=narrow.items
                )

    def acknowledge(self) -> None:
        """Counts the oldest body under way, and the pieces without items before it."""
        is_body = False
        while self._under_way and not is_body:
            is_body = self._count(self._under_way.popleft())
        self._write_note()

    def finish(self) -> None:
        """Counts the pieces without items behind the last body."""
        while self._under_way:
            self._count(self._under_way.popleft())
        self._write_note()

    def _count(self, piece: Piece) -> bool:
        """Whether the piece was sent."""
        self.done.offset = piece.end
        self.done.items += piece.items
        self.done.refused += len(piece.refused)
        self.reasons += piece.refused[: MOST_REASONS - len(self.reasons)]
        return piece.items > 0

    def _write_note(self) -> None:
        if self._note_path is not None:
            keep(self.done, self._note_path)


def _send(
    outgoing: Iterator[OutgoingRequest],
    progress: ImportProgress,
    sending: SendOptions,
    source: Source,
    tally: Tally,
) -> None:
    columns = (
        TextColumn("importing"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[items]} spans"),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=source.total, items=progress.done.items)

        def step(_: OutgoingRequest) -> None:
            if tally.counts[
                "refused"
            ]:  # most likely the token: every other body would be refused too
                raise NotImportable(f"the daemon rejected the import: {next(iter(tally.messages))}")
            progress.acknowledge()
            bar.update(task, completed=progress.done.offset, items=progress.done.items)

        asyncio.run(send_all(outgoing, sending, tally, progress=step, tell=teller(bar)))


def _report(progress: ImportProgress, tally: Tally, *, dry_run: bool, as_json: bool) -> None:
    done, this_run = progress.done, progress.contents.summary()
    if as_json:
        summary = {
            "items": done.items, "refused": done.refused, "rejected": tally.counts["rejected"],
            "offset": done.offset, "dry_run": dry_run, "this_run": this_run,
            "why": progress.reasons,
        }  # fmt: skip
        print(json.dumps(summary))
        return
    print(f"{'would import' if dry_run else 'imported'} {done.items} spans and log records in all")
    counts = f"{this_run['traces']} traces, {this_run['spans']} spans"
    print(f"  this run: {counts}, {this_run['logs']} log records")
    if this_run["first"]:
        print(f"  from {this_run['first']} to {this_run['last']}")
    if this_run["outside"]:
        print(f"  {this_run['outside']} spans started outside of --since and --until")
    if tally.counts["rejected"]:
        print(f"  {tally.counts['rejected']} were rejected by the daemon")
    if done.refused:
        print(f"  {done.refused} rows or requests were refused, wholly or in part:")
        for reason in progress.reasons:
            print_text(f"    {reason}")
