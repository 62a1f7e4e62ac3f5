"""`ragvigil replay`: sends a folder of recorded OTLP bodies again, with a progress bar."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from dataclasses import asdict
from pathlib import Path

from ragvigil.app.demo.recording import NotARecording, read_recording
from ragvigil.app.demo.replay import (
    GaveUp,
    ReplaySummary,
    SendOptions,
    Tally,
    duration_seconds,
    prepare,
    send_with_bar,
    shift_to_end,
)
from ragvigil.app.demo.rewrite import Change

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}


def replay_folder(
    path: Path,
    sending: SendOptions,
    rate: float | None,
    shift: str | None,
    *,
    new_ids: bool,
    as_json: bool,
) -> int:
    """Replays a folder and prints what became of it.

    Returns the exit status: 1 where something was refused or unreadable, 2 where nothing was sent.
    """
    try:
        summary = _replay(path, sending, rate, shift, new_ids=new_ids)
    except (NotARecording, GaveUp, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(asdict(summary)) if as_json else in_words(summary))
    return 1 if summary.refused_requests or summary.unreadable_requests else 0


def shift_seconds(text: str) -> float:
    """Seconds of `90`, `-30m`, `3h` or `2d`.

    >>> shift_seconds("-1.5h")
    -5400.0

    Raises ValueError on anything else.
    """
    match = re.fullmatch(r"([+-]?\d+(?:\.\d+)?)([smhd]?)", text.strip())
    if match is None:
        raise ValueError(f"--shift: {text!r} is neither `now` nor a time like 90, -30m, 3h or 2d")
    return float(match[1]) * UNITS[match[2]]


def in_words(summary: ReplaySummary) -> str:
    """The result in a few lines."""
    pace = summary.items / summary.seconds if summary.seconds else 0.0
    lines = [
        f"sent {summary.requests} requests with {summary.items} spans and logs, "
        f"{summary.body_bytes / 1e6:.1f} MB, in {summary.seconds:.1f} s ({pace:.0f} a second)"
    ]
    problems = {
        "rejected in part": summary.rejected_items,
        "requests refused": summary.refused_requests,
        "requests unreadable": summary.unreadable_requests,
        "sent again because the receiver was busy": summary.retries,
    }
    lines += [f"  {count} {what}" for what, count in problems.items() if count]
    return "\n".join([*lines, *(f"  {message}" for message in summary.messages)])


def _replay(
    path: Path, sending: SendOptions, rate: float | None, shift: str | None, *, new_ids: bool
) -> ReplaySummary:
    recording = list(read_recording(path))
    nanos = 0
    if shift == "now":
        # At the recorded pace the last request leaves when the others have been sent.
        end = time.time() + duration_seconds(recording, rate)
        nanos = shift_to_end(recording, int(end * 1e9))
    elif shift is not None:
        nanos = int(shift_seconds(shift) * 1e9)
    change = Change(shift_nanos=nanos, salt=os.urandom(16) if new_ids else b"")
    tally = Tally()
    bodies = prepare(recording, change, rate, tally)
    return send_with_bar(bodies, len(recording), sending, tally)
