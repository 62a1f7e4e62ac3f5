"""What each fault of the example service really does: every question asked once, every record
scored by code and by the stand-in judge, beside the healthy service.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from alerts.signals.catalogue import RATES
from alerts.signals.settings import BrokenSettings
from bench.rig.helpdesk_answers import HEALTHY, Asked, Told, answers
from bench.rig.judge_court import asker_of, judged_families
from bench.rig.report import progress
from examples.helpdesk.faults import Fault
from ragvigil.llm.client import Client, open_client
from ragvigil.llm.outcome import Purpose
from ragvigil.llm.settings import LlmSettings
from ragvigil.model.record import RagRecord
from scorers.runner import Runner, load_scorers
from tests.content_judge import ContentJudge
from tests.llm_server import LlmServer

MODEL = "openai:stand-in"
LEAST_DROP = 0.10
AT_ONCE = 8
Means = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What a fault does: `change` of each judged rubric's mean, `rates` of the broken signals."""

    fault: str
    change: Means
    rates: Means

    @property
    def drops(self) -> Means:
        """The judged rubrics that fall by at least ten points."""
        return {name: change for name, change in self.change.items() if change <= -LEAST_DROP}

    @property
    def broken(self) -> Means:
        """The rates that are over their ceilings."""
        ceilings = BrokenSettings()
        over = {rate.signal: getattr(ceilings, rate.setting) for rate in RATES}
        return {name: rate for name, rate in self.rates.items() if rate > over[name]}

    @property
    def must_page(self) -> bool:
        """Whether somebody is to be woken."""
        return bool(self.drops or self.broken)

    @property
    def because(self) -> str:
        """Why, in figures."""
        said = [f"{name} {rate:.0%}" for name, rate in self.broken.items()]
        return ", ".join([*said, *(f"{name} {drop:+.2f}" for name, drop in self.drops.items())])


async def truths(faults: Sequence[Fault], *, most: int = 1000) -> dict[str, Truth]:
    """The truth of each fault, switched on everywhere, by up to `most` questions a route."""
    told = answers(faults, most=most)
    async with LlmServer(ContentJudge().answer) as server:
        client = open_client(
            LlmSettings.model_validate(
                {"model": MODEL, "base_url": server.openai, "key": "none", "cache_entries": 0}
            )
        )
        healthy = await _judged(client, _records(told[HEALTHY]))
        found = {}
        for fault in faults:
            made = _records(told[fault])
            means = await _judged(client, made)
            change = {name: means[name] - healthy[name] for name in means if name in healthy}
            truth = Truth(fault=fault.value, change=change, rates=broken_rates(made))
            progress(f"{fault.value}: {truth.because or 'no page'}")
            found[fault.value] = truth
        await client.close()
    return found


def _records(told: Mapping[Asked, Told]) -> list[RagRecord]:
    return [answer.record for answer in told.values()]


def broken_rates(found: Sequence[RagRecord]) -> Means:
    """The share of records with each broken signal that code detects."""
    runner = Runner(load_scorers())
    counted: Counter[str] = Counter()
    for record in found:
        for score in runner.score_all(record):
            said = {label.strip() for label in score.label.split(",")} - {""}
            said |= {"failed"} if score.fails(runner.fails_below.get(score.rubric)) else set()
            counted.update(f"{score.rubric}:{finding}" for finding in said)
    return {rate.signal: counted[rate.signal] / len(found) for rate in RATES if ":" in rate.signal}


async def _judged(client: Client, found: Sequence[RagRecord]) -> Means:
    """The mean of every judged rubric, and of those derived from their grades."""
    values: dict[str, list[float]] = defaultdict(list)
    asker = asker_of(client, MODEL, seed=0)
    for start in range(0, len(found), AT_ONCE):
        asking = [
            asker.ask(record, family, Purpose.SAMPLE)
            for record in found[start : start + AT_ONCE]
            for family in judged_families()
        ]
        for answered in await asyncio.gather(*asking):
            for score in answered.scores:
                if score.value is not None:
                    values[score.rubric].append(score.value)
    return {name: fmean(each) for name, each in values.items()}
