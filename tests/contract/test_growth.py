"""Whatever reads text from outside takes time in proportion to the text, whatever its shape.

A shape's time is compared with that of eight times as much of it: CPU time of this process, the
least of several measurements. Linear reading gives 8, quadratic 64; the bound of 28 lies far from
both, so that a busy machine cannot decide. How fast it is `bench/growth.py` says.
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count

import pytest

from bench.rig.captures import load
from bench.rig.report import SAMPLES
from collector.claims.registry import RegisteredConvention, registered
from collector.record.build import records
from collector.record.citations import CitationSource, citations
from collector.redaction.redact import Redactor
from collector.redaction.settings import RedactSettings
from ragvigil.model.scorer import Scorer
from ragvigil.model.span import Span
from scorers.judge.suspicion import addresses_judge
from scorers.runner import load_scorers
from tests.generated_traces import names_of
from tests.hostile_texts import CHUNKS, PLACES, SHAPES, distinct, in_bytes, record_with
from tests.hostile_traces import PARTS, STACKS, sample, with_text

pytestmark = pytest.mark.slow

SMALL, LARGE = 1_000, 8_000
BOUND = 28.0
TRIES = 6
NUMBERS = count()
"""No text is read twice: what was read before may be cached."""

Reading = Callable[[], object]
Prepare = Callable[[str], Reading]
"""Puts a text in its place; what it returns is measured."""


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    """Python's collector of cycles would add what other tests left to either measurement."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def steep(prepare: Prepare) -> list[str]:
    """The shapes whose time grows too fast, each with how many times it grew."""
    found = {name: growth(prepare, name) for name in SHAPES}
    return [f"{name}: {times:.0f}" for name, times in found.items() if times > BOUND]


def growth(prepare: Prepare, name: str) -> float:
    """How many times as long a text of LARGE bytes takes as one of SMALL."""
    short, long = float("inf"), float("inf")
    for _ in range(TRIES):
        short = min(short, seconds(prepare(distinct(in_bytes(name, SMALL), next(NUMBERS)))))
        long = min(long, seconds(prepare(distinct(in_bytes(name, LARGE), next(NUMBERS)))))
        if long <= BOUND * short:
            break
    return long / short


def seconds(reading: Reading) -> float:
    started = time.process_time()
    reading()
    return time.process_time() - started


def scored(scorer: Scorer, place: str) -> Prepare:
    def prepare(text: str) -> Reading:
        record = record_with(place, text)
        return lambda: scorer.score(record)

    return prepare


@pytest.mark.parametrize("scorer", load_scorers(), ids=lambda scorer: scorer.rubric)
@pytest.mark.parametrize("place", PLACES)
def test_a_scorer_is_linear_in_the_text(scorer: Scorer, place: str) -> None:
    assert steep(scored(scorer, place)) == []


@pytest.mark.parametrize("convention", registered(), ids=lambda convention: convention.name)
def test_a_convention_is_linear_in_the_values_that_it_knows(
    convention: RegisteredConvention,
) -> None:
    names = sorted(set(names_of(convention)))

    def prepare(text: str) -> Reading:
        span = Span(trace_id="t", span_id="a", attributes=dict.fromkeys(names, text))
        return lambda: [
            claim.value() if callable(claim.value) else claim.value
            for claim in convention.convention.claims(span)
        ]

    assert steep(prepare) == []


@pytest.mark.parametrize("name", STACKS)
@pytest.mark.parametrize("part", PARTS)
def test_a_record_is_built_in_linear_time(name: str, part: str) -> None:
    trace, truth = sample(load(SAMPLES / "otlp" / name))

    def prepare(text: str) -> Reading:
        changed = with_text(trace, truth, part, text)
        return lambda: records(changed)

    assert steep(prepare) == []


def test_the_redactor_is_linear_in_the_text() -> None:
    redactor = Redactor(RedactSettings(), key=bytes(32))

    def prepare(text: str) -> Reading:
        raw = text.encode()
        return lambda: (redactor.finds(raw), redactor.redact_text(raw, Counter()))

    assert steep(prepare) == []


def test_citations_are_found_in_linear_time() -> None:
    def prepare(text: str) -> Reading:
        return lambda: citations(CitationSource(answer=text, context=CHUNKS, prompt=text))

    assert steep(prepare) == []


def test_orders_to_a_judge_are_found_in_linear_time() -> None:
    assert steep(lambda text: lambda: addresses_judge(text)) == []
