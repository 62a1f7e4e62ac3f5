"""What the settings ask for and this installation lacks: what ends a start, what is only off."""

from __future__ import annotations

from collections.abc import Iterator

from ragvigil.app.settings import Settings, SettingsError
from ragvigil.app.settings.fleet import Role
from ragvigil.extras import (
    CLUSTERING,
    EMBEDDED_STORE,
    EMBEDDING,
    JUDGES,
    has_local_models,
    missing,
)


def require_installed(settings: Settings) -> None:
    """Raises SettingsError where the daemon could not store, not judge, or not score what it is
    told to."""
    lines = []
    if not settings.store.url and (why := missing(EMBEDDED_STORE)):
        lines.append(f"[store] url: is empty, and {why}, or name a ClickHouse server")
    provider = settings.judge.model.partition(":")[0]
    if provider and (why := missing(JUDGES[provider])):
        lines.append(f"[judge] model: {settings.judge.model}: {why}")
    if Role.SCORER in settings.fleet.roles and not has_local_models():
        lines.append(f"[fleet] roles: a scorer runs local models, and {missing(EMBEDDING)}")
    if lines:
        raise SettingsError("\n".join(lines))


def switched_off(settings: Settings) -> Iterator[tuple[str, str]]:
    """What the daemon runs without: the section, and the sentence that says what to install."""
    if settings.clustering.enabled and (why := missing(CLUSTERING)):
        yield "[clustering]", why
    if settings.inference.enabled and (why := missing(EMBEDDING)):
        yield "[inference]", why
