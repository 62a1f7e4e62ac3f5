"""Results of two runs, as short as a test can say them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ragvigil.evaluation.gate.decide import Gate, decide
from ragvigil.evaluation.gate.limits import GateSettings
from ragvigil.evaluation.result import Result
from ragvigil.evaluation.result_file import Header, Results

HEADER = Header(set_name="set", set_hash="1", target="made")


def results(values: Iterable[float | None], rubric: str = "groundedness") -> list[Result]:
    """A result for each value of one rubric."""
    return [
        Result(case_id=f"case-{place}", values={rubric: value})
        for place, value in enumerate(values)
    ]


def sliced(listed: Sequence[Result], slices: Mapping[int, str]) -> list[Result]:
    """The results with a topic each, by place; `general` for the others."""
    return [
        replace(each, slices={"topic": (slices.get(place, "general"),)})
        for place, each in enumerate(listed)
    ]


def gate(
    base: Sequence[Result], new: Sequence[Result], settings: GateSettings | None = None
) -> Gate:
    """The gate of two runs of one set."""
    runs = (Results(header=HEADER, results=tuple(listed)) for listed in (base, new))
    return decide(*runs, settings or GateSettings())
