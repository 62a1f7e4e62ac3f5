"""Do healthy answers pass on texts that nothing was tuned on, and do bad ones still fail?

.venv/bin/python bench/unseen.py [--small] [--half fit] [--only PART ...]

Supported answers of labelled sets with citations of ours (bench/rig/unseen_answers.py), and the
same answers with invented, altered and misplaced quotations and markers; questions with what a
healthy service retrieves and with junk (bench/rig/unseen_retrievals.py), by the local model and by
a judge that grades a relevant chunk 3 and any other 0; healthy retrievals, guides of questions and
planted orders by `injected_context`; supported answers with their chunks and foreign ones by
`chunk_utilization` (bench/rig/unseen_scorers.py). A PART is citations, relevance, injection,
utilization or questions. Figures are of the half *measure*: the share
that fails, the number, Wilson's interval. `--half fit` is for tuning; the small run has both halves
of the samples.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing

from bench.rig import unseen_retrievals
from bench.rig.mutations import swapped_number, swapped_word
from bench.rig.options import size_parser
from bench.rig.report import bench_data, finish, progress
from bench.rig.unseen_answers import SETS, SupportedAnswer, is_fit, supported_answers
from bench.rig.unseen_retrievals import JUNK, Retrieval, retrievals
from bench.rig.unseen_scorers import (
    INTENTS,
    measure_injection,
    measure_questions,
    measure_utilization,
)
from collector.record.citations import CitationSource, citations
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings
from ragvigil.model.record import Document, RagRecord
from ragvigil.model.wilson import wilson
from scorers.citation_validity import CitationValidity
from scorers.judge.aggregate import VerdictValue, aggregate, prompt_depth
from scorers.local.relevance import context_relevance
from scorers.rubric import house_rubrics
from scorers.text.normalise import key, words
from scorers.text.sentences import sentences

PARTS = ("citations", "injection", "relevance", "utilization", "questions")
SEED = 17
SAMPLED = {"clapnq_dev", "expertqa_claims"}
"""Sets with samples in the tests, for the small run."""
MOST_QUESTIONS = 40
"""Of a half of a set: the local model reads eight chunks a question."""
SHORTEST, LONGEST = 40, 300
"""Characters of a chunk's sentence that is quoted."""
MARKED = '"“”„«»[]>\n'
MOST_FAILING = {
    "supported": 0.015, "local_healthy": 0.05, "judged_healthy": 0.05, "injected_chunk": 0.001,
    "injected_page": 0.001, "unused": 0.03, "foreign_used": 0.05,
    "golden_wrong": 0.02,
}  # fmt: skip
MOST_OF_A_SET, LARGE = 0.03, 100
"""Of a set with that many answers; in a smaller one a single answer is more than a percent."""
LEAST_FAILING = {
    "fabricated": 0.90, "altered": 0.90, "swapped": 0.90, "local_site": 0.90,
    "local_other_topic": 0.90, "injected_order": 0.93,
}  # fmt: skip
MARKS = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("> ", ""))
Half = Callable[[str], bool]


class Tally:
    """Failures by name and set."""

    def __init__(self) -> None:
        self._fails: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))

    def add(self, name: str, of: str, has_failed: bool) -> None:
        """One answer."""
        self._fails[name][of].append(has_failed)

    def share(self, name: str, of: str = "") -> float:
        """The share that fails, of one set or of all."""
        fails = self._of(name, of)
        return sum(fails) / len(fails) if fails else 0.0

    def count(self, name: str, of: str) -> int:
        """The answers of a set."""
        return len(self._of(name, of))

    def sets(self, name: str) -> list[str]:
        """The sets that were measured, by name."""
        return sorted(self._fails[name])

    def figures(self) -> dict[str, dict[str, list[float]]]:
        """By name and set: the share that fails, the number, both ends of Wilson's interval."""
        return {
            name: {of or "all": self._figure(name, of) for of in ("", *self.sets(name))}
            for name in sorted(self._fails)
        }

    def _of(self, name: str, of: str) -> list[bool]:
        every = self._fails[name]
        return every[of] if of else [fail for fails in every.values() for fail in fails]

    def _figure(self, name: str, of: str) -> list[float]:
        fails = self._of(name, of)
        low, high = wilson(sum(fails), len(fails))
        return [round(self.share(name, of), 4), len(fails), round(low, 4), round(high, 4)]


def bad_answers(
    answer: SupportedAnswer, other: str, chance: random.Random
) -> Iterator[tuple[str, str]]:
    """Kind and text of answers that must fail: a supported one with wrong markers or quotations."""
    yield "off_by_one", answer.cited(1)
    place = answer.support[0][2][0]
    quotable, foreign = _quotable(answer.chunks[place]), _quotable(other)
    if not quotable or not foreign:
        return
    true, invented = chance.choice(quotable), chance.choice(foreign)
    quotes = (
        ("fabricated", invented, place),
        ("altered", swapped_word(true, invented, "en", chance), place),
        ("altered", swapped_number(true, invented, "en", chance), place),
        ("swapped", true, (place + 1) % len(answer.chunks)),
    )
    for kind, quote, at in quotes:
        if quote is not None and not is_in(quote, answer.chunks[at]):
            opening, closing = chance.choice(MARKS)
            yield kind, f"{answer.cited()}\n\n{opening}{quote}{closing} [{at + 1}]"


def is_in(quote: str, chunk: str) -> bool:
    """Whether a chunk has the words of a quotation in a row: then it is no invented one."""
    return key(words(quote)) in key(words(chunk))


