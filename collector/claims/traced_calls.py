"""Parses calls of the user's functions that a decorator traced: arguments and a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from collector.claims.claim import NO_TEXT, Listing, Message, Withheld
from collector.claims.documents import LIST_KEYS, Draft, draft, draft_of, find_documents, listing
from collector.claims.messages import is_empty_reply, messages_of, text_of
from collector.claims.payload import answer_of, is_empty_answer, question_of
from collector.claims.recover import as_container, looks_structured, number, parse, text
from collector.claims.tool_results import tool_documents

CONTAINER_STARTS = ('{"', '[{"', "{'", "[{'")
COLUMNS = ("ids", "documents", "distances", "metadatas")
FOUND_KEYS = (
    "documents", "retrieved_documents", "source_documents", "docs", "chunks", "passages", "nodes",
)  # fmt: skip
"""Keys under which an empty list means "nothing found"; `results` could be anything's."""
RESULT_KEYS = ("artifact", "output", "result", "content")
PROMPT_KEYS = ("messages", "prompt", "prompts", "input", "text", "content", "query", "question")


def decode(value: object) -> object:
    """The value that JSON text encodes, else the text itself; TRUNCATED if it was cut.

    >>> decode('"how?"'), decode("how?"), decode('"how long do refu')
    ('how?', 'how?', <Withheld.TRUNCATED: 'truncated'>)
    """
    if not isinstance(value, str):
        return value
    if value.startswith('"'):
        inner = parse(value).value
        return inner if isinstance(inner, str) else Withheld.TRUNCATED
    if not looks_structured(value):
        return value
    container, complete = as_container(value)
    if complete and container is not None:
        return container
    return value  # cut, or a text that only begins like JSON: each reader recovers what it can


def arguments(value: object) -> dict[str, object]:
    """The arguments of a call by name; positional arguments by their number.

    >>> arguments('{"args": ["how?"], "kwargs": {"k": 4}}')
    {'0': 'how?', 'k': 4}
    """
    container = as_container(value).value
    if isinstance(container, list):
        return {str(index): argument for index, argument in enumerate(container)}
    if not isinstance(container, dict):
        return {}
    positional, keywords = container.get("args"), container.get("kwargs")
    if not isinstance(positional, list) and not isinstance(keywords, dict):
        return container
    result = arguments(positional) if isinstance(positional, list) else {}
    return {**result, **keywords} if isinstance(keywords, dict) else result


def question_in_arguments(value: object) -> str | None:
    """The question among the arguments: by its name, else the only text.

    >>> question_in_arguments('{"frage": "Wie lange?", "k": 4}')
    'Wie lange?'
    >>> question_in_arguments('{"args": ["how?"], "kwargs": {}}')
    'how?'
    """
    value = decode(value)
    if isinstance(value, Withheld):
        return None
    question = question_of(value)
    if question:
        return question
    texts = {
        argument
        for argument in arguments(value).values()
        if isinstance(argument, str) and argument.strip()
    }
    return texts.pop() if len(texts) == 1 else None


def documents_in_arguments(value: object) -> Listing | Withheld | None:
    """The documents among the arguments of a call.

    >>> listing = documents_in_arguments('{"args": ["q", [{"id": "a", "text": "A."}]]}')
    >>> [document.content for document in listing.documents]
    ['A.']
    """
    documents = find_documents(value)
    if documents is not None:
        return documents
    complete = as_container(value).complete
    for argument in arguments(value).values():
        if isinstance(argument, (list, dict)) and argument:
            inner = returned_documents(argument)
            if isinstance(inner, Listing):
                return inner._replace(complete=inner.complete and complete)
    return None


def returned_documents(value: object) -> Listing | Withheld | None:
    """The documents that a call returned: any framework's, pairs with scores, or plain texts.

    >>> [d.score for d in returned_documents('[[{"page_content": "A."}, 0.5]]').documents]
    [0.5]
    >>> returned_documents('["an-id", "another-id"]') is None
    True
    """
    value = decode(value)
    if isinstance(value, Withheld):
        return value
    container, complete = as_container(value)
    if isinstance(container, dict) and isinstance(container.get("ids"), list):
        return _from_columns(container, complete) or find_documents(value)
    documents = find_documents(value)
    if documents is not None:
        return documents
    for entries in _lists(container):
        drafts = [entry for entry in map(_entry, entries) if entry is not None]
        if drafts and len(drafts) == len(entries):
            return listing(drafts, complete=complete)
    return None


def _lists(container: object) -> Iterator[list[object]]:
    if isinstance(container, list):
        yield container
    elif isinstance(container, dict):
        yield from (entries for key in LIST_KEYS if isinstance(entries := container.get(key), list))


def _entry(entry: object) -> Draft | None:
    """A document, a pair of document and score, or a text; a single word could be an id."""
    if isinstance(entry, str):
        is_text = len(entry.split()) > 1 or not entry.isascii()
        return draft(None, entry) if is_text and not looks_structured(entry) else None
    if isinstance(entry, list) and len(entry) == 2 and number(entry[1]) is not None:
        document = draft_of(entry[0]) or _entry(entry[0])
        return document._replace(score=number(entry[1])) if document is not None else None
    return draft_of(entry)


