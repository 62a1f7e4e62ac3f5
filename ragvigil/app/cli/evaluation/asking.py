"""What `ragvigil evaluate` asks, and whom; ends the command where that is not possible."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragvigil.app.cli.input.options import stop
from ragvigil.evaluation.result_file import Header, Results

if TYPE_CHECKING:
    from ragvigil.app.settings import Settings
    from ragvigil.evaluation.cache import Replies, ReplyCache
    from ragvigil.evaluation.case_set import CaseSet
    from ragvigil.evaluation.measure import Judge
    from ragvigil.evaluation.result import Condition
    from ragvigil.evaluation.run import Outcome, Question, Run
    from ragvigil.evaluation.target.target import Target

INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class HowAsked:
    """Whom to ask and how, as the command's options say.

    `judge` says whether one is asked; None: where the settings have one.
    """

    target: str
    is_traced: bool
    conditions: tuple[Condition, ...]
    judge: bool | None
    replies: Replies


def ask_cases(
    cases: CaseSet, how: HowAsked, settings: Settings, workers: int
) -> tuple[Results, Sequence[Outcome]]:
    """Asks every case, and scores what was answered; replies without a release are forgotten."""
    from ragvigil.app.cli.evaluation.judge import opened_judge

    replies = how.replies
    with opened(how.target, settings, is_traced=how.is_traced) as target:
        asked = possible_questions(cases, how.conditions, target)
        kept = opened_cache(target, replies)
        judged = [question.case for question in asked]
        with opened_judge(settings, judged, replies, wanted=how.judge) as judge:
            outcomes = ask_all(asked, target, kept, settings, judge, workers)
    if not replies.release:
        kept.forget()
    model = settings.judge.model if judge is not None else ""
    header = _header(cases, target.name, replies.release, outcomes, model)
    return Results(header=header, results=tuple(each.result for each in outcomes)), outcomes


def _header(
    cases: CaseSet, target: str, release: str, outcomes: Sequence[Outcome], judge: str
) -> Header:
    from importlib.metadata import version

    answering = {outcome.record.dimensions.llm_model for outcome in outcomes if outcome.record}
    versions = {
        "ragvigil": version("ragvigil"),
        "judge": judge,
        "model": ", ".join(sorted(filter(None, answering))),
    }
    return Header(
        set_name=cases.name,
        set_hash=cases.hash,
        target=target,
        release=release,
        versions={name: value for name, value in versions.items() if value},
        time_unix=round(time.time(), 3),
    )


def read_cases(path: Path) -> CaseSet:
    """The cases of a file."""
    from ragvigil.evaluation.case_set import BadSet, read_set

    try:
        return read_set(path)
    except BadSet as error:
        stop(str(error))


@contextmanager
def opened(name: str, settings: Settings, *, is_traced: bool) -> Iterator[Target]:
    """The target of a name; with `is_traced` the OTLP addresses are listened on meanwhile."""
    from pydantic import ValidationError

    from ragvigil.evaluation.target.target import target_of
    from ragvigil.evaluation.target.traced import traced_target
    from ragvigil.evaluation.target.wrong import BadTarget

    if not name:
        stop("nothing to ask: give --target, or set [golden.target] url")
    try:
        if not is_traced:
            yield target_of(name, settings.golden.target)
            return
        with traced_target(name, settings.golden.target, settings.collector) as target:
            print(f"traces are awaited at {target.where}", file=sys.stderr)
            yield target
    except BadTarget as error:
        stop(str(error))
    except ValidationError as error:
        stop(f"--target: {error.errors()[0]['msg']}")


def possible_questions(
    cases: CaseSet, conditions: Sequence[Condition], target: Target
) -> list[Question]:
    """What is asked of a target; a condition that is named twice counts once."""
    from ragvigil.evaluation.run import NotPossible, questions

    once = tuple(dict.fromkeys(conditions))
    try:
        return questions(cases.cases, once, takes_context=target.takes_context)
    except NotPossible as error:
        stop(str(error))


def opened_cache(target: Target, replies: Replies) -> ReplyCache:
    """The replies that are kept of a target's release."""
    from ragvigil.evaluation.cache import BadCache, ReplyCache

    try:
        cache = ReplyCache(replies.cache, target.name, replies.release)
        if replies.is_fresh:
            cache.forget()
    except BadCache as error:
        stop(str(error))
    return cache


def ask_all(
    asked: Sequence[Question],
    target: Target,
    cache: ReplyCache,
    settings: Settings,
    judge: Judge | None,
    workers: int,
) -> list[Outcome]:
    """Asks, and scores by the daemon's scorers, with vectors where the extra `local` is there."""
    from ragvigil.app.golden.compose import embedding
    from ragvigil.evaluation.measure import Measures, no_judge
    from ragvigil.evaluation.run import Run
    from ragvigil.inference.process import Inference
    from scorers.runner import Runner, load_scorers

    inference = Inference(settings.inference)
    try:
        runner = Runner(load_scorers(settings.scorers), settings.scorers)
        measures = Measures(runner, embedding(inference), judge or no_judge)
        return _ask(asked, Run(target=target, measures=measures, cache=cache, workers=workers))
    finally:
        inference.close()


def _ask(asked: Sequence[Question], how: Run) -> list[Outcome]:
    """The outcomes in the order of the questions, with a bar of progress on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    from ragvigil.evaluation.run import run

    place = {id(question): number for number, question in enumerate(asked)}
    outcomes: list[Outcome] = []
    columns = ("[progress.description]{task.description}", BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    try:
        with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
            task = bar.add_task("asking", total=len(asked))
            for outcome in run(asked, how):
                outcomes.append(outcome)
                bar.advance(task)
    except KeyboardInterrupt:
        print(
            f"stopped after {len(outcomes)} of {len(asked)}; their replies are kept: the same "
            "command goes on from here",
            file=sys.stderr,
        )
        sys.exit(INTERRUPTED)
    return sorted(outcomes, key=lambda outcome: place[id(outcome.question)])
