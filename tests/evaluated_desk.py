"""A small set of golden cases, and a desk that answers them: as a function, and as recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

REFUNDS = "Refunds take 5 days after the return."
WARRANTY = "The warranty lasts 2 years from delivery."
CASES: Sequence[Mapping[str, Any]] = (
    {
        "case_id": "refund",
        "question": "How long do refunds take?",
        "gold_chunk_ids": ["r1"],
        "gold_texts": [REFUNDS],
        "expected_facts": ["Refunds take 5 days"],
        "tags": ["money"],
        "slices": {"language": "en"},
    },
    {
        "case_id": "warranty",
        "question": "How long is the warranty?",
        "gold_chunk_ids": ["w1"],
        "gold_texts": [WARRANTY],
        "expected_facts": ["The warranty lasts 2 years"],
        "must_pass": True,
    },
    {"case_id": "mars", "question": "Who is king of Mars?", "failure_mode": "no_answer"},
)
REPLIES: Mapping[str, Mapping[str, Any]] = {
    "How long do refunds take?": {
        "answer": "Refunds take 5 days [r1].",
        "chunk_ids": ["x1", "r1"],
        "chunk_texts": ["Shops open at 9.", REFUNDS],
    },
    "How long is the warranty?": {
        "answer": "The warranty lasts 3 years [w1].",
        "chunk_ids": ["w1", "x1"],
        "chunk_texts": [WARRANTY, "Shops open at 9."],
    },
    "Who is king of Mars?": {
        "answer": "The documents do not say who is king of Mars.",
        "chunk_ids": ["x1"],
        "chunk_texts": ["Shops open at 9."],
    },
}
asked: list[str] = []
"""What was asked of `answer`, in order."""


def answer(question: str, context: Sequence[str] | None = None) -> Mapping[str, Any]:
    """The desk; with a context it answers from its first text."""
    asked.append(question)
    if context is not None:
        return {"answer": f"{context[0]} [1]"}
    return REPLIES[question]


def write_cases(path: Path) -> Path:
    """Writes the set."""
    path.write_text("".join(f"{json.dumps(case)}\n" for case in CASES), encoding="utf-8")
    return path


def write_replies(path: Path) -> Path:
    """Writes what the desk answers, as a file of recorded answers."""
    rows = ({"question": question, **reply} for question, reply in REPLIES.items())
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path
