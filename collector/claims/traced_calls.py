"""Calls of the user's own functions as a decorator traced them: arguments in, a result out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from collector.claims.claim import Listing, Message, Withheld
from collector.claims.documents import LIST_KEYS, Draft, draft, find, listing, loose
from collector.claims.messages import several, text_of
from collector.claims.payload import answer_of, question_of
from collector.claims.recover import as_container, looks_structured, number, parse, text
from collector.claims.tool_results import documents_of

CONTAINER_STARTS = ('{"', '[{"', "{'", "[{'")
COLUMNS = ("ids", "documents", "distances", "metadatas")
FOUND_KEYS = (
    "documents", "retrieved_documents", "source_documents", "docs", "chunks", "passages", "nodes",
)  # fmt: skip
"""Names that an empty list says "nothing found" under; `results` could be those of anything."""
RESULT_KEYS = ("artifact", "output", "result", "content")
PROMPT_KEYS = ("messages", "prompt", "prompts", "input", "text", "content", "query", "question")


def decoded(value: object) -> object:
    """The value behind JSON text, the text itself where it is none; TRUNCATED where it was cut.

    >>> decoded('"how?"'), decoded("how?"), decoded('"how long do refu')
    ('how?', 'how?', <Withheld.TRUNCATED: 'truncated'>)
    """
    if not isinstance(value, str):
        return value
    if value.startswith('"'):
        found = parse(value).value
        return found if isinstance(found, str) else Withheld.TRUNCATED
    if not looks_structured(value):
        return value
    container, complete = as_container(value)
    if complete and container is not None:
        return container
    return value  # cut, or a text that only starts like JSON: each reader recovers what it can


def arguments(value: object) -> dict[str, object]:
    """The arguments of a call by name, those without a name by position.

    >>> arguments('{"args": ["how?"], "kwargs": {"k": 4}}')
    {'0': 'how?', 'k': 4}
    """
    container = as_container(value).value
    if isinstance(container, list):
        return {str(index): one for index, one in enumerate(container)}
    if not isinstance(container, dict):
        return {}
    positional, named = container.get("args"), container.get("kwargs")
    if not isinstance(positional, list) and not isinstance(named, dict):
        return container
    found = arguments(positional) if isinstance(positional, list) else {}
    return {**found, **named} if isinstance(named, dict) else found


def asked(value: object) -> str | None:
    """The question among the arguments: by its name, else the only text.

    >>> asked('{"frage": "Wie lange?", "k": 4}'), asked('{"args": ["how?"], "kwargs": {}}')
    ('Wie lange?', 'how?')
    """
    value = decoded(value)
    if isinstance(value, Withheld):
        return None
    found = question_of(value)
    if found:
        return found
    texts = {one for one in arguments(value).values() if isinstance(one, str) and one.strip()}
    return texts.pop() if len(texts) == 1 else None


def given(value: object) -> Listing | Withheld | None:
    """The documents among the arguments of a call.

    >>> [d.content for d in given('{"args": ["q", [{"id": "a", "text": "A."}]]}').documents]
    ['A.']
    """
    found = find(value)
    if found is not None:
        return found
    complete = as_container(value).complete
    for one in arguments(value).values():
        if isinstance(one, (list, dict)) and one:
            inner = returned(one)
            if isinstance(inner, Listing):
                return inner._replace(complete=inner.complete and complete)
    return None


def returned(value: object) -> Listing | Withheld | None:
    """The documents that a call returned: of any framework, with scores in pairs, bare texts.

    >>> [d.score for d in returned('[[{"page_content": "A."}, 0.5]]').documents]
    [0.5]
    >>> returned('["an-id", "another-id"]') is None
    True
    """
    value = decoded(value)
    if isinstance(value, Withheld):
        return value
    container, complete = as_container(value)
    if isinstance(container, dict) and isinstance(container.get("ids"), list):
        return _from_columns(container, complete) or find(value)
    found = find(value)
    if found is not None:
        return found
    for entries in _lists(container):
        drafts = [one for one in map(_entry, entries) if one is not None]
        if drafts and len(drafts) == len(entries):
            return listing(drafts, complete=complete)
    return None


def _lists(container: object) -> Iterator[list[object]]:
    if isinstance(container, list):
        yield container
    elif isinstance(container, dict):
        yield from (one for key in LIST_KEYS if isinstance(one := container.get(key), list))


def _entry(entry: object) -> Draft | None:
    """A document with its score behind it, or a text; a lone word could as well be an id."""
    if isinstance(entry, str):
        is_text = len(entry.split()) > 1 or not entry.isascii()
        return draft(None, entry) if is_text and not looks_structured(entry) else None
    if isinstance(entry, list) and len(entry) == 2 and number(entry[1]) is not None:
        found = loose(entry[0]) or _entry(entry[0])
        return found._replace(score=number(entry[1])) if found is not None else None
    return loose(entry)


def _from_columns(container: Mapping[str, object], complete: bool) -> Listing | Withheld | None:
    """Chroma's result: ids, texts, distances and metadata each in a list of their own."""
    ids, texts, distances, metadata = (_column(container.get(name)) for name in COLUMNS)
    if not ids or (texts and len(texts) != len(ids)):
        return None
    drafts = [draft(one, _at(texts, i), _at(distances, i), _at(metadata, i))
              for i, one in enumerate(ids)]  # fmt: skip
    return listing(drafts, complete=complete)


