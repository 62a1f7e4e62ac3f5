"""What `ragvigil evaluate` asks, and whom; ends the command where that is not possible."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ragvigil.app.cli.input.options import stop

if TYPE_CHECKING:
    from ragvigil.app.settings import Settings
    from ragvigil.evaluation.cache import ReplyCache
    from ragvigil.evaluation.case_set import CaseSet
    from ragvigil.evaluation.measure import Judge
    from ragvigil.evaluation.result import Condition
    from ragvigil.evaluation.run import Outcome, Question, Run
    from ragvigil.evaluation.target.target import Target

INTERRUPTED = 130


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


def opened_cache(path: Path, target: Target, release: str, *, fresh: bool) -> ReplyCache:
    """The replies that are kept of a target's release; none with `fresh`."""
    from ragvigil.evaluation.cache import BadCache, ReplyCache

    try:
        cache = ReplyCache(path, target.name, release)
        if fresh:
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
