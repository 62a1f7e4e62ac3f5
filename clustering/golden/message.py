"""What a commit says of the case that it signs."""

from __future__ import annotations

from clustering.golden.repository import TRAILER
from ragvigil.model.golden import GoldenCase

SHOWN = 60


def message(case: GoldenCase) -> str:
    """A subject line and trailers: the case, its hash, who proposed and who approved it."""
    question = " ".join(case.question.split())
    question = "".join(one for one in question if one.isprintable())
    shown = question if len(question) <= SHOWN else f"{question[: SHOWN - 1]}…"
    trailers = {
        TRAILER: case.case_id,
        "Content-hash": case.content_hash,
        "Revision": str(case.revision),
        "Proposed-by": case.proposed_by,
        "Edited-by": ", ".join(case.edited_by),
        "Approved-by": case.approved_by,
        "Trace": case.trace_id,
        "Issue": case.issue_id,
    }
    said = "\n".join(f"{name}: {_one_line(one)}" for name, one in trailers.items() if one)
    return f"Sign golden case {case.case_id}: {shown}\n\n{said}\n"


def _one_line(text: str) -> str:
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())
