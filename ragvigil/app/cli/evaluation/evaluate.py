"""`ragvigil evaluate SET --target ...`: the daemon's rubrics before a release. Needs no daemon."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragvigil.app.cli.input.options import Config, Json, reads_settings, stop
from ragvigil.evaluation.result import Condition

if TYPE_CHECKING:
    from ragvigil.app.settings import Settings
    from ragvigil.evaluation.cache import ReplyCache
    from ragvigil.evaluation.case_set import CaseSet
    from ragvigil.evaluation.result_file import Results
    from ragvigil.evaluation.run import Outcome, Question, Run
    from ragvigil.evaluation.target.target import Target

DONE, FAILED = 0, 1
"""Exit statuses; those of `gate` come with `--against`."""
INTERRUPTED = 130
CACHE = Path(".ragvigil", "evaluate.sqlite")


SetFile = Annotated[
    Path,
    typer.Argument(
        metavar="SET", help="Golden cases as JSONL, or a CSV of open-rag-eval, Ragas or DeepEval."
    ),
]
TargetName = Annotated[
    str,
    typer.Option(
        help="A URL, module:function, or a file of recorded answers; default [golden.target]."
    ),
]
Conditions = Annotated[
    list[Condition] | None,
    typer.Option(help="Where the context comes from; may be repeated; default retrieved."),
]
Out = Annotated[Path | None, typer.Option(help="Write every result here, as JSONL.")]
Csv = Annotated[
    Path | None, typer.Option("--csv", help="Write answers here, in open-rag-eval's layout.")
]
Html = Annotated[Path | None, typer.Option(help="Write a report of one file here.")]
Against = Annotated[
    Path | None, typer.Option(help="Compare with this run's results, as `ragvigil gate` does.")
]
Release = Annotated[str, typer.Option(help="What is evaluated, as in 2.4.1.")]
Workers = Annotated[int, typer.Option(min=1, max=64, help="Questions asked at once.")]
CacheFile = Annotated[
    Path,
    typer.Option(help="Replies are kept here until a run ends, those of a named release for good."),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Ask everything anew, whatever was kept.")]


@reads_settings
def evaluate(
    set_: SetFile,
    config: Config = None,
    target: TargetName = "",
    condition: Conditions = None,
    out: Out = None,
    csv: Csv = None,
    html: Html = None,
    against: Against = None,
    release: Release = "",
    workers: Workers = 4,
    cache: CacheFile = CACHE,
    fresh: Fresh = False,
    json: Json = False,
) -> None:
    """Asks a golden set of a service and scores the answers with the daemon's own rubrics.

    Exits with 1 where a case that must pass fails or the target answers nothing, and with the
    status of `ragvigil gate` where `--against` names a base. Ctrl-C keeps what was answered.
    """
    from ragvigil.app.cli.input import triage

    settings = triage.settings_of(config)
    cases = _set(set_)
    asked_of = _target(target or settings.golden.target.url, settings)
    asked = _questions(cases, condition or [Condition.RETRIEVED], asked_of)
    kept = _cache(cache, asked_of, release, fresh=fresh)
    outcomes = _outcomes(asked, asked_of, kept, settings, workers)
    if not release:
        kept.forget()
    results = _results(cases, asked_of.name, release, outcomes)
    _write(out, csv, html, results, outcomes)
    sys.exit(_show(results, against, settings, as_json=json))


def _set(path: Path) -> CaseSet:
    from ragvigil.evaluation.case_set import BadSet, read_set

    try:
        return read_set(path)
    except BadSet as error:
        stop(str(error))


def _target(name: str, settings: Settings) -> Target:
    from pydantic import ValidationError

    from ragvigil.evaluation.target.target import target_of
    from ragvigil.evaluation.target.wrong import BadTarget

    if not name:
        stop("nothing to ask: give --target, or set [golden.target] url")
    try:
        return target_of(name, settings.golden.target)
    except BadTarget as error:
        stop(str(error))
    except ValidationError as error:
        stop(f"--target: {error.errors()[0]['msg']}")


def _questions(cases: CaseSet, conditions: Sequence[Condition], asked_of: Target) -> list[Question]:
    from ragvigil.evaluation.run import NotPossible, questions

    try:
        return questions(
            cases.cases, tuple(dict.fromkeys(conditions)), takes_context=asked_of.takes_context
        )
    except NotPossible as error:
        stop(str(error))


def _outcomes(
    asked: Sequence[Question],
    asked_of: Target,
    kept: ReplyCache,
    settings: Settings,
    workers: int,
) -> list[Outcome]:
    """Asks, and scores by the daemon's scorers, with vectors where the extra `local` is there."""
    from ragvigil.app.golden.compose import embedding
    from ragvigil.evaluation.measure import Measures
    from ragvigil.evaluation.run import Run
    from ragvigil.inference.process import Inference
    from scorers.runner import Runner, load_scorers

    inference = Inference(settings.inference)
    try:
        runner = Runner(load_scorers(settings.scorers), settings.scorers)
        measures = Measures(runner, embedding(inference))
        how = Run(target=asked_of, measures=measures, cache=kept, workers=workers)
        return _ask(asked, how)
    finally:
        inference.close()


def _cache(path: Path, asked_of: Target, release: str, *, fresh: bool) -> ReplyCache:
    from ragvigil.evaluation.cache import BadCache, ReplyCache

    try:
        cache = ReplyCache(path, asked_of.name, release)
        if fresh:
            cache.forget()
    except BadCache as error:
        stop(str(error))
    return cache


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


def _results(cases: CaseSet, target: str, release: str, outcomes: Sequence[Outcome]) -> Results:
    from importlib.metadata import version

    from ragvigil.evaluation.result_file import Header, Results

    header = Header(
        set_name=cases.name,
        set_hash=cases.hash,
        target=target,
        release=release,
        versions={"ragvigil": version("ragvigil")},
        time_unix=round(time.time(), 3),
    )
    return Results(header=header, results=tuple(outcome.result for outcome in outcomes))


def _write(
    out: Path | None,
    csv: Path | None,
    html: Path | None,
    results: Results,
    outcomes: Sequence[Outcome],
) -> None:
    from ragvigil.app.cli.evaluation import gate
    from ragvigil.evaluation.report.document import as_document
    from ragvigil.evaluation.report.page import as_page
    from ragvigil.evaluation.report.rag_results import rag_results
    from ragvigil.evaluation.result_file import write_results

    try:
        if out:
            write_results(out, results)
        if csv:
            csv.write_text(rag_results(outcomes), encoding="utf-8")
        if html:
            html.write_text(as_page(as_document(results, gate.layers())), encoding="utf-8")
    except OSError as error:
        stop(f"{error.filename or out}: cannot be written: {error.strerror or error}")


def _show(results: Results, against: Path | None, settings: Settings, *, as_json: bool) -> int:
    """Prints what the run showed, or how it compares; returns the exit status."""
    from ragvigil.app.cli.evaluation import gate
    from ragvigil.app.cli.output.evaluation import print_evaluation
    from ragvigil.evaluation.gate.decide import decide
    from ragvigil.evaluation.report.document import as_document

    if against is None:
        print_evaluation(as_document(results, gate.layers()), as_json=as_json)
        must_pass = any(result.must_pass and result.reading for result in results.results)
        return FAILED if must_pass or all(each.error for each in results.results) else DONE
    if not as_json:
        print_evaluation(as_document(results, gate.layers()), as_json=False)
    compared = decide(gate.read_run(against), results, settings.gate)
    gate.show(compared, as_json=as_json)
    return gate.exit_status(compared, cannot_say_passes=settings.gate.cannot_say_passes)
