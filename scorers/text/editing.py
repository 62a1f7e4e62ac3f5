"""Undoes what an author does to a text that he quotes, and what markup does to the quoted text.

    >>> edited("refunds go “to the [card] holder[s] within 5 days” [sic]")
    'refunds go “to the … … within 5 days” …'
    >>> rendered("Pay by [card](/pay) within <b>14</b> days.[3]").split()
    ['Pay', 'by', 'card', 'within', '14', 'days.']

Square brackets inside a quotation hold words of whoever quotes: *[sic]*, *[the shop]*, *day[s]*.
They stand beside the words of the source or in their place, so that they are read as an ellipsis.
"""

from __future__ import annotations

import re

from scorers.text.negations import denies
from scorers.text.normalise import words

INSERTED = re.compile(r"\w*\[([^\[\]\n]{1,60})\]\w*")
MOST_INSERTED = 6
"""Words in one pair of brackets; more are a sentence of the author's own."""
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,300}>|<!--[^<>]{0,300}-->")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,600}(?:\s\"[^\"\n]{0,300}\")?\)")
_NOTE = re.compile(r"\[(?:\^?\d{1,3}|\^[\w-]{1,30}|citation needed)\]")


def edited(quote: str) -> str:
    """A quotation with an ellipsis for what its author put into square brackets.

    Unchanged where an insertion claims something: a negation or a number.
    """
    inserted = [words(match[1]) for match in INSERTED.finditer(quote)]
    if any(len(own) > MOST_INSERTED or denies(own) or _has_digit(own) for own in inserted):
        return quote
    return INSERTED.sub("…", quote)


def _has_digit(own: list[str]) -> bool:
    return any(character.isdigit() for word in own for character in word)


def rendered(content: str) -> str:
    """A text as its reader sees it: without tags, the targets of links and the marks of notes."""
    if "<" in content:
        content = _TAG.sub(" ", content)
    if "[" in content:
        content = _NOTE.sub(" ", _LINK.sub(r"\1", content))
    return content
