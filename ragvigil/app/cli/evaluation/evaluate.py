"""`ragvigil evaluate SET --target ...`: the daemon's rubrics before a release. Needs no daemon."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragvigil.app.cli.input.options import Config, Json, asks_daemon, stop
from ragvigil.evaluation.result import Condition

if TYPE_CHECKING:
    from ragvigil.app.settings import Settings
    from ragvigil.evaluation.case_set import CaseSet
    from ragvigil.evaluation.result_file import Results
    from ragvigil.evaluation.run import Outcome

DONE, FAILED = 0, 1
"""Exit statuses; those of `gate` come with `--against`."""
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
Traced = Annotated[
    bool,
    typer.Option(
        "--traced",
        help="Read each answer from its trace, which the service exports to the OTLP addresses "
        "of [collector].",
    ),
]
Judged = Annotated[
    bool | None,
    typer.Option(
        "--judge/--no-judge",
        help="Also ask the judge of [judge]; default: where it has a model.",
        show_default=False,
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
Send = Annotated[
    bool,
    typer.Option("--send", help="Send the scores to the daemon: they stand beside its live means."),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Ask everything anew, whatever was kept.")]


@asks_daemon
def evaluate(
    set_: SetFile,
    config: Config = None,
    target: TargetName = "",
    traced: Traced = False,
    condition: Conditions = None,
    judge: Judged = None,
    out: Out = None,
    csv: Csv = None,
    html: Html = None,
    against: Against = None,
    release: Release = "",
    send: Send = False,
    workers: Workers = 4,
    cache: CacheFile = CACHE,
    fresh: Fresh = False,
    json: Json = False,
) -> None:
    """Asks a golden set of a service and scores the answers with the daemon's own rubrics.

    Exits with 1 where a case that must pass fails or the target answers nothing, and with the
    status of `ragvigil gate` where `--against` names a base. Ctrl-C keeps what was answered.
    """
    from ragvigil.app.cli.evaluation import asking
    from ragvigil.app.cli.evaluation.judge import opened_judge
    from ragvigil.app.cli.evaluation.send import say_beside_live, send_run
    from ragvigil.app.cli.input import triage

    settings = triage.settings_of(config)
    cases = asking.read_cases(set_)
    name = target or settings.golden.target.url
    with asking.opened(name, settings, is_traced=traced) as asked_of:
        asked = asking.possible_questions(cases, condition or [Condition.RETRIEVED], asked_of)
        kept = asking.opened_cache(cache, asked_of, release, fresh=fresh)
        judged = [question.case for question in asked]
        with opened_judge(settings, judged, cache.parent, wanted=judge, fresh=fresh) as scores:
            outcomes = asking.ask_all(asked, asked_of, kept, settings, scores, workers)
    if not release:
        kept.forget()
    judge_model = settings.judge.model if scores is not None else ""
    results = _results(cases, asked_of.name, release, outcomes, judge_model)
    _write(out, csv, html, results, outcomes)
    status = _show(results, against, settings, as_json=json)
    if send:
        say_beside_live(settings, send_run(settings, results, outcomes))
    sys.exit(status)


def _results(
    cases: CaseSet, target: str, release: str, outcomes: Sequence[Outcome], judge: str
) -> Results:
    from importlib.metadata import version

    from ragvigil.evaluation.result_file import Header, Results

    answering = {outcome.record.dimensions.llm_model for outcome in outcomes if outcome.record}
    versions = {
        "ragvigil": version("ragvigil"),
        "judge": judge,
        "model": ", ".join(sorted(filter(None, answering))),
    }
    header = Header(
        set_name=cases.name,
        set_hash=cases.hash,
        target=target,
        release=release,
        versions={name: value for name, value in versions.items() if value},
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
