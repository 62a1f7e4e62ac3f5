"""Says what a prompt's field holds by its name, in the languages of `field_words.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from enum import Enum
from functools import cache
from pathlib import Path

WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
IN_BRACKETS = re.compile(r"[(\[（][^)\]）\n]{0,120}[)\]）]")
FILLERS = frozenset({"information", "data", "text", "texts", "content", "base", "here", "section",
                     "start", "begin", "found", "retrieved", "provided", "below", "list"})  # fmt: skip
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
    if not listed or len(listed) > LONGEST_NAME:
        return None
    while len(listed) > 1 and (listed[-1].isdecimal() or listed[-1] in FILLERS):
        listed.pop()
    last = " ".join(listed)
    if any(is_in(word, "example") for word in listed) or _ends(last, "example"):
        return Kind.EXAMPLE
    if is_in(listed[0], "other") and len(listed) > 1 and is_in(listed[1], "binding"):
        return Kind.OTHER
    for kind in (Kind.QUESTION, Kind.ANSWER, Kind.OTHER, Kind.CONTEXT):
        if is_in(listed[-1], kind.value) or (kind is not Kind.EXAMPLE and _ends(last, kind.value)):
            return kind if _is_name(listed) else None
    return None


def _ends(last: str, name: str) -> bool:
    return last.endswith(tuple(_lists()[f"{name}_ends"]))


def _is_name(listed: Sequence[str]) -> bool:
    """Whether words are a name: "sources", "pieces of context", but not "cite the sources"."""
    bound = [word for word in listed[:-1] if is_in(word, "binding")]
    return not bound or (bound == ["of"] and any(is_in(word, "partitive") for word in listed))


def announces_context(sentence: str) -> bool:
    """Whether a sentence says that retrieved texts come after it.

    >>> announces_context("Use the following pieces of context to answer the question")
    True
    >>> announces_context("Follow these rules when you cite the sources")
    False
    """
    return _names_context(sentence, ("follows",))


def introduces_context(sentence: str) -> bool:
    """Whether a sentence, if a colon ends it, says so: "answer by the provided context:"."""
    return _names_context(sentence, ("follows", "given")) or _ends_with_context(sentence)


def _ends_with_context(sentence: str) -> bool:
    """Whether its last word is what the colon stands before: "answer based on the context:"."""
    listed = words(IN_BRACKETS.sub(" ", sentence))
    if not listed or any(is_in(word, "other") for word in listed):
        return False
    return len(listed) > 2 and is_in(listed[-1], "context")


def _names_context(sentence: str, announcing: Sequence[str]) -> bool:
    lowered = sentence.casefold()
    if any(mark in lowered for mark in _lists()["follows_marks"]):
        if any(mark in lowered for mark in _lists()["context_ends"]):
            return True
    listed = words(sentence)
    places = [at for at, word in enumerate(listed) if is_in(word, "context")]
    pointers = [at for at, word in enumerate(listed)
                if any(is_in(word, name) for name in announcing)]  # fmt: skip
    return any(_binds(listed, pointer, at) for pointer in pointers for at in places[:8])


def _binds(listed: Sequence[str], pointer: int, at: int) -> bool:
    """Whether "following" and the like belong to "context", with no "rules" between them."""
    first, last = sorted((pointer, at))
    return last - first <= 6 and not any(is_in(word, "other") for word in listed[first:last])


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


def says_nothing(text: str) -> bool:
    """Whether a field is empty, a placeholder, or says that nothing was found.

    >>> says_nothing("{context}"), says_nothing("N/A"), says_nothing("[1] Refunds take a day.")
    (True, True, False)
    """
    stripped = text.strip().strip("()[]<>*_«»\"'`.-—… \n").casefold()
    if not stripped or stripped in words_of("nothing")[0]:
        return True
    return len(stripped) < 80 and stripped.startswith(("{", "$")) and _is_placeholder(stripped)


def _is_placeholder(text: str) -> bool:
    return re.fullmatch(r"[${]*\s*[\w.]+\s*\}*", text) is not None