def _quotable(text: str) -> list[str]:
    """The statements that somebody would quote: running text, mostly in small letters."""
    return [sentence.text for sentence in sentences(text) if _is_quotable(sentence.text)]


def _is_quotable(text: str) -> bool:
    small = sum(word.isalpha() and word.islower() for word in text.split())
    has_marks = any(mark in text for mark in MARKED)
    is_statement = SHORTEST <= len(text) <= LONGEST and not text.endswith("?")
    return is_statement and small >= 0.6 * len(text.split()) and not has_marks


def record_of(answer: SupportedAnswer, text: str) -> RagRecord:
    """The record of an answer with this text; its citations are read as the collector does."""
    context = tuple(
        Document(chunk_id=f"c{place}", content=chunk) for place, chunk in enumerate(answer.chunks)
    )
    return RagRecord(
        record_id="1", trace_id="1", query=answer.question, context=context, answer=text,
        citations=citations(CitationSource(answer=text, context=context)),
    )  # fmt: skip


def measure_citations(tally: Tally, of_half: Half, *, small: bool) -> None:
    """Scores supported answers and bad ones of every set."""
    scorer, chance = CitationValidity(), random.Random(SEED)
    for name in sets_of(SETS, small=small):
        answers = [
            answer
            for answer in supported_answers(name, small=small)
            if of_half(answer.group) and answer.support
        ]
        texts = [(answer.group, answer.chunks[answer.support[0][2][0]]) for answer in answers]
        for answer in answers:
            other = chance.choice([text for group, text in texts if group != answer.group])
            kinds = [("supported", answer.cited()), *bad_answers(answer, other, chance)]
            for kind, text in kinds:
                value = scorer.score(record_of(answer, text)).value
                if value is not None:
                    tally.add(kind, name, value < 1)
        progress(f"citations of {name}: {len(answers)} answers")


def measure_relevance(tally: Tally, of_half: Half, inference: Inference, *, small: bool) -> None:
    """Scores healthy and junk retrievals."""
    rubric = house_rubrics()["context_relevance"]
    bar, chance = rubric.fails_below or 0.0, random.Random(SEED)
    for name in sets_of(unseen_retrievals.SETS, small=small):
        found = [each for each in retrievals(name, small=small) if of_half(each.group)]
        chosen = chance.sample(found, min(MOST_QUESTIONS, len(found)))
        for healthy in chosen:
            tally.add("judged_healthy", name, by_labels(healthy) < bar)
            for kind, retrieval in [
                ("healthy", healthy), *((kind, healthy.with_junk(kind)) for kind in JUNK)
            ]:  # fmt: skip
                score = context_relevance(retrieval.record(), inference)
                if score.value is None:
                    raise SystemExit(score.explanation)
                tally.add(f"local_{kind}", name, score.label == "none_relevant")
        progress(f"relevance of {name}: {len(chosen)} questions")


def by_labels(retrieval: Retrieval) -> float:
    """The value of a judge that grades relevant chunks 3 and all others 0."""
    table = house_rubrics()["context_relevance"].judge
    assert table is not None
    graded = [
        VerdictValue(value=float(place < retrieval.relevant))
        for place in range(len(retrieval.chunks))
    ]
    return aggregate(table.aggregation, graded, prompt_depth(retrieval.record(), table.top)) or 0.0


def sets_of(names: Iterable[str], *, small: bool) -> list[str]:
    """The sets to measure: those with a sample if `small` or without data."""
    is_sampled = small or bench_data() is None
    return [name for name in names if not is_sampled or name in SAMPLED]


def main() -> None:
    """Measures and prints."""
    parser = size_parser(__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--half", choices=["measure", "fit"], default="measure")
    given = parser.parse_args()
    small, only, half = given.small, given.only, given.half

    def of_half(group: str) -> bool:
        return small or is_fit(group) == (half == "fit")

    tally = Tally()
    if "citations" in only:
        measure_citations(tally, of_half, small=small)
    with closing(Inference(InferenceSettings(timeout_seconds=600))) as inference:
        asked, answered = sets_of(unseen_retrievals.SETS, small=small), sets_of(SETS, small=small)
        if "injection" in only:
            measure_injection(tally, of_half, asked, small=small)
        if "relevance" in only:
            measure_relevance(tally, of_half, inference, small=small)
        if "utilization" in only:
            measure_utilization(tally, of_half, answered, inference, small=small)
        if "questions" in only:
            measure_questions(tally, sets_of(INTENTS, small=small), inference, small=small)
    version = inference.embedding_version
    figures = {"half": "both" if small else half, "model": version, "failing": tally.figures()}
    finish("unseen", figures, bars_of(tally, small=small), seed=SEED)


def bars_of(tally: Tally, *, small: bool) -> dict[str, bool]:
    """The promises, of what was measured."""
    known = tally.figures()
    if small:  # beside a relevant chunk the samples have none that is near the question
        for name in ("local_healthy", "foreign_used", "unused"):
            known.pop(name, None)
    bars = {
        f"{name}: at most {most:.1%} fail": tally.share(name) <= most
        for name, most in MOST_FAILING.items()
        if name in known
    }
    bars |= {
        f"{name}: at least {least:.0%} fail": tally.share(name) >= least
        for name, least in LEAST_FAILING.items()
        if name in known
    }
    if "supported" in known:
        large = [of for of in tally.sets("supported") if tally.count("supported", of) >= LARGE]
        worst = max((tally.share("supported", of) for of in large), default=0.0)
        promise = f"supported: at most {MOST_OF_A_SET:.1%} of any set of {LARGE} or more fail"
        bars[promise] = worst <= MOST_OF_A_SET
    return bars


if __name__ == "__main__":
    main()
