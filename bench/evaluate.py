"""Does the gate stop a release with a fault, and nothing else? And what does a second run cost?

    .venv/bin/python bench/evaluate.py [--small]

The example service answers 120 golden cases, healthy and with each of its ten faults; every answer
is read from its spans, by the code that reads production. A case has the article that answers it,
and the article's sentence that the healthy service states. The gate compares each faulty run with a
healthy one, with its limits as shipped. Both runs are flaky: five in a hundred answers of each are
those of some fault, drawn anew. Twenty healthy runs with other draws must not be stopped.

Then a function is asked 2,000 cases, is broken off half-way, goes on, and is asked again.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from random import Random

from bench.rig.faults_pool import LAYERS
from bench.rig.helpdesk_answers import HEALTHY, Told, answers
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from examples.helpdesk.corpus import Article, Question, load_articles, load_questions
from examples.helpdesk.faults import Fault
from ragvigil.evaluation.cache import ReplyCache
from ragvigil.evaluation.case import Case
from ragvigil.evaluation.gate.decide import Gate, State, decide
from ragvigil.evaluation.gate.layers import layer_of
from ragvigil.evaluation.gate.limits import GateSettings
from ragvigil.evaluation.measure import Measures, measured
from ragvigil.evaluation.result import Condition, Result
from ragvigil.evaluation.result_file import Header, Results
from ragvigil.evaluation.run import Run, questions, run
from ragvigil.evaluation.target.reply import Asked, record_of
from ragvigil.evaluation.target.reply import plain_paths as paths
from ragvigil.model.record import Document, RagRecord
from scorers.golden import Fact, Gold, question_key
from scorers.rubric import rubric_layers
from scorers.runner import Runner, load_scorers
from scorers.text.normalise import key, words

SEED = 20
EACH, CASES, HEALTHY_RUNS = 24, 2_000, 20
"""Questions a route; cases of the second part; runs without a fault."""
FLAKY = 0.05
SENTENCE = re.compile(r"(?<=[.!?])\s+")
LEAST_BLOCKED, CACHED_SECONDS = 9, 20.0

Answers = Mapping[str, Mapping[str, Result]]
"""Results by fault and case."""


def main() -> None:
    parser = size_parser(__doc__)
    options = parser.parse_args()
    each, healthy_runs, cases = (6, 2, 40) if options.small else (EACH, HEALTHY_RUNS, CASES)
    faults = tuple(Fault)[:2] if options.small else tuple(Fault)
    measures = Measures(Runner(load_scorers()))
    every = scored(faults, measures, each=each)
    gated, gate_bars = gates(every, faults, healthy_runs)
    resumed, run_bars = resume(measures, cases)
    bars = run_bars if options.small else gate_bars | run_bars
    finish("evaluate", gated | resumed, bars, seed=SEED)


def scored(faults: Sequence[Fault], measures: Measures, *, each: int) -> Answers:
    """What the service answers to each case, healthy and with each fault."""
    known = {(question.route, question.text): question for question in load_questions()}
    told = answers(faults, most=each)
    progress(f"{len(told[HEALTHY])} questions answered {len(told)} times")
    cases = {
        asked: case_of(known[asked], healthy.record) for asked, healthy in told[HEALTHY].items()
    }
    return {
        name: {
            cases[asked].case_id: result_of(cases[asked], answer, measures)
            for asked, answer in by_question.items()
        }
        for name, by_question in told.items()
    }


def case_of(question: Question, healthy: RagRecord) -> Case:
    """The golden case of one of the service's questions."""
    articles = {article.article_id: article for article in load_articles()}
    article = articles.get(question.article_id or "")
    said = key(words(healthy.answer or ""))
    chunks = [chunk for chunk in healthy.retrieved if chunk.document_id == question.article_id]
    sentences = [] if article is None else SENTENCE.split(" ".join(article.paragraphs))
    stated = [each for each in sentences if key(words(each)) in said]
    return Case(
        case_id=f"{question.route} {question.text}",
        question=question.text,
        gold=gold_of(article, chunks, stated[:1]),
        facts=tuple(Fact(text=each) for each in stated[:1]),
        must_refuse=article is None,
        slices={"language": (question.language,), "route": (question.route,)},
        group=question_key(question.text),
    )


def gold_of(
    article: Article | None, chunks: Sequence[Document], stated: Sequence[str]
) -> tuple[Gold, ...]:
    """The chunk that states the fact, as its signer saw it; else the article."""
    if article is None:
        return ()
    for chunk in chunks:
        if stated and key(words(stated[0])) in key(words(chunk.content or "")):
            return (Gold(chunk_id=chunk.chunk_id, text=chunk.content or ""),)
    return (Gold(chunk_id=article.article_id),)