def _column(value: object) -> list[object]:
    if not isinstance(value, list):
        return []
    return value[0] if len(value) == 1 and isinstance(value[0], list) else value


def _at(column: list[object], index: int) -> object:
    return column[index] if index < len(column) else None


def tool_returned(value: object) -> Listing | None:
    """The documents in a tool's result, also inside a tool message; None where it is none.

    >>> [d.chunk_id for d in tool_returned('{"content": "[a-1] First.\\\\n[b-2] Two."}').documents]
    ['a-1', 'b-2']
    >>> tool_returned('{"documents": []}'), tool_returned('{"results": []}')
    (Listing(documents=(), complete=True, slots=(), total=0), None)
    """
    value = decoded(value)
    if isinstance(value, dict):
        for key in RESULT_KEYS:
            inner = value.get(key)
            found = _in_result(inner) if isinstance(inner, (str, list, dict)) else None
            if found is not None:
                return found
        if any(value.get(key) == [] for key in FOUND_KEYS):
            return Listing(())
    return _in_result(value)


def _in_result(value: object) -> Listing | None:
    """Parts of a message are the words of one result, not documents."""
    if isinstance(value, list) and value and all(_is_part(one) for one in value):
        return documents_of(text_of(value))
    return documents_of(value)


def _is_part(one: object) -> bool:
    return isinstance(one, dict) and one.get("type") in ("text", "output_text", "input_text")


def prompt(value: object) -> tuple[Message, ...] | Withheld | None:
    """The messages that a model call was given, also as arguments of a function around it.

    >>> prompt('{"args": ["Say hi."], "kwargs": {}}')
    (Message(role='user', text='Say hi.', calls_tool=False),)
    """
    value = decoded(value)
    if isinstance(value, Withheld):
        return value
    found = _spoken(value, "user")
    if found is not None:
        return found
    named = arguments(value)
    for key in PROMPT_KEYS:
        if isinstance(named.get(key), (str, list)):
            found = _spoken(named[key], "user")
            if found is not None:
                return found
    unnamed = [one for name, one in named.items() if name.isdecimal()]
    for values in (unnamed, named.values()):
        texts = [one for one in values if isinstance(one, (str, list)) and one]
        if len(texts) == 1:
            return _spoken(texts[0], "user")
    return None


def reply(value: object) -> tuple[Message, ...] | Withheld | None:
    """The messages that a model call returned, whatever the function around it made of them.

    >>> reply('{"choices": [{"message": {"role": "assistant", "content": "Hi."}}]}')
    (Message(role='assistant', text='Hi.', calls_tool=False),)
    >>> reply("[a-1] says so.")
    (Message(role='assistant', text='[a-1] says so.', calls_tool=False),)
    """
    value = decoded(value)
    if isinstance(value, Withheld):
        return value
    found = _spoken(value, "assistant")
    if found is not None:
        return found
    answer = answer_of(value)
    return (Message("assistant", answer),) if answer else None


def _spoken(value: object, role: str) -> tuple[Message, ...] | Withheld | None:
    """Messages with words or tool calls in them; a text that only starts like JSON is a text."""
    if isinstance(value, str) and not value.lstrip().startswith(CONTAINER_STARTS):
        return (Message(role, value),) if value.strip() else None
    found = several(value, role)
    if not isinstance(found, tuple):
        return found
    return found if any(one.text or one.calls_tool for one in found) else None


def field(value: object, *names: str) -> object:
    """The first of some members of a mapping or its JSON text, None where it has none of them."""
    container = as_container(value).value
    if not isinstance(container, dict):
        return None
    return next((container[name] for name in names if container.get(name) is not None), None)


def plain(value: object) -> str:
    """A short text that may be encoded as JSON text.

    >>> plain('"RETRIEVER"'), plain("RETRIEVER"), plain(None)
    ('RETRIEVER', 'RETRIEVER', '')
    """
    found = decoded(value)
    return text(found)
