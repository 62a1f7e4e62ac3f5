"""Makes room while the disk is short, and says when that begins and ends."""

from __future__ import annotations

import asyncio
from pathlib import Path

import structlog

from collector.spool.directory import is_end_asked
from collector.spool.reserve import DiskReserve
from collector.spool.spool import SpoolWriter

log = structlog.get_logger()

LOOK_SECONDS = 1.0


async def keep_room(spool: SpoolWriter, disk: DiskReserve, folder: Path) -> None:
    """Until cancelled; call it in the intake. `folder` is the spool's.

    The segment being written is never dropped: while spans are refused it would keep its space for
    ever, so it is ended. So it is where the core asks, because something in it was erased.
    """
    was_touched = False
    while True:
        is_touched = disk.is_touched()
        if is_touched or is_end_asked(folder):
            await spool.end_segment()
        if is_touched and not was_touched:
            log.error("only the disk's reserve is left: spans are refused until more is free")
        elif was_touched and not is_touched:
            log.info("the disk has room again: spans are taken")
        was_touched = is_touched
        await asyncio.sleep(LOOK_SECONDS)
