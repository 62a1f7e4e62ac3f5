"""A process that scores beside the core knows what the core knows."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from ragvigil.app.pipeline import worker
from ragvigil.app.settings import Settings
from scorers.settings import ScorersSettings
from tests.rubric_files import JUDGED, written


def test_it_knows_the_rubrics_of_the_settings(tmp_path: Path) -> None:
    (tmp_path / "tone.toml").write_text(written(fails_below="0.5") + JUDGED)
    scorers = ScorersSettings(rubrics=(tmp_path,), fails_below={"tone": 0.2})
    settings = Settings(data_dir=tmp_path, scorers=scorers)
    with ProcessPoolExecutor(
        1,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=worker.begin,
        initargs=(settings, {}, ("here", 1)),
    ) as executor:
        assert executor.submit(worker.is_ready).result(60)
