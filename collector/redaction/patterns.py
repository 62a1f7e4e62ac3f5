r"""Every kind of secret and of personal data: its names, its place in a text, how it is detected.

Expressions are RE2 over UTF-8. `detect` has to match wherever the pattern finds something, also in
the bytes of a whole request, where a length byte may stand beside a text and escapes within it; a
false alarm only costs time. `matches` finds the exact bytes to take out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import partial

from collector.redaction import blocks
from collector.redaction.assignments import KINDS, assignments
from collector.redaction.checks import (
    is_any,
    is_basic,
    is_card,
    is_iban,
    is_long_or_opaque,
    is_opaque,
    is_phone,
    is_random,
    is_said,
)
from collector.redaction.expression import compile_text
from collector.redaction.formats import FORMATS, Check, Format
from collector.redaction.names import HAS_NAME, HAS_SHORT_NAME
from collector.redaction.values import is_value, is_value_of_user

Spans = Callable[[bytes], Iterator[tuple[int, int]]]
Matches = Callable[[bytes], Iterator[tuple[str, int, int]]]

PATIENCE = 4
"""Searching rejected matches again may cost this many times a text's length; see `spans_of`."""
# A token starts at a word boundary, after an underscore, a flag of one letter, or an escape:
# `\\nsk-...`, `%3Dsk-`.
BOUNDARY = r"(?:\b|_|(?:^|[^A-Za-z0-9])-[A-Za-z]|\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4})"


