"""Every fault of a judge with every judged rubric: what comes back is the same score, or none."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from typing import Any

from judge_court import (
    MODELS,
    asker_of,
    base_url,
    house_records,
    in_session,
    judged_families,
    labelled_records,
)
from prometheus_client import REGISTRY
from report import progress

from ragvigil.llm.book import Pot
from ragvigil.llm.client import open_client
from ragvigil.llm.outcome import FailureKind, Purpose
from ragvigil.llm.settings import LlmSettings
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.judge.asking import JUDGE, Asker, count_missing
from tests.content_judge import ContentJudge
from tests.llm_server import Fault, LlmServer

NOW = 1_700_004_600.0
"""The provider's clock: half an hour before a day (UTC) ends, when the sample may be spent."""
PATIENCE, LONG_PATIENCE = 1.0, 30.0
LARGE, LONGEST_REPLY = 50 << 20, 500
REASONS = {*FailureKind, "incomplete"}
Reply = dict[str, Any]


def _lacking(reply: Reply) -> None:
    if "nuggets" in reply:
        reply["nuggets"] = []
    else:
        reply["verdicts"].pop(next(iter(reply["verdicts"])))


def _surplus(reply: Reply) -> None:
    if "nuggets" in reply:
        reply["nuggets"].append(reply["nuggets"][0])
    else:
        reply["verdicts"]["c99"] = next(iter(reply["verdicts"].values()))


def _graded(grade: object) -> Callable[[Reply], None]:
    def change(reply: Reply) -> None:
        listed = reply["nuggets"] if "nuggets" in reply else [*reply["verdicts"].values()]
        listed[0]["grade"] = grade

    return change


def _own_score(reply: Reply) -> None:
    reply["score"] = 0.0


CHANGED: Mapping[str, Callable[[Reply], None]] = {
    "missing verdicts": _lacking,
    "an extra verdict": _surplus,
    "a score of 11": _graded(11),
    "a score of NaN": _graded(float("nan")),
    "an unknown grade": _graded("excellent"),
    "a score of its own": _own_score,
}
ON_THE_WAY: Mapping[str, Fault] = {
    "429, seconds": Fault(status=429, headers={"retry-after": "1"}, code="rate_limit_exceeded"),
    "429, date": Fault(
        status=429, headers={"retry-after": formatdate(NOW + 2, usegmt=True)}, code="rate_limit"
    ),
    "500": Fault(status=500),
    "slow": Fault(seconds=3 * PATIENCE),
    "drip": Fault(drip_seconds=PATIENCE / 20),
    "reset": Fault(is_reset=True),
    "cut off": Fault(is_cut=True),
    "invalid JSON": Fault(text='{"verdicts": {"s1": {"grade": "sup'),
    "prose": Fault(text="All claims are supported. Score: 5/5."),
    "refusal": Fault(is_refusal=True),
    "truncated": Fault(is_truncated=True),
    "50 MB": Fault(body=b" ", body_bytes=LARGE),
}
FENCED = "fenced JSON"
SLOW = ("slow", "drip")
PASSING = ("429, seconds", "429, date", "500", "slow", "drip", "reset", "cut off", FENCED)
"""Faults that one more try heals; a fenced reply needs none."""
EVERY = (*ON_THE_WAY, *CHANGED, FENCED)


@dataclass(kw_only=True)
class FaultyJudge:
    """The honest stand-in, whose next `left` replies are changed."""

    fault: str = ""
    left: int = 0
    honest: ContentJudge = field(default_factory=ContentJudge)

    def answer(self, prompt: str) -> str:
        """A good reply, or a changed one."""
        text = self.honest.answer(prompt)
        if self.left <= 0:
            return text
        self.left -= 1
        if self.fault == FENCED:
            return f"```json\n{text}\n```"
        reply = json.loads(text)
        CHANGED[self.fault](reply)
        return json.dumps(reply)


@dataclass(kw_only=True)
class Tally:
    """What came of the matrix."""

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
    records = (records[0], records[3]) if small else records
    records += () if small else labelled_records("clapnq_dev", 15, small=small)
    tally, before = Tally(), _counted()
    for model in MODELS:
        for fault in EVERY:
            progress(f"{model}: {fault}")
            await _under(model, fault, records, tally, seed)
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
            open_client(_settings(model, server, seconds), clock=lambda: NOW, sleep=_at_once)
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


