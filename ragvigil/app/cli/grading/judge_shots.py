"""`ragvigil judge align --data`: examples chosen from labels, and kappa before and after.

Needs no daemon. The judge is asked about every labelled answer twice: plainly, and with examples of
the other four fifths of the labels. So kappa after is of labels that the choice had not seen.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ragvigil.app.cli.grading.judge_measure import (
    NothingToMeasure,
    judge_answer,
    judged_rubrics,
    refuse,
    with_interval,
)
from ragvigil.app.cli.grading.labelled_sets import LabelledAnswer, read_sets
from ragvigil.app.cli.output.console import print_text
from ragvigil.evaluation.judging.examples import (
    FOLDS,
    Example,
    chosen,
    fold_of,
    instruction,
    with_examples,
)
from scorers.calibration.align import LEAST_OF_EACH
from scorers.calibration.kappa import Kappa, kappa_gain, kappa_with_interval
from scorers.calibration.measure import HALF
from scorers.calibration.status import LEAST_LABELS
from scorers.judge.asker import Asker
from scorers.rubric import Rubric

if TYPE_CHECKING:
    from ragvigil.app.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ShotFigures:
    """A judge without and with examples, on labels that the choice had not seen.

    `examples` is how many the prompt shows; `is_better` where the gain lies beyond its interval.
    """

    rubric: str
    n: int
    examples: int
    before: Kappa
    after: Kappa
    gain: Kappa
    is_better: bool


def align_by_examples(
    settings: Settings, folder: Path, *, rubric: str, rows: int, shots: int, out: Path | None,
    as_json: bool,
) -> int:  # fmt: skip
    """Prints kappa before and after; writes the examples of all labels where they help.

    Returns the exit status.
    """
    from ragvigil.llm.budget import Unpriced
    from ragvigil.llm.provider import NotConfigured

    try:
        found = asyncio.run(_align(settings, folder, rubric, rows, shots))
        if out is not None:
            texts = [text for figures, text in found if figures.is_better]
            out.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    except OSError as error:
        return refuse(f"{error.filename or folder}: {error.strerror or error}")
    except (NotConfigured, Unpriced, NothingToMeasure) as error:
        return refuse(str(error))
    if as_json:
        print(json.dumps({"model": settings.judge.model, "shots": [asdict(f) for f, _ in found]}))
    else:
        _show([figures for figures, _ in found], settings.judge.model, out)
    return 0


async def _align(
    settings: Settings, folder: Path, name: str, rows: int, shots: int
) -> list[tuple[ShotFigures, str]]:
    from ragvigil.llm.client import open_client

    rubrics = judged_rubrics(settings.judge, name)
    answers = [answer for each in read_sets(folder) for answer in each.answers]
    tasks = [
        (rubric, [a for a in answers if a.labels.get(rubric.name) in (0.0, 1.0)][:rows])
        for rubric in rubrics.values()
    ]
    tasks = [(rubric, own) for rubric, own in tasks if _are_enough(rubric, own)]
    if not tasks:
        raise NothingToMeasure(
            f"no rubric has {LEAST_LABELS} labels of true or false, {LEAST_OF_EACH} of each"
        )
    judge = settings.judge
    asker = Asker.of(open_client(judge), judge, chance=random.Random(0))
    bars = settings.scorers.fails_below
    try:
        return [
            await _align_rubric(
                asker, rubric, own, bars.get(rubric.name, rubric.fails_below), shots
            )
            for rubric, own in tasks
        ]
    finally:
        await asker.client.close()


def _are_enough(rubric: Rubric, answers: Sequence[LabelledAnswer]) -> bool:
    passing = sum(answer.labels[rubric.name] for answer in answers)
    least = min(passing, len(answers) - passing)
    return len(answers) >= LEAST_LABELS and least >= LEAST_OF_EACH


async def _align_rubric(
    asker: Asker, rubric: Rubric, answers: Sequence[LabelledAnswer], bar: float | None, shots: int
) -> tuple[ShotFigures, str]:
    plain = await _values(asker, rubric, answers)
    known = [
        Example(record=answer.record, group=answer.group, label=answer.labels[rubric.name],
                judged=value)
        for answer, value in zip(answers, plain, strict=True)
        if value is not None
    ]  # fmt: skip
    by_record = {example.record.trace_id: example for example in known}
    pairs: list[tuple[Example, float]] = []
    for fold in range(FOLDS):
        unseen = [a for a in answers if fold_of(a.group) == fold and a.record.trace_id in by_record]
        seen = [example for example in known if fold_of(example.group) != fold]
        taught = with_examples(rubric, chosen(seen, shots))
        values = await _values(asker, taught, unseen)
        pairs += [
            (by_record[answer.record.trace_id], value)
            for answer, value in zip(unseen, values, strict=True)
            if value is not None
        ]
    shown = chosen(known, shots)
    figures = _figures(rubric.name, pairs, HALF if bar is None else bar)
    return replace(figures, examples=len(shown)), instruction(shown)


async def _values(
    asker: Asker, rubric: Rubric, answers: Sequence[LabelledAnswer]
) -> list[float | None]:
    judged = await asyncio.gather(*(judge_answer(asker, rubric, answer) for answer in answers))
    return [each.judged for each in judged]


def _figures(rubric: str, pairs: Sequence[tuple[Example, float]], bar: float) -> ShotFigures:
    people = ["pass" if each.label else "fail" for each, _ in pairs]
    before = ["pass" if each.judged >= bar else "fail" for each, _ in pairs]
    after = ["pass" if value >= bar else "fail" for _, value in pairs]
    gain = kappa_gain(people, before, after)
    return ShotFigures(
        rubric=rubric,
        n=len(pairs),
        examples=0,
        before=kappa_with_interval(people, before),
        after=kappa_with_interval(people, after),
        gain=gain,
        is_better=gain.low is not None and gain.low > 0,
    )


def _show(found: Sequence[ShotFigures], model: str, out: Path | None) -> None:
    print_text(f"judged by {model}")
    for each in found:
        print_text(f"{each.rubric}, {each.n} labels")
        print_text(f"  plain    kappa {with_interval(asdict(each.before))}")
        print_text(
            f"  with {each.examples} examples: kappa {with_interval(asdict(each.after))} on unseen "
            f"labels, a gain of {with_interval(asdict(each.gain))}"
        )
        advice = "they help: add them to the instruction of a rubric of your own"
        print_text(f"  {advice if each.is_better else 'they do not help beyond chance'}")
    if out is not None:
        helped = sum(each.is_better for each in found)
        print_text(f"{helped} of {len(found)} written to {out}", to=sys.stderr)
