"""Values of names: `password=...`, `"api_key": "..."`, `--token ...`, `<secret>...</secret>`.

An expression finds the names. Around each, Python looks for a sign and a value, and decides whether
the name is a secret's (`names.secrecy`) and whether the value is one (`values.is_value`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from collector.redaction.checks import MARK_OPEN, is_opaque, is_random
from collector.redaction.expression import compile_text
from collector.redaction.names import NAME, VAGUE_NAME, Secrecy, secrecy
from collector.redaction.values import cut, is_mixed, is_prose

MAX_NAME_BYTES, MAX_BARE_BYTES = 64, 256
MIN_VAGUE_BYTES = {"pass": 6, "pw": 6, "auth": 16, "token": 16}
QUOTED, ASSIGNED, WRITTEN = "quoted_password", "password", "written_password"
TOKEN = "token"  # the value of a vague name
KINDS = (QUOTED, ASSIGNED, WRITTEN, TOKEN)

_CLOSE = (
    r"(?:\[\w{0,20}\])?(?:[\"'`\])*_]{0,3}(?:\s?\([^()\n]{1,30}\)|\s(?:for|of)\s[\w@.-]{1,40})?)"
)
_ARROW = r"(?:=>|:=|==?=?|->|\?=|\|\|=|:\s?[A-Za-z_.|\[\] ]{1,20}=|[:=])"
_SIGN = rf"{_CLOSE}\s{{0,4}}{_ARROW}[*_]{{0,2}}\s{{0,4}}"
_IN_QUOTES = (
    r"(?:\"(?P<a>[^\"\\\n]*(?:\\.[^\"\\\n]*)*)|'(?P<b>[^'\\\n]*(?:\\.[^'\\\n]*)*)|`(?P<c>[^`\n]+))"
)
_BARE = rf"(?P<d>[^\s\"'`<>]{{1,{MAX_BARE_BYTES}}})"
_BLOCK = r"(?:[|>][+-]?[ \t]*\n[ \t]+)?"
_FIELD = (
    r"[\"']\s{0,4}[,}]?\s{0,4}[\"']?(?i:val|value|default|content|data|text|string_?value)[\"']?"
    r"\s{0,4}[:=]\s{0,4}(?:\{\s{0,4}[\"']?\w{1,20}[\"']?\s{0,4}:\s{0,4})?"
)
_COPULA = (
    rf"{_CLOSE}(?:\s{{1,4}}(?i:is|was|to|as|are|ist|lautet|est|es|é|è|jest|это|is:|=|->)\s{{1,4}}"
    r"|\s{0,4}(?:是|为|為|は|는|은)\s{0,4}[:]?\s{0,4}|\s{0,4}\|\s{0,4}|\t{1,3})"
)
_MEMBER = r"\{\s{0,4}[\"'](?i:value|secret|string_?value)[\"']\s{0,4}:\s{0,4}"
_PHRASE = rf"{_SIGN}[\"'`]?(?P<d>[a-z]{{2,10}}(?: [a-z]{{2,10}}){{2,24}})"
_NAMES_OF_PHRASES = re.compile(r"phrase|mnemonic|(?:seed|recovery).?words", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A name and what stands where its value would, with their places in the text."""

    text: bytes
    name: str
    name_start: int
    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A way to give a name a value.

    `suits` tells from the text, the name and its place whether it can be in this form, `behind` is
    what stands behind it, and `also` is what else has to hold.
    """

    pattern: str
    behind: re.Pattern[bytes]
    suits: Callable[[bytes, str, int], bool]
    also: Callable[[Assignment], bool]
    cut: Callable[[str], str]


def _form(
    pattern: str,
    behind: str,
    *,
    suits: Callable[[bytes, str, int], bool] = lambda *_: True,
    also: Callable[[Assignment], bool] = lambda _: True,
    cut: Callable[[str], str] = lambda value: value,
) -> Form:
    expression = re.compile(behind.encode())
    return Form(pattern=pattern, behind=expression, suits=suits, also=also, cut=cut)


_BEFORE = re.compile(rb"[\w.\-\x80-\xff]*$")
_REST = re.compile(rb"[^\s\"'`<>\xe2]*")
_FLAG = re.compile(rb"(?:^|[\s\"'`(;|&\[,=])$")
_GETTERS = re.compile(
    r"(?:get|read|fetch|load|find|check|verify|validate|hash|create|delete|use|is|has|to)(?:[A-Z_]|$)"
)
_NEXT = re.compile(rb"[\"']\s{0,4},\s{0,4}[\"']([^\"'\n]{1,256})(?=[\"'])")
_LINE_START = re.compile(
    rb"(?:^|[\n,;{(|=:/])[\s>|#*\-\"'`({]*(?:[\d.)]{1,4}\s)?(?:export\s|set\s)?[\"'`*_]{0,3}$"
)
_LINE_END = re.compile(rb"[\"'`*_)}\]]{0,3}[ \t]*(?:$|[\n\r,;|}])")
# The element itself, or one that holds a pair: `<entry key="password">`.
_TAG = re.compile(
    rb"<(?:[\w:.-]{0,40}|[\w:.]{0,20}(?:entry|string|add|item|property|param|prop|value|setting)"
    rb"\s[^<>]{0,80})$"
)


def _is_flag(text: bytes, _: str, start: int) -> bool:
    """Whether the name is a flag of a command, at the beginning of a word."""
    return (
        text.startswith(b"-", start) and _FLAG.search(text[max(0, start - 1) : start]) is not None
    )


def _is_element(text: bytes, _: str, start: int) -> bool:
    """Whether the name is the element's own, or a key of an element that holds pairs."""
    return b"<" in (before := text[max(0, start - 100) : start]) and _TAG.search(before) is not None


