"""`ragvigil rubric list|check|try`: how each rubric scores, before it goes live."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragvigil.app.cli.output.console import JsonObject, indented, open_console, print_text
from ragvigil.app.settings import Settings
from ragvigil.llm.outcome import Failure, Purpose, Reply
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.judge.material import Reference
from scorers.judge.prompt import prompt_skeleton
from scorers.judge.question import ask_about
from scorers.judge.settings import JudgeSettings
from scorers.judge.verdicts import Incomplete, derived_from, read_scores
from scorers.rubric import BadRubric, Rubric, derivation_problem, load_rubrics, read_rubric

if TYPE_CHECKING:
    from ragvigil.llm.client import Client

WRONG_USE, NO_VERDICT = 2, 1
"""Exit statuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One answer, judged: prompts and replies in their order, and the scores.

    `reason` says why there are no scores.
    """

    record_id: str
    prompts: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()
    scores: tuple[Score, ...] = ()
    reason: str = ""


def rubric_of(file: str) -> Rubric:
    """The known rubric of this name, else the one in this file. Raises BadRubric."""
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


def scored_by(rubric: Rubric) -> str:
    """In a word or two, what scores by a rubric."""
    if rubric.judge is not None:
        return f"judge: {rubric.judge.about}"
    if rubric.pattern is not None:
        return f"pattern: {rubric.pattern.field}"
    return f"from {rubric.derived_from}" if rubric.derived_from else "code"


def list_rubrics(*, as_json: bool) -> int:
    """Prints every rubric; returns the exit status."""
    rubrics = sorted(load_rubrics().values(), key=lambda rubric: (rubric.layer, rubric.name))
    rows = [
        {
            "name": rubric.name, "layer": rubric.layer, "version": rubric.version,
            "how": scored_by(rubric), "fails_below": rubric.fails_below,
            "description": rubric.description,
        }
        for rubric in rubrics
    ]  # fmt: skip
    if as_json:
        print(json.dumps(rows))
        return 0
    from rich.table import Table

    table = Table(box=None)
    columns = [name for name in rows[0] if name != "description"]
    for name in columns:
        table.add_column(name, no_wrap=True)
    for row in rows:
        table.add_row(*("" if row[name] is None else str(row[name]) for name in columns))
    open_console().print(table)
    return 0


def check_rubric(file: str, *, as_json: bool) -> int:
    """Prints what is wrong with a file, or the prompt it makes; calls no model.

    Returns the exit status.
    """
    try:
        rubric = rubric_of(file)
    except BadRubric as error:
        return _refused(str(error))
    known = load_rubrics()
    is_name_taken = rubric.name in known and known[rubric.name] != rubric
    prompt = prompt_skeleton(rubric.judge) if rubric.judge is not None else ""
    if as_json:
        print(json.dumps({"name": rubric.name, "how": scored_by(rubric), "prompt": prompt}))
        return 0
    print(f"{rubric.name} ({rubric.layer}), version {rubric.version}, {scored_by(rubric)}")
    if is_name_taken:
        print(f"warning: {rubric.name} is the name of another rubric; as a plug-in it is left out")
    if prompt:
        print(f"\n{prompt}")
    return 0


def try_rubric(settings: Settings, file: str, trace: JsonObject, *, as_json: bool) -> int:
    """Asks the model about the records of a trace; prints prompts, replies and scores.

    `trace` is that of the API. Returns the exit status: 1 where there is no score.
    """
    from ragvigil.llm.budget import Unpriced
    from ragvigil.llm.provider import NotConfigured
    from ragvigil.store.scores.judged import record_of
    from scorers.golden import read_golden
    from scorers.judge.references import BadSource, References, read_sources

    golden, judge = settings.scorers.golden, settings.judge
    try:
        rubric = rubric_of(file)
        references = References(
            cases=read_golden(golden) if golden else {}, sources=read_sources(judge.sources)
        )
        records = [record_of(form) for form in trace["records"]]
        pairs = [(record, references.of(record)) for record in records]
        trials = asyncio.run(try_records(pairs, rubric, judge))
    except (BadRubric, NotConfigured, Unpriced, BadSource) as error:
        return _refused(str(error))
    if as_json:
        print(json.dumps([_plain(trial) for trial in trials]))
    else:
        _show(trials)
    return 0 if any(trial.scores for trial in trials) else NO_VERDICT


async def try_records(
    records: Sequence[tuple[RagRecord, Reference]],
    rubric: Rubric,
    settings: JudgeSettings,
) -> list[Trial]:
    """Judges records, each with its reference. A derived rubric asks the one it is derived from.

    Stores nothing. Raises BadRubric for a rubric that is scored by code, NotConfigured, Unpriced.
    """
    from ragvigil.llm.client import open_client

    known = load_rubrics()
    source = known[rubric.derived_from] if rubric.derived_from else rubric
    if source.judge is None:
        raise BadRubric(f"{rubric.name} is scored by code, not judged; see `ragvigil score`")
    derived = (rubric,) if rubric.derived_from else derived_from(rubric.name, known)
    client = open_client(settings)
    try:
        examiner = _Examiner(client, settings, source, derived)
        return [await examiner.judge(record, reference) for record, reference in records]
    finally:
        await client.close()


@dataclass(frozen=True, slots=True)
class _Examiner:
    """A rubric and the model that judges by it."""

    client: Client
    settings: JudgeSettings
    rubric: Rubric
    derived: Sequence[Rubric]

    async def judge(self, record: RagRecord, reference: Reference) -> Trial:
        """Asks about one record, part by part; a failed call leaves it without scores."""
        questions = ask_about(
            record,
            self.rubric,
            delimiter=secrets.token_hex(8),
            most_characters=self.settings.max_characters,
            reference=reference,
        )
        if isinstance(questions, Score):  # not applicable: its explanation says why
            return Trial(record_id=record.record_id, reason=questions.explanation)
        outcomes = [
            await self.client.ask(question.prompt, question.form, Purpose.TRY)
            for question in questions
        ]
        replies = [outcome for outcome in outcomes if isinstance(outcome, Reply)]
        failures = [
            f"{outcome.kind}: {outcome.detail}"
            for outcome in outcomes
            if isinstance(outcome, Failure)
        ]
        answers = [reply.answer for reply in replies]
        verdict = read_scores(
            questions,
            answers,
            judge=self.settings.model,
            derived=self.derived,
            strict_quotes=self.settings.strict_quotes,
        )
        gaps = [verdict.reason] if isinstance(verdict, Incomplete) else []
        return Trial(
            record_id=record.record_id,
            prompts=tuple(question.prompt for question in questions),
            replies=tuple(reply.text for reply in replies),
            scores=() if isinstance(verdict, Incomplete) else verdict,
            reason=next(iter(failures + gaps), ""),
        )


def _plain(trial: Trial) -> JsonObject:
    return {
        "record_id": trial.record_id,
        "prompts": trial.prompts,
        "replies": trial.replies,
        "reason": trial.reason,
        "scores": [
            {
                "rubric": score.rubric, "value": score.value, "label": score.label,
                "explanation": score.explanation, "details": dict(score.details),
            }
            for score in trial.scores
        ],
    }  # fmt: skip


def _show(trials: Sequence[Trial]) -> None:
    if not trials:
        print("no RAG answer in the trace: `ragvigil doctor` says what its spans lack")
    for trial in trials:
        print_text(f"record {trial.record_id}")
        for heading, texts in (("prompt", trial.prompts), ("reply", trial.replies)):
            for text in texts:
                print(f"\n--- {heading}\n{indented(text)}")
        print("\n--- score")
        for score in trial.scores:
            value = "–" if score.value is None else f"{score.value:.2f}"
            print_text(f"{score.rubric}  {value}  {score.label}  {score.explanation}")
        if trial.reason:
            print_text(f"none: {trial.reason}")


def _refused(sentence: str) -> int:
    print_text(sentence, to=sys.stderr)
    return WRONG_USE
