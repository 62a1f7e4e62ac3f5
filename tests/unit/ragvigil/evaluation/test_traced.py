"""A service that is already instrumented: its answers are read from its traces."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from clustering.golden.settings import TargetSettings
from collector.assembly.settings import AssemblyLimits
from collector.record.offline import is_offline
from collector.settings import CollectorSettings
from ragvigil.evaluation.cache import ReplyCache
from ragvigil.evaluation.case_set import read_set
from ragvigil.evaluation.measure import Measures
from ragvigil.evaluation.result import Condition, Reading, Result
from ragvigil.evaluation.run import Run, questions, run
from ragvigil.evaluation.target.arriving_trace import traces_of
from ragvigil.evaluation.target.receiver import TraceInbox, receiving
from ragvigil.evaluation.target.target import Target, target_of
from ragvigil.evaluation.target.traced import MOST_UNHEARD, TracedTarget
from ragvigil.evaluation.target.wrong import BadTarget
from scorers.runner import Runner, load_scorers
from tests import evaluated_desk as desk
from tests.traced_desk import answer, traced_desk

PATHS = TargetSettings(
    chunk_ids="chunk_ids",
    chunk_texts="chunk_texts",
    prompt_ids="prompt_ids",
    prompt_texts="prompt_texts",
)
LOOPBACK = CollectorSettings(
    grpc_endpoint="127.0.0.1:0",
    http_endpoint="127.0.0.1:0",
    assembly=AssemblyLimits(quiet_seconds=0.2),
)


@pytest.fixture
def inbox() -> Iterator[TraceInbox]:
    with receiving(LOOPBACK) as inbox:
        yield inbox


def otlp(inbox: TraceInbox) -> str:
    found = re.match(r"http://([\d.:]+)", inbox.where)
    assert found
    return found[1]


def at(url: str, **settings: float) -> TargetSettings:
    return TargetSettings(**PATHS.model_dump() | {"url": url, **settings})


@pytest.fixture(scope="module")
def measures() -> Measures:
    return Measures(Runner(load_scorers()))


def results(target: Target, measures: Measures, folder: Path) -> dict[str, Result]:
    cases = read_set(desk.write_cases(folder / "set.jsonl")).cases
    cache = ReplyCache(folder / "cache.sqlite", target.name)
    how = Run(target=target, measures=measures, cache=cache, workers=3, pause=lambda _: None)
    asked = questions(cases, [Condition.RETRIEVED], takes_context=False)
    return {outcome.result.case_id: untimed(outcome.result) for outcome in run(asked, how)}


def untimed(result: Result) -> Result:
    return replace(result, values={**result.values, "latency_seconds": None})


def test_an_answer_is_the_same_by_its_trace_its_reply_a_function_and_a_file(
    inbox: TraceInbox, measures: Measures, tmp_path: Path
) -> None:
    with traced_desk(otlp(inbox)) as url:
        by_trace = results(TracedTarget(at(url), inbox), measures, tmp_path)
        by_url = results(target_of(url, PATHS), measures, tmp_path)
    rows = ({"question": asked, **answer(asked)} for asked in desk.REPLIES)
    recorded = tmp_path / "answers.jsonl"
    recorded.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    by_file = results(target_of(str(recorded), PATHS), measures, tmp_path)
    by_function = results(target_of("tests.traced_desk:answer", PATHS), measures, tmp_path)
    assert by_trace == by_url == by_file == by_function
    assert all(each.record_hash for each in by_trace.values())
    assert by_trace["warranty"].reading is Reading.CONTRADICTED


def test_a_kept_trace_is_read_again_without_asking(
    inbox: TraceInbox, measures: Measures, tmp_path: Path
) -> None:
    desk.asked.clear()
    with traced_desk(otlp(inbox)) as url:
        target = TracedTarget(at(url), inbox)
        first = results(target, measures, tmp_path)
        assert results(target, measures, tmp_path) == first
    assert len(desk.asked) == len(desk.CASES)


def test_every_span_that_a_question_causes_says_that_no_user_asked(
    inbox: TraceInbox, tmp_path: Path
) -> None:
    case = read_set(desk.write_cases(tmp_path / "set.jsonl")).cases[0]
    with traced_desk(otlp(inbox)) as url:
        reply = TracedTarget(at(url), inbox).reply(case, None)
    (trace,) = traces_of(reply["trace"], AssemblyLimits())
    assert len(trace.spans) == 4
    assert all(is_offline([each]) for each in trace.spans)
    users = [replace(each, trace_state="ot=th:8") for each in trace.spans]
    assert not is_offline(users)


def test_a_service_that_drops_the_trace_is_told_so_and_soon_asked_no_more(
    inbox: TraceInbox, measures: Measures, tmp_path: Path
) -> None:
    with traced_desk(otlp(inbox), passes_on=False) as url:
        target = TracedTarget(at(url, trace_seconds=0.3), inbox)
        errors = [each.error for each in results(target, measures, tmp_path).values()]
        desk.asked.clear()
        again = results(target, measures, tmp_path)
    assert len(errors) == MOST_UNHEARD
    for error in errors:
        assert error.startswith(
            "answer received, no trace of it in 0.3 s: is traceparent passed on"
        )
        assert otlp(inbox) in error
    assert all(each.error.startswith("not asked: no trace came") for each in again.values())
    assert not desk.asked
    assert inbox.foreign >= MOST_UNHEARD


def test_a_trace_without_an_answer_says_what_its_spans_lack(
    inbox: TraceInbox, measures: Measures, tmp_path: Path
) -> None:
    with traced_desk(otlp(inbox), traces_steps=False) as url:
        found = results(TracedTarget(at(url), inbox), measures, tmp_path)
    lack = "its trace shows no answer from documents: desk: no span of a retriever or of a model"
    assert all(each.error.startswith(lack) for each in found.values())


def test_an_address_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        endpoint = f"127.0.0.1:{taken.getsockname()[1]}"
        settings = LOOPBACK.model_copy(update={"http_endpoint": endpoint})
        refused = pytest.raises(BadTarget, match=f"{endpoint} .* cannot be listened on")
        with refused, receiving(settings):
            pass
