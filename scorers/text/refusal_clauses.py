"""Divides a sentence into a clause and the rest, in every way that commas and such words allow.

    >>> for clause, rest in divided("It costs 90 euros, but the lease is silent on VAT.", "en"):
    ...     print(f"{clause} | {rest}")
    it costs 90 euros | the lease is silent on vat.
    the lease is silent on vat. | it costs 90 euros

A partial answer of one sentence refuses in one clause and states something in the rest, in any
order; the clause may stand in the middle (*the tour, whose price is not given, takes an hour*).
"""

from __future__ import annotations

import re
from functools import lru_cache

from scorers.text.refusal_patterns import clauses
from scorers.text.refusal_signs import is_unspaced
from scorers.text.tokens import tokens

LEAST_CLAUSE, LEAST_REST = 3, 4
"""Least words of a clause and of the rest; twice as many pairs of characters where a script has no
spaces."""
MOST_PIECES = 8
"""A sentence of more pieces is a list."""
_MARKS = re.compile(r"[;–—(){}،؛，；、]|\s-\s|(?<!\d)[,:]|[,:](?!\d)")


@lru_cache(maxsize=256)
def divided(sentence: str, language: str) -> tuple[tuple[str, str], ...]:
    """Pairs of a clause and the rest, both normalised; none where the sentence has one clause."""
    pieces = _pieces(sentence, language)
    count = len(pieces)
    if not 2 <= count <= MOST_PIECES:
        return ()
    ends = [(0, end) for end in range(1, count)] + [(start, count) for start in range(1, count)]
    middles = [(place, place + 1) for place in range(1, count - 1)]
    pairs = [
        (", ".join(pieces[start:end]), ", ".join(pieces[:start] + pieces[end:]))
        for start, end in ends + middles
    ]
    return tuple(
        [
            (clause, rest)
            for clause, rest in pairs
            if _is_long(clause, LEAST_CLAUSE) and _is_long(rest, LEAST_REST)
        ]
    )


def _pieces(sentence: str, language: str) -> list[str]:
    """What stands between marks and between words such as *but*; a single word goes with the next.

    >>> _pieces("In 2019, it cost 4,50 euros, however.", "en")
    ['in 2019', 'it cost 4,50 euros', '.']
    """
    pieces: list[str] = []
    short = ""
    for part in clauses(sentence, language):
        for piece in _MARKS.split(part):
            joined = f"{short} {piece}".strip()
            short = ""
            if len(tokens(joined)) == 1:
                short = joined
            elif joined:
                pieces.append(joined)
    return [*pieces, short] if short else pieces


def _is_long(text: str, least: int) -> bool:
    return len(tokens(text)) >= least * (2 if is_unspaced(text) else 1)
