"""A desk that cites well, unless a question's word is among the `broken`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

broken: set[str] = set()


def answer(question: str) -> Mapping[str, Any]:
    """The answer, with its only chunk."""
    is_broken = bool(broken & set(question.casefold().strip("?").split()))
    text = f"The rule for it is: {question.strip('?')}, within 5 days"
    cited = "[x9]" if is_broken else "[r1]"
    return {"answer": f"{text} {cited}.", "chunk_ids": ["r1"], "chunk_texts": [f"{text}."]}
