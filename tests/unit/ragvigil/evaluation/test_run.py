"""A run: the same answers by every way, resumed where it was broken off, under each condition."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from clustering.golden.settings import TargetSettings
from ragvigil.evaluation.cache import BadCache, ReplyCache
from ragvigil.evaluation.case_set import read_set
from ragvigil.evaluation.measure import Measures
from ragvigil.evaluation.result import Condition, Reading, Result
from ragvigil.evaluation.run import NotPossible, Run, questions, run
from ragvigil.evaluation.target.target import Target, target_of
from ragvigil.evaluation.target.wrong import BadTarget
from scorers.runner import Runner, load_scorers
from tests import evaluated_desk as desk

PATHS = TargetSettings(chunk_ids="chunk_ids", chunk_texts="chunk_texts", context="context")


class Desk(BaseHTTPRequestHandler):
    """The desk behind HTTP."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps(desk.answer(asked["question"], asked.get("context"))).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Desk) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/ask"
        server.shutdown()


@pytest.fixture
def set_(tmp_path: Path) -> Path:
    desk.asked.clear()
    return desk.write_cases(tmp_path / "set.jsonl")


@pytest.fixture(scope="module")
def measures() -> Measures:
    return Measures(Runner(load_scorers()))


def how(target: Target, measures: Measures, folder: Path) -> Run:
    cache = ReplyCache(folder / "cache.sqlite", target.name)
    return Run(target=target, measures=measures, cache=cache, workers=1, pause=lambda _: None)


def results(set_: Path, ran: Run, *conditions: Condition) -> dict[tuple[str, str], Result]:
    cases = read_set(set_).cases
    asked = questions(
        cases, conditions or (Condition.RETRIEVED,), takes_context=ran.target.takes_context
    )
    return {outcome.result.key: outcome.result for outcome in run(asked, ran)}


def test_the_same_answers_by_url_function_and_file_are_equal(
    set_: Path, url: str, measures: Measures, tmp_path: Path
) -> None:
    recorded = desk.write_replies(tmp_path / "answers.jsonl")
    names = (url, "tests.evaluated_desk:answer", str(recorded))
    every = [results(set_, how(target_of(name, PATHS), measures, tmp_path)) for name in names]
    untimed = [
        {key: replace(each, values={**each.values, "latency_seconds": None})
         for key, each in run_.items()}
        for run_ in every
    ]  # fmt: skip
    assert untimed[0] == untimed[1] == untimed[2]
    assert every[0]["refund", "retrieved"].values["latency_seconds"] is not None
    assert {key[0]: each.reading for key, each in every[0].items()} == {
        "refund": None, "warranty": Reading.CONTRADICTED, "mars": None
    }  # fmt: skip


def test_ranking_and_refusals_are_values(set_: Path, measures: Measures, tmp_path: Path) -> None:
    found = results(set_, how(target_of("tests.evaluated_desk:answer", PATHS), measures, tmp_path))
    refund, mars = found["refund", "retrieved"].values, found["mars", "retrieved"].values
    assert (refund["recall@1"], refund["recall@3"], refund["mrr"]) == (0.0, 1.0, 0.5)
    assert (refund["facts_stated"], refund["refusal_answerable"]) == (1.0, 1.0)
    assert (mars["refusal_unanswerable"], mars.get("recall@3")) == (1.0, None)


def test_what_was_answered_is_not_asked_again(
    set_: Path, measures: Measures, tmp_path: Path
) -> None:
    ran = how(target_of("tests.evaluated_desk:answer", PATHS), measures, tmp_path)
    asked = questions(read_set(set_).cases, [Condition.RETRIEVED], takes_context=True)
    with closing(run(asked[:2], ran)) as broken:
        next(broken)
    results(set_, ran)
    assert sorted(desk.asked) == sorted(case["question"] for case in desk.CASES)
    ReplyCache(tmp_path / "cache.sqlite", ran.target.name).forget()
    results(set_, ran)
    assert len(desk.asked) == 6


def test_given_chunks_are_what_reached_the_prompt(
    set_: Path, measures: Measures, tmp_path: Path
) -> None:
    ran = how(target_of("tests.evaluated_desk:answer", PATHS), measures, tmp_path)
    found = results(set_, ran, Condition.GOLD)
    assert set(found) == {("refund", "gold"), ("warranty", "gold")}
    warranty = found["warranty", "gold"]
    assert (warranty.reading, warranty.values.get("recall@1")) == (None, None)
    assert warranty.values["citation_validity"] == 1.0


def test_a_condition_that_nothing_fits_is_refused(
    set_: Path, tmp_path: Path, measures: Measures
) -> None:
    recorded = target_of(str(desk.write_replies(tmp_path / "a.jsonl")), PATHS)
    with pytest.raises(NotPossible, match="condition gold: the target takes no context"):
        results(set_, how(recorded, measures, tmp_path), Condition.GOLD)
    with pytest.raises(NotPossible, match="the set has no case for perturbed"):
        results(set_, how(recorded, measures, tmp_path), Condition.PERTURBED)


def test_no_answer_is_a_result_with_its_reason(
    set_: Path, measures: Measures, tmp_path: Path
) -> None:
    row = {"question": "How long do refunds take?", "answer": "5 days."}
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    found = results(set_, how(target_of(str(path), PATHS), measures, tmp_path))
    mars = found["mars", "retrieved"]
    assert (mars.reading, mars.error) == (Reading.TARGET_ERROR, "the file has no answer to it")
    assert found["refund", "retrieved"].values.get("recall@1") is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tests.evaluated_desk:nothing", "has no function nothing"),
        ("tests.no_such_module:answer", "cannot be imported"),
        ("nowhere.jsonl", "is neither a URL, module:function, nor a file"),
    ],
)
def test_a_target_that_cannot_be_asked_is_refused(name: str, message: str) -> None:
    with pytest.raises(BadTarget, match=message):
        target_of(name, PATHS)


def test_a_cache_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "cache.sqlite").write_text("no database, but a text that is long enough" * 9)
    with pytest.raises(BadCache, match=r"cache\.sqlite: cannot be used"):
        ReplyCache(tmp_path / "cache.sqlite", "target")
