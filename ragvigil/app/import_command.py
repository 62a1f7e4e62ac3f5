"""`ragvigil import`: what was recorded elsewhere, sent to the daemon as a declared backfill.

Resumable: beside the source stands how far it was acknowledged, and the next run goes on there.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from ragvigil.app.import_collector_file import NotImportable, Piece, pieces
from ragvigil.app.recording import PROTOBUF
from ragvigil.app.replay import GaveUp, Outgoing, Sending, Tally, send_all
from ragvigil.model.span import Signal

SUFFIX = ".ragvigil-import.json"
HEAD_BYTES = 4096
SHOWN = 5


@dataclass(slots=True, kw_only=True)
class Imported:
    """How far a source was taken: `offset` bytes of it, acknowledged; counts over all runs.

    `head` names its first `head_bytes`: the rest may grow between two runs.
    """

    head: str
    head_bytes: int
    offset: int = 0
    items: int = 0
    refused: int = 0


def import_file(
    path: Path, target: str, *, state: Path | None, backfill: str, dry_run: bool, as_json: bool
) -> int:
    """Imports a file of the Collector's file exporter.

    Returns 0, 1 where something was refused, 2 where it could not be done.
    """
    kept = state or path.with_name(path.name + SUFFIX)
    try:
        done = load(path, kept)
        refused: list[str] = []
        taken = _Taken(done, None if dry_run else kept, refused)
        outgoing = taken.going(pieces(path, done.offset))
        if dry_run:
            taken.count(outgoing)
        else:
            _send(outgoing, taken, Sending(target=target, backfill=backfill), path)
    except (NotImportable, GaveUp) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"stopped; the same command goes on from byte {done.offset}", file=sys.stderr)
        return 130
    _say(done, refused, dry_run=dry_run, as_json=as_json)
    return 1 if done.refused else 0


def load(path: Path, kept: Path) -> Imported:
    """How far this source was taken before. Raises NotImportable where the note is of another."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        raise NotImportable(f"{path}: cannot be read: {error}") from error
    if not kept.exists():
        return Imported(head=_name_of(head), head_bytes=len(head))
    try:
        done = Imported(**json.loads(kept.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise NotImportable(f"{kept}: is no note of an import; remove it to begin anew") from error
    if done.head != _name_of(head[: done.head_bytes]):
        raise NotImportable(f"{kept}: is of another file; remove it to begin anew")
    return done


def _name_of(head: bytes) -> str:
    return hashlib.blake2b(head, digest_size=16).hexdigest()


class _Taken:
    """Keeps the note of what was acknowledged, in the order of sending."""

    def __init__(self, done: Imported, kept: Path | None, refused: list[str]) -> None:
        self.done = done
        self._kept, self._refused = kept, refused
        self._sent: deque[Piece] = deque()

    def going(self, found: Iterator[Piece]) -> Iterator[Outgoing]:
        """Bodies to send, each noted as under way."""
        for piece in found:
            self._sent.append(piece)
            path = "/v1/logs" if piece.signal is Signal.LOGS else "/v1/traces"
            yield Outgoing(body=piece.payload, path=path, content_type=PROTOBUF, items=piece.items)

    def acknowledged(self) -> int:
        """The oldest body under way has arrived; returns how far the source is taken."""
        piece = self._sent.popleft()
        self.done.offset = piece.end
        self.done.items += piece.items
        self.done.refused += len(piece.refused)
        self._refused += piece.refused[: SHOWN - len(self._refused)]
        if self._kept is not None:
            self._kept.write_text(json.dumps(asdict(self.done)), encoding="utf-8")
        return piece.end

    def count(self, outgoing: Iterator[Outgoing]) -> None:
        """Counts without sending."""
        for _ in outgoing:
            self.acknowledged()


def _send(outgoing: Iterator[Outgoing], taken: _Taken, sending: Sending, path: Path) -> None:
    tally = Tally()
    columns = (TextColumn("importing"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("importing", total=path.stat().st_size, completed=taken.done.offset)

        def step(_: Outgoing) -> None:
            if tally.counts["refused"]:  # a token, most likely: the rest would fare no better
                raise NotImportable(f"the daemon takes it not: {next(iter(tally.messages))}")
            bar.update(task, completed=taken.acknowledged())

        asyncio.run(send_all(outgoing, sending, tally, progress=step))


def _say(done: Imported, refused: list[str], *, dry_run: bool, as_json: bool) -> None:
    told = {"items": done.items, "refused": done.refused, "bytes": done.offset, "why": refused}
    if as_json:
        print(json.dumps(told))
        return
    print(f"{'would import' if dry_run else 'imported'} {done.items} spans and log records")
    if done.refused:
        print(f"  {done.refused} requests were refused, wholly or in part:")
        for line in refused:
            print(f"    {line}")
