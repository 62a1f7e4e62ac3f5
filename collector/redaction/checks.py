"""Checks on a candidate secret that a regular expression cannot make: sums, context, randomness."""

from __future__ import annotations

import base64
import binascii
import re

MARK_OPEN = "⟪".encode()
# A variable, a format, a template, or signs that stand for a value that is not said.
PLACEHOLDER = re.compile(
    r"\$\{.*|\$\(.*|\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+|\d)|<.*|\{.*\}?|%[-#0 ]?[a-zA-Z]|%\(.*|%\w+%|⟪.*"
    r"|[*•xX.#_?…-]+|\[.*\]?|@\w+@|(?i:your|my|insert|enter)[-_ ].*"
    r"|(?i:changeme|change_me|todo|tbd)"
)
MIN_RANDOM_PART, LONG_WORD_BYTES = 16, 24
DIGIT = re.compile(rb"[0-9]")
CARD_LENGTHS = {b"3": (14, 15), b"4": (16,), b"5": (16,), b"2": (16,), b"6": (16,)}


def is_any(text: bytes, start: int, end: int) -> bool:
    """Always true, except for a mark: the expression alone is proof enough."""
    return not text[start:end].startswith(MARK_OPEN)


def is_random(text: bytes, start: int, end: int) -> bool:
    """True unless it is a slug of words: a part is long and mixed, or it has digits and both cases.

    >>> is_random(b"sk-learn-pipelines-for-beginners", 0, 32)
    False
    >>> is_random(b"sk-proj-9fQ2xLr7VbN0aTz4", 0, 24)
    True
    """
    value = text[start:end]
    if not _is_mixed(value):  # then no part is
        return False
    if any(len(part) >= MIN_RANDOM_PART and _is_mixed(part) for part in re.split(rb"[-.]", value)):
        return True
    return all(re.search(kind, value) for kind in (rb"[a-z]", rb"[A-Z]", rb"\d"))


def is_opaque(text: bytes, start: int, end: int) -> bool:
    """True if it has digits or mixes cases, so that it is no word of prose."""
    return is_any(text, start, end) and _is_mixed(text[start:end].rstrip(b".,;:!?"))


def is_long_or_opaque(text: bytes, start: int, end: int) -> bool:
    """True if it is no word of prose, by its length or its signs."""
    return end - start >= LONG_WORD_BYTES or is_opaque(text, start, end)


def _is_mixed(part: bytes) -> bool:
    has_letter = part.upper() != part.lower()
    is_cased = part != part.lower() and part[1:] != part[1:].lower()
    return has_letter and (is_cased or DIGIT.search(part) is not None)


def is_placeholder(value: str) -> bool:
    """Whether a value is a variable, a template or a mark: it stands for what is not said.

    >>> [is_placeholder(value) for value in ("$PASSWORD", "<your key>", "{{ key }}", "$ecret9!")]
    [True, True, True, False]
    """
    return PLACEHOLDER.fullmatch(value) is not None


def is_said(text: bytes, start: int, end: int) -> bool:
    """Accepts everything but a variable, a placeholder or a mark."""
    return not is_placeholder(text[start:end].decode("utf-8", "replace"))


def is_basic(text: bytes, start: int, end: int) -> bool:
    """True for base64 of `user:password`."""
    value = text[start:end].replace(b"\\", b"").rstrip(b"=")
    try:
        plain = base64.b64decode(value + b"=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return False
    return b":" in plain and plain.isascii()


def is_card(text: bytes, start: int, end: int) -> bool:
    """True for a payment card: the length of its brand, Luhn's sum, not a part of a longer number.

    >>> [is_card(b"4111 1111 1111 111%d" % last, 0, 19) for last in (1, 2)]
    [True, False]
    """
    digits = re.sub(rb"[ -]", b"", text[start:end])
    if len(digits) not in CARD_LENGTHS[digits[:1]] or not _is_apart(text, start, end):
        return False
    # Luhn: from the right, every second digit is doubled, and the digits of the product added.
    doubled = [int(chr(digit)) for digit in digits[-2::-2]]
    single = [int(chr(digit)) for digit in digits[::-2]]
    return (sum(single) + sum(sum(divmod(2 * digit, 10)) for digit in doubled)) % 10 == 0


def _is_apart(text: bytes, start: int, end: int) -> bool:
    """True if the number continues neither before nor after."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    is_escape = before[:1] == b"\\" and before[1:] in (b"n", b"r", b"t")
    begins = is_escape or not re.search(rb"[\w.-]$", before)
    return begins and not re.match(rb"[\w-]|\.\d", after)


def is_iban(text: bytes, start: int, end: int) -> bool:
    """True for an IBAN: 15 to 34 characters whose remainder by 97 is 1 (ISO 7064).

    >>> is_iban(b"DE89 3704 0044 0532 0130 00", 0, 27)
    True
    """
    value = text[start:end].replace(b" ", b"")
    if not 15 <= len(value) <= 34:
        return False
    moved = (value[4:] + value[:4]).decode("ascii")
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def is_phone(text: bytes, start: int, end: int) -> bool:
    """True for 8 to 15 digits (E.164) that are not a part of a longer number."""
    digits = sum(48 <= byte <= 57 for byte in text[start:end])
    return 8 <= digits <= 15 and _is_apart(text, start, end)
