"""Every fault of a judge with every judged rubric: what comes back is the same score, or none."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prometheus_client import REGISTRY

from bench.rig.judge_court import (
    MODELS,
    asker_of,
    house_records,
    judged_families,
    labelled_records,
)
from bench.rig.judge_faulty import (
    EVERY,
    LONG_PATIENCE,
    NOW,
    ON_THE_WAY,
    PASSING,
    PATIENCE,
    SLOW,
    FaultyJudge,
    at_once,
    settings_for,
)  # fmt: skip
from bench.rig.report import progress
from ragvigil.llm.client import open_client
from ragvigil.llm.outcome import FailureKind, Purpose
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.judge.asker import Asker, count_missing
from scorers.judge.verdicts import JUDGE
from tests.llm_server import LlmServer

REASONS = {*FailureKind, "incomplete"}


@dataclass(kw_only=True)
class Tally:
    """The results of the matrix."""

    asked: int = 0
    false_scores: list[str] = field(default_factory=list)
    without_reason: list[str] = field(default_factory=list)
    missing: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, set[str]] = field(default_factory=dict)
    once: dict[str, list[bool]] = field(default_factory=dict)

    def add(self, fault: str, where: str, clean: Score, got: Score, *, is_once: bool) -> None:
        """Compares the score under a fault with that of the same record without it."""
        self.asked += 1
        is_same = (got.value, got.label, got.details) == (clean.value, clean.label, clean.details)
        if got.absent == JUDGE:
            self.missing[got.rubric] += 1
            self.kinds.setdefault(fault, set()).add(got.label)
            if got.value is not None or got.label not in REASONS:
                self.without_reason.append(f"{where} {got.rubric}: {got.label}")
        elif not is_same:
            self.false_scores.append(f"{where} {got.rubric}: {clean.value} became {got.value}")
        if is_once and clean.value is not None:
            self.once.setdefault(fault, []).append(is_same)


async def matrix(seed: int, *, small: bool) -> dict[str, object]:
    """Figures of every fault, always and once, by both protocols."""
    records = house_records()
    records += () if small else labelled_records("clapnq_dev", 15, small=small)
    tally, before = Tally(), _counted()
    for number, model in enumerate(MODELS):
        some = records[3 * number :][:1] if small else records
        for fault in EVERY:
            progress(f"{model}: {fault}")
            await _under(model, fault, some, tally, seed)
    counted = _counted() - before
    return {
        "compared": tally.asked,
        "false_scores": len(tally.false_scores),
        "false": tally.false_scores[:5],
        "missing": sum(tally.missing.values()),
        "missing_counted": sum(counted.values()),
        "missing_without_reason": tally.without_reason[:5],
        "reasons": {fault: sorted(kinds) for fault, kinds in sorted(tally.kinds.items())},
        "healed_when_once": {
            fault: round(sum(healed) / len(healed), 3) for fault, healed in tally.once.items()
        },
    }


async def _under(
    model: str, fault: str, records: Sequence[RagRecord], tally: Tally, seed: int
) -> None:
    judge = FaultyJudge(fault=fault)
    async with LlmServer(judge.answer) as server:
        patient, hasty = (
            open_client(settings_for(model, server, seconds), clock=lambda: NOW, sleep=at_once)
            for seconds in (LONG_PATIENCE, PATIENCE if fault in SLOW else LONG_PATIENCE)
        )
        for record in records[: 1 if fault in SLOW else None]:
            before = len(server.calls)
            clean = await _judged(asker_of(patient, model, seed=seed), record)
            bench = _Bench(
                server=server,
                judge=judge,
                asker=asker_of(hasty, model, seed=seed),
                calls=len(server.calls) - before,
            )
            for is_once in (False, True):
                ask = bench.ask_together if fault in SLOW else bench.ask_in_turn
                got = await ask(fault, record, is_once=is_once)
                count_missing(got.values())
                where = f"{model} {fault} {record.record_id}"
                for name, score in clean.items():
                    tally.add(fault, where, score, got[name], is_once=is_once)
        await patient.close()
        await hasty.close()


@dataclass(frozen=True, kw_only=True)
class _Bench:
    """A server, its judge and asker, and the number of calls a record takes without a fault."""

    server: LlmServer
    judge: FaultyJudge
    asker: Asker
    calls: int

    async def ask_in_turn(
        self, fault: str, record: RagRecord, *, is_once: bool
    ) -> dict[str, Score]:
        """The scores of a record; with `is_once` the first call of each rubric meets the fault."""
        got: dict[str, Score] = {}
        for family in judged_families():
            self._arm(fault, 1, is_once=is_once)
            asked = await self.asker.ask(record, family, Purpose.SAMPLE)
            got |= {score.rubric: score for score in asked.scores}
        self._disarm()
        return got

    async def ask_together(
        self, fault: str, record: RagRecord, *, is_once: bool
    ) -> dict[str, Score]:
        """The same with all rubrics at a time: for faults that take the whole patience."""
        self._arm(fault, self.calls, is_once=is_once)
        got = await _judged(self.asker, record)
        self._disarm()
        return got

    def _arm(self, fault: str, calls: int, *, is_once: bool) -> None:
        self._disarm()
        if fault not in ON_THE_WAY:
            self.judge.left = calls if is_once else 10**9
        elif is_once:
            self.server.faults = [ON_THE_WAY[fault]] * calls
        else:
            self.server.every = ON_THE_WAY[fault]

    def _disarm(self) -> None:
        self.server.faults, self.server.every, self.judge.left = [], None, 0


async def _judged(asker: Asker, record: RagRecord) -> dict[str, Score]:
    found = await asyncio.gather(
        *(asker.ask(record, family, Purpose.SAMPLE) for family in judged_families())
    )
    return {score.rubric: score for asked in found for score in asked.scores}


def _counted() -> Counter[str]:
    """The values of `ragvigil_judge_missing_total` by rubric."""
    found: Counter[str] = Counter()
    for metric in REGISTRY.collect():
        for sample in metric.samples:
            if sample.name == "ragvigil_judge_missing_total":
                found[sample.labels["rubric"]] += int(sample.value)
    return found


def bars(found: Mapping[str, Any]) -> dict[str, bool]:
    """What must hold at any size."""
    return {
        "no false score under any fault": found["false_scores"] == 0,
        "every missing verdict is counted": found["missing"] == found["missing_counted"] > 0,
        "every missing verdict has a reason": not found["missing_without_reason"],
        "a passing fault costs no verdict": all(
            found["healed_when_once"][fault] == 1 for fault in PASSING
        ),
    }
