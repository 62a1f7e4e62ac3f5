"""`ragvigil evaluate SET --target ...`: the daemon's rubrics before a release. Needs no daemon."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon, stop
from ragvigil.evaluation.result import Condition

if TYPE_CHECKING:
    from ragvigil.app.cli.evaluation.issue import IssueQuestions
    from ragvigil.app.settings import Settings
    from ragvigil.evaluation.case_set import CaseSet
    from ragvigil.evaluation.gate.decide import Gate
    from ragvigil.evaluation.result_file import Results
    from ragvigil.evaluation.run import Outcome

DONE, FAILED = 0, 1
"""Exit statuses; those of `gate` come with `--against`."""
CACHE = Path(".ragvigil", "evaluate.sqlite")


SetFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="SET",
        help="Golden cases as JSONL, or a CSV of open-rag-eval, Ragas or DeepEval.",
        show_default=False,
    ),
]
Issue = Annotated[
    str,
    typer.Option(
        help="Ask the failing questions of this issue again, and as many that pass; of SET, or of "
        "the daemon's set, only what must pass."
    ),
]
ResolveIn = Annotated[
    str, typer.Option(help="With --issue: where it is mended, resolve it in this release.")
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
    set_: SetFile = None,
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
    issue: Issue = "",
    resolve_in: ResolveIn = "",
    workers: Workers = 4,
    cache: CacheFile = CACHE,
    fresh: Fresh = False,
    json: Json = False,
) -> None:
    """Asks a golden set of a service and scores the answers with the daemon's own rubrics.

    Exits with 1 where a case that must pass fails or the target answers nothing, and with the
    status of `ragvigil gate` where `--against` names a base; with `--issue` with 1 where the issue
    is not mended, 3 where nothing can be said. Ctrl-C keeps what was answered.
    """
    from ragvigil.app.cli.evaluation.asking import HowAsked, ask_cases
    from ragvigil.app.cli.evaluation.send import send_run
    from ragvigil.evaluation.cache import Replies

    settings = triage.settings_of(config)
    about, cases = _cases(set_, issue, resolve_in, config)
    name, conditions = target or settings.golden.target.url, condition or [Condition.RETRIEVED]
    kept = Replies(cache, release, is_fresh=fresh)
    how = HowAsked(
        target=name, is_traced=traced, conditions=tuple(conditions), judge=judge, replies=kept
    )
    results, outcomes = ask_cases(cases, how, settings, workers)
    _write(out, csv, html, results, outcomes)
    status, compared = _show(results, against, settings, as_json=json)
    if about:
        status = about.conclude(results.results, settings, resolve_in, as_json=json)
    if send:
        send_run(settings, results, outcomes, compared)
    sys.exit(status)


def _cases(
    set_: Path | None, issue: str, resolve_in: str, config: Path | None
) -> tuple[IssueQuestions | None, CaseSet]:
    """The cases to ask, and the issue that they are about, if any."""
    from ragvigil.app.cli.evaluation.asking import read_cases
    from ragvigil.app.cli.evaluation.issue import IssueQuestions

    if not (set_ or issue):
        raise typer.BadParameter("SET or --issue is needed")
    if resolve_in and not issue:
        raise typer.BadParameter("--resolve-in needs --issue")
    named = read_cases(set_) if set_ else None
    if not issue:
        assert named is not None
        return None, named
    about = IssueQuestions(issue, config)
    return about, about.cases(named)


def _write(
    out: Path | None,
    csv: Path | None,
    html: Path | None,
    results: Results,
    outcomes: Sequence[Outcome],
) -> None:
    from ragvigil.evaluation.report.document import as_document
    from ragvigil.evaluation.report.page import as_page
    from ragvigil.evaluation.report.rag_results import rag_results
    from ragvigil.evaluation.result_file import write_results
    from scorers.rubric import rubric_layers

    try:
        if out:
            write_results(out, results)
        if csv:
            csv.write_text(rag_results(outcomes), encoding="utf-8")
        if html:
            html.write_text(as_page(as_document(results, rubric_layers())), encoding="utf-8")
    except OSError as error:
        stop(f"{error.filename or out}: cannot be written: {error.strerror or error}")


def _show(
    results: Results, against: Path | None, settings: Settings, *, as_json: bool
) -> tuple[int, Gate | None]:
    """Prints what the run showed, or how it compares; returns the exit status and the gate."""
    from ragvigil.app.cli.evaluation import gate
    from ragvigil.app.cli.output.evaluation import print_evaluation
    from ragvigil.evaluation.gate.decide import decide
    from ragvigil.evaluation.report.document import as_document
    from scorers.rubric import rubric_layers

    if against is None:
        print_evaluation(as_document(results, rubric_layers()), as_json=as_json)
        must_pass = any(result.must_pass and result.reading for result in results.results)
        failed = must_pass or all(each.error for each in results.results)
        return FAILED if failed else DONE, None
    if not as_json:
        print_evaluation(as_document(results, rubric_layers()), as_json=False)
    compared = decide(gate.read_run(against), results, settings.gate)
    gate.show(compared, as_json=as_json)
    status = gate.exit_status(compared, cannot_say_passes=settings.gate.cannot_say_passes)
    return status, compared
