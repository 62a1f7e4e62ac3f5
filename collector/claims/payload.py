"""Finds the question and the answer in free-form inputs and outputs of spans."""

from __future__ import annotations

import re
from collections.abc import Mapping

from collector.claims.documents import REDACTED
from collector.claims.messages import messages_of
from collector.claims.recover import looks_structured, members_of, parse, unquoted

DEPTH = 5
"""Most levels of lists and mappings in which a question or answer is searched."""
# The first key that leads to a text wins, so the specific names come before the general.
QUESTION_KEYS = (
    "query", "question", "query_str", "user_query", "user_question", "user_input", "search_query",
    "input", "q", "task", "str_or_query_bundle", "query_bundle", "prompt", "message", "text",
    "content", "query_text", "inputs", "args", "kwargs", "data",
)  # fmt: skip
ANSWER_KEYS = (
    "answer", "final_answer", "response", "final_result", "output_text", "output", "result",
    "generated_text", "generation", "completion", "reply", "replies", "text", "content", "message",
    "outputs", "choices", "generations", "candidates", "llm", "generator", "answer_builder",
    "answers", "data", "kwargs", "raw",
)  # fmt: skip
NAMED_ANSWERS = ("answer", "final_answer", "response", "final_result", "output_text")
"""Members that are the answer and nothing else, so that an empty one says something."""
OBJECT_REPR = re.compile(
    r"<?[A-Za-z_][\w.]*\(.*\)>?|[A-Z][\w.]*\([A-Za-z_]\w*=.*(?:\.\.\.|…)", re.DOTALL
)
"""Whole, or cut by who wrote it."""
WRAPPERS = ("outputs", "output", "result", "data")
"""Members that hold what a call returned, whatever it is."""
DOCUMENT_MARKS = ("page_content", "node", "chunk_id", "embedding")


def _structure(value: object) -> object:
    """The list or mapping that a payload encodes; a plain text unchanged."""
    if not isinstance(value, str):
        return value
    if not looks_structured(value):
        return members_of(value) or unquoted(value)
    structure, complete = parse(value)
    if isinstance(structure, (list, dict)):
        return structure
    return value if complete or not value.lstrip().startswith(('{"', '[{"', "{'")) else None


def _plain(text: str) -> str | None:
    """A text that a person could have written; None if it is empty, hidden, or an object's repr."""
    stripped = text.strip()
    if not stripped or stripped == REDACTED or OBJECT_REPR.fullmatch(stripped):
        return None
    return text


def question_of(value: object, depth: int = DEPTH) -> str | None:
    """The question in an input; None if there is none.

    >>> question_of('{"query_bundle": {"query_str": "how?"}}'), question_of("how?")
    ('how?', 'how?')
    """
    value = _structure(value)
    if isinstance(value, str):
        return _plain(value)
    if not depth:
        return None
    if isinstance(value, list):
        return _question_in_list(value, depth)
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("messages"), list):
        text = last_user_text(value)
        if text:
            return text
    for key in QUESTION_KEYS:
        if key in value:
            question = question_of(value[key], depth - 1)
            if question:
                return question
    return _only_text(value, depth)


def _only_text(value: Mapping[str, object], depth: int) -> str | None:
    """The question that all components of a pipeline received, if they received the same."""
    inner = {text for inputs in value.values() if isinstance(inputs, dict)
             and (text := question_of(inputs, depth - 1))}  # fmt: skip
    return inner.pop() if len(inner) == 1 else None


def _question_in_list(value: list[object], depth: int) -> str | None:
    text = last_user_text(value)
    if text:
        return text
    for entry in value:
        question = question_of(entry, depth - 1) if isinstance(entry, (str, dict)) else None
        if question:
            return question
    return None


def last_user_text(value: object) -> str | None:
    """The text of the last message of a user; None if there is no such message."""
    messages = messages_of(value)
    if not isinstance(messages, tuple):
        return None
    texts = [m.text for m in messages if m.role in ("user", "human") and m.text.strip()]
    return texts[-1] if texts else None


def answer_of(value: object, depth: int = DEPTH) -> str | None:
    """The answer in an output, unchanged; None if there is none.

    >>> answer_of('{"question": "q", "answer": "In 30 days. [a-1]"}')
    'In 30 days. [a-1]'
    >>> answer_of("answer='In 30 days.' citations=['a-1']")
    'In 30 days.'
    >>> answer_of({"metadata": {}, "message": {"role": "assistant", "content": "In 30 days."}})
    'In 30 days.'
    """
    value = _structure(value)
    if isinstance(value, str):
        return _plain(value)
    if not depth:
        return None
    if isinstance(value, list):
        if len(value) != 1 or (isinstance(value[0], dict) and "metadata" in value[0]):
            return None  # entries with metadata are documents, whatever else they have
        return answer_of(value[0], depth - 1)
    if not isinstance(value, dict) or _is_document(value):
        return None
    for key in ANSWER_KEYS:
        if value.get(key) is not None:
            answer = answer_of(value[key], depth - 1)
            if answer:
                return answer
    return None


def _is_document(value: Mapping[str, object]) -> bool:
    """Whether a mapping is a document. An answer may have metadata too: LlamaIndex' has."""
    if any(mark in value for mark in DOCUMENT_MARKS):
        return True
    if "metadata" not in value or isinstance(value.get("message"), dict):
        return False
    return not any(isinstance(value.get(name), str) for name in NAMED_ANSWERS)


def is_empty_answer(value: object, depth: int = DEPTH) -> bool:
    """Whether an output has a member for the answer, and that is an empty text.

    >>> is_empty_answer('{"question": "q", "answer": ""}'), is_empty_answer({"messages": []})
    (True, False)
    >>> is_empty_answer('{"outputs": {"answer": ""}}'), is_empty_answer('{"outputs": ""}')
    (True, False)
    """
    value = _structure(value)
    if not depth or not isinstance(value, dict) or _is_document(value):
        return False
    return any(_is_blank(value.get(name)) for name in NAMED_ANSWERS) or any(
        is_empty_answer(value.get(name), depth - 1) for name in WRAPPERS
    )


def returns_nothing(value: object) -> bool:
    """Whether an output says that a call returned an empty text, as JSON or in a wrapper.

    An empty attribute says nothing: instrumentors leave one where content is switched off.

    >>> [returns_nothing(output) for output in ('""', '{"outputs": "", "kwargs": {}}', "")]
    [True, True, False]
    """
    output = _structure(value)
    if isinstance(output, dict):
        return any(_is_blank(output.get(name)) for name in ("outputs", "output"))
    return bool(value) and _is_blank(output)


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not unquoted(value).strip()


def unfenced(text: str) -> str:
    """A text without the ```json fence around it.

    >>> unfenced('```json\\n{"a": 1}\\n```')
    '{"a": 1}'
    """
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```") and len(stripped) > 6:
        return stripped[3:-3].partition("\n")[2].strip()
    return stripped


def is_json_answer(text: str) -> bool:
    """Whether an answer is written as a JSON object, fenced or not."""
    head = text.lstrip()[:10]
    return head.startswith(("{", "```json", "```\n{"))
