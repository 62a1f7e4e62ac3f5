"""Says what a prompt's field holds by its name, in the languages of `field_words.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from enum import Enum
from functools import cache
from itertools import takewhile
from pathlib import Path

WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
IN_BRACKETS = re.compile(r"[(\[（][^)\]）\n]{0,120}[)\]）]")
PLACEHOLDER = re.compile(r"[${]{1,3}\s*[\w.]+\s*\}*|<[^<>\n]*>|\[[^\[\]\n\"'{]*\]")
FILLERS = frozenset(
    {"information", "data", "text", "texts", "content", "base", "here", "section", "start",
     "begin", "found", "retrieved", "provided", "below", "list"}
)  # fmt: skip
LONGEST_NAME = 5
"""Words in the name of a field; what has more is a sentence."""
LONGEST_LABEL = 400
"""Characters; nobody introduces a text by a longer line."""


class Kind(Enum):
    """What a field of a prompt holds."""

    CONTEXT = "context"
    QUESTION = "question"
    ANSWER = "answer"
    EXAMPLE = "example"
    OTHER = "other"


@cache
def words_of(name: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """A list of `field_words.toml`: whole words, and beginnings of words."""
    listed = _lists()[name]
    return (
        frozenset(word for word in listed if not word.endswith("*")),
        tuple(word[:-1] for word in listed if word.endswith("*")),
    )


@cache
def _lists() -> dict[str, list[str]]:
    path = Path(__file__).with_name("field_words.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def ends_of(name: str) -> tuple[str, ...]:
    """What a label ends with in scripts without spaces."""
    return tuple(_lists()[f"{name}_ends"])


def is_in(word: str, name: str) -> bool:
    """Whether a word in lower case is in a list."""
    whole, beginnings = words_of(name)
    return word in whole or (bool(beginnings) and word.startswith(beginnings))


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return [word.replace("’", "'") for word in WORD.findall(text.casefold())]


def kind_of_name(name: str) -> Kind | None:
    """What a field of this short name holds; None for a name that says nothing.

    >>> kind_of_name("retrieved_context"), kind_of_name("User question"), kind_of_name("Refunds")
    (<Kind.CONTEXT: 'context'>, <Kind.QUESTION: 'question'>, None)
    >>> kind_of_name("Rules for citing sources")
    <Kind.OTHER: 'other'>
    """
    listed = words(IN_BRACKETS.sub(" ", name))
    whole, listed = listed, _head(listed)
    if not listed or len(listed) > LONGEST_NAME:
        return None
    if is_in(listed[-1], "answer") and any(is_in(word, "context") for word in whole):
        return None  # "answer from these documents"
    last = " ".join(listed)
    if any(is_in(word, "example") for word in listed) or _ends(last, "example"):
        return Kind.EXAMPLE
    for kind in (Kind.QUESTION, Kind.ANSWER, Kind.OTHER, Kind.CONTEXT):
        if is_in(listed[-1], kind.value) or _ends(last, kind.value):
            return kind
    return None


def _head(listed: list[str]) -> list[str]:
    """What a name names: "context" of "context from the archive", "rules" of "rules for sources".

    Empty for a sentence that begins otherwise: "cite the sources".
    """
    is_part = any(is_in(word, "partitive") for word in listed)
    head = list(
        takewhile(lambda word: not is_in(word, "binding") or (is_part and word == "of"), listed)
    )
    while len(head) > 1 and head[-1] in FILLERS:
        head.pop()
    return head


def _ends(last: str, name: str) -> bool:
    return last.endswith(ends_of(name))


def announces_context(sentence: str) -> bool:
    """Whether a sentence says that retrieved texts come after it.

    >>> announces_context("Use the following pieces of context to answer the question")
    True
    >>> announces_context("Follow these rules when you cite the sources")
    False
    """
    lowered = sentence.casefold()
    if _has(lowered, "follows_marks") and _has(lowered, "context_ends"):
        return True
    listed = words(sentence)
    is_part = any(is_in(word, "partitive") for word in listed)  # "extracted parts of a document"
    places = [at for at, word in enumerate(listed)
              if _is_announced(word) or (is_part and word == "document")][:8]  # fmt: skip
    pointers = [at for at, word in enumerate(listed) if is_in(word, "follows")][:8]
    return any(_binds(listed, pointer, at) for pointer in pointers for at in places)


def _has(lowered: str, name: str) -> bool:
    return any(mark in lowered for mark in _lists()[name])


def introduces_context(sentence: str) -> bool:
    """Whether a sentence, if a colon ends it, says so: "answer by the provided context:"."""
    return announces_context(sentence) or _ends_with_context(sentence)


def _ends_with_context(sentence: str) -> bool:
    """Whether its last word is what the colon stands before: "answer based on the context:"."""
    listed = words(IN_BRACKETS.sub(" ", sentence))
    if not listed or any(is_in(word, "other") for word in listed):
        return False
    return len(listed) > 2 and _is_announced(listed[-1])


def _is_announced(word: str) -> bool:
    return is_in(word, "context") and not is_in(word, "unannounced")


def _binds(listed: Sequence[str], pointer: int, at: int) -> bool:
    """Whether "following" and the like belong to "context", with no "rules" between them."""
    first, last = sorted((pointer, at))
    between = listed[first + 1 : last]
    return len(between) < 6 and not any(
        is_in(word, "other") or is_in(word, "unbinding") for word in between
    )


def is_passage(name: str) -> bool:
    """Whether a name is that of a single passage: "document", "source", but not "context"."""
    last = words(name)[-1:]
    return bool(last) and is_in(last[0], "passage") and last[0] not in ("context", "evidence")


def is_order(text: str) -> bool:
    """Whether a text begins like an instruction."""
    first = words(text[:40])[:1]
    return bool(first) and is_in(first[0], "orders")


def closes_context(line: str) -> bool:
    """Whether a line behind a context goes on to the task: "Given the context, answer …"."""
    if line.startswith(tuple(_lists()["closing_starts"])):
        return True
    listed = words(line[:LONGEST_LABEL])
    if not listed or not is_in(listed[0], "closing"):
        return False
    return any(is_in(word, name) for word in listed for name in ("context", "question", "answer")
               ) or any(word in ("above", "oben", "выше") for word in listed)  # fmt: skip


def is_blank(text: str) -> bool:
    """Whether a field is empty or says that nothing was found.

    >>> is_blank("[]"), is_blank("No documents found."), is_blank("{context}")
    (True, True, False)
    """
    stripped = text.strip().strip("()[]<>*_«»\"'`.-—… \n").casefold()
    return not stripped or stripped in words_of("nothing")[0]


def says_nothing(text: str) -> bool:
    """Whether a field is blank or a placeholder.

    >>> says_nothing("{context}"), says_nothing("N/A"), says_nothing("[1] Refunds take a day.")
    (True, True, False)
    """
    is_short = len(text.strip()) < 80
    return is_blank(text) or (is_short and PLACEHOLDER.fullmatch(text.strip()) is not None)
