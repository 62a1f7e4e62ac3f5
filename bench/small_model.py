"""Do a model's replies have the form that the judge demands? Any server of OpenAI's protocol.

    .venv/bin/python bench/small_model.py --base-url http://127.0.0.1:8080/v1 [--model NAME]

For each rubric: how many questions were answered in form at once, after the one repair, or not at
all and why; and how many of the quotes that were given stand in the record. There is no bar: this
is for choosing a model. Without an address a stand-in answers that always has the form.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Mapping, Sequence

from bench.rig.judge_court import CASE, house_records, judged_families
from bench.rig.judge_stand_in import standing_in
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from ragvigil.llm.client import Client, open_client
from ragvigil.llm.outcome import Failure, Purpose
from ragvigil.llm.settings import LlmSettings
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.golden import question_key
from scorers.judge.question import Question, ask_about
from scorers.judge.references import References
from scorers.judge.verdicts import Incomplete, read_scores
from scorers.rubric import Rubric

DELIMITER = "d1b5a9c7e3f20846"


async def tried(
    base_url: str, model: str, records: Sequence[RagRecord]
) -> dict[str, dict[str, object]]:
    """What came back, by rubric."""
    settings = LlmSettings.model_validate(
        {
            "model": f"openai:{model}", "base_url": base_url, "concurrency": 2, "retries": 0,
            "timeout_seconds": 600, "deadline_seconds": 3600, "max_output_tokens": 1500,
            "breaker_failures": 10**6, "cache_entries": 0,
        }
    )  # fmt: skip
    client = open_client(settings)
    figures: dict[str, dict[str, object]] = {}
    for family in judged_families():
        started = time.perf_counter()
        found, values = Counter[str](), []
        for record in records:
            value = await _tried(client, family.asked, record, found)
            values.append(None if value is None else round(value, 2))
        questions = found["questions"]
        progress(f"{family.asked.name}: {dict(found)}")
        figures[family.asked.name] = {
            **found,
            "form_valid": round(found["in form"] / questions, 3) if questions else None,
            "values": values,
            "seconds_a_question": round((time.perf_counter() - started) / max(questions, 1), 2),
        }
    await client.close()
    return figures


async def _tried(
    client: Client, rubric: Rubric, record: RagRecord, found: Counter[str]
) -> float | None:
    """The value of one rubric of one record; counts what came back into `found`."""
    made = ask_about(
        record,
        rubric,
        delimiter=DELIMITER,
        most_characters=20_000,
        reference=References(cases={question_key(CASE.question): CASE}).of(record),
    )
    if isinstance(made, Score):
        return None
    answers = [
        answer for case in made if (answer := await _answer(client, case, found)) is not None
    ]
    if len(answers) < len(made):
        return None
    read = read_scores(made, answers, judge="tried")
    if isinstance(read, Incomplete):
        found["incomplete"] += 1
        return None
    score = read[0]
    verdicts = score.details["verdicts"]
    assert isinstance(verdicts, list)
    found["quotes"] += sum("quote" in verdict for verdict in verdicts)
    found["quotes not found"] += sum("given" in verdict for verdict in verdicts)
    return score.value


async def _answer(client: Client, question: Question, found: Counter[str]) -> object | None:
    got = await client.ask(question.prompt, question.form, Purpose.TRY)
    found["questions"] += 1
    if isinstance(got, Failure):
        found[got.kind] += 1
        return None
    found["in form"] += 1
    found["after a repair"] += got.attempts > 1
    return got.answer


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--base-url", default="")
    parser.add_argument("--model", default="small")
    options = parser.parse_args()
    records = house_records()[: 2 if options.small else None]
    with contextlib.ExitStack() as stack:
        address = options.base_url or f"{stack.enter_context(standing_in())}/v1"
        by_rubric = asyncio.run(tried(address, options.model, records))
    figures: dict[str, object] = {"model": options.model, "records": len(records)}
    bars = {} if options.base_url else {"the stand-in's replies have the form": _all(by_rubric)}
    finish("small_model", figures | {"rubrics": by_rubric}, bars, seed=0)


def _all(by_rubric: Mapping[str, Mapping[str, object]]) -> bool:
    """Whether something was asked, and every reply was in form."""
    shares = [found["form_valid"] for found in by_rubric.values()]
    return 1.0 in shares and set(shares) <= {1.0, None}


if __name__ == "__main__":
    main()
