"""A judge that fails: `ragvigil why` says so within a minute, with the way out, and so the end.

    .venv/bin/python bench/judge_outages.py [--small] [--seed N] [--outage-seconds 180]

A real daemon, an answer every two seconds, and a server that speaks the provider's protocol. Every
outage lasts until the breaker's pause is at its longest (30 + 45 s) and beyond; `--outage-seconds
3600` is the hour. The settings are the defaults but for the sample (all answers, judged at once,
by two rubrics). Small: a few outages of seconds, with a pause of one second.
"""

from __future__ import annotations

import itertools
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from bench.rig.judge_faulty import FaultyJudge
from bench.rig.one_answer import QUESTION, one_answer
from bench.rig.options import size_parser
from bench.rig.report import finish, peak_rss_mb, progress
from ragvigil.app.demo.child_daemon import ChildDaemon, running
from tests.llm_server import Fault, LlmServer, serving

MOST_SECONDS = 60.0
ANSWER_SECONDS, LOOK_SECONDS = 2.0, 0.5
SETTLED_SECONDS = 900.0
"""How long the benchmark waits for a line before it gives up."""
LOG_LINES = 8
"""Most warnings of one outage: the kind, that the judge fails, the breaker, and what goes along."""


@dataclass(frozen=True, kw_only=True)
class Outage:
    """A fault of the provider, the kind that people are told, and a word of the way out."""

    name: str
    kind: str
    way_out: str
    fault: Fault | None = None
    changed_reply: str = ""


PROSE = Fault(text="Alle Aussagen sind durch die Quellen gedeckt. Note: 5 von 5.")
LONG = Fault(status=400, code="context_length_exceeded")
OUTAGES = (
    Outage(
        name="wrong key",
        kind="wrong_key",
        way_out="key_file",
        fault=Fault(status=401, code="invalid_api_key"),
    ),
    Outage(
        name="429",
        kind="rate_limited",
        way_out="sample_rate",
        fault=Fault(status=429, code="rate_limit_exceeded", headers={"retry-after": "20"}),
    ),
    Outage(name="malformed", kind="unparseable", way_out="reply_form", fault=PROSE),
    Outage(
        name="no such model",
        kind="model_not_found",
        way_out="model",
        fault=Fault(status=404, code="model_not_found"),
    ),
    Outage(
        name="quota",
        kind="quota_used_up",
        way_out="top it up",
        fault=Fault(status=429, code="insufficient_quota"),
    ),
    Outage(name="silent", kind="timeout", way_out="timeout_seconds", fault=Fault(seconds=600.0)),
    Outage(name="down", kind="unavailable", way_out="status page", fault=Fault(status=503)),
    Outage(name="context", kind="context_too_long", way_out="max_characters", fault=LONG),
    Outage(name="declined", kind="refused", way_out="filter", fault=Fault(is_refusal=True)),
    Outage(
        name="other words",
        kind="other_words",
        way_out="another language",
        changed_reply="an unknown grade",
    ),
)
SMALL = ("wrong key", "malformed")


@contextmanager
def answering(daemon: ChildDaemon, seconds: float, seed: int) -> Iterator[None]:
    """Sends a new answer every so many seconds, until the block ends."""
    stop = threading.Event()
    chance = random.Random(seed)

    def send() -> None:
        with httpx2.Client(headers={"content-type": "application/x-protobuf"}) as http:
            for number in itertools.count():
                if stop.wait(seconds):
                    return
                body = one_answer(chance.randbytes(16), question=f"{QUESTION} Case {number}?")
                http.post(f"http://{daemon.http}/v1/traces", content=body).raise_for_status()

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def seconds_until(holds: Callable[[], bool]) -> float:
    """Seconds until a condition holds; infinite where it does not in SETTLED_SECONDS."""
    started = time.monotonic()
    while not holds():
        if time.monotonic() - started > SETTLED_SECONDS:
            return float("inf")
        time.sleep(LOOK_SECONDS)
    return time.monotonic() - started


def judge_lines(daemon: ChildDaemon) -> list[str]:
    """What `ragvigil why` says of the judge."""
    return [line for line in daemon.get("why")["lines"] if line.startswith("the judge")]


def fails_by(daemon: ChildDaemon, outage: Outage) -> bool:
    """Whether `why` names the failure and its way out."""
    return any(
        "the judge fails" in line and outage.kind in line and outage.way_out in line
        for line in judge_lines(daemon)
    )


