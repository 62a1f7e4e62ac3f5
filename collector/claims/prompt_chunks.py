"""Finds chunks and the question in a prompt, for services whose spans carry no documents.

A context is a field with such a name: a label (`Context:`, `## Sources`), a sentence ("Use the
following passages to answer:"), a tag (`<context>`), DSPy's marker, a member of a JSON object.
Without one, numbered passages and `<document>` elements speak for themselves. It ends at the
question or the instructions behind it; `passages` splits it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from collector.claims.context_labels import in_labels, in_numbers, is_empty_in_labels
from collector.claims.elements import elements, innermost
from collector.claims.field_names import (
    Kind,
    closes_context,
    ends_of,
    is_blank,
    is_order,
    says_nothing,
)
from collector.claims.passage_text import Block
from collector.claims.passages import Passages, marked, passages
from collector.claims.prompt_fields import (
    Label,
    field_of,
    kind_of_field,
    labels,
    marked_fields,
    only_text,
    without_examples,
)
from collector.claims.recover import as_container, as_json

__all__ = [
    "Block",
    "as_id",
    "begins_field",
    "context_blocks",
    "marked_blocks",
    "question_beside",
    "question_in",
    "shows_empty_context",
]

REGIONS = (
    *(rf"\w{{0,8}}{word}" for word in ends_of("context")),
    r"(?:[a-z]{1,20}[_-]){0,2}(?:contexts?|documents|docs|sources|passages|search_results|results|"
    r"chunks|knowledge|knowledge_base|excerpts|snippets|references|articles|evidence)",
)
CERTAIN_ELEMENTS = (
    r"(?:document|doc|passage|chunk|search_result|excerpt|snippet|source|context)(?:[_-]?\d{1,4})?",
)
NAMED_TAG = re.compile(r"<[a-z_-]{1,20}\d|<(?:search_result|passage|chunk|excerpt|snippet)\b", re.I)
QUESTION_TAGS = (r"(?:[a-z]{1,20}[_-])?(?:question|query)", *ends_of("question"))
FIELD_TAGS = (*REGIONS, *QUESTION_TAGS)
MARKS = " \t\r\n[](){}<>*#-.:;\"'«»“”0123456789"
"""What may stand in front of a text in its field."""
LABEL_LENGTH = 80
LONGEST = 262_144
"""Characters; longer prompts are not parsed."""
USER = re.compile(r"(?:the )?(?:user|human|customer)(?: message| input| request)?", re.IGNORECASE)
LONGEST_QUESTION = 400
TURN_END = re.compile(r"<end_of_turn>|<\|[a-z_]{1,20}\|>|\[/INST\]|</s>")
"""Signs with which a chat template ends a message."""
LONGEST_VALUE = 20_000
UNDERLINE = re.compile(r"\A\s*[-=~]{3,}[ \t]*\n")
PARAGRAPH = re.compile(r"\n[ \t]*\n|</[a-z_]{1,30}>\n")
TAGS = re.compile(r"</?[a-z_]{1,30}>")
REMARK = 200
"""Characters; a single shorter text behind `Context:` may be any remark, not a retrieved chunk."""
OBSERVATION = re.compile(r"observation(?:_\d+)?")


def question_in(prompt: str) -> str | None:
    """The last question that the prompt's template names; None if there is none.

    >>> question_in("Context:\\n[a] b\\n\\nQuestion: How long?\\nAnswer:")
    'How long?'
    """
    if len(prompt) > LONGEST:
        return None
    fields = _program_fields(prompt)
    if fields:
        named = field_of(fields, Kind.QUESTION)
        if named is None and field_of(fields, Kind.CONTEXT) is not None:
            named = only_text(fields, (Kind.CONTEXT, Kind.OTHER, Kind.ANSWER))
        return named.strip() or None if isinstance(named, str) else None
    bodies = [found.body for found in elements(prompt, QUESTION_TAGS) if found.body]
    questions = [prompt[slice(*body)].strip() for body in bodies]
    questions = questions or _labelled(prompt, lambda label: label.kind is Kind.QUESTION)
    questions = questions or _labelled(prompt, lambda label: bool(USER.fullmatch(label.name)))
    return next((found for found in reversed(questions) if not says_nothing(found)), None)


def begins_field(prompt: str, text: str) -> bool:
    """Whether a context or a question of the prompt begins with a text.

    >>> begins_field("Notes:\\n[1] One. Two.\\n\\nQuestion: How?\\nAnswer: So.", "So.")
    False
    >>> begins_field("Context:\\n[1] One. Two.\\n\\nQuestion: How?", "One. Two.")
    True
    """
    if len(prompt) > LONGEST:
        return False
    wanted = (Kind.CONTEXT, Kind.QUESTION)
    starts = [found.body[0] for found in elements(prompt, FIELD_TAGS) if found.body]
    starts += [label.end for label in labels(prompt) if label.kind in wanted]
    values = [prompt[start : start + LABEL_LENGTH + len(text)] for start in starts]
    for name, value in _program_fields(prompt).items():
        values += [value] if kind_of_field(name) in wanted and isinstance(value, str) else []
    bare = text.lstrip(MARKS)
    return bool(bare) and any(value.lstrip(MARKS).startswith(bare) for value in values)


def _labelled(prompt: str, is_wanted: Callable[[Label], bool]) -> list[str]:
    return [_value(prompt, label) for label in labels(prompt) if is_wanted(label)]


@lru_cache(maxsize=4)  # a prompt is asked for its question and for its context
def _program_fields(prompt: str) -> Mapping[str, object]:
    """The fields of a prompt that a program wrote: DSPy's, or a JSON object; else empty."""
    marked_ = marked_fields(prompt)
    if marked_:
        return dict(marked_)
    if prompt.lstrip().startswith("{"):
        container = as_container(prompt.strip()).value
        if isinstance(container, dict):
            return {str(name): value for name, value in container.items()}
    return {}


