"""Whether what stands where a secret would is one, or a word of a form, a manual or a program."""

from __future__ import annotations

import re

from collector.redaction.checks import is_placeholder
from collector.redaction.words import words

NO_VALUES = frozenset(words()["no_value"])
FUNCTION_WORDS = frozenset(words()["function"])
ASKING = frozenset(words()["asking"])
_CODE = re.compile(
    r"(?:os|self|this|process|config|settings|env|request|req|args|options|ctx|params|props|state"
    r"|form|data|user|System|Environment|vault|secrets|keyring|getpass|input|getenv|var|local)"
    r"(?:\.\w+|\[|\()|\w+\(\)|[A-Za-z_][\w.]*\((?:$|[\"'])|(?:[A-Za-z_]+\.)+[A-Za-z_]+[;,)]?$"
)
_TERM = re.compile(
    r"(?:sha|md|base|utf|aes|rsa|argon|oauth|ecdsa|ipv)-?\d{1,4}(?:-\w{1,6})?|v?\d+(?:\.\d+)+",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\d+[-+]?(?:[a-z]{3,})?", re.IGNORECASE)
_END = re.compile(r"[&,;](?=[\w .-]{1,40}=)|[,;.!?]+(?=$)|[)\]}]+[,;.]?$|\\[nrt](?![\w])|\\?$")
_MAY_END = re.compile(r"[&,;.!?)\]}\\]")
_UNSPACED = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_SIGNS = frozenset("!@#%^*+~&$(?=/")


def is_value(text: bytes, start: int, end: int) -> bool:
    """Whether what stands where a secret would is one: no placeholder, and no word of a manual."""
    return not is_prose(text[start:end].decode("utf-8", "replace"))


def is_value_of_user(text: bytes, start: int, end: int) -> bool:
    """The same for what follows a user's name; `1000:1000` are ids of a user and a group."""
    return is_value(text, start, end) and not (end - start <= 5 and text[start:end].isdigit())


def cut(value: str) -> str:
    """The value without what follows it: another parameter, a bracket that it did not open, words
    of a script that is written without spaces."""
    if not value.isascii():
        value = _UNSPACED.split(value, maxsplit=1)[0]
    match = _END.search(value) if _MAY_END.search(value) else None
    while match is not None and match.end() > match.start():
        if match.group()[0] in ")]}" and "([{"[")]}".index(match.group()[0])] in value:
            break
        value = value[: match.start()]
        match = _END.search(value)
    return value


def is_prose(value: str, *, is_quoted: bool = False) -> bool:
    """Whether a text that stands where a value would is none; code is not in quotes."""
    plain = value.strip().strip("\"'`.,;:!?*()[]{}").lower()
    if not plain or plain in NO_VALUES or is_placeholder(value.strip()):
        return True
    words = plain.split()
    if len(words) > 1:
        return words[0] in ASKING or bool(FUNCTION_WORDS.intersection(words))
    is_code = not is_quoted and _CODE.match(value) is not None
    return is_code or _TERM.fullmatch(plain) is not None


def is_mixed(value: str) -> bool:
    """Whether a word of at least 4 characters mixes letters with digits or signs."""
    core = value.rstrip(".,;:!?)")
    if len(core) < 4 or _COUNTED.fullmatch(core):
        return False
    has_letter = any(sign.isalpha() for sign in core)
    return has_letter and any(sign.isdigit() or sign in _SIGNS for sign in core)
