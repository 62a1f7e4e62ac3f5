"""What is read again on SIGHUP: tokens and certificates, while connections go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import structlog

log = structlog.get_logger()

Take: TypeAlias = Callable[[], None]


class Reloads:
    """Reads all of it again, or, where one file is wrong, takes none of it.

    So a listener never has the certificate of today with the token of yesterday. What is open stays
    open: a certificate counts for new connections, a token for new requests.
    """

    def __init__(self) -> None:
        self._reads: list[Callable[[], Take]] = []

    def add(self, read: Callable[[], Take]) -> None:
        """Adds what `read` reads; it raises ValueError or OSError, or returns what takes it."""
        self._reads.append(read)

    def run(self) -> None:
        """Reads everything, then takes everything. Raises ValueError, with the first mistake."""
        try:
            takes = [read() for read in self._reads]
        except OSError as error:  # of TLS too
            raise ValueError(str(error)) from error
        for take in takes:
            take()


def run_logged(reloads: Reloads, listeners: str) -> None:
    """Runs them; logs that they were taken, or in a sentence why nothing was."""
    try:
        reloads.run()
    except ValueError as error:
        log.error("reload refused; what was in force stays", listeners=listeners, reason=str(error))
    else:
        log.info("tokens and certificates were read again", listeners=listeners)