def _is_of_phrase(_: bytes, name: str, __: int) -> bool:
    """Whether the value is a row of words."""
    return _NAMES_OF_PHRASES.search(name) is not None


def _is_setter(_: bytes, name: str, __: int) -> bool:
    """Whether a call by this name is given a secret, and not the name of a secret."""
    return _GETTERS.match(name) is None


def _is_capital_or_mixed(found: Assignment) -> bool:
    """Whether a value that only a space parts from its name has letters and digits, or the name is
    in capitals and the value ends its line."""
    if len(found.value) >= 6 and any(map(str.isdigit, found.value)) and is_mixed(found.value):
        return True
    behind = found.text[found.end : found.end + 8]
    return found.name.isupper() and len(found.value) >= 4 and _LINE_END.match(behind) is not None


def _is_mixed_or_alone(found: Assignment) -> bool:
    """Whether the value mixes signs, or is with its name all that a line or a field holds."""
    if is_mixed(found.value):
        return True
    before = found.text[max(0, found.name_start - 24) : found.name_start]
    behind = found.text[found.end : found.end + 8]
    is_alone = _LINE_START.search(before) is not None and _LINE_END.match(behind) is not None
    return is_alone and len(found.value) >= 4


def _is_mixed(found: Assignment) -> bool:
    return is_mixed(found.value)


FORMS = (
    _form(QUOTED, rf"{_SIGN}(?:\[|{_MEMBER})?\s{{0,4}}[bfru]{{0,2}}{_IN_QUOTES}"),
    _form(QUOTED, _FIELD + _IN_QUOTES),
    _form(QUOTED, _COPULA + _IN_QUOTES),
    _form(ASSIGNED, rf"{_CLOSE}\s{{0,4}}==?\s{{0,4}}{_BARE}", cut=cut),
    _form(ASSIGNED, rf"[ \t]{{1,4}}(?:{_IN_QUOTES}|{_BARE})", suits=_is_flag, cut=cut),
    # Arguments of a command as a list: `["--password", "..."]`.
    _form(QUOTED, rf"[\"']\s{{0,4}},\s{{0,4}}{_IN_QUOTES}", suits=_is_flag),
    _form(
        ASSIGNED,
        r"[^<>\n]{0,200}>\s{0,4}(?:<!\[CDATA\[)?(?P<d>[^<>\s\]](?:[^<>\n\]]*[^<>\s\]])?)",
        suits=_is_element,
    ),
    _form(WRITTEN, _PHRASE, suits=_is_of_phrase),
    _form(WRITTEN, _SIGN + _BLOCK + _BARE, also=_is_mixed_or_alone, cut=cut),
    _form(WRITTEN, _COPULA + _BARE, also=_is_mixed, cut=cut),
    # A call, `setPassword("...")`; SQL, `PASSWORD '...'`; a Dockerfile, `ENV PASSWORD ...`.
    _form(QUOTED, rf"\(\s{{0,4}}{_IN_QUOTES}", suits=_is_setter),
    _form(QUOTED, rf"[ \t]{{1,4}}{_IN_QUOTES}", also=_is_capital_or_mixed),
    _form(WRITTEN, rf"[ \t]{{1,4}}{_BARE}", also=_is_capital_or_mixed, cut=cut),
)


