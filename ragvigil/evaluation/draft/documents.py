"""A folder of documents as passages to ask about."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from clustering.golden.case import BadCase
from ragvigil.evaluation.case_line import chunk_of
from scorers.golden import Gold, numbered_lines

PLAIN = (".md", ".txt", ".rst")
LEAST, MOST = 200, 1500
"""Characters of a passage: paragraphs are put together up to MOST, and shorter ones left out."""
PARAGRAPHS = re.compile(r"\n\s*\n")


class BadDocuments(ValueError):
    """The folder holds nothing to ask about; `str(error)` says why."""


def passages(folder: Path) -> list[Gold]:
    """The passages of all documents, by name; of `*.jsonl` each line is one, with its id.

    Raises BadDocuments and OSError.
    """
    if not folder.is_dir():
        raise BadDocuments(f"{folder}: is no folder")
    found = [
        passage
        for path in sorted(folder.rglob("*"))
        for name in [path.relative_to(folder)]
        if path.is_file() and not any(part.startswith(".") for part in name.parts)
        for passage in _of_file(path, name.as_posix())
    ]
    if not found:
        kinds = ", ".join((*PLAIN, ".jsonl"))
        raise BadDocuments(f"{folder}: holds no passage of {LEAST} characters in {kinds} files")
    return found


def _of_file(path: Path, name: str) -> Iterator[Gold]:
    if path.suffix == ".jsonl":
        yield from _lines(path)
    elif path.suffix in PLAIN:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        for number, passage in enumerate(_joined(PARAGRAPHS.split(text)), start=1):
            yield Gold(chunk_id=f"{name}#{number}", text=passage)


def _lines(path: Path) -> Iterator[Gold]:
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    for number, line in numbered_lines(text):
        try:
            chunk = chunk_of(json.loads(line))
        except (BadCase, ValueError, RecursionError) as error:
            raise BadDocuments(f"{path}:{number}: {error}") from error
        if len(chunk.text) >= LEAST:
            yield chunk


def _joined(paragraphs: list[str]) -> Iterator[str]:
    """Paragraphs put together to passages."""
    passage = ""
    for paragraph in map(str.strip, paragraphs):
        joined = f"{passage}\n\n{paragraph}" if passage else paragraph
        if passage and len(joined) > MOST:
            yield from _long_enough(passage)
            joined = paragraph
        passage = joined
    yield from _long_enough(passage)


def _long_enough(text: str) -> Iterator[str]:
    if len(text) >= LEAST:
        yield text[:MOST]
