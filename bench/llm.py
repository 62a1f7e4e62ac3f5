"""Throughput of the language model client: a judge that takes 200 ms, 32 calls at a time.

    .venv/bin/python bench/llm.py [--small]

The judge is a process of its own that speaks both protocols over HTTP. The most that 32 places can
do is 160 calls/s; the bar is 90 % of it. CPU is this process' own, the client's share of a core.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import BaseModel, Field

from bench.rig.options import parse_small
from bench.rig.report import finish, peak_rss_mb, progress
from ragvigil.app.process.tied import start_tied
from ragvigil.llm.cache import cache_key
from ragvigil.llm.client import open_client
from ragvigil.llm.outcome import Purpose, Reply
from ragvigil.llm.settings import LlmSettings

ROOT = Path(__file__).resolve().parent.parent
JUDGE_SECONDS, CONCURRENCY = 0.2, 32
MOST_PER_SECOND = CONCURRENCY / JUDGE_SECONDS
PROMPT = "Does the answer say more than the context? " * 200  # about 2,000 tokens


class Verdict(BaseModel):
    """What the judge replies."""

    score: float = Field(ge=0, le=1)


async def calls_per_second(model: str, address: str, folder: Path, calls: int) -> dict[str, float]:
    """Answers per second and CPU milliseconds a call; every call has a key and a reservation."""
    settings = LlmSettings.model_validate(
        {"model": model, "base_url": address, "concurrency": CONCURRENCY, "daily_tokens": 10**12}
    )
    client = open_client(settings, folder)
    await asyncio.gather(*(client.ask("warm", Verdict, Purpose.AUDIT) for _ in range(CONCURRENCY)))
    keys = [key(model, number) for number in range(calls)]
    started, cpu = time.perf_counter(), time.process_time()
    asked = (client.ask(PROMPT, Verdict, Purpose.AUDIT, key=name) for name in keys)
    outcomes = await asyncio.gather(*asked)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    await client.close()
    answered = sum(isinstance(outcome, Reply) for outcome in outcomes)
    return {
        "answered": answered,
        "calls_per_second": round(answered / seconds, 1),
        "cpu_ms_a_call": round(cpu / calls * 1e3, 2),
    }


def key(model: str, number: int) -> str:
    """A key that no other call has."""
    return cache_key(
        model=model,
        prompt_version="1",
        rubric="bench",
        question=str(number),
        answer="",
        chunk_hashes=[],
    )


def main() -> None:
    small = parse_small(__doc__)
    calls = 320 if small else 3200
    command = [sys.executable, "-m", "tests.llm_server", "--seconds", str(JUDGE_SECONDS)]
    judge = start_tied(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    figures: dict[str, object] = {"calls": calls, "most_per_second": MOST_PER_SECOND}
    bars: dict[str, bool] = {}
    try:
        assert judge.stdout is not None
        address = judge.stdout.readline().strip()
        for model, path in (("openai:gpt-4.1-mini", "/v1"), ("anthropic:claude-haiku-4-5", "")):
            progress(f"{calls} calls to {model}")
            with TemporaryDirectory() as folder:
                made = asyncio.run(calls_per_second(model, address + path, Path(folder), calls))
            provider = model.partition(":")[0]
            figures[provider] = made
            bars[f"{provider}: every call answered"] = made["answered"] == calls
            if not small:
                bars[f"{provider}: >= 90 % of 160 calls/s"] = (
                    made["calls_per_second"] >= 0.9 * MOST_PER_SECOND
                )
    finally:
        judge.terminate()
        judge.wait()
    figures["peak_rss_mb"] = peak_rss_mb()
    finish("llm", figures, bars, seed=0)


if __name__ == "__main__":
    main()