class Specificity(IntEnum):
    """Of matches that overlap, the most specific names the mark; then the longest."""

    PERSONAL = 0
    ASSIGNED = 1
    CONTEXT = 2
    FORMAT = 3
    BLOCK = 4
    OWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Kinds of values that are searched together: `matches` gives name, start and end of each.

    `mark` is what stands in their marks, the name if empty.
    """

    names: tuple[str, ...]
    detect: str
    matches: Matches
    specificity: Specificity
    mark: str = ""

    @property
    def is_personal(self) -> bool:
        """Whether it is about a person, and not a secret."""
        return self.specificity is Specificity.PERSONAL


def pattern(
    name: str, spans: Spans, specificity: Specificity, *, detect: str, mark: str = ""
) -> Pattern:
    """A pattern of one name, from what finds the extents of its values."""

    def matches(text: bytes) -> Iterator[tuple[str, int, int]]:
        return ((name, start, end) for start, end in spans(text))

    return Pattern(
        names=(name,), detect=detect, matches=matches, specificity=specificity, mark=mark
    )


def spans_of(expression: str, check: Check, text: bytes) -> Iterator[tuple[int, int]]:
    """The extent of the last group of every match that `check` accepts."""
    compiled, place, patience = compile_text(expression), 0, PATIENCE * (len(text) + 1)
    while match := compiled.search(text, place):
        start, end = match.span(match.lastindex or 0)
        if start < end and check(text, start, end):
            yield start, end
            place = end
        else:
            # Another match may begin within the rejected one, so the search goes on one byte
            # later. A hostile text could make that quadratic: once `patience` is used up,
            # rejected matches are skipped whole.
            patience -= end - match.start()
            place = match.start() + 1 if patience > 0 else max(end, match.start() + 1)


def spans_behind(
    head: str, behind: re.Pattern[bytes], check: Check, text: bytes
) -> Iterator[tuple[int, int]]:
    """The extent of the last group of `behind` after every match of `head` that `check` accepts.

    `behind` looks a limited number of bytes ahead for what is rejected, so the time is linear.
    """
    done = 0
    for match in compile_text(head).finditer(text):
        value = behind.match(text, match.end()) if match.start() >= done else None
        if value is not None:
            start, end = value.span(value.lastindex or 0)
            if start < end and check(text, start, end):
                done = end
                yield start, end


def _format(form: Format) -> Pattern:
    spans = partial(spans_of, f"{BOUNDARY}({form.find})", form.check)
    # URLs and JSON escape the two signs of base64 that are no letters.
    detect = form.detect or form.find.replace(r"\b", "").replace("+/", r"+/%\\")
    return pattern(form.name, spans, Specificity.FORMAT, detect=detect)


def _behind(name: str, head: str, behind: str, check: Check, *, detect: str = "") -> Pattern:
    spans = partial(spans_behind, head, re.compile(behind.encode()), check)
    return pattern(name, spans, Specificity.CONTEXT, detect=detect or head)


def _context(name: str, find: str, check: Check, *, detect: str) -> Pattern:
    return pattern(name, partial(spans_of, find, check), Specificity.CONTEXT, detect=detect)


def _block(name: str, spans: Spans, detect: str) -> Pattern:
    return pattern(name, spans, Specificity.BLOCK, detect=detect, mark="private_key")


def _personal(name: str, find: str, check: Check, *, detect: str = "") -> Pattern:
    spans = partial(spans_of, f"({find})", check)
    return pattern(name, spans, Specificity.PERSONAL, detect=detect or find)


_KEYS = (
    _block("private_key", blocks.private_keys, blocks.DETECT_MARKER),
    _block("encoded_private_key", blocks.encoded_keys, blocks.DETECT_ENCODED),
    _block("private_key_member", blocks.key_members, blocks.DETECT_MEMBER),
)

_COOKIE = (
    r"([A-Za-z0-9_.$%!#|-]{1,80}=[^\s;\"'`<>]{1,4096}"
    r"(?:;\s{0,2}[A-Za-z0-9_.$%-]{1,80}(?:=[^\s;\"'`<>]{0,4096})?)*)"
)
_QUOTE = r"[bfru]?[\"'`]?"
_COLON = r"[\"'`\])*]{0,3}\s{0,4}(?:=>|:=|[:=>])\s{0,4}"
_ARROW = r"[\"'`\])*]{0,3}(?:\s{0,4}(?:=>|:=|[:=>])\s{0,4}|\s)"
_USER = r"[^\s/:@\"'<>\\]{0,64}"
_CONTEXTS = (
    _context(
        "jwt",
        r"(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){0,2})?)"
        r"|(eyJ[A-Za-z0-9_-]{16,}\.\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})",
        is_any,
        detect=r"eyJ[A-Za-z0-9_-]{8,}\.",
    ),
    _behind(
        "bearer",
        r"(?i:bearer)(?:\s|%20){1,4}",
        r"([A-Za-z0-9._~+/=-]{16,})",
        is_long_or_opaque,
        detect=r"(?i:bearer)(?:\s|%20|\\+)",
    ),
    _context(
        "password_hash",
        r"(\$(?:2[abxy]?\$\d\d\$[./A-Za-z0-9]{50,53}|[156y]\$[^\s:$\"'<>]{1,40}\$[./A-Za-z0-9$]{22,120}"
        r"|apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|argon2id?\$[A-Za-z0-9=,$+/]{40,200}))",
        is_any,
        detect=r"(?:\$|%24)(?:2[abxy]?|[156y]|apr1|argon2id?)(?:\$|%24)",
    ),
    _behind("basic_auth", r"(?i:basic)(?:\s|%20){1,4}", r"([A-Za-z0-9+/]{8,}={0,2})", is_basic),
    _behind(
        "url_password",
        r":\\?/\\?/",
        rf"{_USER}:([^\s/\"'<>\\]{{1,256}})@|([A-Za-z0-9_-]{{20,256}})@",
        is_said,
        detect=r"(?::|%3[Aa])(?:\\*/|%2[Ff]){2}[^\s/\"'<>]{1,400}(?:@|%40|\\u0040)",
    ),
    _context(
        "dsn_password",
        r":([!#-&(-;=?A-_a-~]{1,128})@(?:tcp|unix|udp)\("
        r"|(?i:jdbc:oracle):\w{1,10}:[!#-&(-.0-9;=?A-_a-~]{1,64}/([!#-&(-;=?A-_a-~]{1,128})@",
        is_said,
        detect=r"@(?:tcp|unix|udp)\(|(?i:jdbc:oracle)",
    ),
    _behind(
        "url_signature",
        r"[?&;#](?i:sig|signature|x-amz-signature|x-amz-security-token|x-goog-signature|key|token"
        r"|apikey|auth)=",
        r"([A-Za-z0-9%._~+/=-]{16,})",
        is_opaque,
        detect=r"(?i:sig|signature|x-amz-signature|x-amz-security-token|x-goog-signature|key|token"
        r"|apikey|auth)(?:=|%3[Dd])[A-Za-z0-9%._~+/=-]{16}",
    ),
    _behind(
        "authorization",
        rf"(?i:authorization){_COLON}",
        rf"{_QUOTE}(?:(?i:digest|oauth|aws4-[a-z0-9-]{{1,20}}|signature|hawk|token|mac)\s"
        r"([A-Za-z0-9_-]{1,40}=[^\r\n]{4,2048})"
        r"|(?i:bearer|basic|token|apikey|api-key|key|negotiate|ntlm|ssws|splunk|bot)\s{1,2}([^\s\"'`,;<>]{8,}))",
        is_value,
        detect=r"(?i:authorization)",
    ),
    _behind(
        "cookie",
        rf"(?i:cookies?2?){_ARROW}|\s-b\s{{0,2}}",
        _QUOTE + _COOKIE,
        is_said,
        detect=r"(?i:cookie)|\s-b\s{0,2}\\*[\"']?[A-Za-z0-9_.-]{1,80}=",
    ),
    _behind(
        "user_password",
        r"(?:\s|^|[\"'`(])(?:-[uU]|--user|--proxy-user)(?:\s{1,4}|=)?",
        r"[\"'`]?[^\s:\"'`/]{1,64}:([^\s\"'`]{1,256})",
        is_value_of_user,
        detect=r"(?:-u|--user|--proxy-user|-U)(?:\s|=|%20|%3[Dd]|\\+|[\"'])|\s-u[A-Za-z0-9_.-]{1,64}:",
    ),
    _behind(
        "command_password",
        r"\b(?:mysql|mysqldump|mysqladmin|mariadb|sshpass|mongosh?|mongodump|docker login|htpasswd"
        r"|redis-cli|cqlsh|ldapsearch|smbclient|sqlcmd)\b",
        r"[^\n|;&]{0,200}?\s-[paPw]\s?[\"'`]?([^\s\"'`-][^\s\"'`]{2,256})",
        is_random,
        detect=r"mysql|mariadb|sshpass|mongo|docker(?:\s|%20)login|htpasswd|redis-cli|cqlsh"
        r"|ldapsearch|smbclient|sqlcmd",
    ),
    _behind(
        "flag_secret",
        r"(?:\s|^)-[kpPaw]\s{1,4}",
        r"[\"'`]?([A-Za-z0-9._~+=-]{16,})",
        is_random,
        detect=r"-[kpPaw](?:\s|%20){1,4}\\*[\"'`]?[A-Za-z0-9._~+=-]{16}",
    ),
    _behind(
        "aws_secret",
        r"(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        r"[^A-Za-z0-9/+]{1,4}(?:[A-Za-z_]{0,40}[^A-Za-z0-9/+]{1,6}){0,3}([A-Za-z0-9/+]{40})"
        r"(?![A-Za-z0-9/+=])",
        is_random,
        detect=r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    ),
)

_ASSIGNMENTS = (
    Pattern(
        names=KINDS,
        detect=f"{HAS_NAME}|{HAS_SHORT_NAME}",
        matches=assignments,
        specificity=Specificity.ASSIGNED,
        mark="password",
    ),
)

_CARD = (
    r"(?:(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6(?:011|5\d\d|4[4-9]\d|2\d\d)|35\d\d)"
    r"(?:(?: \d{4}){3}|(?:-\d{4}){3}|\d{12})"
    r"|3[47]\d\d(?: \d{6} \d{5}|-\d{6}-\d{5}|\d{11})"
    r"|3(?:0[0-5]|[68]\d)\d(?: \d{6} \d{4}|-\d{6}-\d{4}|\d{10}))"
)
# Not within the digits of a fraction, unless the byte before is the length of the string.
_BEFORE_CARD = r"(?:^|[^0-9.]|[^ -)+-ac-~][0-9.])"
_CARDS = (
    pattern(
        "payment_card",
        partial(spans_of, f"{BOUNDARY}({_CARD})", is_card),
        Specificity.FORMAT,
        detect=_BEFORE_CARD + _CARD,
    ),
)

_PERSONAL = (
    _personal(
        "email",
        r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}",
        is_any,
        detect=r"[A-Za-z0-9._%+-]@[A-Za-z0-9-]+\.[A-Za-z]",
    ),
    _personal("iban", r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?", is_iban),
    _personal(
        "phone",
        r"\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){1,5}"
        r"|\(?[2-9]\d\d\)?[ .-][2-9]\d\d[ .-]\d{4}",
        is_phone,
    ),
    _personal("us_ssn", r"[0-8]\d\d-\d\d-\d{4}", is_phone),
)

PATTERNS = (*_KEYS, *_CONTEXTS, *_ASSIGNMENTS, *map(_format, FORMATS), *_CARDS, *_PERSONAL)

CREDENTIAL = "credential"
"""The name under which the value of an attribute is counted whose key says that it is a secret."""
NAMES = frozenset(name for kind in PATTERNS for name in kind.names)
"""What settings may give an action of its own."""