def _settings(model: str, server: LlmServer, timeout_seconds: float) -> LlmSettings:
    given: dict[str, object] = {
        "model": model, "base_url": base_url(server.anthropic, model), "key": "none",
        "retries": 1, "timeout_seconds": timeout_seconds, "cache_entries": 0,
        "breaker_failures": 10**6,
    }  # fmt: skip
    return LlmSettings.model_validate(given)


@dataclass(frozen=True, kw_only=True)
class _Bench:
    """A server, its judge, who asks it, and how many calls a record takes without a fault."""

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
            got |= {one.rubric: one for one in asked.scores}
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


async def _at_once(_: float) -> None:
    """No pause between two attempts: how long they are is not asked here."""


async def _judged(asker: Asker, record: RagRecord) -> dict[str, Score]:
    found = await asyncio.gather(
        *(asker.ask(record, family, Purpose.SAMPLE) for family in judged_families())
    )
    return {one.rubric: one for asked in found for one in asked.scores}


def _counted() -> Counter[str]:
    """What `ragvigil_judge_missing_total` says, by rubric."""
    found: Counter[str] = Counter()
    for metric in REGISTRY.collect():
        for sample in metric.samples:
            if sample.name == "ragvigil_judge_missing_total":
                found[sample.labels["rubric"]] += int(sample.value)
    return found


async def spending(seed: int, *, small: bool) -> dict[str, object]:
    """Tokens that many records under faults took of a small day's budget."""
    records = _many(60 if small else 600)
    daily = 60_000 if small else 600_000
    rng, steps = random.Random(seed), itertools.count()
    async with LlmServer(ContentJudge().answer) as server:
        faults = [ON_THE_WAY[name] for name in ("500", "429, seconds", "reset", "invalid JSON")]
        faults += [Fault(is_without_usage=True), Fault(is_refusal=True), Fault(is_truncated=True)]
        server.faults = [rng.choice([None, None, *faults]) for _ in range(100 * len(records))]
        async with in_session(
            _small_budget(server, daily),
            clock=lambda: NOW + next(steps),
            opened={"clock": lambda: NOW, "sleep": _at_once},
        ) as (court, judge):
            court.add(records)
            while len(court.queue):
                await judge.step()
            spent = court.client.budget.spent(Pot.SAMPLE).tokens
        scores = list(court.scores())
        prompts = [len(call.prompt) // 4 for call in server.calls]
    return {
        "daily_tokens": daily,
        "spent_tokens": spent,
        "provider_tokens": server.tokens,
        "one_call_tokens": max(prompts, default=0) + LONGEST_REPLY,
        "calls": len(prompts),
        "judged": sum(one.value is not None for one in scores),
        "left_out_by_reason": dict(Counter(one.label for one in scores if one.absent == JUDGE)),
    }


def _small_budget(server: LlmServer, daily: int) -> LlmSettings:
    changed = {
        "daily_tokens": daily,
        "reserved_share": 0.0,
        "max_output_tokens": LONGEST_REPLY,
        "concurrency": 4,
    }
    return _settings(MODELS[0], server, LONG_PATIENCE).model_copy(update=changed)


def _many(count: int) -> list[RagRecord]:
    """Records that differ, so that no reply is known."""
    kinds = house_records()
    return [
        replace(
            kinds[n % len(kinds)],
            trace_id=f"m{n}",
            answer=f"{kinds[n % len(kinds)].answer} It is case {n}.",
        )
        for n in range(count)
    ]


def bars(found: Mapping[str, Any], spent: Mapping[str, Any]) -> dict[str, bool]:
    """What must hold at any size."""
    most = spent["daily_tokens"] + spent["one_call_tokens"]
    return {
        "no false score under any fault": found["false_scores"] == 0,
        "every missing verdict is counted": found["missing"] == found["missing_counted"] > 0,
        "every missing verdict has a reason": not found["missing_without_reason"],
        "a passing fault costs no verdict": all(
            found["healed_when_once"][fault] == 1 for fault in PASSING
        ),
        "spent <= budget + one call": max(spent["spent_tokens"], spent["provider_tokens"]) <= most,
        "the budget ended": spent["left_out_by_reason"].get("budget", 0) > 0,
    }
