"""The text of a rubric file: `tone`, which nobody else has, and a judge for it."""

from __future__ import annotations

KEYS = {
    "name": '"tone"',
    "layer": '"generation"',
    "version": '"1"',
    "scale": '"0..1"',
    "needs": '["answer"]',
    "description": '"Whether the answer is kind."',
}
JUDGED = """
[judge]
about = "answer"
shows = ["answer"]
instruction = "Is the answer kind?"
aggregation = "mean"

[[judge.grades]]
name = "kind"
means = "a friendly person could have said it"
value = 1.0

[[judge.grades]]
name = "curt"
means = "it is short with the reader"
value = 0.0
"""


def written(**changes: str) -> str:
    """A rubric file with some keys other than usual; an empty one is left out."""
    return "\n".join(f"{key} = {value}" for key, value in (KEYS | changes).items() if value)
