"""Plug-ins that cannot be used: the daemon runs without them, logs and counts them."""

from __future__ import annotations

import structlog
from prometheus_client import Counter

from collector.claims.registry import conventions_left_out
from ragvigil.model.plugin import LeftOut
from scorers.registry import scorers_left_out
from scorers.rubric import rubrics_left_out

log = structlog.get_logger()

FAILURES = Counter(
    "ragvigil_plugin_failures",
    "Plug-ins left out when the daemon started, because they could not be used.",
    ["group", "name"],
)


def left_out() -> tuple[LeftOut, ...]:
    """Scorers, rubrics and conventions of other distributions that cannot be used."""
    return (*scorers_left_out(), *rubrics_left_out(), *conventions_left_out())


def announce() -> None:
    """Logs a line for each plug-in that is left out, and counts it."""
    for plugin in left_out():
        FAILURES.labels(plugin.group, plugin.name).inc()
        log.error(
            "plug-in left out",
            group=plugin.group,
            name=plugin.name,
            distribution=plugin.distribution,
            reason=plugin.reason,
        )
