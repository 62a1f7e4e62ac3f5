"""Passages that a prompt shows as data: JSON, Python's repr of documents, a table."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence

from collector.claims.claim import Listing
from collector.claims.documents import CONTENT_KEYS, find_documents
from collector.claims.field_names import Kind, kind_of_name
from collector.claims.passage_text import ID_KEYS, Block
from collector.claims.recover import LITERAL_LIMIT, parse

FENCE = re.compile(r"\s*```[a-z]*\n?", re.IGNORECASE)
OBJECTS = re.compile(r"\s*\[?\s*(?:\w+\.)*(?:Document|Node|TextNode|NodeWithScore|Passage|Chunk)\(")
CELL = re.compile(r"(?<!\\)\|")
SEPARATOR = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t|:-]*$")
TEXT_COLUMN = frozenset(
    {*CONTENT_KEYS, "excerpt", "snippet", "body", "inhalt", "texto", "内容", "text"}
)
ID_COLUMN = re.compile(rf"#|{ID_KEYS}", re.IGNORECASE)


def data_blocks(region: str) -> tuple[Block, ...]:
    """The passages of a region that begins with a list or mapping; none for any other."""
    fence = FENCE.match(region)
    text = region[fence.end() :].partition("```")[0] if fence else region
    text = text.strip()
    if OBJECTS.match(text):
        return _blocks_of(_objects(text))
    if not text.startswith(("{", "[")) or text.startswith("[["):
        return ()
    return _blocks_of(_value(text))


def _value(text: str) -> object:
    """The JSON or Python value that a text begins with; None if it begins with neither."""
    if text[1:].lstrip()[:1] not in ('"', "'", "{", "["):
        return None
    try:
        value: object = json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return _lines(text) or parse(text).value
    return _lines(text) or value if isinstance(value, dict) else value


def _lines(text: str) -> list[object] | None:
    """The objects of a text that has one on each line."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or not all(line.lstrip().startswith("{") for line in lines):
        return None
    try:
        return [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return None


def _blocks_of(value: object) -> tuple[Block, ...]:
    if isinstance(value, list) and value and all(isinstance(entry, str) for entry in value):
        return tuple(Block(label="", text=entry) for entry in value)
    if (
        isinstance(value, dict)
        and value
        and all(isinstance(entry, str) for entry in value.values())
    ):
        if not CONTENT_NAMES.isdisjoint(value):
            value = [value]
        elif all(" " not in key for key in value):
            return tuple(Block(label=str(key), text=entry) for key, entry in value.items())
    documents = find_documents(value)
    if not isinstance(documents, Listing) or any(not d.content for d in documents.documents):
        return ()
    return tuple(
        Block(
            label="" if own.chunk_id == own.text_hash else _name(own.chunk_id, own.document_id),
            text=own.content or "",
        )
        for own in documents.documents
    )  # fmt: skip


CONTENT_NAMES = frozenset(CONTENT_KEYS)


def _name(chunk_id: str, origin: str) -> str:
    """A chunk's id; its origin where the id is only a number in this list."""
    return origin if chunk_id.isdecimal() and origin else chunk_id


def _objects(text: str) -> list[dict[str, object]]:
    """The arguments of the constructor calls in Python's repr of a list of documents.

    >>> _objects("[Document(metadata={'source': 'a'}, page_content='One.')]")
    [{'metadata': {'source': 'a'}, 'page_content': 'One.'}]
    """
    if len(text) > LITERAL_LIMIT:
        return []
    try:
        tree = ast.parse(text, mode="eval").body
        calls = tree.elts if isinstance(tree, (ast.List, ast.Tuple)) else [tree]
        return [
            {word.arg: _literal(word.value) for word in call.keywords if word.arg}
            for call in calls if isinstance(call, ast.Call)
        ]  # fmt: skip
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return []


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def table_blocks(region: str) -> tuple[Block, ...]:
    """The rows of a Markdown table that has a column of texts.

    >>> table_blocks("| id | text |\\n|---|---|\\n| a-1 | One. |")
    (Block(label='a-1', text='One.'),)
    """
    lines = [line for line in region.strip().splitlines() if line.strip()]
    if len(lines) < 3 or "|" not in lines[0] or not SEPARATOR.match(lines[1]):
        return ()
    names = [name.casefold() for name in _cells(lines[0])]
    rows = [_cells(line) for line in lines[2:] if "|" in line]
    column = next((at for at, name in enumerate(names) if name in TEXT_COLUMN
                   or kind_of_name(name) is Kind.CONTEXT), None)  # fmt: skip
    if column is None or any(len(row) != len(names) for row in rows):
        return ()
    own = next(
        (at for at, name in enumerate(names) if at != column and ID_COLUMN.fullmatch(name)), None
    )
    return tuple(
        Block(label="" if own is None else row[own], text=row[column])
        for row in rows
        if row[column]
    )


def _cells(line: str) -> Sequence[str]:
    return [cell.strip().replace("\\|", "|") for cell in CELL.split(line.strip().strip("|"))]
