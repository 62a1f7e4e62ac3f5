"""The judge: no fault becomes a score, no order is obeyed, no rate and no acknowledgement suffers.

    .venv/bin/python bench/judge.py [--small] [--seed N] [--only faults,injection,rate,latency]

Faults and attacks: see judge_faults.py and judge_injection.py. Rate: records through the judge's
queue, its calls and its verdicts, with a stand-in of 200 ms in a process of its own and 32 calls
at a time, of which 160 calls/s are the most. Latency: judge_latency.py.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from prometheus_client import REGISTRY

from bench.rig import judge_faults, judge_injection, judge_latency, judge_spending
from bench.rig.judge_court import in_session
from bench.rig.judge_stand_in import standing_in
from bench.rig.options import size_parser
from bench.rig.report import finish, peak_rss_mb, progress
from ragvigil.llm.settings import LlmSettings
from ragvigil.model.record import RagRecord
from tests.judged_records import GOOD

JUDGE_SECONDS, CONCURRENCY = 0.2, 32
MOST_PER_SECOND, LEAST_SHARE = CONCURRENCY / JUDGE_SECONDS, 0.9
ROUNDS = 3
"""The best counts: a neighbour on the machine takes away and never adds."""
Bars = dict[str, bool]
Part = tuple[dict[str, object], Bars]


def faults(seed: int, small: bool) -> Part:
    """Every fault with every rubric, and what many of them spend."""
    found = asyncio.run(judge_faults.matrix(seed, small=small))
    spent = asyncio.run(judge_spending.spending(seed, small=small))
    held = judge_faults.bars(found) | judge_spending.bars(spent)
    return found | {"spending": spent}, held


def injection(seed: int, small: bool) -> Part:
    """Orders planted in records."""
    found = asyncio.run(judge_injection.injection(seed, small=small))
    return found, judge_injection.bars(found)


def rate(_: int, small: bool) -> Part:
    """Calls a second: with all rubrics, and with one."""
    records = 20 if small else 400
    figures: dict[str, object] = {"most_per_second": MOST_PER_SECOND}
    bars: Bars = {}
    ways = {"all rubrics": ((), records), "one rubric": (("groundedness",), 4 * records)}
    with standing_in(seconds=JUDGE_SECONDS) as address:
        for name, (rubrics, count) in ways.items():
            progress(f"{count} records, {name}")
            rounds = 1 if small else ROUNDS
            tried = [asyncio.run(_calls_per_second(address, rubrics, count)) for _ in range(rounds)]
            made = max(tried, key=lambda pace: pace["calls_per_second"])
            figures[name] = made | {"rounds": [pace["calls_per_second"] for pace in tried]}
            bars[f"{name}: every record judged once"] = (
                made["judged"] == count and made["stored_twice"] == made["missing"] == 0
            )
            if not small:
                least = LEAST_SHARE * MOST_PER_SECOND
                bars[f"{name}: >= 90 % of 160 calls/s"] = made["calls_per_second"] >= least
    return figures, bars


async def _calls_per_second(address: str, rubrics: tuple[str, ...], count: int) -> dict[str, float]:
    settings = LlmSettings.model_validate(
        {
            "model": "openai:stand-in",
            "base_url": f"{address}/v1",
            "key": "none",
            "concurrency": CONCURRENCY,
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        session = in_session(settings, clock=time.time, rubrics=rubrics, folder=Path(folder))
        async with session as (court, judge):
            court.add(_different(count))
            before = _replied()
            started, cpu = time.perf_counter(), time.process_time()
            while len(court.queue):
                await judge.step()
            seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
            scores = list(court.scores())
    asked = _replied() - before
    return {
        "records": count,
        "judged": len(court.written),
        "stored_twice": court.stored_twice,
        "missing": sum(score.absent == "judge" for score in scores),
        "calls_per_second": round(asked / seconds, 1),
        "cpu_ms_a_call": round(cpu / asked * 1e3, 2),
    }


def _replied() -> float:
    """Calls that the client got a reply to, since this process began."""
    return REGISTRY.get_sample_value("ragvigil_llm_attempts_total", {"result": "replied"}) or 0.0


def _different(count: int) -> list[RagRecord]:
    """Records of which each call is another one: no reply is known."""
    return [
        replace(
            GOOD,
            trace_id=f"r{n}",
            query=f"{GOOD.query} It is case {n}.",
            answer=f"{GOOD.answer} It was asked by customer {n}.",
        )
        for n in range(count)
    ]


def latency(seed: int, small: bool) -> Part:
    """Acknowledgements with the judge on and off."""
    found = judge_latency.latency(seed, small=small)
    bars = {
        "every request acknowledged": found["requests"] == found["requests_expected"],
        "the judge was asked meanwhile": all(
            calls for name, calls in found["judge_calls"].items() if name != "off"
        ),
    }
    if not small:
        bars["p99 acknowledgement <= 1.2 x + 5 ms of that without judge"] = (
            found["median_ms"]["sampled"] <= found["allowed_ms"]
        )
    return found, bars


PARTS: dict[str, Callable[[int, bool], Part]] = {
    "faults": faults,
    "injection": injection,
    "rate": rate,
    "latency": latency,
}


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--only")
    options = parser.parse_args()
    figures: dict[str, object] = {}
    bars: Bars = {}
    # What acknowledgements cost takes three daemons, and is judged at full size alone.
    usual = [name for name in PARTS if not (options.small and name == "latency")]
    for name in options.only.split(",") if options.only else usual:
        figures[name], held = PARTS[name](options.seed, options.small)
        bars |= held
    figures["peak_rss_mb"] = peak_rss_mb()
    finish("judge", figures, bars, seed=options.seed)


if __name__ == "__main__":
    main()
