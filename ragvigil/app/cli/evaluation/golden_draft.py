"""`ragvigil golden draft`: cases from live questions or from documents, for people to sign."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragvigil.app.cli.input.options import stop
from ragvigil.app.cli.output.console import print_text
from ragvigil.model.figures import counted

if TYPE_CHECKING:
    from ragvigil.app.settings import Settings
    from ragvigil.evaluation.draft.from_documents import Drafts

REPLIES = Path(".ragvigil")
LOOKED_AT = 5
"""The newest answers whose models are looked at."""


def live_lines(settings: Settings, each: int) -> list[dict[str, Any]]:
    """A line for each question. Raises Unreachable."""
    from ragvigil.app.client import api
    from ragvigil.evaluation.draft.from_topics import topic_lines

    found = api.get(settings, "topics")
    lines = list(topic_lines(found["maps"], each))
    if not lines:
        why = found["why"] or "no large topic is without a golden case"
        print_text(f"nothing to draft: {why}", to=sys.stderr)
    return lines


def document_lines(
    settings: Settings,
    folder: Path,
    kinds: Sequence[str],
    count: int,
    *,
    measured: Sequence[str],
    seed: int,
) -> list[dict[str, Any]]:
    """A line for each case that the judge drafted; exits with 2 where it cannot be asked."""
    from ragvigil.evaluation.case_line import line_of
    from ragvigil.evaluation.draft.documents import BadDocuments, passages
    from ragvigil.evaluation.judging.case_judge import NoJudge

    _refuse_the_measured(settings, measured)
    try:
        found = passages(folder)
        drafts = asyncio.run(_draft(settings, found, kinds, count, seed))
    except (BadDocuments, NoJudge) as error:
        stop(str(error))
    except OSError as error:
        stop(f"{error.filename or folder}: cannot be read: {error.strerror or error}")
    for why, n in drafts.left_out.most_common():
        print_text(f"left out, {n}: {why}", to=sys.stderr)
    return [_without_id(json.loads(line_of(case))) for case in drafts.cases]


def deliver(settings: Settings, lines: Sequence[dict[str, Any]], out: Path | None) -> int:
    """Writes the lines to a file, or proposes them to the daemon; returns the exit status.

    Raises Unreachable.
    """
    from ragvigil.app.cli.evaluation.golden_file import propose_cases

    if out is not None:
        try:
            text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
            out.write_text(text, encoding="utf-8")
        except OSError as error:
            stop(f"{out}: cannot be written: {error.strerror or error}")
        print_text(f"{counted(len(lines), 'draft')} in {out}: edit them, then `golden import`")
        return 0
    proposed: list[str] = []
    refused: list[tuple[int, str]] = []
    propose_cases(settings, enumerate(lines), proposed, refused)
    for place, why in refused:
        print_text(f"{lines[place]['question'][:80]}: {why}", to=sys.stderr)
    print_text(f"{counted(len(proposed), 'draft')} proposed: a person edits each, another signs it")
    return 1 if refused else 0


async def _draft(
    settings: Settings, passages: Sequence[Any], kinds: Sequence[str], count: int, seed: int
) -> Drafts:
    from ragvigil.evaluation.draft.from_documents import Kind, draft_cases
    from ragvigil.evaluation.judging.case_judge import judge_client

    client = judge_client(settings.judge, REPLIES)
    try:
        return await draft_cases(client, passages, [Kind(kind) for kind in kinds], count, seed=seed)
    finally:
        await client.close()


def _refuse_the_measured(settings: Settings, measured: Sequence[str]) -> None:
    """Exits with 2 where the judge is the model that the set will measure."""
    from ragvigil.evaluation.judging.model_family import model_of

    judge = settings.judge.model
    if not judge:
        stop("no judge is configured to write the questions: [judge] model")
    names = {*measured, *_answering(settings)}
    if not names:
        said = "which model answers live is not known: name it with --measured"
        print_text(f"note: {said}", to=sys.stderr)
    for name in sorted(names):
        if model_of(judge).name == model_of(name).name:
            stop(
                f"the judge {judge} is the model that is measured: "
                "a set that it writes itself flatters it; set [judge] model to another"
            )


def _answering(settings: Settings) -> Iterable[str]:
    """The models of the newest live answers; none where no daemon answers."""
    from ragvigil.app.client import api

    try:
        records = api.get(settings, "records", limit=LOOKED_AT)["records"]
        traces = [api.get(settings, f"traces/{each['trace_id']}") for each in records]
    except (api.Unreachable, api.Refused):
        return set()
    models = {
        str((record.get("dimensions") or {}).get("llm_model") or "")
        for trace in traces
        for record in trace["records"]
    }
    return models - {""}


def _without_id(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != "case_id" and value}
