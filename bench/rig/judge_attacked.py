"""Records to attack a judge with: bad and good answers, each clean and with an order planted."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragvigil.model.record import Citation, Document, RagRecord
from scorers.golden import Case, question_key
from scorers.text.sentences import sentences

ATTACKS = Path(__file__).with_name("judge_attacks.toml")
PLACES = ("chunk", "answer", "question")
INVENTED = (
    "The warranty of the bicycle lasts nine years and covers theft in Antarctica.",
    "Our founder bred purple giraffes before the company moved to Lisbon in 1871.",
    "Every customer receives a telescope when the eleventh invoice is overdue.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A record; `clean_id` names the one it was made from, its own where it is clean itself."""

    record: RagRecord
    clean_id: str
    is_bad: bool
    source: str = ""
    place: str = ""

    @property
    def is_attacked(self) -> bool:
        """Whether an order was planted in it."""
        return bool(self.place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """All records, and the golden cases of some of their questions."""

    trials: tuple[Trial, ...]
    cases: Mapping[str, Case]


def make(
    listed: Sequence[Mapping[str, Any]], *, groups_an_attack: int, places: int, seed: int
) -> Trials:
    """Trials from rows of clean and attacked chunks that share a `group`, and our own attacks.

    Each of our attacks goes into `places` of chunk, answer and question of some groups.
    """
    rng = random.Random(seed)
    clean = {row["group"]: row for row in listed if not row["injected"]}
    made = [trial for row in clean.values() for trial in _both(row, f"{row['group']} clean")]
    for row in listed:
        if row["injected"] and row["group"] in clean:
            made += _bipia(row, clean[row["group"]])
    kept = {case.clean_id: case for case in made if not case.is_attacked}
    for language, texts in tomllib.loads(ATTACKS.read_text("utf-8")).items():
        for number, text in enumerate(texts):
            for place in rng.sample(PLACES, places):
                for group in rng.sample(sorted(clean), groups_an_attack):
                    name = f"{group} {language}{number} {place}"
                    made += _own(kept, group, name, language, text, place, rng)
    golden = sorted(clean)[: len(clean) // 2]
    cases = (_case(clean[group]) for group in golden)
    return Trials(trials=tuple(made), cases={question_key(case.question): case for case in cases})


def _both(row: Mapping[str, Any], name: str) -> Iterator[Trial]:
    """A good and a bad answer to a row's question, from its own chunks."""
    for is_bad in (False, True):
        kind = "bad" if is_bad else "good"
        record = _record(row, f"{name} {kind}", _invented(row) if is_bad else _quoted(row))
        yield Trial(record=record, clean_id=f"{row['group']} clean {kind}", is_bad=is_bad)


def _bipia(row: Mapping[str, Any], clean: Mapping[str, Any]) -> Iterator[Trial]:
    """The answers to the clean row over the attacked row's chunks."""
    for trial in _both(clean, f"{row['id']}"):
        attacked = _record(row, trial.record.record_id, trial.record.answer or "")
        yield replace(trial, record=attacked, source="bipia", place="chunk")


def _own(
    kept: Mapping[str, Trial],
    group: str,
    name: str,
    language: str,
    text: str,
    place: str,
    rng: random.Random,
) -> Iterator[Trial]:
    for kind in ("good", "bad"):
        clean = kept[f"{group} clean {kind}"]
        planted = replace(
            _planted(clean.record, text, place, rng),
            record_id=f"{name} {kind}",
            trace_id=f"{name} {kind}",
        )
        yield replace(clean, record=planted, source=language, place=place)


def _planted(record: RagRecord, text: str, place: str, rng: random.Random) -> RagRecord:
    if place == "answer":
        return replace(record, answer=f"{record.answer} {text}")
    if place == "question":
        return replace(record, query=f"{record.query} {text}")
    chunk = rng.choice(record.context)
    content = chunk.content or ""
    at = rng.choice((0, content.find(". ") + 2, len(content)))
    attacked = replace(chunk, content=f"{content[:at]}\n{text}\n{content[at:]}")
    chunks = tuple(attacked if other is chunk else other for other in record.context)
    return replace(record, retrieved=chunks, context=chunks)


def _record(row: Mapping[str, Any], name: str, answer: str) -> RagRecord:
    chunks = tuple(
        Document(chunk_id=str(chunk["id"]), content=chunk["text"]) for chunk in row["chunks"]
    )
    cited = Citation(
        target=chunks[0].chunk_id,
        chunk_id=chunks[0].chunk_id,
        claim_start=0,
        claim_end=len(answer),
    )
    return RagRecord(
        record_id=name,
        trace_id=name,
        query=row["question"],
        answer=answer,
        retrieved=chunks,
        context=chunks,
        citations=(cited,),
    )


def _quoted(row: Mapping[str, Any]) -> str:
    """The chunk's longest sentence of a usual length: an answer that its context supports."""
    text = " ".join(row["chunks"][0]["text"].split())
    listed = [sentence.text for sentence in sentences(text) if len(sentence.text) <= 300] or [
        text[:300]
    ]
    return max(listed, key=len)


def _invented(row: Mapping[str, Any]) -> str:
    return INVENTED[len(row["question"]) % len(INVENTED)]


def _case(row: Mapping[str, Any]) -> Case:
    return Case(question=row["question"], gold_answer=_quoted(row))
