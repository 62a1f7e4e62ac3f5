"""Resolves citations to a record's chunks: by id, title, file name, label and position."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property
from pathlib import PurePosixPath

from collector.claims.field_names import is_passage
from collector.claims.prompt_chunks import as_id, context_blocks
from collector.claims.prompt_match import SPACES, is_comparable, positions
from ragvigil.model.record import Document

NAME_KEYS = (
    "title", "name", "source", "file_name", "filename", "file_path", "url", "uri", "doc_uri",
    "doc_id", "document_id", "ref_doc_id", "file_id", "heading",
)  # fmt: skip
DIGITS = re.compile(r"\d+")
LETTERS = re.compile(r"[^\W\d_]+")
LABEL = re.compile(  # possessive, so that a row of spaces is not divided between its parts
    r"(?:^|\n)[^\n]{0,60}?[\[(【<#]?+\s*+(?:[^\W\d_]++\s*+)?[:#]?+\s*+(\d{1,4})\s*+[\])】>:.)-]*+\s*+$"
)
OWN_LABEL = re.compile(r"\s*[\[(【<#]?+\s*+([^\W\d_]++)\s*+[:#]?+\s*+(\d{1,4})\s*+[\])】>:.]++\s")
"""A label inside of a chunk: "Source 1:". A number alone may begin a list."""
LABEL_REACH = 80
"""Characters in front of a chunk in which its label is searched."""
TEXT_LENGTH = 24
"""Characters; a shorter text is a name, not the text of a chunk."""
UNIQUE = frozenset({"uuid", "hex"})


def shape(identifier: str) -> str:
    """The form of an id: `a` for runs of letters, `9` for runs of digits, other characters as is.

    >>> shape("refund-03"), shape("92dbf133-442a-412c-b9a3-c166e7f3dd2f")
    ('a-9', 'uuid')
    """
    if re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", identifier):
        return "uuid"
    if re.fullmatch(r"(?=.*\d)[0-9a-fA-F]{12,}", identifier):
        return "hex"
    return DIGITS.sub("9", LETTERS.sub("a", identifier))


class Targets:
    """Resolves the names and numbers in citations, first in the context, then elsewhere."""

    def __init__(
        self, context: Sequence[Document], others: Sequence[Document], prompt: str
    ) -> None:
        self.context = context
        self._prompt = prompt
        self._labels: dict[int, Document] | None = None
        self._ids: dict[str, Document] = {}
        for document in (*context, *others):
            self._ids.setdefault(document.chunk_id, document)

    def place(self, chunk: Document) -> int | None:
        """The 0-based position of a chunk in the context; None if it is not in it."""
        return self._places.get(chunk.chunk_id)

    @cached_property
    def _places(self) -> dict[str, int]:
        # Reversed, so that of several chunks under one id the first wins.
        return {
            document.chunk_id: len(self.context) - back
            for back, document in enumerate(reversed(self.context), start=1)
        }

    def by_name(self, text: str) -> Document | None:
        """The chunk with this id, title or file name, regardless of case."""
        name = text.strip().strip("\"'`")
        return self._ids.get(name) or self._names.get(name.casefold())

    @cached_property
    def _names(self) -> dict[str, Document]:
        """Chunks by all their other names; ids in another case take precedence."""
        names = {key.casefold(): document for key, document in self._ids.items()}
        for label, document in self._labelled.items():
            names.setdefault(label.casefold(), document)
        for document in self._ids.values():
            for name in _names(document):
                names.setdefault(name.casefold(), document)
        return names

    @cached_property
    def _shapes(self) -> set[str]:
        ids = {shape(key) for key, document in self._ids.items() if key != document.text_hash}
        labels = map(shape, self._labelled)
        # A shape without digits, like that of `[note]`, could be any word.
        return ids | {form for form in labels if form in UNIQUE or "9" in form}

    @cached_property
    def _unnamed(self) -> dict[str, Document]:
        return {
            document.chunk_id: document
            for document in self.context
            if document.chunk_id == document.text_hash
        }

    @cached_property
    def _shown(self) -> list[tuple[str | None, str]]:
        """Labels and texts of the prompt's blocks; empty if all chunks have ids."""
        if not self._unnamed or not is_comparable(len(self._unnamed), len(self._prompt)):
            return []
        return [
            (as_id(block.label), _squeezed(block.text)) for block in context_blocks((self._prompt,))
        ]

    @cached_property
    def _shown_labels(self) -> frozenset[str | None]:
        return frozenset(label for label, _ in self._shown)

    @cached_property
    def _labelled(self) -> dict[str, Document]:
        """Chunks without an id, by the label that the prompt puts in front of them.

        Only certain ones: the label has one block, and the chunk is in no other block.
        """
        documents: dict[str, list[Document]] = defaultdict(list)
        for document in self._unnamed.values():
            content = _squeezed(document.content or "")
            under = [label for label, text in self._shown if content and _is_same(text, content)]
            if len(under) == 1 and under[0]:
                documents[under[0]].append(document)
        times = Counter(label for label, _ in self._shown)
        return {
            label: candidates[0]
            for label, candidates in documents.items()
            if len(candidates) == 1 == times[label]
        }

    @cached_property
    def have_numbers(self) -> bool:
        """Whether chunks have numbers of their own: as an id, or as a label in the prompt."""
        return self._numbers_are_ids or bool(self._prompt_labels())

    @cached_property
    def _numbers_are_ids(self) -> bool:
        return any(key.isdigit() for key in self._ids)

    def by_text(self, text: str) -> Document | None:
        """The chunk whose text begins with this."""
        alike = self._by_start.get(text[:TEXT_LENGTH], ()) if len(text) >= TEXT_LENGTH else ()
        return next((chunk for chunk in alike if (chunk.content or "").startswith(text)), None)

    @cached_property
    def _by_start(self) -> dict[str, list[Document]]:
        starts: dict[str, list[Document]] = defaultdict(list)
        for document in self._ids.values():
            starts[(document.content or "")[:TEXT_LENGTH]].append(document)
        return starts

    def looks_like_id(self, text: str) -> bool:
        """Whether it has the form of the record's ids: then, if unknown, the model made it up.

        A label that the prompt shows is not made up; it is only uncertain which chunk it names.
        """
        name = text.strip()
        return shape(name) in self._shapes and name not in self._shown_labels

    def by_number(self, number: int, *, zero_based: bool = False) -> tuple[Document | None, int]:
        """The chunk that a number names, and the 0-based position that it stands for.

        First a chunk with the number as id, then a label in the prompt, then the position.
        """
        index = number if zero_based else number - 1
        if self._numbers_are_ids and str(number) in self._ids:
            return self._ids[str(number)], index
        labels = self._prompt_labels()
        if labels:
            return labels.get(number), index
        inside = 0 <= index < len(self.context)
        return (self.context[index] if inside else None), index

    def _prompt_labels(self) -> dict[int, Document]:
        """The numbers in front of the chunks in the prompt; empty unless all are numbered."""
        if self._labels is None:
            is_read = is_comparable(len(self.context), len(self._prompt))
            places = positions(self.context, self._prompt) if is_read else []
            reached = [self._prompt[max(0, place - LABEL_REACH) : place] if place else ""
                       for place in places]  # fmt: skip
            in_front = [
                None if _ends_with_metadata(before, document) else LABEL.search(before)
                for document, before in zip(self.context, reached, strict=False)
            ]
            self._labels = self._numbered([label[1] if label else None for label in in_front])
            if is_read and not self._labels:
                own = [_own_label(document) for document in self.context]
                self._labels = self._numbered(own)
        return self._labels

    def _numbered(self, numbers: Sequence[str | None]) -> dict[int, Document]:
        """The chunks by number; empty for some numbers only, or one twice: these are no labels."""
        labels = {
            int(number): document
            for number, document in zip(numbers, self.context, strict=False)
            if number is not None
        }
        return labels if len(labels) == len(self.context) else {}


