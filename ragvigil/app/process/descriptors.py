"""The limit of open files: raised at start, and shared out among the listeners."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Mapping

import structlog

from ragvigil.app.settings import Settings

log = structlog.get_logger()

USEFUL = 65_536
"""More than all listeners together ever need."""
INTAKE_RESERVE = 96
"""Of the intake, for all but connections: some 40 are open at rest (spool, gRPC, channel to the
core), starting a core takes 10, and an accept has one before it closes another."""
CORE_SHARE = 4
"""The web gets one of this many; the rest is the store's, which opens files by the hundred."""
LEAST = 4
"""Connections that a listener gets however low the limit is."""


def raise_limit() -> int:
    """Raises the soft limit towards the hard one, for this process and those it starts.

    Returns the limit in force.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = USEFUL if hard == resource.RLIM_INFINITY else min(hard, USEFUL)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return USEFUL if soft == resource.RLIM_INFINITY else soft
    with contextlib.suppress(OSError, ValueError):  # macOS allows less than its hard limit says
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def fit_intake(settings: Settings, limit: int) -> Settings:
    """The settings with as many connections as `limit` open files allow; logs what it lowers."""
    limits, metrics = settings.collector.limits, settings.metrics
    wishes = {
        "grpc": limits.max_connections,
        "http": limits.max_connections,
        "metrics": metrics.max_connections,
    }
    shares = _shares(wishes, limit - INTAKE_RESERVE)
    if shares == wishes:
        return settings
    log.warning("fewer connections than set: the limit of open files is low", files=limit, **shares)
    otlp = limits.model_copy(update={"max_connections": min(shares["grpc"], shares["http"])})
    return settings.model_copy(
        update={
            "collector": settings.collector.model_copy(update={"limits": otlp}),
            "metrics": metrics.model_copy(update={"max_connections": shares["metrics"]}),
        }
    )


def fit_core(settings: Settings, limit: int) -> Settings:
    """As `fit_intake`, for the web."""
    most = max(LEAST, limit // CORE_SHARE)
    if settings.web.max_connections <= most:
        return settings
    log.warning("fewer connections than set: the limit of open files is low", files=limit, web=most)
    return settings.model_copy(
        update={"web": settings.web.model_copy(update={"max_connections": most})}
    )


def _shares(wishes: Mapping[str, int], room: int) -> dict[str, int]:
    """Room for each: a small wish is granted whole before large ones share what is left."""
    shares, left = {}, room
    for served, (name, wish) in enumerate(sorted(wishes.items(), key=lambda each: each[1])):
        shares[name] = max(LEAST, min(wish, left // (len(wishes) - served)))
        left -= shares[name]
    return shares
