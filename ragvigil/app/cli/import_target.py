"""Where an import is sent, and with which token."""

from __future__ import annotations

from pathlib import Path

from collector.receiver.auth import access_of
from collector.settings import CollectorSettings
from ragvigil.app.demo.replay import Sending
from ragvigil.app.settings import SettingsError


def sending_to(
    settings: CollectorSettings, endpoint: str | None, token_file: Path | None, *, backfill: str
) -> Sending:
    """A backfill to `endpoint`, else to the daemon of the settings with their admin token.

    The token of the settings is never sent to another endpoint. Raises SettingsError where a token
    cannot be read.
    """
    token = b""
    try:
        if token_file is not None:
            token = token_file.read_bytes().strip()
        elif endpoint is None:
            token = access_of(settings, "http").admin or b""
        text = token.decode("ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the admin token cannot be read: {error}") from error
    headers = {"authorization": f"Bearer {text}"} if text else {}
    target = endpoint or f"http://{settings.http_endpoint}"
    return Sending(target=target, backfill=backfill, headers=headers)
