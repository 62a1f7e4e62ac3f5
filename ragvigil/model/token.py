"""Tokens: what may be one, how a file holds them, and how the token of a request is compared."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, Protocol

NoTokens = Literal["none"]
"""The word for a listener that asks nobody for a token; only loopback takes it."""
SHORT = 16
"""A token of fewer characters can be guessed."""
MOST_IN_FILE = 2
SENDABLE = re.compile(r"[\x21-\x7e]+")


class NotAllowed(ValueError):
    """This user may not read a token file; another one, as whom the daemon runs, may."""


def require_token(token: str) -> str:
    """Returns the token. Raises ValueError, which never shows it, if it is empty or unsendable."""
    if not token.strip():
        raise ValueError("is empty; give a token, or take the key out")
    if SENDABLE.fullmatch(token) is None:
        raise ValueError("has a space, or a character that is not printable ASCII")
    return token


class Secret(Protocol):
    """A token that is written in the settings."""

    def get_secret_value(self) -> str:
        """The token itself."""
        ...


def read_token(given: Secret | Path) -> str:
    """The token of a setting, or the first one of a file.

    Raises ValueError, which never shows it, if there is none or no header can carry it.
    """
    if isinstance(given, Path):
        return _in_file(given)[0]
    return require_token(given.get_secret_value())


def require_given(given: Secret | Path | None) -> None:
    """Raises ValueError as `read_token` does.

    A file that this user may not read passes: a command may not need it, and who does fails then.
    """
    if given is not None:
        with suppress(NotAllowed):
            read_token(given)


def read_former(given: Secret | Path | None) -> str | None:
    """The second token of a file, which counts too while senders change; None without one.

    Raises ValueError as `read_token` does.
    """
    tokens = _in_file(given) if isinstance(given, Path) else []
    return tokens[1] if len(tokens) > 1 else None


def _in_file(path: Path) -> list[str]:
    tokens = [line for _, line in lines_of(path)]
    if not 1 <= len(tokens) <= MOST_IN_FILE:
        raise ValueError(
            f"{path} holds {len(tokens) or 'no'} tokens; it must hold one, "
            "or a new and the former one"
        )
    try:
        return [require_token(token) for token in tokens]
    except ValueError as error:
        raise ValueError(f"the token in {path} {error}") from error


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Number and text of a token file's lines, without blank ones and comments (`#`).

    Raises ValueError if the file cannot be read (NotAllowed: by this user) or is not UTF-8; a byte
    order mark is skipped.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except PermissionError as error:
        raise NotAllowed(f"{path} cannot be read: {error.strerror}") from error
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8") from error
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line.strip()


def require_consistent(none: NoTokens | None, given: Iterable[str]) -> None:
    """Raises ValueError if `tokens = "none"` stands beside keys that give tokens."""
    named = ", ".join(given)
    if none and named:
        raise ValueError(f'is "none", but tokens are given too: {named}; take one of them out')


def bearer(authorization: str) -> str:
    """The token of an `Authorization` header, empty where it is not `Bearer TOKEN`.

    >>> bearer("bearer s3cret"), bearer("Basic s3cret"), bearer("Bearer ")
    ('s3cret', '', '')
    """
    scheme, _, token = authorization.strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def is_same(token: str, sent: str) -> bool:
    """Whether the sent token is this one, in constant time; an empty one is never the same."""
    return bool(token) and hmac.compare_digest(_digest(token), _digest(sent))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
