"""Recorded answers of the example service, sent to a real daemon, and waiting for what it says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ragvigil.app.demo.child_daemon import ChildDaemon
from ragvigil.app.demo.recording import read_recording
from ragvigil.app.demo.replay import OutgoingRequest, SendOptions, Tally, send_all
from ragvigil.app.demo.schedule import Template, templates
from tests.patience import PATIENCE_SECONDS

RECORDED = Path(__file__).resolve().parents[1] / "examples" / "helpdesk" / "recorded"


def recorded(name: str) -> dict[str, list[Template]]:
    return templates(read_recording(RECORDED / name))


def send(daemon: ChildDaemon, bodies: Iterator[OutgoingRequest], backfill: str = "") -> None:
    sending = SendOptions(target=f"http://{daemon.http}", backfill=backfill)
    asyncio.run(send_all(bodies, sending, Tally()))


def wait_for(found: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (said := found()):
        assert time.monotonic() < deadline, "it did not come in time"
        time.sleep(0.5)
    return said
