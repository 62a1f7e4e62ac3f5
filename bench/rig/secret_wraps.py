"""What stands around a secret: assignments, quotes, escapes. Each is drawn by a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from urllib.parse import quote

from bench.rig.secret_kinds import Group, Kind, Planted

# `{key}` is the name, `{}` the value. The first part suits a name and a value of any kind.
ASSIGNED = ("{key}={}", "{key}: {}", '"{key}": "{}"', "export {key}={}", "--{key} {}", "--{key}={}",
            "<{key}>{}</{key}>", "{key} => {}", "{key} := {}", "X-{key}: {}",
            "https://example.org/x?{key}={}", "{key}='{}'", "{key}: `{}`")  # fmt: skip
BARE = ("{}", "-k {}", "use {} please")
QUOTED = ('"{}"', "'{}'", "`{}`", '\\"{}\\"', '\\\\\\"{}\\\\\\"', "{}")
SPLIT = "\u200b"


def _url(text: str) -> str:
    return quote(text, safe="")


def _entities(text: str) -> str:
    return "".join(c if c.isalnum() or c in " \n" else f"&#{ord(c)};" for c in text)


def _unicode_escapes(text: str) -> str:
    return "".join(c if c.isalnum() or c == " " else f"\\u{ord(c):04x}" for c in text)


def _full_width(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def _zero_width(text: str) -> str:
    return "".join(c + SPLIT if place % 5 == 3 else c for place, c in enumerate(text))


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _json_in_json(text: str) -> str:
    return _json(_json(text))


def _plain(text: str) -> str:
    return text


ESCAPES: tuple[Callable[[str], str], ...] = (
    _plain, _plain, _json, _json_in_json, _url, _entities, _unicode_escapes, _full_width,
    _zero_width,
)  # fmt: skip


def wrapped(kind: Kind, rng: random.Random) -> tuple[str, tuple[str, ...], str]:
    """A text that says a secret of this kind, what must not be left of it, and how it says it."""
    planted = kind.make(rng)
    form = _form(kind, planted, rng)
    text = form.replace("{key}", planted.name).replace("{}", planted.text)
    escape = rng.choice(ESCAPES)
    if escape is _zero_width:
        # Pieces are looked for with the splits that they have in the text.
        whole = escape(text)
        return (
            whole,
            tuple(_split_of(whole, piece) for piece in planted.pieces),
            _said(form, escape),
        )
    return escape(text), tuple(escape(piece) for piece in planted.pieces), _said(form, escape)


def _said(form: str, escape: Callable[[str], str]) -> str:
    return f"{form} {escape.__name__}"


def _split_of(whole: str, piece: str) -> str:
    plain = whole.replace(SPLIT, "")
    start = plain.index(piece)
    places = [place for place, sign in enumerate(whole) if sign != SPLIT]
    return whole[places[start] : places[start + len(piece) - 1] + 1]


def _form(kind: Kind, planted: Planted, rng: random.Random) -> str:
    if planted.is_whole:
        return "{}"
    if kind.group is Group.PASSWORD:
        return rng.choice(ASSIGNED)
    if kind.group is Group.PRIVATE_KEY:
        return rng.choice((*ASSIGNED, *BARE))
    return rng.choice((*ASSIGNED, *BARE)).replace("{}", rng.choice(QUOTED))
