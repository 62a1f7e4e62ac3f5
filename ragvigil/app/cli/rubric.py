"""`ragvigil rubric list|check|try`: what is judged how, before it goes live."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragvigil.app.settings import Settings
from ragvigil.llm.outcome import Failure, Purpose, Reply
from ragvigil.llm.settings import LlmSettings
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.judge.material import Reference
from scorers.judge.prompt import skeleton
from scorers.judge.question import ask_about
from scorers.judge.verdicts import Incomplete, derived_from, read_scores
from scorers.rubric import BadRubric, Rubric, derivation_problem, load_rubrics, read_rubric

if TYPE_CHECKING:
    from ragvigil.llm.client import Client

WRONG, NO_VERDICT = 2, 1
"""Exit statuses: of use, and of a question that got no verdict."""
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What one record gave: prompts and replies in their order, and the scores.

    Without scores `reason` says why.
    """

    record_id: str
    prompts: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()
    scores: tuple[Score, ...] = ()
    reason: str = ""


def found_rubric(file: str) -> Rubric:
    """The rubric of a file, or the known one of this name. Raises BadRubric."""
    known = load_rubrics()
    if file in known:
        return known[file]
    try:
        rubric = read_rubric(Path(file))
    except OSError as error:
        names = ", ".join(sorted(known))
        raise BadRubric(f"{file}: {error.strerror}, and it is not one of {names}") from error
    problem = derivation_problem(rubric, known)
    if problem:
        raise BadRubric(f"{file}: {problem}")
    return rubric


def how(rubric: Rubric) -> str:
    """In a word or two, who scores by a rubric."""
    if rubric.judge is not None:
        return f"judge: {rubric.judge.about}"
    return f"from {rubric.derived_from}" if rubric.derived_from else "code"


def printable(text: str) -> str:
    """Control characters, which could command a terminal, in their escaped form."""
    return CONTROL.sub(lambda match: repr(match[0])[1:-1], text)


def list_rubrics(*, as_json: bool) -> int:
    """Prints every rubric; the exit status."""
    rubrics = sorted(load_rubrics().values(), key=lambda one: (one.layer, one.name))
    rows = [
        {
            "name": one.name, "layer": one.layer, "version": one.version, "how": how(one),
            "fails_below": one.fails_below, "description": one.description,
        }
        for one in rubrics
    ]  # fmt: skip
    if as_json:
        print(json.dumps(rows))
        return 0
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    shown = [name for name in rows[0] if name != "description"]
    for name in shown:
        table.add_column(name, no_wrap=True)
    for row in rows:
        table.add_row(*("" if row[name] is None else str(row[name]) for name in shown))
    Console().print(table)
    return 0


def check_rubric(file: str, *, as_json: bool) -> int:
    """Prints what is wrong with a file, or what it asks; nobody is asked. The exit status."""
    try:
        rubric = found_rubric(file)
    except BadRubric as error:
        return _refused(str(error))
    known = load_rubrics()
    is_taken = rubric.name in known and known[rubric.name] != rubric
    prompt = skeleton(rubric.judge) if rubric.judge is not None else ""
    if as_json:
        print(json.dumps({"name": rubric.name, "how": how(rubric), "prompt": prompt}))
        return 0
    print(f"{rubric.name} ({rubric.layer}), version {rubric.version}, {how(rubric)}")
    if is_taken:
        print(f"warning: {rubric.name} is the name of another rubric; as a plug-in it is left out")
    if prompt:
        print(f"\n{prompt}")
    return 0