def _squeezed(text: str) -> str:
    return SPACES.sub(" ", text).strip()


def _own_label(document: Document) -> str | None:
    """The number in a label inside of a chunk; that of its section or step is none."""
    label = OWN_LABEL.match(document.content or "")
    return label[2] if label and is_passage(label[1]) else None


def _ends_with_metadata(before: str, document: Document) -> bool:
    """Whether the line in front of a chunk is its id or other metadata: `id: kb-105`.

    A plain number may be a label that the metadata has, too.
    """
    line = before.rstrip().rpartition("\n")[2]
    value = line.partition(": ")[2].strip()
    return not value.isdecimal() and value in (
        document.chunk_id,
        *map(str, document.metadata.values()),
    )


def _is_same(text: str, content: str) -> bool:
    """Whether a block of the prompt contains a chunk; a chunk may begin with the label itself."""
    return content in text or (len(text) >= TEXT_LENGTH and text in content)


def _names(document: Document) -> list[str]:
    values = [document.document_id] if document.document_id else []
    for key in NAME_KEYS:
        value = document.metadata.get(key)
        if isinstance(value, str) and 0 < len(value) < 400:
            values.append(value)
    stems = [PurePosixPath(v).name for v in values if "/" in v or "." in v]
    return [*values, *stems, *(PurePosixPath(v).stem for v in stems)]
