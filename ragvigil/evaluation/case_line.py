"""Cases as lines of a golden set's file, with the keys that a perturbed case adds. Pure.

A line has the keys of every golden case (`clustering.golden.case`), and of these what applies:
`population`, `slices`, `group`, `must_pass`, `context` (chunks with `id` and `text`) and
`perturbation` (`name`, `parent`, `expects`, `required`, `forbidden`, `seed`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from clustering.golden.case import BadCase, as_json, parse
from clustering.golden.content import NO_ANSWER
from ragvigil.evaluation.case import Case, Expects, Perturbation, Population
from ragvigil.model.golden import ExpectedFact, GoldenCase, QueryType
from scorers.golden import Gold, parse_case


def line_of(case: Case) -> str:
    """The case as one line of JSON, without the line break."""
    return json.dumps(as_json(golden_of(case)), ensure_ascii=False)


def case_of(written: object, number: int) -> Case:
    """Reads a line's object; a case without an id is named by its line. Raises BadCase."""
    golden = parse(written)
    try:
        read = parse_case(written)
        population = Population(str(golden.more.get("population", Population.PRODUCTION)))
    except ValueError as error:
        raise BadCase(str(error)) from error
    return Case(
        case_id=golden.case_id or f"line-{number}",
        question=golden.question,
        population=population,
        slices=({"tag": golden.tags} if golden.tags else {}) | _slices(golden.more.get("slices")),
        gold=read.gold,
        facts=read.facts,
        answer=golden.gold_answer,
        must_refuse=golden.failure_mode == NO_ANSWER,
        must_pass=golden.more.get("must_pass") is True,
        group=str(golden.more.get("group", "")),
        context=_context(golden.more.get("context")),
        perturbation=_perturbation(golden.more.get("perturbation")),
        service=golden.service,
        environment=golden.environment,
        route=golden.route,
        issue_id=golden.issue_id,
    )


def chunk_of(written: object) -> Gold:
    """A chunk of a corpus or context: a text, or an object with `id` and `text`. Raises BadCase."""
    if isinstance(written, str) and written.strip():
        return Gold(text=written)
    if isinstance(written, Mapping) and isinstance(written.get("text"), str):
        return Gold(chunk_id=str(written.get("id", "")), text=written["text"])
    raise BadCase('a chunk is not a text or {"id", "text"}')


def golden_of(case: Case) -> GoldenCase:
    """The case as the golden set holds it."""
    has_ids = all(chunk.chunk_id for chunk in case.gold)
    has_texts = all(chunk.text for chunk in case.gold)
    return GoldenCase(
        case_id=case.case_id,
        question=case.question,
        # Ids and texts belong together by their places: all chunks have one, or none has.
        gold_chunk_ids=tuple(chunk.chunk_id for chunk in case.gold) if has_ids else (),
        gold_texts=tuple(chunk.text for chunk in case.gold) if has_texts else (),
        gold_answer=case.answer,
        expected_facts=tuple(
            ExpectedFact(text=fact.text, is_vital=fact.is_vital) for fact in case.facts
        ),
        tags=tuple(case.slices.get("tag", ())),
        query_type=QueryType.ADVERSARIAL,
        failure_mode=NO_ANSWER if case.must_refuse else "",
        service=case.service,
        environment=case.environment,
        route=case.route,
        issue_id=case.issue_id,
        more=_more(case),
    )


def _more(case: Case) -> dict[str, Any]:
    slices = {name: list(values) for name, values in case.slices.items() if name != "tag"}
    made = asdict(case.perturbation) if case.perturbation else None
    more = {
        "population": case.population.value,
        "slices": slices,
        "group": case.group,
        "must_pass": case.must_pass,
        "context": list(_chunks(case.context or ())),
        "perturbation": made and json.loads(json.dumps(made)),
    }
    return {key: value for key, value in more.items() if value}


def _chunks(chunks: Iterable[Gold]) -> Iterator[dict[str, str]]:
    yield from ({"id": chunk.chunk_id, "text": chunk.text} for chunk in chunks)


def _context(written: object) -> tuple[Gold, ...] | None:
    if written is None:
        return None
    if not isinstance(written, list):
        raise BadCase("context: is not a list of chunks")
    return tuple(map(chunk_of, written))


def _slices(written: object) -> dict[str, tuple[str, ...]]:
    if written is None:
        return {}
    if not isinstance(written, Mapping):
        raise BadCase("slices: is not an object")
    slices = {}
    for name, values in written.items():
        listed = [values] if isinstance(values, str) else values
        if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
            raise BadCase(f"slices: {name}: is neither a text nor a list of texts")
        slices[str(name)] = tuple(listed)
    return slices


def _perturbation(written: object) -> Perturbation | None:
    if written is None:
        return None
    if not isinstance(written, Mapping):
        raise BadCase("perturbation: is not an object")
    try:
        return Perturbation(
            name=str(written["name"]),
            parent=str(written["parent"]),
            expects=Expects(str(written["expects"])),
            required=tuple(map(str, written.get("required", ()))),
            forbidden=tuple(map(str, written.get("forbidden", ()))),
            seed=int(written.get("seed", 0)),
        )
    except KeyError as error:
        raise BadCase(f"perturbation: has no {error.args[0]}") from error
    except (TypeError, ValueError) as error:
        raise BadCase(f"perturbation: {error}") from error
