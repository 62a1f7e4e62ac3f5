"""Golden cases as tests: what the fixture `ragvigil_case` gives to a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pytest

from ragvigil.evaluation.case import Case
from ragvigil.evaluation.case_set import read_set
from ragvigil.evaluation.measure import Measures, measured
from ragvigil.evaluation.result import Condition, Reading, Result
from ragvigil.evaluation.result_file import read_results
from ragvigil.model.record import Absent, ContextSource, Document, RagRecord
from scorers.citation_coverage import CitationCoverage
from scorers.runner import Runner, load_scorers

Chunk: TypeAlias = str | Mapping[str, str] | tuple[str, str]
"""A chunk: its text, its id and text, or an object with `id` and `text`."""
MOST_SHOWN = 500
"""Characters of an answer in a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenCheck:
    """One case of a set; `result` is what an earlier run showed of it, if one was named."""

    case: Case
    result: Result | None = None

    @property
    def question(self) -> str:
        """What to ask."""
        return self.case.question

    @property
    def context(self) -> tuple[str, ...] | None:
        """The texts to answer from instead of the retriever's; None for a case without them."""
        chunks = self.case.context
        return None if chunks is None else tuple(chunk.text for chunk in chunks)

    def check(
        self,
        answer: str,
        *,
        retrieved: Sequence[Chunk] | None = None,
        context: Sequence[Chunk] | None = None,
    ) -> Result:
        """Fails the test, by the reading of the failure, where the answer does not pass.

        `retrieved` are the retriever's chunks, `context` those that reached the prompt; what is not
        given is not known, and fails nothing. Returns the result, with the value of every rubric.
        """
        record = _record(self.case, answer, retrieved, context)
        is_perturbed = self.case.perturbation is not None
        result = Result(
            case_id=self.case.case_id,
            condition=Condition.PERTURBED if is_perturbed else Condition.RETRIEVED,
            group=self.case.group,
            must_pass=self.case.must_pass,
            issue_id=self.case.issue_id,
        )
        by = _measures(has_citations=bool(record.citations))
        return self._passed(measured(result, self.case, record, by))

    def check_result(self) -> Result:
        """Fails the test where the run that the mark names says that the case failed."""
        if self.result is None:
            pytest.fail(f"{self.case.case_id}: the run has no result of it", pytrace=False)
        return self._passed(self.result)

    def _passed(self, result: Result) -> Result:
        if not result.fails:
            return result
        reading = (result.reading or Reading.TARGET_ERROR).value.replace("_", " ")
        answer = result.answer or ""
        shown = answer if len(answer) <= MOST_SHOWN else f"{answer[:MOST_SHOWN]}…"
        told = (
            f"{reading}: {result.why or result.error}",
            f"case {result.case_id}: {self.question}",
            f"answer: {shown}",
        )
        # The lines of the test are not what is wrong: they are left out.
        pytest.fail("\n".join(told), pytrace=False)


def checks(path: Path, run: Path | None = None) -> list[GoldenCheck]:
    """The cases of a set's file, with their results in a run if one is named.

    Raises BadSet, BadResults and OSError.
    """
    cases = read_set(path).cases
    known = {} if run is None else {each.case_id: each for each in read_results(run).results}
    return [GoldenCheck(case=case, result=known.get(case.case_id)) for case in cases]


@cache
def _measures(*, has_citations: bool) -> Measures:
    """The daemon's scorers.

    A service may send its citations beside the text, which is all that a test has: without any in
    the text, none count as missing.
    """
    left_out = () if has_citations else (CitationCoverage.rubric,)
    return Measures(Runner([each for each in load_scorers() if each.rubric not in left_out]))


def _record(
    case: Case,
    answer: str,
    retrieved: Sequence[Chunk] | None,
    context: Sequence[Chunk] | None,
) -> RagRecord:
    from collector.record.citations import CitationSource, citations

    found, shown = _documents(retrieved), _documents(context)
    has_ids = retrieved is not None and not any(isinstance(each, str) for each in retrieved)
    hidden = {
        "retrieved": retrieved is None,
        "context": context is None,
        "document_ids": not has_ids,
        "usage": True,
    }
    return RagRecord(
        record_id=case.case_id,
        trace_id="",
        query=case.question,
        retrieved=found,
        context=shown,
        context_source=ContextSource.DECLARED,
        answer=answer,
        citations=citations(CitationSource(answer=answer, context=shown or found)),
        absent={name: Absent.NOT_SENT for name, is_hidden in hidden.items() if is_hidden},
    )


def _documents(chunks: Sequence[Chunk] | None) -> tuple[Document, ...]:
    return tuple(_document(chunk, rank) for rank, chunk in enumerate(chunks or ()))


def _document(chunk: Chunk, rank: int) -> Document:
    if isinstance(chunk, str):
        return Document(chunk_id=f"chunk-{rank + 1}", content=chunk, rank=rank)
    name, text = (chunk["id"], chunk["text"]) if isinstance(chunk, Mapping) else chunk
    return Document(chunk_id=name, document_id=name, content=text, rank=rank)
