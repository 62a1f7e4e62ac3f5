"""Serves the API and pages in a thread of the core."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ragvigil.listener.limits import ConnectionCounts, ConnectionLimits
from ragvigil.listener.reloads import Reloads
from ragvigil.listener.serve import Tls, in_thread, serve
from ragvigil.web.metrics import WEB_CONNECTIONS, WEB_CONNECTIONS_CLOSED
from ragvigil.web.settings import WebSettings

if TYPE_CHECKING:
    from starlette.types import ASGIApp

WEB_STOP_SECONDS = 2
"""How long a request to the web may still take when the core stops."""


def serve_web(
    application: ASGIApp, settings: WebSettings, reloads: Reloads | None = None
) -> contextlib.AbstractContextManager[None]:
    """Serves the API and pages in a thread with an event loop of its own."""
    limits = ConnectionLimits(
        name="web",
        most=settings.max_connections,
        counts=ConnectionCounts(open=WEB_CONNECTIONS, closed=WEB_CONNECTIONS_CLOSED),
    )
    tls = Tls(
        certificate=settings.tls_certificate,
        key=settings.tls_key,
        client_ca=settings.tls_client_ca,
    )
    serving = serve(
        application,
        settings.endpoint,
        limits,
        tls=tls,
        stop_seconds=WEB_STOP_SECONDS,
        reloads=reloads,
    )
    return in_thread(serving, name="web", stop_seconds=2 * WEB_STOP_SECONDS)
