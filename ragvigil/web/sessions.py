"""Sessions of browsers, and the tokens of their forms: signed, so that nothing is looked up.

A session is valid for as long as the token that began it is configured. A key in the data
directory signs both, so that a restart signs nobody out.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

log = structlog.get_logger()

HOUR = 3600
IDLE_SECONDS = 12 * HOUR
"""A session that nobody uses for so long ends."""
MOST_SECONDS = 7 * 24 * HOUR
"""A session ends after so long in any case."""
RENEW_SECONDS = 600
"""A cookie is written anew when it is older: not with every reply."""
FORM_SECONDS = 12 * HOUR
"""A form may be sent for so long after its page was made."""
KEY_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A signed-in browser; times in whole Unix seconds.

    `fingerprint` is of the token and its person: another name for the token ends the session.
    """

    session_id: str
    fingerprint: str
    begun: int
    used: int


class Sessions:
    """Begins, checks and ends sessions. `folder` keeps the key and the ended sessions.

    Without a folder both last as long as the process. `clock` gives Unix seconds.
    """

    def __init__(self, folder: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._key = secrets.token_bytes(KEY_BYTES) if folder is None else _key_in(folder)
        self._ended_file = None if folder is None else folder / "ended"
        self._ended = _ended_in(self._ended_file, clock()) if self._ended_file else {}

    def begin(self, token: str, name: str) -> Session:
        """A new session of the person with this token."""
        now = int(self._clock())
        return Session(
            session_id=secrets.token_hex(16),
            fingerprint=self.fingerprint(token, name),
            begun=now,
            used=now,
        )

    def fingerprint(self, token: str, name: str) -> str:
        """What a session knows its token and person by; it tells nobody the token."""
        return self._mac("token", token, name)

    def cookie(self, session: Session) -> str:
        """The session as the value of a cookie."""
        parts = (session.session_id, session.fingerprint, str(session.begun), str(session.used))
        return ".".join((*parts, self._mac("session", *parts)))

    def read(self, cookie: str) -> Session | None:
        """The session of a cookie; None for one that is not ours, too old, or signed out."""
        *parts, mac = cookie.split(".")
        if len(parts) != 4 or not _is_same(mac, self._mac("session", *parts)):
            return None
        session = Session(
            session_id=parts[0], fingerprint=parts[1], begun=int(parts[2]), used=int(parts[3])
        )
        is_ended = session.session_id in self._ended or not self.remaining_seconds(session)
        return None if is_ended else session

    def remaining_seconds(self, session: Session) -> int:
        """How long a session lasts if nobody uses it."""
        until = min(session.used + IDLE_SECONDS, session.begun + MOST_SECONDS)
        return max(0, until - int(self._clock()))

    def renewed(self, session: Session) -> Session | None:
        """The session as used now, None where its cookie is new enough."""
        now = int(self._clock())
        return replace(session, used=now) if now - session.used > RENEW_SECONDS else None

    def end(self, session: Session) -> None:
        """Ends a session for good: a copy of its cookie opens nothing any more."""
        until = session.begun + MOST_SECONDS
        with self._lock:
            self._ended[session.session_id] = until
            if self._ended_file:
                with self._ended_file.open("a", encoding="ascii") as file:
                    file.write(f"{session.session_id} {until}\n")
                    file.flush()
                    os.fsync(file.fileno())

    def form_token(self, owner: str) -> str:
        """What a form of this owner's pages carries.

        It differs each time: a page that is sent compressed then tells nothing by its length.
        """
        until, salt = str(int(self._clock()) + FORM_SECONDS), secrets.token_hex(8)
        return f"{until}.{salt}.{self._mac('form', owner, until, salt)}"

    def is_form_token(self, sent: str, owner: str) -> bool:
        """Whether a form carries a token of this owner that is not too old."""
        until, _, rest = sent.partition(".")
        salt, _, mac = rest.partition(".")
        is_ours = _is_same(mac, self._mac("form", owner, until, salt))
        return is_ours and self._clock() < int(until)

    def _mac(self, *parts: str) -> str:
        text = "\x00".join(parts).encode("utf-8", "surrogatepass")
        return hmac.new(self._key, text, hashlib.sha256).hexdigest()


def _is_same(sent: str, expected: str) -> bool:
    return hmac.compare_digest(sent.encode("utf-8", "surrogatepass"), expected.encode())


def _key_in(folder: Path) -> bytes:
    """The key of a data directory, made where there is none; only this user may read it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / "key"
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
        os.fchmod(file.fileno(), 0o600)
        key = file.read()
        if len(key) == KEY_BYTES:
            return key
        if key:
            log.warning("the key of sessions is damaged; everybody signs in again", path=str(path))
        key = secrets.token_bytes(KEY_BYTES)
        file.seek(0)
        file.truncate()
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    return key


def _ended_in(path: Path, now: float) -> dict[str, int]:
    """Ended sessions that a cookie could still name, and until when; the file keeps no others."""
    if not path.exists():
        return {}
    lines = (line.split() for line in path.read_text("ascii", "replace").splitlines())
    whole = [line for line in lines if len(line) == 2 and line[1].isdecimal()]
    ended = {name: int(until) for name, until in whole if int(until) > now}
    fresh = path.with_suffix(".new")
    fresh.write_text("".join(f"{name} {until}\n" for name, until in ended.items()), "ascii")
    fresh.replace(path)
    return ended
