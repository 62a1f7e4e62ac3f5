"""Time of everything that reads text, by shape: does it grow with the text, and how fast is it?

    .venv/bin/python bench/growth.py [--small] [--only NAME]

Each scorer, the way from spans to a record, the finder of citations and the redactor read a hundred
shapes of text (`tests/hostile_texts.py`) of 10, 100 and 1,000 KB in each place where a text can
stand. The exponent is that of the steeper decade, 1 is linear; times under FITTED_FROM count as
that, since they show fixed costs and not growth. All times are CPU time; a reading that takes
GIVEN_UP seconds is given up and fails both bars. `--only` takes readers whose name contains it.
"""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, pairwise
from math import inf, log
from typing import NamedTuple

from bench.rig.captures import Truth, load
from bench.rig.options import size_parser
from bench.rig.report import SAMPLES, finish, progress
from collector.record.build import records
from collector.redaction.redact import Redactor
from collector.redaction.settings import RedactSettings
from ragvigil.app.process.memory import collect_seldom
from ragvigil.model.scorer import Scorer
from ragvigil.model.span import Trace
from scorers.judge.suspicion import addresses_judge
from scorers.runner import load_scorers
from tests.hostile_texts import PLACES, SHAPES, distinct, in_bytes, record_with
from tests.hostile_traces import PARTS, STACKS, bytes_of, sample, with_text

SIZES = (10_000, 100_000, 1_000_000)
SMALL_SIZES = (500, 1_000)
STEEPEST, SECONDS_A_MIB = 1.2, 1.0
FITTED_FROM = 0.02
"""Seconds of CPU from which a time says something about growth."""
GIVEN_UP = 15
SHOWN = 30
MIB = 1 << 20
NUMBERS = count()
"""No text is read twice: what was read before may be cached."""

Prepare = Callable[[str], "Reading"]
"""Puts a text in its place."""


class Reading(NamedTuple):
    """What is measured, and the bytes of text that it reads."""

    read: Callable[[], object]
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One reader on one shape: the bytes that it read, and the seconds that it took for them."""

    name: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """The exponent of the steeper decade."""
        floored = [max(second, FITTED_FROM) for second in self.seconds]
        return max(
            (
                log(longer / shorter) / log(larger / smaller)
                for (shorter, longer), (smaller, larger) in zip(
                    pairwise(floored), pairwise(self.sizes), strict=True
                )
            ),
            default=inf,  # given up at the first size
        )

    @property
    def seconds_a_mib(self) -> float:
        """The rate at the largest size."""
        return self.seconds[-1] / self.sizes[-1] * MIB


class GivenUp(BaseException):
    """A reading took too long; no reader may catch it."""


def main() -> None:
    """Measures, reports."""
    parser = size_parser(__doc__)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    signal.signal(signal.SIGPROF, _give_up)
    collect_seldom()
    sizes = SMALL_SIZES if given.small else SIZES
    measured = []
    for name, prepare in readers():
        if given.only in name:
            progress(name)
            measured += [measure(f"{name}: {shape}", prepare, shape, sizes) for shape in SHAPES]
    finish("growth", _figures(measured), {} if given.small else _bars(measured), seed=0)


def readers() -> Iterator[tuple[str, Prepare]]:
    """Everything that reads text from outside, by name."""
    for scorer in load_scorers():
        for place in PLACES:
            yield f"{scorer.rubric} of {place}", partial(_scored, scorer, place)
    for stack in STACKS:
        trace, truth = sample(load(SAMPLES / "otlp" / stack))
        for part in PARTS:
            yield f"record of {stack} with {part}", partial(_built, trace, truth, part)
    redactor = Redactor(RedactSettings(), key=bytes(32))
    yield "redactor", partial(_redacted, redactor)
    yield "orders to a judge", lambda text: Reading(partial(addresses_judge, text), _size(text))


def _scored(scorer: Scorer, place: str, text: str) -> Reading:
    record = record_with(place, text)
    texts = (record.answer, record.query, *(chunk.content for chunk in record.context))
    return Reading(partial(scorer.score, record), sum(_size(text or "") for text in texts))


def _built(trace: Trace, truth: Truth, part: str, text: str) -> Reading:
    changed = with_text(trace, truth, part, text)
    return Reading(partial(records, changed), bytes_of(changed))


def _redacted(redactor: Redactor, text: str) -> Reading:
    return Reading(partial(redactor.redact_text, text.encode(), Counter()), _size(text))


def _size(text: str) -> int:
    return len(text.encode())


def measure(name: str, prepare: Prepare, shape: str, sizes: Sequence[int]) -> Measured:
    """The CPU time of a reader by size; stops at the size at which it is given up."""
    read, seconds = list[int](), list[float]()
    for size in sizes:
        reading = prepare(distinct(in_bytes(shape, size), next(NUMBERS)))
        read.append(reading.size)
        signal.setitimer(signal.ITIMER_PROF, GIVEN_UP)
        started = time.process_time()
        try:
            reading.read()
            seconds.append(time.process_time() - started)
        except GivenUp:
            seconds.append(inf)
            break
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    return Measured(name=name, sizes=tuple(read), seconds=tuple(seconds))


def _give_up(*_: object) -> None:
    raise GivenUp


def _figures(measured: Sequence[Measured]) -> dict[str, object]:
    rates = sorted(measured, key=lambda one: -one.seconds_a_mib)
    return {
        "readings": len(measured),
        "shapes": len(SHAPES),
        "seconds_a_mib": {one.name: round(one.seconds_a_mib, 2) for one in rates[:SHOWN]},
        "steep": {
            one.name: [round(second, 3) for second in one.seconds]
            for one in measured
            if one.exponent > STEEPEST
        },
    }


def _bars(measured: Sequence[Measured]) -> dict[str, bool]:
    return {
        f"exponent <= {STEEPEST}": all(one.exponent <= STEEPEST for one in measured),
        f"seconds a MiB <= {SECONDS_A_MIB}": all(
            one.seconds_a_mib <= SECONDS_A_MIB for one in measured
        ),
    }


if __name__ == "__main__":
    main()
