"""A plug-in scorer that a marked answer stops, ends or kills, as a fault of native code would."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.distributions import install

SLEEP, EXIT, SEGFAULT, HOLD = (f"POISON {kind}" for kind in ("sleep", "exit", "segfault", "hold"))
"""Answers with one of these sleep for ever, end the process, break it, or never give the
interpreter back."""
SCORER = f"""
import ctypes, os, re, time
from ragvigil import RagRecord, Score

class Poison:
    rubric = "poison"

    def score(self, record: RagRecord) -> Score:
        answer = record.answer or ""
        if "{SLEEP}" in answer:
            time.sleep(1e6)
        if "{EXIT}" in answer:
            os._exit(3)
        if "{SEGFAULT}" in answer:
            ctypes.string_at(0)
        if "{HOLD}" in answer:
            re.search("(a+)+$", "a" * 100 + "b")
        return Score(rubric=self.rubric, value=1.0)
"""
RUBRIC = """
name = "poison"
layer = "generation"
version = "1"
scale = "0..1"
needs = ["answer"]
description = "Whether the answer is none of those that stop a scorer."
"""


def poisonous(folder: Path) -> Mapping[str, str]:
    """Installs the plug-in into `folder`; the variables of a daemon that finds it."""
    install(
        folder,
        "acme-poison",
        files={
            "acme_poison/__init__.py": SCORER,
            "acme_poison/rubrics/__init__.py": "",
            "acme_poison/rubrics/poison.toml": RUBRIC,
        },
        entry_points={
            "ragvigil.scorers": {"poison": "acme_poison:Poison"},
            "ragvigil.rubrics": {"poison": "acme_poison.rubrics"},
        },
    )
    return {"PYTHONPATH": str(folder), "RAGVIGIL_SCORERS__STALL_SECONDS": "5"}
