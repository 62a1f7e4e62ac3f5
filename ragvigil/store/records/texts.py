"""Stores document texts once: everywhere else a mark stands for them.

A mark is `⟦doc:HASH⟧`; `⟦doc:json:HASH⟧` and `⟦doc:ascii:HASH⟧` stand for the text as it looks
inside a JSON string, without and with non-ASCII characters escaped. A `⟦doc` that was in the value
before becomes `⟦doc:⟧`, so that putting the texts back gives exactly the value that was sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

SHORTEST = 64
"""Characters. Shorter texts stay where they are: a mark (38 to 44) would save little."""
_OPEN = "⟦doc"
_LITERAL = "⟦doc:⟧"
_MARK = re.compile(r"⟦doc:(?:(json|ascii):)?([0-9a-f]{32})?⟧")
_HEAD = 48


@lru_cache(maxsize=8192)
def text_hash(text: str) -> str:
    """Name of a text in the table `documents`: 32 hex digits of its UTF-8 bytes."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class _Form:
    """A text as it may occur in a value; `head`, its beginning, is searched for first."""

    text: str
    head: str
    mark: str


@lru_cache(maxsize=8192)
def _forms(text: str) -> tuple[_Form, ...]:
    """The text itself and, where they differ, its forms within JSON."""
    name = text_hash(text)
    inner = json.dumps(text, ensure_ascii=False)[1:-1]
    escaped = json.dumps(text)[1:-1]
    written = {text: f"⟦doc:{name}⟧"}
    written.setdefault(inner, f"⟦doc:json:{name}⟧")
    written.setdefault(escaped, f"⟦doc:ascii:{name}⟧")
    return tuple(_Form(form, form[:_HEAD], mark) for form, mark in written.items())


def _is_markable(text: str) -> bool:
    """Whether it is long enough, and has no marks of its own, which would look like ours."""
    return len(text) >= SHORTEST and _OPEN not in text


class Shortener:
    """Replaces these texts by marks; longest first, in case one text contains another."""

    def __init__(self, texts: Iterable[str]) -> None:
        ordered = sorted(set(texts), key=len, reverse=True)
        self._forms = [form for text in ordered if _is_markable(text) for form in _forms(text)]
        self._whole = {form.text: form.mark for form in reversed(self._forms)}

    def short(self, value: str) -> str:
        """The value with a mark for each occurrence of a text.

        >>> text = "Card refunds take 5 to 7 business days, counted from the day of the return."
        >>> marked = Shortener([text]).short(f'[{{"content": "{text}"}}]')
        >>> marked
        '[{"content": "⟦doc:4fefb381d7a3aa908e83c96b40b86b85⟧"}]'
        >>> restore(marked, {text_hash(text): text}) == f'[{{"content": "{text}"}}]'
        True
        """
        whole = self._whole.get(value)
        if whole is not None:
            return whole
        if _OPEN in value:
            value = value.replace(_OPEN, _LITERAL)
        if len(value) < SHORTEST:
            return value
        for form in self._forms:
            place = value.find(form.head)
            if place >= 0:
                value = _replace(value, form, place)
        return value


def _replace(value: str, form: _Form, place: int) -> str:
    """Replaces all occurrences from `place` on, where the form's head is; mostly there is one."""
    if not value.startswith(form.text, place):
        return value.replace(form.text, form.mark)
    rest = value[place + len(form.text) :]
    if form.head in rest:
        rest = rest.replace(form.text, form.mark)
    return f"{value[:place]}{form.mark}{rest}"


def hashes_in(value: str) -> set[str]:
    """Hashes of the texts that `value` has marks for."""
    if _OPEN not in value:
        return set()
    return {match[2] for match in _MARK.finditer(value) if match[2]}


def restore(value: str, texts: Mapping[str, str]) -> str:
    """Returns the value as it was sent; a mark whose text is not in `texts` stays."""
    if _OPEN not in value:
        return value
    return _MARK.sub(_put_back(texts), value)


def _put_back(texts: Mapping[str, str]) -> Callable[[re.Match[str]], str]:
    def text_of(match: re.Match[str]) -> str:
        form, name = match.groups()
        if name is None:
            return _OPEN if form is None else match[0]
        text = texts.get(name)
        if text is None:
            return match[0]
        return text if form is None else json.dumps(text, ensure_ascii=form == "ascii")[1:-1]

    return text_of
