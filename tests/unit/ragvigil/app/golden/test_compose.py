"""The golden set's job as the daemon composes it: the intake's redaction, no judge, no vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustering.golden.verbs import Refused
from ragvigil.app.golden.compose import golden_job
from ragvigil.app.settings import Settings
from ragvigil.inference.process import Inference
from ragvigil.model.golden import GoldenCase
from ragvigil.store.engine.store import Store
from scorers.judge.job import JudgeJob
from scorers.judge.settings import JudgeSettings
from scorers.runner import Runner
from tests.golden_sets import Hands, work_tree


def test_a_secret_that_the_intake_would_mark_does_not_enter(store: Store, tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {
            "data_dir": tmp_path / "data",
            "inference": {"enabled": False},
            "collector": {"redact": {"personal": "mask"}},
            "golden": {"repository": work_tree(tmp_path / "set")},
        }
    )
    judging = JudgeJob(JudgeSettings(), store, tmp_path, {}, None, lambda _: None)
    inference = Inference(settings.inference)
    job = golden_job(settings, store, Runner(()), judging, inference, Hands())
    with pytest.raises(Refused, match="holds what is redacted: email; take it out"):
        job.add(GoldenCase(case_id="", question="Who is ada@example.org?"), "ada")
    case = job.add(GoldenCase(case_id="", question="Who?", gold_answer="Ada."), "ada")
    run = job.sign(case.case_id, "bob", case.content_hash)
    assert (run.is_pass, run.against) == (None, "stored")
    job.watch()