def assignments(text: bytes) -> Iterator[tuple[str, int, int]]:
    """The pattern and the extent of each value of a name that is a secret.

    Each name is looked at once, and what stands behind it up to 256 bytes far, or up to the next
    quote: the time is linear in the text.
    """
    names, place = compile_text(f"{NAME}|{VAGUE_NAME}"), 0
    while match := names.search(text, place):
        start, end = match.span()
        before = _BEFORE.search(text[max(0, start - MAX_NAME_BYTES) : start])
        start -= len(before[0]) if before else 0
        name = text[start:end].decode("utf-8", "ignore").rstrip(".-_")
        place = end
        grade = secrecy(name)
        if grade is Secrecy.NONE:
            continue
        for form, found in _forms(text, name, start, end):
            if form.also(found):
                place = max(end, _end(found))
                kind = form.pattern if grade is Secrecy.SURE else TOKEN
                yield kind, found.start, place
                for start, place in _listed(found, end):
                    yield kind, start, place
                break


def _forms(text: bytes, name: str, start: int, end: int) -> Iterator[tuple[Form, Assignment]]:
    """What stands behind a name, in each form that suits, unless it is no value."""
    rejected: set[int] = set()
    for form in FORMS:
        match = form.behind.match(text, end) if form.suits(text, name, start) else None
        if match is None:
            continue
        first, last = match.span(match.lastgroup or 0)
        if first in rejected:
            continue
        raw = text[first:last].partition(MARK_OPEN)[0]
        value = form.cut(raw.decode("utf-8", "surrogateescape"))
        stop = first + len(value.encode("utf-8", "surrogateescape"))
        found = Assignment(
            text=text, name=name, name_start=start, value=value, start=first, end=stop
        )
        if _is_value(found, is_quoted=form.pattern == QUOTED):
            yield form, found
        else:
            rejected.add(first)


def _is_value(found: Assignment, *, is_quoted: bool) -> bool:
    """Whether the value is one, and that of a vague name looks random."""
    if is_prose(found.value, is_quoted=is_quoted):
        return False
    return secrecy(found.name) is Secrecy.SURE or _is_random(found)


def _listed(found: Assignment, name_end: int) -> Iterator[tuple[int, int]]:
    """The further values of a list, `passwords: ["...", "..."]`."""
    place = found.end if b"[" in found.text[name_end : found.start][-8:] else -1
    while place >= 0 and (match := _NEXT.match(found.text, place)):
        place = match.end(1)
        yield match.span(1)


def _end(found: Assignment) -> int:
    """Where the value ends: it is judged by its first bytes, and taken with all of them."""
    if found.end - found.start < MAX_BARE_BYTES:
        return found.end
    rest = _REST.match(found.text, found.end)
    return rest.end() if rest else found.end


def _is_random(found: Assignment) -> bool:
    """Whether the value of a vague name looks random."""
    word = next((word for word in MIN_VAGUE_BYTES if found.name.lower().endswith(word)), "token")
    check = is_opaque if word in ("pass", "pw") else is_random
    is_long = found.end - found.start >= MIN_VAGUE_BYTES[word]
    return is_long and check(found.text, found.start, found.end)
