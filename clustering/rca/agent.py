"""The agent: a model reads traces with tools until it submits a finding, or until its means end.

Whatever it says, it can only read, and only what its quotes prove is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from pydantic import ValidationError

from clustering.rca.evidence import CheckedFinding, checked
from clustering.rca.finding import Finding
from clustering.rca.prompt import SUBMIT, instructions, opening, tools
from clustering.rca.run_budget import RunBudget
from clustering.rca.settings import RootCauseSettings
from clustering.rca.tools import TOOLS, Case, Refused
from clustering.rca.untrusted_text import fenced
from ragvigil.llm.conversation import ToolCall, Conversation, Exchange, AssistantMessage, Turn
from ragvigil.llm.outcome import Failure, Usage
from ragvigil.llm.prices import Price
from ragvigil.store.engine.errors import StoreError

MOST_CALLS = 4
"""Calls of one turn that are answered."""
KEPT = 2_000
"""Characters of each text in the transcript."""
AGAIN = "You have asked this before; the answer stands above."
NO_CALL = "Call a tool. When you are done, or cannot get further, call submit_finding."


class Asker(Protocol):
    """The model that is asked; within the house's budget and breaker."""

    @property
    def model(self) -> str:
        """Its name."""

    @property
    def price(self) -> Price | None:
        """What it costs today; None where nobody knows."""

    def turn(
        self,
        conversation: Conversation,
        *,
        patience_seconds: float,
        fits: Callable[[Usage], bool],
    ) -> Turn | Failure:
        """What it says next; see `ragvigil.llm.client.Client.turn`. Blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What became of a run; `ended` says how in words, `transcript` is JSON."""

    ended: str
    turns: int
    transcript: str
    cost_usd: float | None
    found: CheckedFinding | None = None


@dataclass(slots=True)
class _Talk:
    """A run under way."""

    conversation: Conversation
    delimiter: str
    asked: set[str] = field(default_factory=set)
    transcript: list[dict[str, object]] = field(default_factory=list)
    found: CheckedFinding | None = None
    refused: str = ""


def investigate(
    case: Case,
    report: Sequence[str],
    asker: Asker,
    settings: RootCauseSettings,
    *,
    clock: Callable[[], float],
    delimiter: str,
) -> Run:
    """Lets the model look for the cause. Never raises for what the model or its provider does.

    `clock` counts seconds; `delimiter` is drawn for this run and occurs in no trace.
    """
    purse, ends = RunBudget(settings, asker.price), clock() + settings.max_seconds
    start = opening(case.issue, report, delimiter, settings.max_turns)
    talk = _Talk(Conversation(instructions=instructions(delimiter), opening=start), delimiter)
    ended = f"no finding within {settings.max_turns} turns"
    for left in range(settings.max_turns, 0, -1):
        is_last = left == 1 or purse.is_low
        patience = ends - clock()
        if patience <= 0:
            ended = f"no finding within {settings.max_seconds:g} seconds"
            break
        asked = replace(talk.conversation, tools=tools(is_last_turn=is_last))
        got = asker.turn(asked, patience_seconds=patience, fits=purse.fits)
        purse.pay(got.usage)
        if isinstance(got, Failure):
            ended = f"the model gave no turn: {got.kind}: {got.detail}"
            break
        _take(talk, got.message, case, 1 if purse.is_low else left - 1)
        if talk.found is not None:
            ended = _ended(talk.found)
            break
    if talk.found is None and talk.refused:
        ended += f"; a finding was refused: {talk.refused}"
    return Run(
        ended=ended,
        turns=len(talk.transcript),
        transcript=json.dumps(talk.transcript),
        cost_usd=purse.dollars,
        found=talk.found,
    )


def _ended(found: CheckedFinding) -> str:
    if not found.finding.is_determinable:
        return "the model says that the cause is not determinable"
    dropped = f"; {found.dropped} quotes were not found and dropped" if found.dropped else ""
    return f"submitted a finding with {len(found.quotes)} quotes{dropped}"


def _take(talk: _Talk, said: AssistantMessage, case: Case, left: int) -> None:
    """Answers a turn of the model and writes it down."""
    said = replace(said, calls=said.calls[:MOST_CALLS])
    answers = [_answer(talk, call, case) for call in said.calls] or [NO_CALL]
    remark = f"Turns left: {left}." if left > 1 else "Your next turn is the last: submit_finding."
    told = (*answers[:-1], f"{answers[-1]}\n{remark}")
    exchanges = (*talk.conversation.exchanges, Exchange(message=said, answers=told))
    talk.conversation = replace(talk.conversation, exchanges=exchanges)
    calls = [
        {"tool": call.tool[:KEPT], "arguments": _kept(call.arguments), "answer": answer[:KEPT]}
        for call, answer in zip(said.calls, answers, strict=False)
    ]
    talk.transcript.append({"said": said.text[:KEPT], "calls": calls})


def _answer(talk: _Talk, call: ToolCall, case: Case) -> str:
    if call.arguments is None:
        return "The arguments are not one JSON object. Call the tool again."
    key = json.dumps([call.tool, call.arguments], sort_keys=True)
    if key in talk.asked:
        return AGAIN
    try:
        if call.tool == SUBMIT:
            talk.found = checked(Finding.model_validate(call.arguments), case)
            return "Accepted."
        if call.tool not in TOOLS:
            return f"There is no such tool. The tools: {', '.join((*TOOLS, SUBMIT))}."
        found = TOOLS[call.tool].model_validate(call.arguments).read(case)
    except ValidationError as error:
        return f"The arguments are wrong: {_problems(error)}."
    except Refused as error:
        talk.refused = f"{error}" if call.tool == SUBMIT else talk.refused
        return f"Refused: {error}."
    except StoreError:
        return "The store could not answer; ask something else, or once more later."
    talk.asked.add(key)
    return fenced(found, talk.delimiter)


def _problems(error: ValidationError) -> str:
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    return "; ".join(
        f"{'.'.join(map(str, problem['loc']))[:80]}: {problem['msg'][:200]}"
        for problem in problems[:5]
    )


def _kept(arguments: Mapping[str, object] | None) -> str | None:
    return None if arguments is None else json.dumps(arguments)[:KEPT]
