"""How each listener is guarded, in words, and what of its tokens and keys is probably not meant."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel

from ragvigil.app.settings import Settings, SettingsError
from ragvigil.model.endpoint import is_loopback
from ragvigil.model.token import SHORT
from ragvigil.web.settings import WebSettings

SECRET_FILES = ("token_file", "tokens_file", "tls_key", "key_file", "headers_file")
"""Ends of the names of settings that name a file which only the daemon should read."""


def require_readable(settings: Settings) -> None:
    """Raises SettingsError for the files of listeners that this user may not read.

    Loading the settings lets them pass, because the command line of another user needs none.
    """
    unreadable = []
    for section in ("collector", "metrics", "web"):
        for place, path in _files(getattr(settings, section), section):
            try:
                path.open("rb").close()
            except OSError as error:
                unreadable.append(f"{place}: {path} cannot be read: {error.strerror}")
    if unreadable:
        raise SettingsError("\n".join(unreadable))


def require_folder(settings: Settings) -> None:
    """Raises SettingsError where `data_dir` cannot be a folder: a file stands in its way."""
    path = settings.data_dir.absolute()
    # The first that exists: whether this user may make a folder there, the daemon's start shows.
    place = next((each for each in (path, *path.parents) if os.path.lexists(each)), path)
    if os.path.lexists(place) and not place.is_dir():
        raise SettingsError(
            f"data_dir: {settings.data_dir} cannot be a folder: {place} is none; name another one "
            f"there or in RAGVIGIL_DATA_DIR"
        )


def guards(settings: Settings) -> dict[str, str]:
    """How each listener is guarded, in words, by its setting: `[web] endpoint`.

    Raises ValueError if a token file holds none any more.
    """
    collector, metrics, web = settings.collector, settings.metrics, settings.web
    sends = "may send" if collector.token("admin") is None else "may send, but no backfill"
    asked = _asked(web)
    return {
        "[collector] grpc_endpoint": _guard(collector, collector.token("grpc"), sends),
        "[collector] http_endpoint": _guard(collector, collector.token("http"), sends),
        "[metrics] endpoint": _guard(metrics, metrics.secret(), "may scrape"),
        "[web] endpoint": _guard(web, asked, "is admin", asked),
    }


def _asked(web: WebSettings) -> str:
    """How people show the web who they are; empty where they need not."""
    roles = ", ".join(sorted({person.role for person in (web.people() or {}).values()}))
    ways = [f"tokens of {roles}"] if roles else []
    ways += [f"people in {web.proxy_header}"] if web.proxy_header else []
    return " and ".join(ways)


def _guard(section: BaseModel, asked: str | None, right: str, words: str = "a token") -> str:
    if not asked:
        words = f"no token, every process of this machine {right}"
    tls = "TLS" if getattr(section, "tls_key", None) else "no TLS"
    clients = ", client certificates" if getattr(section, "tls_client_ca", None) else ""
    return f"{words}, {tls}{clients}"


def doubts(settings: Settings) -> Iterator[tuple[str, str]]:
    """Tokens and keys that are allowed and probably not meant: the setting, and why."""
    tokens: dict[str, set[str | None]] = {
        "[collector]": {settings.collector.token(name) for name in ("grpc", "http", "admin")},
        "[metrics]": {settings.metrics.secret()},
        "[web]": set(settings.web.people() or {}),
    }
    for place, given in tokens.items():
        if any(token is not None and len(token) < SHORT for token in given):
            yield place, f"a token has fewer than {SHORT} characters and can be guessed"
    for (first, its), (second, theirs) in combinations(tokens.items(), 2):
        if (its & theirs) - {None}:
            yield second, f"a token is that of {first} too: whoever has it may do both"
    for place, path in _files(settings):
        if place.endswith(SECRET_FILES) and _is_for_all(path):
            yield place, f"{path} can be read by every user of this machine; chmod o-r"
    for place, url, is_given in _sent_secrets(settings):
        if is_given and url.startswith("http:") and not is_loopback(urlsplit(url).hostname or ""):
            yield place, f"a secret is sent to {url} in clear text"


def _is_for_all(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & stat.S_IROTH)
    except OSError:  # not even this user may look
        return False


def _files(model: BaseModel, section: str = "") -> Iterator[tuple[str, Path]]:
    """Every file that the settings name, by its key: `[web] tokens_file`."""
    for key in type(model).model_fields:
        value = getattr(model, key)
        if isinstance(value, BaseModel):
            yield from _files(value, f"{section}.{key}".lstrip("."))
        elif isinstance(value, Path) and section:
            yield f"[{section}] {key}", value


def _sent_secrets(settings: Settings) -> Iterator[tuple[str, str, bool]]:
    """Setting and address of everything that gets a secret of ours, and whether it is given one."""
    judge, export, target = settings.judge, settings.export, settings.golden.target
    yield "[judge] base_url", judge.base_url, bool(judge.key or judge.key_file)
    yield "[export] endpoint", export.endpoint, export.headers_file is not None
    yield "[golden.target] url", target.url, target.token is not None
