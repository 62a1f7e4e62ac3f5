"""A run as one JSON-able document: what the command prints and the page draws. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ragvigil.evaluation.gate.layers import PARTS, layer_of
from ragvigil.evaluation.judging.model_family import warning
from ragvigil.evaluation.result import Reading, Result
from ragvigil.evaluation.result_file import Results
from ragvigil.evaluation.summary import ALL, Part, parts, retriever_or_reranker
from ragvigil.model.figures import counted
from ragvigil.model.score import Layer

WORST = list(Reading)
"""The order of failures: upstream first."""
ORDER = (PARTS[Reading.GOLD_CHANGED], *Layer, PARTS[Reading.TARGET_ERROR])


def as_document(run: Results, layers: Mapping[str, Layer]) -> dict[str, Any]:
    """Title, means by condition and slice, failures by reading, and the failed cases.

    `layers` are those of the daemon's rubrics; means stand layer by layer.
    """
    divided = parts(run.results)
    failed = worst_first(run.results)
    return {
        "title": _title(run, len(failed)),
        "run": asdict(run.header),
        "cases": len(run.results),
        "failed": len(failed),
        "notes": [*_of_judge(run), *_notes(divided, run.results)],
        "parts": [_part(part, layers) for part in divided],
        "failures": [_failure(result) for result in failed],
    }


def worst_first(results: Sequence[Result]) -> list[Result]:
    """The failed cases: must-pass ones first, then by how far upstream they failed."""
    failed = [result for result in results if result.reading]
    return sorted(
        failed,
        key=lambda result: (not result.must_pass, WORST.index(result.reading or WORST[-1])),
    )


def _title(run: Results, failed: int) -> str:
    cases = counted(len(run.results), "case")
    if not failed:
        return f"None of {cases} failed"
    must = sum(result.must_pass and result.reading is not None for result in run.results)
    return f"{failed} of {cases} failed" + (f", {must} of which must pass" if must else "")


def _of_judge(run: Results) -> list[str]:
    versions = run.header.versions
    models = versions.get("model", "").split(", ")
    why = warning(versions["judge"], models) if "judge" in versions else ""
    return [f"Do not trust its verdicts: {why}."] if why else []


def _notes(divided: Sequence[Part], results: Sequence[Result]) -> list[str]:
    notes = [
        sentence
        for part in divided
        if part.slice == ALL and (sentence := retriever_or_reranker(part.means))
    ]
    errors = Counter(result.error for result in results if result.error)
    if errors:
        worst, n = errors.most_common(1)[0]
        notes.append(f"The target gave no answer to {counted(sum(errors.values()), 'case')}; "
                     f"{n} times: {worst}")  # fmt: skip
    return notes


def _part(part: Part, layers: Mapping[str, Layer]) -> dict[str, Any]:
    of = {name: layer_of(name, layers) for name in part.means}
    return {
        "condition": part.condition.value,
        "slice": {} if part.slice == ALL else {part.slice[0]: part.slice[1]},
        "cases": part.cases,
        "failed": part.failed,
        "readings": {reading.value: n for reading, n in part.readings.items()},
        "means": {
            name: {"layer": of[name], **asdict(part.means[name])}
            for name in sorted(of, key=lambda name: (ORDER.index(of[name]), name))
        },
    }


def _failure(result: Result) -> dict[str, Any]:
    return {
        "case_id": result.case_id,
        "condition": result.condition.value,
        "reading": result.reading and result.reading.value,
        "why": result.why,
        "must_pass": result.must_pass,
        "slices": {name: list(values) for name, values in result.slices.items()},
        "answer": result.answer,
    }
