"""How a prompt shows its chunks, and which of them an answer cites."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from corpus import Chunk

SYSTEM = "You answer tickets of a help centre from the passages below. Cite them in brackets."
MARKER = re.compile(r"\[([\w-]+)\]")


def user_message(style: str, question: str, shown: Sequence[Chunk]) -> str:
    """The whole message of the user: passages, then the question."""
    return f"{_passages(style, shown)}\n\nQuestion: {question}"


def _passages(style: str, shown: Sequence[Chunk]) -> str:
    numbered = list(enumerate(shown, 1))
    match style:
        case "ids":
            return "Context:\n" + "\n\n".join(f"[{chunk.id}] {chunk.text}" for chunk in shown)
        case "numbers":
            return "Context:\n" + "\n\n".join(f"[{number}] {c.text}" for number, c in numbered)
        case "passages":
            return "\n\n".join(f"Passage {number}: {chunk.text}" for number, chunk in numbered)
        case "xml":
            return "\n".join(
                f'<document index="{number}" id="{chunk.id}">\n{chunk.text}\n</document>'
                for number, chunk in numbered
            )
        case "json":
            listed = [{"id": chunk.id, "text": chunk.text} for chunk in shown]
            return "Context: " + json.dumps(listed, ensure_ascii=False)
        case "dashes":
            return "Context:\n" + "\n".join(f"- {chunk.text}" for chunk in shown)
    raise ValueError(f"no style {style}")


def cited(answer: str, shown: Sequence[Chunk]) -> list[str]:
    """The ids of the chunks that the markers of an answer name, in its order."""
    by_label = {chunk.id: chunk.id for chunk in shown}
    by_label |= {str(number): chunk.id for number, chunk in enumerate(shown, 1)}
    return [by_label[label] for label in MARKER.findall(answer) if label in by_label]
