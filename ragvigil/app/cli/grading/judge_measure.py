"""`ragvigil judge measure`: the configured judge over labelled sets, rubric by rubric."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ragvigil.app.cli.grading.labelled_sets import LabelledAnswer, LabelledSet, read_sets
from ragvigil.app.cli.output.console import open_console, print_text, table_of
from ragvigil.app.settings import Settings
from ragvigil.llm.outcome import Purpose
from ragvigil.llm.settings import price_of
from ragvigil.model import figures
from scorers.calibration.kappa import Kappa, kappa_with_interval
from scorers.judge.asker import Asker
from scorers.judge.settings import JudgeSettings
from scorers.rubric import Rubric, load_rubrics

if TYPE_CHECKING:
    from ragvigil.evaluation.live.ranking import Interval

WRONG_USE, INCOMPLETE = 2, 1
"""Exit statuses: 1 where a verdict is missing or a line was refused."""
HALF = 0.5
Z = 1.96


class NothingToMeasure(Exception):
    """No answer of the folder has a label by a rubric that a judge scores; says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What people and the judge said of an answer, 0 to 1; `missing` is why the judge did not."""

    group: str
    label: float
    judged: float | None
    missing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigures:
    """A judge by one rubric on one set; `usd` is None where the model has no known price."""

    set: str
    rubric: str
    n: int
    missing: int
    why_missing: str
    auroc: Interval | None
    kappa: Kappa
    tokens: int
    usd: float | None


def measure(settings: Settings, folder: Path, *, rubric: str, rows: int, as_json: bool) -> int:
    """Prints AUROC, kappa, intervals and cost by set and rubric; returns the exit status."""
    from ragvigil.llm.budget import Unpriced
    from ragvigil.llm.provider import NotConfigured

    try:
        sets = read_sets(folder)
        found = asyncio.run(_measure(settings, sets, rubric, rows))
    except OSError as error:
        return refuse(f"{folder}: cannot be read: {error.strerror or error}")
    except (NotConfigured, Unpriced, NothingToMeasure) as error:
        return refuse(str(error))
    refused = [line for each in sets for line in each.refused]
    for line in refused:
        print_text(line, to=sys.stderr)
    if as_json:
        plain = [asdict(each) for each in found]
        print(json.dumps({"model": settings.judge.model, "measures": plain, "refused": refused}))
    else:
        _show(found, settings.judge.model)
    return INCOMPLETE if refused or any(each.missing for each in found) else 0


async def _measure(
    settings: Settings, sets: Iterable[LabelledSet], rubric: str, rows: int
) -> list[JudgeFigures]:
    """Asks one set and rubric after the other. Raises NothingToMeasure, NotConfigured, Unpriced."""
    from ragvigil.llm.client import open_client

    rubrics = judged_rubrics(settings.judge, rubric)
    tasks = [
        (each.name, rubrics[name], [answer for answer in each.answers if name in answer.labels])
        for each in sets
        for name in rubrics
    ]
    tasks = [(name, asked, answers[:rows]) for name, asked, answers in tasks if answers]
    if not tasks:
        raise NothingToMeasure(
            f"no line has a label by {figures.listed(sorted(rubrics))}; "
            "a line holds question, chunks, answer and labels = {rubric: true or false}"
        )
    judge, bars = settings.judge, settings.scorers.fails_below
    client = open_client(judge)
    asker = Asker.of(client, judge, chance=random.Random(0))
    try:
        return [
            await _measure_set(
                asker, judge, name, asked, answers, bars.get(asked.name, asked.fails_below)
            )
            for name, asked, answers in tasks
        ]
    finally:
        await client.close()


def judged_rubrics(judge: JudgeSettings, name: str) -> dict[str, Rubric]:
    """The rubrics to measure: those that a judge scores. Raises NothingToMeasure."""
    known = load_rubrics()
    if name and (name not in known or known[name].judge is None):
        raise NothingToMeasure(f"{name} is no rubric that a judge scores: `ragvigil rubric list`")
    chosen = [name] if name else list(judge.rubrics or known)
    return {each: known[each] for each in chosen if each in known and known[each].judge is not None}


async def _measure_set(
    asker: Asker,
    settings: JudgeSettings,
    set_name: str,
    rubric: Rubric,
    answers: Sequence[LabelledAnswer],
    bar: float | None,
) -> JudgeFigures:
    before = _spent(asker)
    judgements = await asyncio.gather(*(judge_answer(asker, rubric, answer) for answer in answers))
    after = _spent(asker)
    tokens, money = (late - early for late, early in zip(after, before, strict=True))
    is_priced = price_of(settings, datetime.now(UTC).date()) is not None
    found = figures_of(set_name, rubric.name, judgements, HALF if bar is None else bar)
    return replace(found, tokens=int(tokens), usd=money if is_priced else None)


def _spent(asker: Asker) -> tuple[float, float]:
    from ragvigil.llm.budget import pot_of

    spent = asker.client.budget.spent(pot_of(Purpose.TRY))
    return spent.tokens, spent.money


async def judge_answer(asker: Asker, rubric: Rubric, answer: LabelledAnswer) -> Judgement:
    """What the judge says of a labelled answer."""
    score = await asker.score(answer.record, rubric, Purpose.TRY)
    return Judgement(
        group=answer.group,
        label=answer.labels[rubric.name],
        judged=score.value,
        missing="" if score.value is not None else score.explanation,
    )


def figures_of(
    set_name: str, rubric: str, judgements: Sequence[Judgement], bar: float
) -> JudgeFigures:
    """AUROC and kappa of judgements; an answer fails below `bar`. Costs nothing.

    AUROC is the chance that an answer that people fail scores below one that they pass; rows of one
    group are one voice.
    """
    import numpy as np

    from ragvigil.evaluation.live.ranking import auroc

    given = [each for each in judgements if each.judged is not None]
    fails = np.array([each.label < bar for each in given], dtype=bool)
    values = np.array([each.judged for each in given], dtype=np.float64)
    groups = np.array([_number(each.group) for each in given], dtype=np.int64)
    missing = [each.missing for each in judgements if each.judged is None]
    people, judge = (
        ["fail" if failed else "pass" for failed in side] for side in (fails, values < bar)
    )
    return JudgeFigures(
        set=set_name,
        rubric=rubric,
        n=len(given),
        missing=len(missing),
        why_missing=max(set(missing), key=missing.count, default=""),
        auroc=auroc(values, fails, groups, Z) if fails.any() and not fails.all() else None,
        kappa=kappa_with_interval(people, judge),
        tokens=0,
        usd=None,
    )


def _number(group: str) -> int:
    return int.from_bytes(hashlib.blake2b(group.encode(), digest_size=7).digest())


def _show(found: Sequence[JudgeFigures], model: str) -> None:
    table = table_of("set", "rubric", "answers", "AUROC", "kappa", "missing", "tokens", "US$")
    for each in found:
        kappa: Mapping[str, float | None] = asdict(each.kappa)
        table.add_row(
            each.set,
            each.rubric,
            figures.count(each.n),
            with_interval(asdict(each.auroc)) if each.auroc else "–",
            with_interval(kappa),
            figures.count(each.missing),
            figures.count(each.tokens),
            "unknown" if each.usd is None else f"{each.usd:.4f}",
        )
    console = open_console()
    console.print(f"judged by {model}")
    console.print(table)
    for each in found:
        if each.missing:
            print_text(f"{each.set}, {each.rubric}: {each.missing} missing: {each.why_missing}")


def with_interval(figure: Mapping[str, float | None]) -> str:
    """A figure with its interval, 95 %.

    >>> with_interval({"value": 0.7, "low": 0.6, "high": 0.8}), with_interval({"value": None})
    ('0.70 [0.60, 0.80]', '–')
    """
    if figure["value"] is None:
        return figures.UNKNOWN
    low, high = figures.score(figure["low"]), figures.score(figure["high"])
    return f"{figures.score(figure['value'])} [{low}, {high}]"


def refuse(sentence: str) -> int:
    """Says why nothing was measured; returns the exit status."""
    print_text(sentence, to=sys.stderr)
    return WRONG_USE
