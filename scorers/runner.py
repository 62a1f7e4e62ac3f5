"""Runs every scorer on records; the border with plug-in code."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import structlog

from ragvigil.model.record import Citation, Document, RagRecord
from ragvigil.model.score import Kind, Score, Stream
from ragvigil.model.scorer import Scorer
from scorers.absence import first_absent
from scorers.metrics import SCORER_ERRORS, SCORER_TOO_LATE
from scorers.registry import find_scorers, scorers_left_out
from scorers.rubric import Rubric, load_rubrics, rubrics_left_out
from scorers.settings import ScorersSettings

log = structlog.get_logger()

TOOK_TOO_LONG = "took too long"
AT_ONCE = 32
"""Records that a scorer reads before the next one does: few enough that what several scorers make
of a record is still cached."""


def _sample() -> RagRecord:
    """A made-up answer with a chunk, a citation and a quotation."""
    chunk = Document(
        chunk_id="returns",
        content="You can return all goods to any of our shops within 30 days of delivery.",
    )
    answer = (
        "You have a month for that, which begins on the day on which the parcel reaches you. "
        'The terms say "return all goods to any of our shops within 30 days" [returns].'
    )
    citation = Citation(
        target="returns",
        chunk_id="returns",
        marker="[returns]",
        quote="return all goods to any of our shops within 30 days",
        start=answer.index("[returns]"),
        end=len(answer) - 1,
        claim_start=answer.index("The terms"),
        claim_end=len(answer),
    )
    return RagRecord(
        record_id="made-up answer",
        trace_id="made-up answer",
        query="Until when can I return the goods that I have bought?",
        retrieved=(chunk,),
        context=(chunk,),
        answer=answer,
        citations=(citation,),
    )


SAMPLE = _sample()


class UnknownRubric(ValueError):
    """A scorer or a setting names a rubric that has no file."""


def load_scorers(settings: ScorersSettings | None = None) -> tuple[Scorer, ...]:
    """All scorers that load, sorted by rubric, without those that the settings disable.

    Raises UnknownRubric if a setting names an unknown rubric. If a plug-in was left out, the name
    may be that of its rubric: then it is only logged.
    """
    settings = settings or ScorersSettings()
    every = find_scorers(settings)
    known = {scorer.rubric for scorer in every} | set(load_rubrics())
    for key, names in (("disabled", settings.disabled), ("fails_below", settings.fails_below)):
        for name in names:
            if name in known:
                continue
            line = f"[scorers] {key}: {name} is not one of {', '.join(sorted(known))}"
            if not (scorers_left_out() or rubrics_left_out()):
                raise UnknownRubric(line)
            log.warning("setting without effect", reason=line)
    return tuple(scorer for scorer in every if scorer.rubric not in settings.disabled)


class Runner:
    """Scores records with the given scorers.

    A language model judges the rubrics in `judged`: scores of local models for these are proxies.
    A record has a budget of seconds: scorers that have not run when it is used up do not apply,
    because it took too long. One that runs is not interrupted. It is used up when that much time
    has passed on `clock` for the record, and on `cpu_clock` for the records scored with it: a
    thread that waits for a CPU spends nothing.

    Raises UnknownRubric for a scorer whose rubric has no file.
    """

    def __init__(
        self,
        scorers: Iterable[Scorer],
        settings: ScorersSettings | None = None,
        *,
        judged: Collection[str] = (),
        clock: Callable[[], float] = time.perf_counter,
        cpu_clock: Callable[[], float] = time.thread_time,
        bars: dict[str, float] | None = None,
    ) -> None:
        self._judged, self._clock, self._cpu_clock = frozenset(judged), clock, cpu_clock
        self._every = rubrics = load_rubrics()
        self._rubrics: dict[str, Rubric] = {}
        self._scorers = tuple(scorers)
        for scorer in self._scorers:
            if scorer.rubric not in rubrics:
                raise UnknownRubric(
                    f"{type(scorer).__name__}: no file rubrics/{scorer.rubric}.toml"
                )
            self._rubrics[scorer.rubric] = rubrics[scorer.rubric]
        self._settings = settings or ScorersSettings()
        self.fails_below: dict[str, float] = {} if bars is None else bars
        """By rubric, judged ones included, the value under which a record fails.

        Leaves out rubrics that are only a label. Those that a person accepts while the daemon runs
        are added, so whoever keeps this mapping need not be told of them.
        """
        self.fails_below |= self._bars()
        self._sparse = frozenset(
            scorer.rubric for scorer in self._scorers if getattr(scorer, "is_sparse", False)
        )

    @property
    def needs(self) -> Mapping[str, tuple[str, ...]]:
        """By rubric, the fields of a record that it needs."""
        return {name: rubric.needs for name, rubric in self._rubrics.items()}

    def _bars(self) -> dict[str, float]:
        own = {
            name: rubric.fails_below
            for name, rubric in self._every.items()
            if rubric.fails_below is not None
        }
        return own | self._settings.fails_below

    def with_judge(self, judged: Collection[str]) -> Runner:
        """A copy whose local models are proxies for these judged rubrics."""
        return Runner(
            self._scorers,
            self._settings,
            judged=judged,
            clock=self._clock,
            cpu_clock=self._cpu_clock,
            bars=self.fails_below,
        )

    def lean(self) -> Runner:
        """A copy without the scorers whose attribute `kind` is model, for when the core is behind.

        These take longer than all others together.
        """
        code = [
            scorer for scorer in self._scorers if getattr(scorer, "kind", Kind.CODE) is Kind.CODE
        ]
        return Runner(code, self._settings, clock=self._clock, cpu_clock=self._cpu_clock)

    def prepare(self, beat: Callable[[], object] = lambda: None) -> None:
        """Makes scorers load what they load when they first need it, so that no record pays.

        Takes a second: languages, patterns and tables. Calls `beat` after every scorer.
        """
        for scorer in self._scorers:
            self._score(scorer, SAMPLE, is_late=False)
            beat()

    def score_all(self, record: RagRecord) -> tuple[Score, ...]:
        """One score per scorer; not applicable where a needed field is absent."""
        return self.score_each([record])[0]

    def score_each(
        self, records: Sequence[RagRecord], beat: Callable[[], object] = lambda: None
    ) -> list[tuple[Score, ...]]:
        """The scores of each record. Each scorer runs on AT_ONCE records in turn (ADR 18).

        A scorer whose attribute `is_sparse` is true is for few records, and the rest have no score
        of it: a reason on each of them would be most of what is stored.
        Calls `beat` after every scorer of every record.
        """
        groups = (records[first : first + AT_ONCE] for first in range(0, len(records), AT_ONCE))
        rows = [row for group in groups for row in self._score_group(group, beat)]
        return [tuple(filter(self._is_kept, row)) for row in rows] if self._sparse else rows

    def _score_group(
        self, records: Sequence[RagRecord], beat: Callable[[], object]
    ) -> list[tuple[Score, ...]]:
        seconds = [0.0] * len(records)
        columns = []
        limit, cpu_began = self._settings.seconds_a_record, self._cpu_clock()
        began = self._clock()
        for scorer in self._scorers:
            column = []
            for place, record in enumerate(records):
                # The CPU's clock takes microseconds to read: only where the other has run out.
                is_late = seconds[place] > limit and self._cpu_clock() - cpu_began > limit
                column.append(self._score(scorer, record, is_late=is_late))
                beat()
                ended = self._clock()
                seconds[place] += ended - began
                began = ended
            columns.append(column)
        if self._cpu_clock() - cpu_began > limit:
            self._name_slow(records, seconds)
        return list(zip(*columns, strict=True)) if columns else [()] * len(records)

    def _is_kept(self, score: Score) -> bool:
        applies = score.value is not None or bool(score.label)
        return applies or score.rubric not in self._sparse

    def _score(self, scorer: Scorer, record: RagRecord, *, is_late: bool) -> Score:
        """The score of a record; `is_late` if its time is used up."""
        rubric = self._rubrics[scorer.rubric]
        missing, reason = first_absent(record, rubric.needs)
        if missing:
            score = Score.not_applicable(rubric.name, reason, absent=missing)
        elif is_late:
            SCORER_TOO_LATE.labels(type(scorer).__name__).inc()
            score = Score.not_applicable(rubric.name, TOOK_TOO_LONG)
        else:
            score = _score_guarded(scorer, record)
        is_proxy = score.kind is Kind.MODEL and rubric.name in self._judged
        stream = Stream.PROXY if is_proxy else score.stream
        return _with_rubric_facts(score, rubric, type(scorer).__name__, stream)

    def _name_slow(self, records: Sequence[RagRecord], seconds: Sequence[float]) -> None:
        """Logs the records that took too long: at most one a budget, so never many."""
        for record, taken in zip(records, seconds, strict=True):
            if taken > self._settings.seconds_a_record:
                log.warning(
                    "scoring took too long", trace_id=record.trace_id, seconds=round(taken, 1)
                )


def _score_guarded(scorer: Scorer, record: RagRecord) -> Score:
    try:
        return scorer.score(record)
    except Exception as error:  # the one broad except: the border with plug-in code
        name = type(scorer).__name__
        SCORER_ERRORS.labels(name).inc()
        log.exception("scorer raised", scorer=name, trace_id=record.trace_id)
        if "PYTEST_CURRENT_TEST" in os.environ:  # a test must see the error
            raise
        return Score.not_applicable(scorer.rubric, f"the scorer raised {type(error).__name__}")


def _with_rubric_facts(score: Score, rubric: Rubric, scorer: str, stream: Stream) -> Score:
    """Completes a score with its rubric's facts; `dataclasses.replace` takes twice as long."""
    return Score(
        rubric=score.rubric,
        value=score.value,
        label=score.label,
        explanation=score.explanation,
        layer=rubric.layer,
        scorer=scorer,
        version=score.version or rubric.version,
        kind=score.kind,
        stream=stream,
        inclusion_probability=score.inclusion_probability,
        absent=score.absent,
        details=score.details,
    )
