"""The form that edits a case: its fields as texts, and what a person changed in them.

What was not touched is left out, so that it stays as it is to the byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragvigil.model.text import readable
from ragvigil.web.views.golden import CaseForm

SPARE = 2
"""Empty rows for further facts and texts."""
MOST_ROWS = 200
LINES = ("gold_chunk_ids", "tags")
"""Fields of which each line is an item."""
TEXTS = (
    "question", "gold_answer", "query_type", "failure_mode", "service", "environment", "route",
    "issue_id",
)  # fmt: skip


def shown(case: CaseForm) -> dict[str, str]:
    """The fields of the form, by name, as they are shown: rows are `fact-0`, `importance-0`, ..."""
    fields = {name: str(getattr(case, name)) for name in TEXTS}
    fields |= {name: "\n".join(getattr(case, name)) for name in LINES}
    for row, fact in enumerate(case.expected_facts):
        fields |= {f"fact-{row}": fact.fact, f"importance-{row}": fact.importance}
    fields |= {f"text-{row}": text for row, text in enumerate(case.gold_texts)}
    return fields


def rows(fields: Mapping[str, str], name: str) -> list[int]:
    """The numbers of the rows `name-0`, `name-1`, ... to show, with a few empty ones."""
    filled = [row for row in range(MOST_ROWS) if fields.get(f"{name}-{row}", "").strip()]
    return list(range((filled[-1] if filled else -1) + 1 + SPARE))


def changes(case: CaseForm, sent: Mapping[str, str]) -> dict[str, Any]:
    """What a person changed, by the names of `EditPost`; of what they left alone nothing."""
    before = shown(case)
    after = {name: _as_stored(text, before.get(name, "")) for name, text in sent.items()}
    changed: dict[str, Any] = {
        name: after[name] for name in TEXTS if name in after and after[name] != before[name]
    }
    for name in LINES:
        if name in after and after[name] != before[name]:
            changed[name] = [line.strip() for line in after[name].split("\n") if line.strip()]
    for name, row_name, read in (
        ("expected_facts", "fact", _facts),
        ("gold_texts", "text", _texts),
    ):
        is_sent = any(key.startswith(f"{row_name}-") for key in after)
        if is_sent and read(after) != read(before):
            changed[name] = read(after)
    return changed


def _as_stored(sent: str, stored: str) -> str:
    """A sent text as it would be stored: what its page and its browser changed is undone.

    The page shows a character that acts unseen as an escape, and an input of one line has no LF.
    """
    text = sent.replace("\r\n", "\n")
    for character in set(stored):
        if (escape := readable(character)) != character:
            text = text.replace(escape, character)
    return stored if text == stored.replace("\n", "") else text


def _facts(fields: Mapping[str, str]) -> list[dict[str, str]]:
    return [
        {"fact": fields[f"fact-{row}"], "importance": fields.get(f"importance-{row}", "vital")}
        for row in _filled(fields, "fact")
    ]


def _texts(fields: Mapping[str, str]) -> list[str]:
    return [fields[f"text-{row}"] for row in _filled(fields, "text")]


def _filled(fields: Mapping[str, str], name: str) -> Sequence[int]:
    return [row for row in range(MOST_ROWS) if fields.get(f"{name}-{row}", "").strip()]
