"""Many records under faults, on a small budget: what they spend, and what is left out for it."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bench.rig.judge_court import MODELS, house_records, in_session
from bench.rig.judge_faulty import LONG_PATIENCE, NOW, ON_THE_WAY, at_once, settings_for
from ragvigil.llm.settings import LlmSettings
from ragvigil.llm.spending import Pot
from ragvigil.model.record import RagRecord
from scorers.judge.verdicts import JUDGE
from tests.content_judge import ContentJudge
from tests.llm_server import Fault, LlmServer

LONGEST_REPLY = 500


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
            opened={"clock": lambda: NOW, "sleep": at_once},
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
        "judged": sum(score.value is not None for score in scores),
        "left_out_by_reason": dict(
            Counter(score.label for score in scores if score.absent == JUDGE)
        ),
    }


def _small_budget(server: LlmServer, daily: int) -> LlmSettings:
    changed = {
        "daily_tokens": daily,
        "reserved_share": 0.0,
        "max_output_tokens": LONGEST_REPLY,
        "concurrency": 4,
    }
    return settings_for(MODELS[0], server, LONG_PATIENCE).model_copy(update=changed)


def _many(count: int) -> list[RagRecord]:
    """Records that differ, so that no reply comes from the cache."""
    kinds = house_records()
    return [
        replace(
            kinds[n % len(kinds)],
            trace_id=f"m{n}",
            answer=f"{kinds[n % len(kinds)].answer} It is case {n}.",
        )
        for n in range(count)
    ]


def bars(spent: Mapping[str, Any]) -> dict[str, bool]:
    """What must hold at any size."""
    most = spent["daily_tokens"] + spent["one_call_tokens"]
    return {
        "spent <= budget + one call": max(spent["spent_tokens"], spent["provider_tokens"]) <= most,
        "the budget ended": spent["left_out_by_reason"].get("budget", 0) > 0,
    }
