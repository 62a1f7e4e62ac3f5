"""A provider with faults on its wire or in its replies, and the settings of its client."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

from bench.rig.judge_court import base_url
from ragvigil.llm.settings import LlmSettings
from tests.content_judge import ContentJudge
from tests.llm_server import Fault, LlmServer

NOW = 1_700_004_600.0
"""The provider's clock: half an hour before a day (UTC) ends, when the sample may be spent."""
PATIENCE, LONG_PATIENCE = 1.0, 30.0
LARGE = 50 << 20
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


def settings_for(model: str, server: LlmServer, timeout_seconds: float) -> LlmSettings:
    """Settings of a client with one more try, whose breaker never opens."""
    given: dict[str, object] = {
        "model": model, "base_url": base_url(server.anthropic, model), "key": "none",
        "retries": 1, "timeout_seconds": timeout_seconds, "cache_entries": 0,
        "breaker_failures": 10**6,
    }  # fmt: skip
    return LlmSettings.model_validate(given)


async def at_once(_: float) -> None:
    """Returns at once instead of pausing: the length of pauses is not measured here."""