def _value(prompt: str, label: Label) -> str:
    """The text behind a label: on its line, else the next paragraph."""
    if label.is_inline:
        line = prompt[label.end :].split("\n", 1)[0]
        return TURN_END.split(line, maxsplit=1)[0].strip(" \t*_;")
    rest = UNDERLINE.sub("", prompt[label.end : label.end + LONGEST_VALUE])
    return rest.lstrip().split("\n", 1)[0].strip()


def question_beside(text: str) -> str | None:
    """The question in a text that shows a context: its template's, else the paragraph outside.

    >>> question_beside("<documents><document id='a'>One.</document></documents>\\n\\nHow long?")
    'How long?'
    """
    named = question_in(text)
    if named is not None:
        return named
    blocks = context_blocks([text])
    paragraphs = [part.strip() for part in PARAGRAPH.split(text.strip())]
    for part, is_last in ((paragraphs[-1], True), (paragraphs[0], False)):
        line = TAGS.sub("", part).strip()
        instruction, _, asked = line.partition(": ")
        line = asked if asked and closes_context(instruction) else line
        is_apart = bool(line) and not any(line in block.text for block in blocks)
        is_asked = line.endswith(("?", "？", "؟")) or (is_last and not is_order(line))
        if is_apart and is_asked and "\n" not in line and len(line) < LONGEST_QUESTION:
            return line
    return None


def as_id(label: str) -> str | None:
    """A label as an id; None for a running number or a long heading, which identify no chunk."""
    return None if label.isdigit() or len(label) > LABEL_LENGTH or not label else label


def context_blocks(texts: Sequence[str]) -> tuple[Block, ...]:
    """The chunks of the last text that shows a context; empty if none does."""
    for text in reversed(texts):
        found = _in_text(text) if len(text) <= LONGEST else Passages()
        if found.blocks and not _is_remark(found):
            return found.blocks
    return ()


def _is_remark(found: Passages) -> bool:
    only = found.blocks[0]
    is_short = len(found.blocks) == 1 and as_id(only.label) is None and len(only.text) < REMARK
    return is_short and not found.is_certain


def shows_empty_context(texts: Sequence[str]) -> bool:
    """Whether a text asks a question over a context that holds nothing.

    >>> shows_empty_context(["Sources:\\n\\nQuestion: How long do refunds take?"])
    True
    """
    return any(_has_empty_context(text) for text in texts if len(text) <= LONGEST)


def _has_empty_context(text: str) -> bool:
    fields = _program_fields(text)
    if fields:
        values = [value for name, value in fields.items() if kind_of_field(name) is Kind.CONTEXT]
        contexts = [value if isinstance(value, str) else as_json(value) for value in values]
        return bool(contexts) and all(map(is_blank, contexts)) and question_in(text) is not None
    text = without_examples(text)
    bodies = [text[slice(*found.body)] for found in elements(text, REGIONS) if found.body]
    if bodies:
        return all(map(is_blank, bodies)) and question_beside(text) is not None
    return is_empty_in_labels(text) and question_in(text) is not None


def marked_blocks(text: str) -> tuple[Block, ...]:
    """The chunks of a text that consists of chunks only, each with a reliable marker.

    >>> [block.label for block in marked_blocks("[a-1] First.\\n[b-2] Second.")]
    ['a-1', 'b-2']
    """
    return marked(text)


def _in_text(text: str) -> Passages:
    fields = _program_fields(text)
    if fields:
        return _in_fields(fields)
    text = without_examples(text)
    for find in (_in_tags, in_labels, _in_elements, in_numbers):
        found = find(text)
        if found.blocks:
            return found
    return Passages()


def _in_fields(fields: Mapping[str, object]) -> Passages:
    """The passages in the fields of a program; those that its tools found come last."""
    blocks: list[Block] = []
    for name, value in fields.items():
        if kind_of_field(name) is Kind.CONTEXT:
            written = value if isinstance(value, str) else as_json(value)
            blocks.extend(passages(written).blocks)
        elif OBSERVATION.fullmatch(name) and isinstance(value, str) and _lists_texts(value):
            blocks.extend(passages(value).blocks)
    return Passages(blocks=tuple(dict.fromkeys(blocks)), is_certain=True)


def _lists_texts(observation: str) -> bool:
    """Whether a tool returned passages: several texts, or marked ones."""
    return observation.startswith(("«", "[1] «")) or bool(marked(observation))


def _in_tags(text: str) -> Passages:
    """The passages of the last element that is named like a context and holds some."""
    regions = [innermost(text, found) for found in elements(text, REGIONS) if found.body]
    names = {
        re.sub(r"\W.*", "", text[found.start + 1 : found.start + 60], flags=re.DOTALL)
        for found in regions
    }
    if len(regions) > 1 and len(names) == 1 and not names.pop().casefold().endswith("s"):
        return passages(text[regions[0].start : regions[-1].end])  # an element for each passage
    for found in reversed(regions):
        body = text[slice(*found.body)] if found.body else ""
        inside = passages(body)
        # Instructions name a tag on their line: "only use what stands in <context></context>".
        if inside.blocks and len(body.strip()) > 3:
            return inside
    return Passages()


def _in_elements(text: str) -> Passages:
    """Several elements that can be nothing but passages, or one that has a name or number."""
    found = [element for element in elements(text, CERTAIN_ELEMENTS) if element.body is not None]
    is_named = any("=" in element.attributes or NAMED_TAG.match(text, element.start)
                   for element in found)  # fmt: skip
    if len(found) < 2 and not is_named:
        return Passages()
    return passages(text[found[0].start : found[-1].end])