def _from_columns(container: Mapping[str, object], complete: bool) -> Listing | Withheld | None:
    """Chroma's result: parallel lists of ids, texts, distances and metadata."""
    ids, texts, distances, metadata = (_column(container.get(name)) for name in COLUMNS)
    if not ids or (texts and len(texts) != len(ids)):
        return None
    drafts = [draft(identifier, _at(texts, i), _at(distances, i), _at(metadata, i))
              for i, identifier in enumerate(ids)]  # fmt: skip
    return listing(drafts, complete=complete)


def _column(value: object) -> list[object]:
    if not isinstance(value, list):
        return []
    return value[0] if len(value) == 1 and isinstance(value[0], list) else value


def _at(column: list[object], index: int) -> object:
    return column[index] if index < len(column) else None


def tool_message_documents(value: object) -> Listing | None:
    """The documents in a tool's result or tool message; None if it is no retrieval.

    >>> listing = tool_message_documents('{"content": "[a-1] First.\\\\n[b-2] Two."}')
    >>> [document.chunk_id for document in listing.documents]
    ['a-1', 'b-2']
    >>> tool_message_documents('{"documents": []}'), tool_message_documents('{"results": []}')
    (Listing(documents=(), complete=True, slots=(), total=0), None)
    """
    value = decode(value)
    if isinstance(value, dict):
        for key in RESULT_KEYS:
            inner = value.get(key)
            documents = _in_result(inner) if isinstance(inner, (str, list, dict)) else None
            if documents is not None:
                return documents
        if any(value.get(key) == [] for key in FOUND_KEYS):
            return Listing(())
    return _in_result(value)


def _in_result(value: object) -> Listing | None:
    """Documents in a result. Parts of a message together are one text, not documents."""
    if isinstance(value, list) and value and all(_is_part(part) for part in value):
        return tool_documents(text_of(value))
    return tool_documents(value)


def _is_part(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") in ("text", "output_text", "input_text")


def prompt_messages(value: object) -> tuple[Message, ...] | Withheld | None:
    """The messages to a model, also from the arguments of a function around the call.

    >>> prompt_messages('{"args": ["Say hi."], "kwargs": {}}')
    (Message(role='user', text='Say hi.', calls_tool=False),)
    """
    value = decode(value)
    if isinstance(value, Withheld):
        return value
    messages = _with_content(value, "user")
    if messages is not None:
        return messages
    named_arguments = arguments(value)
    for key in PROMPT_KEYS:
        if isinstance(named_arguments.get(key), (str, list)):
            messages = _with_content(named_arguments[key], "user")
            if messages is not None:
                return messages
    # Else the only text is the prompt: among the positional arguments first, then among all.
    unnamed = [argument for name, argument in named_arguments.items() if name.isdecimal()]
    for values in (unnamed, named_arguments.values()):
        texts = [each for each in values if isinstance(each, (str, list)) and each]
        if len(texts) == 1:
            return _with_content(texts[0], "user")
    return None


def reply_messages(value: object) -> tuple[Message, ...] | Withheld | None:
    """The messages from a model, also from the result of a function around the call.

    >>> reply_messages('{"choices": [{"message": {"role": "assistant", "content": "Hi."}}]}')
    (Message(role='assistant', text='Hi.', calls_tool=False),)
    >>> reply_messages("[a-1] says so.")
    (Message(role='assistant', text='[a-1] says so.', calls_tool=False),)
    >>> reply_messages('{"role": "assistant", "content": ""}'), reply_messages("{}")
    ((), None)
    """
    value = decode(value)
    if isinstance(value, Withheld):
        return value
    messages = _with_content(value, "assistant")
    if messages is not None:
        return messages
    answer = answer_of(value)
    if answer:
        return (Message("assistant", answer),)
    return NO_TEXT if is_empty_reply(value) or is_empty_answer(value) else None


def _with_content(value: object, role: str) -> tuple[Message, ...] | Withheld | None:
    """Messages with texts or tool calls; a text that only begins like JSON is a text."""
    if isinstance(value, str) and not value.lstrip().startswith(CONTAINER_STARTS):
        return (Message(role, value),) if value.strip() else None
    messages = messages_of(value, role)
    if not isinstance(messages, tuple):
        return messages
    return messages if any(message.text or message.calls_tool for message in messages) else None


def first_member(value: object, *names: str) -> object:
    """The first of these members of a mapping or its JSON text; None if it has none of them."""
    container = as_container(value).value
    if not isinstance(container, dict):
        return None
    return next((container[name] for name in names if container.get(name) is not None), None)


def plain_text(value: object) -> str:
    """A short text, which may be encoded as JSON text.

    >>> plain_text('"RETRIEVER"'), plain_text("RETRIEVER"), plain_text(None)
    ('RETRIEVER', 'RETRIEVER', '')
    """
    inner = decode(value)
    return text(inner)
