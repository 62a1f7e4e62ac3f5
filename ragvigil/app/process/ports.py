"""Checks before the start that every listening address is free; errors name the setting."""

from __future__ import annotations

import errno
import socket
import time

from ragvigil.app.settings import Settings, endpoints, variable
from ragvigil.model.endpoint import split_endpoint

CLOSING_SECONDS = 1.0
"""The kernel frees the lock of a process that was killed a moment before its ports."""


class PortTaken(Exception):
    """An address cannot be listened on; `str(error)` is the line for the user."""


def require_free(settings: Settings) -> None:
    """Raises PortTaken for the first address that is in use or not one of this machine."""
    give_up = time.monotonic() + CLOSING_SECONDS
    for path, endpoint in endpoints(settings).items():
        while (error := _obstacle(*split_endpoint(endpoint))) is not None:
            if error.errno != errno.EADDRINUSE or time.monotonic() >= give_up:
                raise PortTaken(_taken(path, endpoint, error)) from error
            time.sleep(CLOSING_SECONDS / 20)


def _obstacle(host: str, port: int) -> OSError | None:
    """Why the address cannot be listened on; None if it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # Connections of an earlier daemon in TIME_WAIT do not make the address taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
    return None


def _taken(path: tuple[str, str], endpoint: str, error: OSError) -> str:
    reason = "is already in use" if error.errno == errno.EADDRINUSE else f"cannot be used: {error}"
    section, key = path
    return f"[{section}] {key}: {endpoint} {reason}; set another one there or in {variable(path)}"
