"""The agent: a model reads traces with tools until it submits a finding or its budget ends.

The tools can only read, and a finding is kept only if its quotes prove it.
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
from ragvigil.llm.conversation import AssistantMessage, Conversation, Exchange, ToolCall, Turn
from ragvigil.llm.outcome import Failure, Usage
from ragvigil.llm.prices import Price
from ragvigil.store.engine.errors import StoreError

MOST_CALLS = 4
"""Tool calls of one turn that are answered; further ones are ignored."""
KEPT = 2_000
"""Characters of each text in the stored transcript."""
AGAIN = "You have asked this before; the answer stands above."
NO_CALL = "Call a tool. When you are done, or cannot get further, call submit_finding."


class Asker(Protocol):
    """The model, behind the daemon's budget and circuit breaker."""

    @property
    def model(self) -> str:
        """The model's name."""

    @property
    def price(self) -> Price | None:
        """Its price today; None if unknown."""

    def turn(
        self,
        conversation: Conversation,
        *,
        patience_seconds: float,
        fits: Callable[[Usage], bool],
    ) -> Turn | Failure:
        """The model's next turn; see `ragvigil.llm.client.Client.turn`. Blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """The result of a run; `ended` says in words how it ended, `transcript` is JSON."""

    ended: str
    turns: int
    transcript: str
    cost_usd: float | None
    submission: CheckedFinding | None = None


@dataclass(slots=True)
class _Session:
    """A run in progress; `asked` holds the calls so far, which are not answered twice."""

    conversation: Conversation
    delimiter: str
    asked: set[str] = field(default_factory=set)
    transcript: list[dict[str, object]] = field(default_factory=list)
    submission: CheckedFinding | None = None
    refused: str = ""


def investigate(
    case: Case,
    report: Sequence[str],
    asker: Asker,
    settings: RootCauseSettings,
    *,
    clock: Callable[[], float],
    delimiter: str,
) -> AgentRun:
    """Lets the model look for the cause. Never raises for what the model or its provider does.

    `clock` is monotonic, in seconds. `delimiter` is random, drawn for this run, so that no trace
    contains it.
    """
    budget, ends = RunBudget(settings, asker.price), clock() + settings.max_seconds
    start = opening(case.issue, report, delimiter, settings.max_turns)
    session = _Session(Conversation(instructions=instructions(delimiter), opening=start), delimiter)
    ended = f"no finding within {settings.max_turns} turns"
    for left in range(settings.max_turns, 0, -1):
        # The last turn offers only submit_finding, so that a run ends with what it has found.
        is_last = left == 1 or budget.is_low
        patience = ends - clock()
        if patience <= 0:
            ended = f"no finding within {settings.max_seconds:g} seconds"
            break
        conversation = replace(session.conversation, tools=tools(is_last_turn=is_last))
        turn = asker.turn(conversation, patience_seconds=patience, fits=budget.fits)
        budget.pay(turn.usage)
        if isinstance(turn, Failure):
            ended = f"the model gave no turn: {turn.kind}: {turn.detail}"
            break
        _handle(session, turn.message, case, 1 if budget.is_low else left - 1)
        if session.submission is not None:
            ended = _ended(session.submission)
            break
    if session.submission is None and session.refused:
        ended += f"; a finding was refused: {session.refused}"
    return AgentRun(
        ended=ended,
        turns=len(session.transcript),
        transcript=json.dumps(session.transcript),
        cost_usd=budget.dollars,
        submission=session.submission,
    )


def _ended(submission: CheckedFinding) -> str:
    if not submission.finding.is_determinable:
        return "the model says that the cause is not determinable"
    dropped = (
        f"; {submission.dropped} quotes were not found and dropped" if submission.dropped else ""
    )
    return f"submitted a finding with {len(submission.quotes)} quotes{dropped}"


def _handle(session: _Session, message: AssistantMessage, case: Case, left: int) -> None:
    """Answers a message of the model and adds both to the conversation and the transcript."""
    message = replace(message, calls=message.calls[:MOST_CALLS])
    answers = [_answer(session, call, case) for call in message.calls] or [NO_CALL]
    remark = f"Turns left: {left}." if left > 1 else "Your next turn is the last: submit_finding."
    texts = (*answers[:-1], f"{answers[-1]}\n{remark}")
    exchanges = (*session.conversation.exchanges, Exchange(message=message, answers=texts))
    session.conversation = replace(session.conversation, exchanges=exchanges)
    calls = [
        {"tool": call.tool[:KEPT], "arguments": _kept(call.arguments), "answer": answer[:KEPT]}
        for call, answer in zip(message.calls, answers, strict=False)
    ]
    session.transcript.append({"said": message.text[:KEPT], "calls": calls})


def _answer(session: _Session, call: ToolCall, case: Case) -> str:
    if call.arguments is None:
        return "The arguments are not one JSON object. Call the tool again."
    key = json.dumps([call.tool, call.arguments], sort_keys=True)
    if key in session.asked:
        return AGAIN
    try:
        if call.tool == SUBMIT:
            session.submission = checked(Finding.model_validate(call.arguments), case)
            return "Accepted."
        if call.tool not in TOOLS:
            return f"There is no such tool. The tools: {', '.join((*TOOLS, SUBMIT))}."
        result = TOOLS[call.tool].model_validate(call.arguments).read(case)
    except ValidationError as error:
        return f"The arguments are wrong: {_problems(error)}."
    except Refused as error:
        session.refused = f"{error}" if call.tool == SUBMIT else session.refused
        return f"Refused: {error}."
    except StoreError:
        return "The store could not answer; ask something else, or once more later."
    session.asked.add(key)
    return fenced(result, session.delimiter)


def _problems(error: ValidationError) -> str:
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    return "; ".join(
        f"{'.'.join(map(str, problem['loc']))[:80]}: {problem['msg'][:200]}"
        for problem in problems[:5]
    )


def _kept(arguments: Mapping[str, object] | None) -> str | None:
    return None if arguments is None else json.dumps(arguments)[:KEPT]