def try_rubric(settings: Settings, file: str, found: Mapping[str, Any], *, as_json: bool) -> int:
    """Asks the model about the records of a trace; prints prompts, replies and scores.

    `found` is the trace as the API gives it. The exit status: 1 where nothing was judged.
    """
    from ragvigil.llm.budget import Unpriced
    from ragvigil.llm.provider import NotConfigured
    from ragvigil.store.scores.judged import record_of
    from scorers.golden import read_golden
    from scorers.judge.references import BadSource, References, read_sources

    golden, judge = settings.scorers.golden, settings.judge
    try:
        rubric = found_rubric(file)
        references = References(
            cases=read_golden(golden) if golden else {}, sources=read_sources(judge.sources)
        )
        records = [record_of(form) for form in found["records"]]
        known = [(record, references.of(record)) for record in records]
        tried = asyncio.run(try_records(known, rubric, judge, judge.max_characters))
    except (BadRubric, NotConfigured, Unpriced, BadSource) as error:
        return _refused(str(error))
    if as_json:
        print(json.dumps([_plain(one) for one in tried]))
    else:
        _show(tried)
    return 0 if any(one.scores for one in tried) else NO_VERDICT


async def try_records(
    records: Sequence[tuple[RagRecord, Reference]],
    rubric: Rubric,
    settings: LlmSettings,
    most_characters: int,
) -> list[Tried]:
    """What a rubric gives for some records; a derived one asks what it is derived from.

    Nothing is kept. Raises BadRubric for a rubric that is scored by code, NotConfigured, Unpriced.
    """
    from ragvigil.llm.client import open_client

    known = load_rubrics()
    source = known[rubric.derived_from] if rubric.derived_from else rubric
    if source.judge is None:
        raise BadRubric(f"{rubric.name} is scored by code, not judged; see `ragvigil score`")
    derived = (rubric,) if rubric.derived_from else derived_from(rubric.name, known)
    client = open_client(settings)
    try:
        trial = _Trial(client, settings.model, source, derived, most_characters)
        return [await trial.of(record, reference) for record, reference in records]
    finally:
        await client.close()


@dataclass(frozen=True, slots=True)
class _Trial:
    """A rubric that is tried on a model."""

    client: Client
    model: str
    rubric: Rubric
    derived: Sequence[Rubric]
    most_characters: int

    async def of(self, record: RagRecord, reference: Reference) -> Tried:
        """What comes of one record."""
        asked = ask_about(
            record,
            self.rubric,
            delimiter=secrets.token_hex(8),
            most_characters=self.most_characters,
            reference=reference,
        )
        if isinstance(asked, Score):
            return Tried(record_id=record.record_id, reason=asked.explanation)
        outcomes = [await self.client.ask(one.prompt, one.form, Purpose.TRY) for one in asked]
        replies = [one for one in outcomes if isinstance(one, Reply)]
        failed = [f"{one.kind}: {one.detail}" for one in outcomes if isinstance(one, Failure)]
        answers = [one.answer for one in replies]
        read = read_scores(asked, answers, judge=self.model, derived=self.derived)
        lacking = [read.reason] if isinstance(read, Incomplete) else []
        return Tried(
            record_id=record.record_id,
            prompts=tuple(one.prompt for one in asked),
            replies=tuple(one.text for one in replies),
            scores=() if isinstance(read, Incomplete) else read,
            reason=next(iter(failed + lacking), ""),
        )


def _plain(one: Tried) -> dict[str, Any]:
    return {
        "record_id": one.record_id,
        "prompts": one.prompts,
        "replies": one.replies,
        "reason": one.reason,
        "scores": [
            {
                "rubric": score.rubric, "value": score.value, "label": score.label,
                "explanation": score.explanation, "details": dict(score.details),
            }
            for score in one.scores
        ],
    }  # fmt: skip


def _show(tried: Sequence[Tried]) -> None:
    if not tried:
        print("no RAG record in the trace: no retrieval and no chunks in a prompt")
    for one in tried:
        print(f"record {one.record_id}")
        for heading, texts in (("prompt", one.prompts), ("reply", one.replies)):
            for text in texts:
                print(f"\n--- {heading}\n{printable(text)}")
        print("\n--- score")
        for score in one.scores:
            value = "–" if score.value is None else f"{score.value:.2f}"
            print(printable(f"{score.rubric}  {value}  {score.label}  {score.explanation}"))
        if one.reason:
            print(f"none: {printable(one.reason)}")


def _refused(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return WRONG
