"""Takes secrets out of every text of a request before it touches the disk.

A single expression over the raw bytes decides whether there is anything to do: most bodies pass
untouched. Otherwise every string of the request is searched by itself. Within an installation the
same value becomes the same mark, so a quote still matches its chunk.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.redaction.checks import MARK_OPEN, is_any
from collector.redaction.expression import compile_text
from collector.redaction.patterns import CREDENTIAL, CREDENTIAL_KEY, PATTERNS, Check, Pattern
from collector.redaction.settings import Action, RedactSettings

KEY_FILE = "redaction.key"
KEY_BYTES = 32
# A token starts at a word boundary, after an underscore, or after an escape: `\\nsk-...`, `%3Dsk-`.
BOUNDARY = r"(?:\b|_|\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4})"
# Characters that JSON encoders write as \\u00XX within text that is itself JSON.
ESCAPED = re.compile(rb"\\+u00([2-7][0-9A-Fa-f])")
# The same for the detector: such an escape may hide a part of a secret.
ESCAPED_ANYWHERE = r"\\u00[2-7][0-9A-Fa-f]"
ANCHORS = re.compile(r"\\[bBAz]|[\^$]")
# In protobuf this byte stands between the key and the value of an attribute.
VALUE_TAG = r"\x12"
AUTOMATON_BYTES = 24 << 20
PATIENCE = 4
"""Searching rejected matches again may cost this many times the length of a text; see `_cuts`."""
ITEMS = {"Span", "LogRecord"}
"""Messages that are skipped as a whole if they cannot contain a secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A compiled pattern of the user; group number `group` is taken out, 0 is the whole match."""

    name: str
    expression: Any
    group: int


class Redactor:
    """Replaces secrets by marks. The marks depend on `key`, which differs per installation."""

    def __init__(self, settings: RedactSettings, *, key: bytes) -> None:
        self._key = key
        self._actions = _actions(settings)
        active = [p for p in PATTERNS if self._actions[p.name] is not Action.OFF]
        of_user = {
            name: expression
            for name, expression in settings.patterns.items()
            if self._actions[name] is not Action.OFF
        }
        self._checks: dict[str, Check] = {pattern.name: pattern.check for pattern in active}
        self._names = [pattern.name for pattern in sorted(active, key=_is_token)]
        self._find = compile_text(_finder(active), memory=AUTOMATON_BYTES) if active else None
        self._user_rules = [_rule(name, expression) for name, expression in of_user.items()]
        self._takes_credentials = self._actions[CREDENTIAL] is not Action.OFF
        # An anchor such as ^ means nothing in a raw body, where one text runs into the next: with
        # an anchored expression every request is walked.
        self._always_looks = any(ANCHORS.search(expression) for expression in of_user.values())
        searched = _detector(active, of_user, with_keys=self._takes_credentials)
        self._detect = compile_text(searched, memory=AUTOMATON_BYTES) if searched else None
        self._credential_key = compile_text(CREDENTIAL_KEY + "$")

    def finds(self, body: bytes) -> bool:
        """Whether a serialised request may contain a secret; a false alarm only costs time."""
        if self._always_looks:
            return True
        return self._detect is not None and self._detect.search(body) is not None

    def redact(self, request: Any) -> Counter[str]:
        """Replaces every secret in `request`, in place; returns how many, by pattern.

        Fields unknown to this version are dropped, because they cannot be searched.
        """
        counts: Counter[str] = Counter()
        request.DiscardUnknownFields()
        self._walk(request, counts, is_credential=False)
        return counts

    def redact_text(self, text: bytes, counts: Counter[str]) -> bytes:
        """Returns `text` with marks in place of secrets, each counted in `counts`."""
        if b"\\u00" in text and ESCAPED.search(text):
            return self._redact_escaped(text, counts)
        cuts = list(self._cuts(text))
        return self._replaced(text, cuts, counts) if cuts else text

    def _redact_escaped(self, text: bytes, counts: Counter[str]) -> bytes:
        """Searches the text without its escapes; puts the marks into the text with them."""
        plain, places = _unescaped(text)
        cuts = [
            (name, places[start], places[end], plain[start:end])
            for name, start, end, _ in self._cuts(plain)
        ]
        return self._replaced(text, cuts, counts) if cuts else text

    def _replaced(
        self, text: bytes, cuts: list[tuple[str, int, int, bytes]], counts: Counter[str]
    ) -> bytes:
        pieces, done = [], 0
        for name, start, end, value in sorted(cuts, key=lambda cut: cut[1]):
            if start < done:  # overlaps the match before it
                continue
            pieces += [text[done:start], self._mark(name, value)]
            done = end
            counts[name] += 1
        return b"".join((*pieces, text[done:]))

    def _cuts(self, text: bytes) -> Iterator[tuple[str, int, int, bytes]]:
        """Yields pattern, start, end and value of everything to take out."""
        place, patience = 0, PATIENCE * (len(text) + 1)
        while self._find is not None and (match := self._find.search(text, place)):
            name = self._names[match.lastindex - 1]
            start, end = match.span(match.lastindex)
            if self._checks[name](text, start, end):
                yield name, start, end, text[start:end]
                place = end
            else:
                # Another match may begin within the rejected one, so the search goes on one byte
                # later. A hostile text could make that quadratic: once `patience` is used up,
                # rejected matches are skipped whole.
                patience -= end - match.start()
                place = match.start() + 1 if patience > 0 else end
        for rule in self._user_rules:
            for match in rule.expression.finditer(text):
                start, end = match.span(rule.group)
                if is_any(text, start, end) and start < end:
                    yield rule.name, start, end, text[start:end]

    def _mark(self, name: str, value: bytes) -> bytes:
        size = 16 if self._actions[name] is Action.HASH else 4
        digest = hashlib.blake2b(value, key=self._key, digest_size=size).hexdigest()
        return f"⟪{name}/{len(value.decode('utf-8', 'replace'))}/{digest}⟫".encode()

    def _walk(self, message: Any, counts: Counter[str], *, is_credential: bool) -> None:
        for field, value in message.ListFields():
            if field.type == field.TYPE_MESSAGE:
                for child in value if field.is_repeated else (value,):
                    # In a large request few spans contain a secret: the others are skipped.
                    if child.DESCRIPTOR.name in ITEMS and not self.finds(child.SerializeToString()):
                        continue
                    below = is_credential or self._is_credential(child)
                    self._walk(child, counts, is_credential=below)
            elif field.type in (field.TYPE_STRING, field.TYPE_BYTES):
                self._walk_text(message, field, value, counts, is_credential=is_credential)

    def _walk_text(
        self, message: Any, field: Any, value: Any, counts: Counter[str], *, is_credential: bool
    ) -> None:
        whole = is_credential and field.name != "key"
        if field.is_repeated:
            value[:] = [self._text(text, counts, whole=whole) for text in value]
        elif field.type == field.TYPE_STRING:
            marked = self._text(value, counts, whole=whole)
            if marked is not value:
                setattr(message, field.name, marked)
        elif not field.name.endswith("_id"):  # ids are random bytes, never text
            setattr(message, field.name, self._bytes(value, counts, whole=whole))

    def _text(self, text: str, counts: Counter[str], *, whole: bool) -> str:
        raw = text.encode()
        marked = self._bytes(raw, counts, whole=whole)
        return text if marked == raw else marked.decode()

    def _bytes(self, text: bytes, counts: Counter[str], *, whole: bool) -> bytes:
        if whole and text and not text.startswith(MARK_OPEN):
            counts[CREDENTIAL] += 1
            return self._mark(CREDENTIAL, text)
        return self.redact_text(text, counts)

    def _is_credential(self, message: Any) -> bool:
        """Whether this is an attribute whose key says that the value is a secret."""
        if not self._takes_credentials or message.DESCRIPTOR.name != "KeyValue":
            return False
        return self._credential_key.search(message.key.encode()) is not None


def _actions(settings: RedactSettings) -> dict[str, Action]:
    default = {p.name: settings.personal if p.is_personal else settings.secrets for p in PATTERNS}
    of_user = dict.fromkeys(settings.patterns, Action.MASK)
    return {**default, CREDENTIAL: settings.secrets, **of_user, **settings.actions}


def _finder(patterns: list[Pattern]) -> str:
    """One expression with a group per pattern, in the order of `_names`: assigned, then tokens."""
    assigned = [pattern.find for pattern in patterns if not _is_token(pattern)]
    tokens = [f"({pattern.find})" for pattern in patterns if _is_token(pattern)]
    bounded = [f"{BOUNDARY}(?:{'|'.join(tokens)})"] if tokens else []
    return "|".join((*assigned, *bounded))


def _is_token(pattern: Pattern) -> bool:
    return not pattern.is_assigned


def _detector(patterns: list[Pattern], of_user: dict[str, str], *, with_keys: bool) -> str:
    """An expression that matches every body in which the finder finds something, and others."""
    parts = [pattern.detect or pattern.find.replace(r"\b", "") for pattern in patterns]
    parts += [f"(?:{expression})" for expression in of_user.values()]
    parts += [CREDENTIAL_KEY + VALUE_TAG] if with_keys else []
    return "|".join((*parts, ESCAPED_ANYWHERE)) if parts else ""


def _rule(name: str, expression: str) -> Rule:
    compiled = compile_text(expression)
    return Rule(name=name, expression=compiled, group=compiled.groups)


def _unescaped(text: bytes) -> tuple[bytes, list[int]]:
    """The text without `\\u00XX` escapes, and the offset of each of its bytes in `text`."""
    plain, places, done = bytearray(), list[int](), 0
    for match in ESCAPED.finditer(text):
        plain += text[done : match.start()] + bytes.fromhex(match[1].decode())
        places += [*range(done, match.start()), match.start()]
        done = match.end()
    plain += text[done:]
    return bytes(plain), [*places, *range(done, len(text) + 1)]


def installation_key(data_dir: Path) -> bytes:
    """The key of this installation's marks; created at the first call, readable by its owner only.

    Raises ValueError if the file is not such a key, OSError if it cannot be created.
    """
    path = data_dir / KEY_FILE
    data_dir.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        key = path.read_bytes()
    else:
        key = os.urandom(KEY_BYTES)
        with os.fdopen(descriptor, "wb") as file:
            file.write(key)
            file.flush()
            os.fsync(file.fileno())  # a lost key would change every mark
    if len(key) != KEY_BYTES:
        raise ValueError(f"{path} is not a key of {KEY_BYTES} bytes; remove it to make a new one")
    return key