def answers_again(daemon: ChildDaemon, outage: Outage) -> bool:
    """Whether `why` says that this failure is over."""
    return any("answers again" in line and outage.kind in line for line in judge_lines(daemon))


def one_outage(
    daemon: ChildDaemon, server: LlmServer, judge: FaultyJudge, outage: Outage, seconds: float
) -> dict[str, object]:
    """Seconds until the failure is said, and its end."""
    log = daemon.data_dir / "daemon.log"
    before = log.stat().st_size
    began = time.monotonic()
    judge.fault, judge.left = outage.changed_reply, 10**9 if outage.changed_reply else 0
    server.every = outage.fault
    said = seconds_until(lambda: fails_by(daemon, outage))
    time.sleep(max(0.0, seconds - (time.monotonic() - began)))
    status = daemon.get("status")["judge"]
    ready = httpx2.get(f"http://{daemon.metrics}/readyz", timeout=60).text
    server.every, judge.left = None, 0
    ended = seconds_until(lambda: answers_again(daemon, outage))
    seconds_until(lambda: daemon.get("status")["judge"]["breaker"] == "closed")
    lines = log.read_bytes()[before:].decode().splitlines()
    return {
        "said_seconds": round(said, 1),
        "ended_seconds": round(ended, 1),
        "lasted_seconds": round(time.monotonic() - began, 1),
        "status": {key: status[key] for key in ("state", "last_error", "breaker", "failures")},
        "is_in_status": outage.kind in status["last_error"] and outage.way_out in status["way_out"],
        "is_in_readyz": outage.kind in ready,
        "log_lines": sum("judge" in line and "warning" in line for line in lines),
    }


def settings_of(server: LlmServer, *, small: bool) -> Mapping[str, str]:
    """Settings of the daemon; see the module's text."""
    settings = {
        "MODEL": "openai:gpt-4.1-mini", "BASE_URL": server.openai, "KEY": "k",
        "ALLOW": "true", "SAMPLE_RATE": "1", "WAIT_SECONDS": "0", "CANARY_HOURS": "0",
        "RUBRICS": '["groundedness", "answer_relevance"]',
    }  # fmt: skip
    if small:
        settings |= {"BREAKER_SECONDS": "1", "RETRIES": "1", "RETRY_SECONDS": "1"}
    return {f"RAGVIGIL_JUDGE__{name}": value for name, value in settings.items()} | {
        "RAGVIGIL_INFERENCE__ENABLED": "false",
        "RAGVIGIL_CLUSTERING__ENABLED": "false",
    }


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--outage-seconds", type=float, default=180.0)
    parser.add_argument("--only", default="", help="names of outages, separated by commas")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else SMALL if options.small else ()
    outages = [outage for outage in OUTAGES if not wanted or outage.name in wanted]
    seconds = 3.0 if options.small else options.outage_seconds
    judge = FaultyJudge()
    figures: dict[str, dict[str, object]] = {}
    with serving(judge.answer) as server, tempfile.TemporaryDirectory() as folder:
        settings = settings_of(server, small=options.small)
        with running(Path(folder) / "data", settings=settings) as daemon:
            pause = ANSWER_SECONDS / 4 if options.small else ANSWER_SECONDS
            with answering(daemon, pause, options.seed):
                seconds_until(lambda: daemon.get("status")["judge"]["state"] == "answers")
                for outage in outages:
                    figures[outage.name] = one_outage(daemon, server, judge, outage, seconds)
                    progress(f"{outage.name}: {figures[outage.name]}")
    most = SETTLED_SECONDS if options.small else MOST_SECONDS
    result: dict[str, object] = {
        "outage_seconds": seconds, "outages": figures, "peak_rss_mb": peak_rss_mb(),
    }  # fmt: skip
    finish("judge_outages", result, bars(list(figures.values()), most), seed=options.seed)


def bars(outages: Sequence[Mapping[str, object]], most: float) -> dict[str, bool]:
    """What must hold of every outage; `most` is the longest time until a line is said."""

    def are_within(name: str, highest: float, least: float = 0.0) -> bool:
        return all(least <= float(str(outage[name])) <= highest for outage in outages)

    return {
        f"`why` says every failure within {most:.0f} s": are_within("said_seconds", most),
        f"`why` says every end within {most:.0f} s": are_within("ended_seconds", most),
        "the status names kind and way out": all(outage["is_in_status"] for outage in outages),
        "/readyz names the kind": all(outage["is_in_readyz"] for outage in outages),
        f"at most {LOG_LINES} warnings an outage": are_within("log_lines", LOG_LINES, 1),
    }


if __name__ == "__main__":
    main()
