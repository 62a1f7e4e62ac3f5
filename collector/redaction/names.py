"""Names of secrets: in which words and languages, and what beside them makes them harmless."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

from collector.redaction.words import words


class Secrecy(IntEnum):
    """What a name says of its value: a secret, one if it looks random, or nothing."""

    NONE = 0
    IF_RANDOM = 1
    SURE = 2


_WORDS = words()
_PASSWORDS = [word for language in _WORDS["password"].values() for word in language]
_SECRETS = [*_PASSWORDS, *_WORDS["secret"]]
_OF_ATTRIBUTES = [*_SECRETS, *_WORDS["attribute"]]
_VAGUE = _WORDS["vague"]
_ABOUT = frozenset(_WORDS["about"])
_NOT_BEFORE = frozenset(_WORDS["not_before"])
_TOKEN_OF_TEXT = frozenset(_WORDS["token_of_text"])
SHORT_WORD_LETTERS = 5
"""Words up to this length occur within others; they count where a value may follow."""
_SHORT = [word for word in _SECRETS if word.isascii() and len(word) <= SHORT_WORD_LETTERS]
_LONG = [word for word in _OF_ATTRIBUTES if word not in _SHORT]


def _alternatives(chosen: list[str], between: str) -> str:
    """The words as one expression, longest first."""
    ordered = sorted(set(chosen), key=len, reverse=True)
    return "|".join(between.join(map(re.escape, word.split("%"))) for word in ordered)


def _escaped(word: str, between: str) -> str:
    r"""A word as JSON and URLs escape what is not ASCII in it: `contrase\u00f1a`, `%C3%B1`."""
    parts = []
    for sign in word:
        forms = sorted({sign, sign.lower(), sign.upper()})
        codes = "|".join(f"{ord(form):04x}" for form in forms if len(form) == 1)
        octets = "|".join("".join(f"%{octet:02x}" for octet in form.encode()) for form in forms)
        plain = between if sign == "%" else sign
        parts.append(plain if sign.isascii() else rf"(?:\\u(?:{codes})|{octets})")
    return r"\\*".join(parts)


# RE2: a name as it stands in a text, with what is appended to it, as in `PASSWORD_PROD`.
_SIGN = "[_ .-]?"
NAME = rf"(?i:{_alternatives(_SECRETS, _SIGN)})[A-Za-z0-9_.-]{{0,40}}"
VAGUE_NAME = rf"(?i:{_alternatives(_VAGUE, _SIGN)})"
# In a serialised request: a long word anywhere, a short or vague one where a value may follow.
_SIGN_IN_BODY = r"(?:[_ .-]|%20|\+|\\u0020)?"
_ESCAPED = "|".join(_escaped(word, _SIGN_IN_BODY) for word in _PASSWORDS if not word.isascii())
HAS_NAME = rf"(?i:{_alternatives(_LONG, _SIGN_IN_BODY)}|{_ESCAPED})"
_HAS_SHORT = rf"(?i:{_alternatives([*_SHORT, *_VAGUE], _SIGN)})[0-9]{{0,3}}"
HAS_SHORT_NAME = (
    rf"{_HAS_SHORT}(?:\\*[\"'`>\])*]){{0,3}}(?:\s|%20){{0,4}}(?:[\x00-\x1f:=|>]|%3[AaDd]|&)"
    rf"|-[A-Za-z_-]{{0,20}}{_HAS_SHORT}(?:\s|%20)|{_HAS_SHORT}[_.-][A-Za-z0-9_.-]{{1,20}}\s?[:=]"
)

# The same in a name whose parts are joined by `_`.
_SURE_PART = re.compile(rf"(?:{_alternatives(_OF_ATTRIBUTES, '_?')})(?:s|es)?\d*(?=_|$)")
_VAGUE_PART = re.compile(rf"(?:^|_)(?:{_alternatives(_VAGUE, '_?')})\d*(?=_|$)")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_FLAG = re.compile(r"--?[A-Za-z][A-Za-z0-9_-]{1,40}")
_OTHER = re.compile(r"[^\w']+|_+")


@lru_cache(maxsize=4096)
def secrecy(name: str) -> Secrecy:
    """What the name of an attribute, variable or field says of its value.

    >>> [secrecy(name).name for name in ("db.password", "sessionToken", "token", "max_tokens")]
    ['SURE', 'SURE', 'IF_RANDOM', 'NONE']
    >>> {secrecy(name).name for name in ("password_reset_url", "passwordless", "tokenizer")}
    {'NONE'}
    """
    plain = _OTHER.sub("_", _HUMP.sub("_", name)).strip("_").lower()
    for part, grade in ((_SURE_PART, Secrecy.SURE), (_VAGUE_PART, Secrecy.IF_RANDOM)):
        matches = list(part.finditer(plain))
        if matches and _is_of_secret(plain, matches[-1]):
            return grade
    return Secrecy.NONE


def is_flag(word: str) -> bool:
    """Whether this is a flag of a command, whose value is its next argument."""
    return _FLAG.fullmatch(word) is not None


def _is_of_secret(plain: str, match: re.Match[str]) -> bool:
    """Whether the words around a name leave it a secret's."""
    before = plain[: match.start()].strip("_").split("_")
    after = plain[match.end() :].strip("_").split("_")
    is_text = "token" in match.group() and _TOKEN_OF_TEXT.intersection(before[-2:])
    return not (is_text or _ABOUT.intersection(after) or _NOT_BEFORE.intersection(before[-1:]))
