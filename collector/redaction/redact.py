"""Takes secrets out of every text of a request before it touches the disk.

A single pass over the raw bytes decides whether there is anything to do: most bodies pass
untouched. Otherwise every string of the request is searched by itself, as it is and with its
escapes resolved, and everything that any pattern finds is taken out. Within an installation the
same value becomes the same mark, so a quote still matches its chunk.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from collector.redaction.checks import MARK_OPEN, is_any, is_opaque, is_placeholder
from collector.redaction.expression import compile_set
from collector.redaction.names import Secrecy, is_flag, secrecy
from collector.redaction.patterns import (
    CREDENTIAL,
    PATTERNS,
    Pattern,
    Specificity,
    pattern,
    spans_of,
)
from collector.redaction.settings import Action, RedactSettings
from collector.redaction.views import HIDES, View, views

KEY_FILE = "redaction.key"
KEY_BYTES = 32
ANCHORS = re.compile(r"\\[bBAz]|[\^$]")
AUTOMATON_BYTES = 24 << 20
ITEMS = {"Span", "LogRecord"}
"""Messages that are skipped as a whole if they cannot contain a secret."""
IDS = {"trace_id", "span_id", "parent_span_id"}
"""Fields of random bytes, never text."""
MIN_RANDOM_BYTES = 12
MAX_PAIR = 8
"""A map of a name and its value has few other members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Bytes of a text to take out, what names the mark, and the value as its reader sees it."""

    start: int
    end: int
    name: str
    pattern: Pattern
    value: bytes

    @property
    def rank(self) -> tuple[int, int, int]:
        """Of overlapping cuts the most specific, then the longest names the mark.

        Of equal ones it is the one with more escapes resolved: then the mark is that of the value
        without any.
        """
        return self.pattern.specificity, self.end - self.start, -len(self.value)


class Redactor:
    """Replaces secrets by marks. The marks depend on `key`, which differs per installation."""

    def __init__(self, settings: RedactSettings, *, key: bytes) -> None:
        self._key = key
        self._actions = _actions(settings)
        patterns = [*PATTERNS, *map(_own, settings.patterns.items())]
        self._active = [p for p in patterns if any(map(self._is_on, p.names))]
        self._takes_credentials = self._is_on(CREDENTIAL)
        own = [p for p in self._active if p.specificity is Specificity.OWN]
        # An anchor such as ^ means nothing in a raw body, where one text runs into the next: with
        # an anchored expression every request is walked.
        self._anchored = [p for p in own if ANCHORS.search(p.detect)]
        # Patterns may share what is searched for first.
        self._by_detect = list(_grouped(self._active).values())
        expressions = [patterns[0].detect for patterns in self._by_detect]
        self._detect = compile_set([*expressions, *HIDES], memory=AUTOMATON_BYTES)

    def finds(self, body: bytes) -> bool:
        """Whether a serialised request may contain a secret; a false alarm only costs time."""
        if not self._active:
            return False
        return bool(self._anchored) or self._detect.Match(body) is not None

    def redact(self, request: Any) -> Counter[str]:
        """Replaces every secret in `request`, in place; returns how many, by pattern.

        Fields unknown to this version are dropped, because they cannot be searched.
        """
        counts: Counter[str] = Counter()
        request.DiscardUnknownFields()
        self._walk(request, counts, secrecy=Secrecy.NONE)
        return counts

    def redact_text(self, text: bytes, counts: Counter[str]) -> bytes:
        """Returns `text` with marks in place of secrets, each counted in `counts`."""
        if not self.finds(text):
            return text
        cuts = [cut for view in views(text) for cut in self._cuts(view)]
        pieces, done = [], 0
        for cut in _merged(cuts):
            pieces += [text[done : cut.start], self._mark(cut)]
            done = cut.end
            counts[cut.name] += 1
        return b"".join((*pieces, text[done:]))

    def _cuts(self, view: View) -> Iterator[Cut]:
        """Everything that a pattern finds in a view of a text."""
        for kind in self._suspected(view.text):
            for name, start, end in kind.matches(view.text):
                value = view.text[start:end]
                if self._is_on(name) and not value.startswith(MARK_OPEN):
                    begin, stop = view.original(start, end)
                    yield Cut(start=begin, end=stop, name=name, pattern=kind, value=value)

    def _suspected(self, text: bytes) -> Iterable[Pattern]:
        """The patterns that may find something."""
        numbers = [n for n in self._detect.Match(text) or () if n < len(self._by_detect)]
        suspected = [kind for number in numbers for kind in self._by_detect[number]]
        return [*suspected, *(p for p in self._anchored if p not in suspected)]

    def _is_on(self, name: str) -> bool:
        return self._actions[name] is not Action.OFF

    def _mark(self, cut: Cut) -> bytes:
        return self._marked(cut.pattern.mark or cut.name, self._actions[cut.name], cut.value)

    def _marked(self, kind: str, action: Action, value: bytes) -> bytes:
        size = 16 if action is Action.HASH else 4
        digest = hashlib.blake2b(value, key=self._key, digest_size=size).hexdigest()
        return f"⟪{kind}/{len(value.decode('utf-8', 'replace'))}/{digest}⟫".encode()

    def _walk(self, message: Any, counts: Counter[str], *, secrecy: Secrecy) -> None:
        for field, value in message.ListFields():
            if field.type == field.TYPE_MESSAGE:
                children = value if field.is_repeated else (value,)
                for child, below in zip(children, self._secrecies(children), strict=True):
                    # In a large request few spans contain a secret: the others are skipped.
                    if child.DESCRIPTOR.name in ITEMS and not self.finds(child.SerializeToString()):
                        continue
                    self._walk(child, counts, secrecy=max(below, secrecy))
            elif field.type in (field.TYPE_STRING, field.TYPE_BYTES):
                grade = Secrecy.NONE if field.name == "key" else secrecy
                self._walk_text(message, field, value, counts, secrecy=grade)
            elif field.name == "int_value" and secrecy is Secrecy.SURE:
                message.string_value = self._bytes(str(value).encode(), counts, secrecy).decode()

    def _secrecies(self, siblings: Sequence[Any]) -> list[Secrecy]:
        """What stands beside each of these messages says of its value.

        It is the key of an attribute, the flag before an argument (`--password`, then the value),
        or the name in a pair (`name: DB_PASSWORD, value: ...`).
        """
        kind = siblings[0].DESCRIPTOR.name if self._takes_credentials else ""
        if kind == "AnyValue":
            words = ["", *(value.string_value for value in siblings)]
            return [secrecy(word) if is_flag(word) else Secrecy.NONE for word in words[:-1]]
        if kind != "KeyValue":
            return [Secrecy.NONE] * len(siblings)
        pair = {child.key.lower(): child.value.string_value for child in siblings[:MAX_PAIR]}
        named = secrecy(pair.get("name") or pair.get("key") or "")
        return [named if c.key.lower() == "value" else secrecy(c.key) for c in siblings]

    def _walk_text(
        self, message: Any, field: Any, value: Any, counts: Counter[str], *, secrecy: Secrecy
    ) -> None:
        if field.is_repeated:
            value[:] = [self._text(text, counts, secrecy) for text in value]
        elif field.type == field.TYPE_STRING:
            marked = self._text(value, counts, secrecy)
            if marked is not value:
                setattr(message, field.name, marked)
        elif field.name not in IDS:
            setattr(message, field.name, self._bytes(value, counts, secrecy))

    def _text(self, text: str, counts: Counter[str], secrecy: Secrecy) -> str:
        raw = text.encode()
        marked = self._bytes(raw, counts, secrecy)
        return text if marked == raw else marked.decode()

    def _bytes(self, text: bytes, counts: Counter[str], secrecy: Secrecy) -> bytes:
        if not _is_credential(text, secrecy):
            return self.redact_text(text, counts)
        counts[CREDENTIAL] += 1
        return self._marked(CREDENTIAL, self._actions[CREDENTIAL], text)


def _is_credential(text: bytes, secrecy: Secrecy) -> bool:
    """Whether the value of an attribute is a secret, by what its key says."""
    if secrecy is Secrecy.NONE or not text or text.startswith(MARK_OPEN):
        return False
    if secrecy is Secrecy.IF_RANDOM:
        return len(text) >= MIN_RANDOM_BYTES and is_opaque(text, 0, len(text)) and b" " not in text
    return text.lower() not in (b"true", b"false") and not is_placeholder(
        text.decode("utf-8", "replace")
    )


def _grouped(patterns: list[Pattern]) -> dict[str, list[Pattern]]:
    """The patterns by what is searched for first."""
    grouped: dict[str, list[Pattern]] = {}
    for kind in patterns:
        grouped.setdefault(kind.detect, []).append(kind)
    return grouped


def _merged(cuts: list[Cut]) -> Iterator[Cut]:
    """The union of all cuts, from the first to the last; overlapping ones are one."""
    merged: Cut | None = None
    for cut in sorted(cuts, key=lambda cut: (cut.start, -cut.end)):
        if merged is None or cut.start >= merged.end:
            if merged is not None:
                yield merged
            merged = cut
            continue
        named = max(merged, cut, key=lambda cut: cut.rank)
        end = max(merged.end, cut.end)
        merged = replace(named, start=merged.start, end=end)
    if merged is not None:
        yield merged


def _actions(settings: RedactSettings) -> dict[str, Action]:
    default = {
        name: settings.personal if kind.is_personal else settings.secrets
        for kind in PATTERNS
        for name in kind.names
    }
    of_user = dict.fromkeys(settings.patterns, Action.MASK)
    return {**default, CREDENTIAL: settings.secrets, **of_user, **settings.actions}


def _own(item: tuple[str, str]) -> Pattern:
    """A pattern of the user; if the expression has a group, only the group is taken out."""
    name, expression = item
    return pattern(name, partial(spans_of, expression, is_any), Specificity.OWN, detect=expression)


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
