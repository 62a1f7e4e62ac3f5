"""What starts and stops in an order does so; nobody else starts or stops it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import fields
from pathlib import Path

import pytest

from ragvigil.app.parts import Background
from ragvigil.store.engine.store import Store
from tests.pipelines import Core


@pytest.fixture
async def core(tmp_path: Path, store: Store) -> AsyncIterator[Core]:
    born = await Core.born(tmp_path, store)
    yield born
    await born.spool.close()


@pytest.fixture
def calls(core: Core, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the parts, in the order in which they are started and stopped."""
    order: list[str] = []
    for part in fields(Background):
        for verb in ("start", "stop"):
            owner = getattr(core.parts.background, part.name)
            if hasattr(owner, verb):
                name = f"{verb} {part.name}"
                monkeypatch.setattr(owner, verb, lambda name=name: order.append(name))
    return order


async def test_only_what_takes_offers_is_started(core: Core, calls: list[str]) -> None:
    core.parts.background.start()
    assert calls == ["start deferred", "start exporting"]


async def test_reports_end_before_the_judge_and_the_export_after_it(
    core: Core, calls: list[str]
) -> None:
    core.parts.background.stop()
    assert calls == [
        "stop pool",
        "stop clusters",
        "stop root_causes",
        "stop deferred",
        "stop exporting",
        "stop watch",
    ]


async def test_the_pipeline_and_the_jobs_share_what_both_use(core: Core) -> None:
    parts = core.parts
    assert parts.pipeline.deferred is parts.jobs.deferred is parts.background.deferred
    assert parts.pipeline.noticing is parts.jobs.watch.noticing
    assert parts.pipeline.pool is parts.background.pool
