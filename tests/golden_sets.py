"""A golden set in a fresh git repository, with the job that keeps it."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from clustering.golden.check import TextTools
from clustering.golden.settings import GoldenSettings
from ragvigil.app.golden.job import GoldenJob
from ragvigil.app.golden.run import Trial
from ragvigil.store.engine.store import Store
from scorers.golden import question_key
from scorers.runner import Runner, load_scorers
from scorers.settings import ScorersSettings
from tests.flow.test_api import NOW


def git(folder: Path, *arguments: str) -> str:
    """What git prints there; its own names, none of the caller's variables."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    names = ("-c", "user.name=Zoe", "-c", "user.email=zoe@example.org")
    done = subprocess.run(
        ["git", *names, *arguments], cwd=folder, check=True, capture_output=True, env=env
    )
    return done.stdout.decode()


def work_tree(folder: Path) -> Path:
    """A repository with a branch and one commit."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "README.md").write_text("cases\n")
    git(folder, "add", "README.md")
    git(folder, "commit", "-qm", "First")
    return folder


def marked(text: str, found: Counter[str]) -> str:
    """A redactor that knows one secret."""
    found.update(["key"] * text.count("hunter2"))
    return text.replace("hunter2", "⟪key⟫")


class Hands:
    """A clock that only moves when a test moves it."""

    def __init__(self) -> None:
        self.now = float(NOW)

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def job_of(
    store: Store, folder: Path | None, hands: Hands | None = None, **more: Any
) -> tuple[GoldenJob, Hands]:
    """A job on that repository, and its clock; `more` are further settings."""
    hands = hands or Hands()
    settings = GoldenSettings.model_validate({"repository": folder, **more})
    scorers = ScorersSettings()
    trial = Trial(
        store=store, target=settings.target, runner=Runner(load_scorers(scorers), scorers)
    )
    known = TextTools(normalise=question_key, redact=marked)
    return GoldenJob(store, settings, known, trial, hands), hands
