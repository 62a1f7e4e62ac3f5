"""A process that scores beside the core knows what the core knows."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from ragvigil.app import scoring_child
from ragvigil.app.settings import Settings
from scorers.settings import ScorersSettings

TONE = """
name = "tone"
layer = "generation"
version = "1"
scale = "0..1"
needs = ["answer"]
fails_below = 0.5
description = "whether the answer is kind"

[judge]
about = "answer"
shows = ["answer"]
instruction = "Is the answer kind?"
aggregation = "mean"
grades = [
    { name = "kind", means = "a friendly person could have said it", value = 1.0 },
    { name = "curt", means = "it is short with the reader", value = 0.0 },
]
"""


def test_it_knows_the_rubrics_of_the_settings(tmp_path: Path) -> None:
    (tmp_path / "tone.toml").write_text(TONE)
    scorers = ScorersSettings(rubrics=(tmp_path,), fails_below={"tone": 0.2})
    settings = Settings(data_dir=tmp_path, scorers=scorers)
    with ProcessPoolExecutor(
        1,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=scoring_child.begin,
        initargs=(settings, {}, ("here", 1)),
    ) as one:
        assert one.submit(scoring_child.is_ready).result(60)