def result_of(case: Case, told: Told, measures: Measures) -> Result:
    """The result of an answer that the service's spans show."""
    result = Result(case_id=case.case_id, group=case.group, slices=case.slices)
    return measured(result, case, told.record, measures)


def gates(
    every: Answers, faults: Sequence[Fault], healthy_runs: int
) -> tuple[dict[str, object], dict[str, bool]]:
    """How many faults are stopped with the right layer, and how many healthy releases."""
    dice = Random(SEED)
    base = flaky(every, HEALTHY, dice)
    stopped, right, said = [], [], {}
    for fault in faults:
        found = decide(base, flaky(every, fault, dice), GateSettings())
        said[fault.value] = sentence(found)
        if found.state is State.WORSE:
            stopped.append(fault)
            if LAYERS[fault].value in layers_of(found):
                right.append(fault)
        progress(f"{fault}: {said[fault.value]}")
    false = sum(
        decide(base, flaky(every, HEALTHY, dice), GateSettings()).state is State.WORSE
        for _ in range(healthy_runs)
    )
    figures: dict[str, object] = {
        "cases": len(every[HEALTHY]),
        "stopped": f"{len(stopped)} of {len(faults)}",
        "right_layer": f"{len(right)} of {len(stopped)}",
        "said": said,
        "healthy_stopped": f"{false} of {healthy_runs}",
    }
    return figures, {
        f"stops >= {LEAST_BLOCKED} of 10 faults": len(stopped) >= LEAST_BLOCKED,
        "stops no healthy release": false == 0,
    }


def flaky(every: Answers, fault: str, dice: Random) -> Results:
    """A run with a fault in which some answers are those of any other fault."""
    others = [name for name in every if name != HEALTHY]
    results = [
        every[dice.choice(others)][name] if dice.random() < FLAKY else result
        for name, result in every[fault].items()
    ]
    header = Header(set_name="helpdesk", set_hash="", target=fault)
    return Results(header=header, results=tuple(results))


def layers_of(gate: Gate) -> set[str]:
    """The layers of what is worse."""
    layers = rubric_layers()
    return {layer_of(each.rubric, layers) for each in gate.worse}


def sentence(gate: Gate) -> str:
    """The state, and the rubrics and slices that are worse."""
    worse = sorted({each.rubric for each in gate.worse})
    return f"{gate.state}: {', '.join(worse)}" if worse else gate.state.value


class Counting:
    """A function as a target that counts how often it is asked."""

    name, takes_context, is_recorded = "counting", False, False

    def __init__(self) -> None:
        self.asked = 0

    def reply(self, asked: Asked, context: Sequence[str] | None) -> dict[str, object]:
        """An answer with one chunk."""
        del context
        self.asked += 1
        text = f"{asked.question} takes 5 days, says the rule."
        return {"answer": f"{text} [c1]", "chunk_ids": ["c1"], "chunk_texts": [text]}

    def record(self, asked: Asked, reply: object) -> RagRecord:
        """What the reply shows."""
        return record_of(asked, reply, paths(reply))


def resume(measures: Measures, count: int) -> tuple[dict[str, object], dict[str, bool]]:
    """A run that is broken off, goes on, and is repeated."""
    cases = [Case(case_id=f"c{number}", question=f"Rule {number}") for number in range(count)]
    target = Counting()
    with tempfile.TemporaryDirectory() as folder:
        cache = ReplyCache(Path(folder, "cache.sqlite"), target.name, "1")
        how = Run(target=target, measures=measures, cache=cache)
        asked = questions(cases, [Condition.RETRIEVED], takes_context=False)
        with closing(run(asked, how)) as broken:
            first = len(list(islice(broken, count // 2)))
        results = [outcome.result for outcome in run(asked, how)]
        began = time.monotonic()
        again = [outcome.result for outcome in run(asked, how)]
        seconds = round(time.monotonic() - began, 1)
        cache.close()
    figures: dict[str, object] = {
        "broken_off_after": first,
        "asked": target.asked,
        "cached_run_s": seconds,
    }
    by_case = {result.case_id: result for result in results}
    return figures, {
        "nothing asked twice, nothing lost": target.asked == count == len(by_case),
        "a cached run gives the same": by_case == {result.case_id: result for result in again},
        f"a cached run of {CASES} cases takes <= {CACHED_SECONDS:.0f} s": seconds <= CACHED_SECONDS,
    }


if __name__ == "__main__":
    main()
