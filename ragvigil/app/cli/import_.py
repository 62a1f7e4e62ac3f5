"""`ragvigil import`: what was recorded elsewhere, sent to the daemon as a declared backfill.

Resumable: a note says how far the source was acknowledged, and the next run goes on there.
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
from collector.backfill.state import Imported, keep, load
from collector.backfill.window import Contents, Window, window
from ragvigil.app.demo.recording import PROTOBUF
from ragvigil.app.demo.replay import GaveUp, Outgoing, Sending, Tally, send_all
from ragvigil.model.span import Signal

SHOWN = 5
THE_DAEMON_JUDGES = (
    "--judge: the daemon's settings alone decide that: with [judge] model and "
    "[judge] backfill = true it judges its sample of what is imported (`ragvigil judge cost` tells "
    "first what a day of live traffic costs); set them, restart it, and import without --judge"
)


def import_source(
    form: str,
    named: str,
    sending: Sending,
    *,
    state: Path | None = None,
    since: str | None = None,
    until: str | None = None,
    dry_run: bool = False,
    judge: bool = False,
    as_json: bool = False,
) -> int:
    """Imports a source of a format. Returns 0, 1 where something was refused, 2 where it could

    not be done, 130 where Ctrl-C stopped it.
    """
    tally = Tally()
    try:
        if judge:
            raise NotImportable(THE_DAEMON_JUDGES)
        source, wanted = source_of(form, named), window(since, until)
        kept = state or source.note
        taken = Taken(load(source.head, wanted, kept), None if dry_run else kept, wanted)
        outgoing = taken.going(source.pieces(taken.done.offset))
        if dry_run:
            for _ in outgoing:
                taken.acknowledged()
        else:
            _send(outgoing, taken, sending, source, tally)
        taken.settle()
    except (NotImportable, GaveUp) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    _say(taken, tally, dry_run=dry_run, as_json=as_json)
    return 1 if taken.done.refused or tally.counts["rejected"] else 0


class Taken:
    """Keeps the note of what was acknowledged, in the order of sending."""

    def __init__(self, done: Imported, kept: Path | None, wanted: Window) -> None:
        self.done = done
        self.contents = Contents()
        self.reasons: list[str] = []
        self._kept, self._wanted = kept, wanted
        self._sent: deque[Piece] = deque()

    def going(self, found: Iterator[Piece]) -> Iterator[Outgoing]:
        """Bodies to send, each noted as under way; what holds nothing is noted, not sent."""
        for piece in found:
            narrow = self.contents.narrowed(piece, self._wanted)
            self._sent.append(narrow)
            if narrow.items:
                path = "/v1/logs" if narrow.signal is Signal.LOGS else "/v1/traces"
                yield Outgoing(
                    body=narrow.payload, path=path, content_type=PROTOBUF, items=narrow.items
                )

    def acknowledged(self) -> None:
        """The oldest body under way has arrived, and so has what lies before it."""
        is_body = False
        while self._sent and not is_body:
            is_body = self._take(self._sent.popleft())
        self._note()

    def settle(self) -> None:
        """Everything is sent: what lies behind the last body held nothing."""
        while self._sent:
            self._take(self._sent.popleft())
        self._note()

    def _take(self, piece: Piece) -> bool:
        self.done.offset = piece.end
        self.done.items += piece.items
        self.done.refused += len(piece.refused)
        self.reasons += piece.refused[: SHOWN - len(self.reasons)]
        return piece.items > 0

    def _note(self) -> None:
        if self._kept is not None:
            keep(self.done, self._kept)


def _send(
    outgoing: Iterator[Outgoing], taken: Taken, sending: Sending, source: Source, tally: Tally
) -> None:
    columns = (
        TextColumn("importing"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[items]} spans"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=source.total, items=taken.done.items)

        def step(_: Outgoing) -> None:
            if tally.counts["refused"]:  # a token, most likely: the rest would fare no better
                raise NotImportable(f"the daemon takes it not: {next(iter(tally.messages))}")
            taken.acknowledged()
            bar.update(task, completed=taken.done.offset, items=taken.done.items)

        asyncio.run(send_all(outgoing, sending, tally, progress=step))


def _say(taken: Taken, tally: Tally, *, dry_run: bool, as_json: bool) -> None:
    done, held = taken.done, taken.contents.told()
    told = {
        "items": done.items, "refused": done.refused, "rejected": tally.counts["rejected"],
        "offset": done.offset, "dry_run": dry_run, "this_run": held, "why": taken.reasons,
    }  # fmt: skip
    if as_json:
        print(json.dumps(told))
        return
    print(f"{'would import' if dry_run else 'imported'} {done.items} spans and log records in all")
    print(f"  this run: {held['traces']} traces, {held['spans']} spans, {held['logs']} log records")
    if held["first"]:
        print(f"  from {held['first']} to {held['last']}")
    if held["outside"]:
        print(f"  {held['outside']} spans started outside of --since and --until")
    if tally.counts["rejected"]:
        print(f"  {tally.counts['rejected']} were rejected by the daemon")
    if done.refused:
        print(f"  {done.refused} rows or requests were refused, wholly or in part:")
        for line in taken.reasons:
            print(f"    {line}")
