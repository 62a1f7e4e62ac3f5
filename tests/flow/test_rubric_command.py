"""`ragvigil rubric`: what a file asks, what is wrong with it, what it gives for a trace."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ragvigil.app.cli.grading.rubric_file import check_rubric, list_rubrics, try_rubric
from ragvigil.app.cli.main import app
from ragvigil.app.settings import Settings
from ragvigil.model.outcome import Outcome, ScoredRecord, TraceOutcome
from ragvigil.model.record import RagRecord
from ragvigil.model.span import Closed, Resource, Span, Trace
from ragvigil.store.engine.store import Store
from ragvigil.store.records.records import trace as stored_trace
from ragvigil.store.records.traces import TraceRows
from ragvigil.web.views.records import TraceForm
from scorers.judge.settings import JudgeSettings
from scorers.rubric import load_rubrics
from tests.content_judge import ContentJudge
from tests.judged_records import GOOD
from tests.llm_server import Fault, LlmServer
from tests.outcomes import NOW

RUBRIC = """
name = "calm"
layer = "generation"
version = "1"
scale = "0..1"
needs = ["answer"]
description = "Whether the answer is calm."
[judge]
about = "answer"
shows = ["question", "answer"]
instruction = "Is the answer calm?"
aggregation = "mean"
[[judge.grades]]
name = "calm"
means = "it is"
value = 1
[[judge.grades]]
name = "shrill"
means = "it is not"
value = 0
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "calm.toml"
    path.write_text(RUBRIC, encoding="utf-8")
    return path


def form_of(record: RagRecord, store: Store) -> dict[str, Any]:
    """The record as the API gives it, once it is stored."""
    trace_id = f"{7:032x}"
    span = Span(
        trace_id=trace_id, span_id=f"{7:016x}", name="answer",
        start_unix_nano=NOW - 10**9, end_unix_nano=NOW,
        resource=Resource(attributes={"service.name": "desk"}),
    )  # fmt: skip
    made = replace(
        record,
        trace_id=trace_id,
        record_id=span.span_id,
        started_unix_nano=NOW - 10**9,
        ended_unix_nano=NOW,
    )
    outcome = Outcome(
        trace=Trace(
            trace_id=trace_id, spans=(span,), closed=Closed.ROOT_ENDED, received_unix_nano=NOW
        ),
        outcome=TraceOutcome.SCORED,
        time_unix_nano=NOW,
        records=(ScoredRecord(record=made, scores=(), shape={}),),
    )
    rows = TraceRows({})
    rows.add(outcome)
    store.write(rows.take())
    found = stored_trace(store, trace_id)
    assert found is not None
    return TraceForm.model_validate(found).model_dump(mode="json")


def settings_of(server: LlmServer) -> Settings:
    judge = JudgeSettings(model="openai:stand-in", base_url=server.openai, retries=0)
    return Settings(judge=judge)


async def tried(
    server: LlmServer, rubric: str, found: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> tuple[int, list[dict[str, Any]]]:
    status = await asyncio.to_thread(try_rubric, settings_of(server), rubric, found, as_json=True)
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "name", ["groundedness", "chunk_attribution", "context_relevance", "answerable"]
)
async def test_a_rubric_is_tried_on_a_stored_trace(
    name: str, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    found = form_of(GOOD, store)
    async with LlmServer(ContentJudge().answer) as server:
        status, shown = await tried(server, name, found, capsys)
    assert status == 0
    (rubric,) = shown
    assert server.calls[0].prompt == rubric["prompts"][0]
    assert json.loads(rubric["replies"][0])["verdicts"]
    scores = {score["rubric"]: score["value"] for score in rubric["scores"]}
    assert scores[name] > 0.4
    assert name != "answerable" or set(scores) == {"answerable", "context_relevance"}


async def test_a_file_of_ones_own_is_tried_for_people_to_read(
    file: Path, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    found = form_of(GOOD, store)
    async with LlmServer(ContentJudge().answer) as server:
        status = await asyncio.to_thread(
            try_rubric, settings_of(server), str(file), found, as_json=False
        )
    shown = capsys.readouterr().out
    assert status == 0
    assert shown.index("--- prompt") < shown.index("--- reply") < shown.index("--- score")
    assert "Is the answer calm?" in shown
    assert "calm  1.00" in shown


async def test_without_a_verdict_the_reason_is_shown_and_no_score(
    file: Path, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    found = form_of(GOOD, store)
    async with LlmServer(ContentJudge().answer) as server:
        server.every = Fault(text="no JSON")
        status, shown = await tried(server, str(file), found, capsys)
        assert (status, shown[0]["scores"]) == (1, [])
        assert "unparseable" in shown[0]["reason"]
        status, shown = await tried(server, "injection_resisted", found, capsys)
    assert (status, shown[0]["prompts"]) == (1, [])
    assert shown[0]["reason"] == "no chunk holds an instruction to the model"


async def test_what_cannot_be_tried_is_one_sentence(
    file: Path, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    found = form_of(GOOD, store)
    async with LlmServer(ContentJudge().answer) as server:
        settings = settings_of(server)
        status = await asyncio.to_thread(
            try_rubric, settings, "citation_validity", found, as_json=True
        )
        assert (status, server.calls) == (2, [])
    assert "citation_validity is scored by code" in capsys.readouterr().err
    assert await asyncio.to_thread(try_rubric, Settings(), str(file), found, as_json=True) == 2
    assert capsys.readouterr().err == "no model is configured\n"


def test_check_shows_the_prompt_and_asks_nobody(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_rubric(str(file), as_json=False) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("calm (generation), version 1, judge: answer\n")
    assert 'answer\n"<the text of answer>"' in shown
    assert '"grade": "calm" | "shrill"' in shown


@pytest.mark.parametrize("name", sorted(load_rubrics()))
def test_every_rubric_of_the_house_passes_the_check(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_rubric(name, as_json=True) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["name"] == name
    assert bool(shown["prompt"]) is shown["how"].startswith("judge")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (('mean"', 'mode"'), "calm.toml: judge: aggregation: mode is not one of mean, top_mean"),
        (("[judge]", "[judge"), "calm.toml: is not TOML"),
        (('"0..1"', '"1..5"'), "calm.toml: scale: 1..5 is not one of 0..1, label"),
    ],
)
def test_check_says_in_one_sentence_what_is_wrong(
    file: Path, change: tuple[str, str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(RUBRIC.replace(*change), encoding="utf-8")
    assert check_rubric(str(file), as_json=False) == 2
    assert capsys.readouterr().err.startswith(sentence)


def test_a_name_that_is_taken_is_warned_of(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(RUBRIC.replace('"calm"\nlayer', '"grounding"\nlayer'), encoding="utf-8")
    assert check_rubric(str(file), as_json=False) == 0
    assert "warning: grounding is the name of another rubric" in capsys.readouterr().out


def test_a_derived_rubric_needs_grades_to_read(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    derived = 'derived_from = "refusal"\naggregation = "precision"\nrelevant_from = "2"\n'
    file.write_text(RUBRIC.partition("[judge]")[0] + derived, encoding="utf-8")
    assert check_rubric(str(file), as_json=False) == 2
    assert "refusal is no rubric that grades chunks" in capsys.readouterr().err


def test_the_list_says_who_scores_what(capsys: pytest.CaptureFixture[str]) -> None:
    assert list_rubrics(as_json=True) == 0
    found = {rubric["name"]: rubric["how"] for rubric in json.loads(capsys.readouterr().out)}
    assert set(found) == set(load_rubrics())
    assert found["groundedness"] == "judge: claims"
    assert found["rerank_gain"] == "from context_relevance"
    assert found["citation_validity"] == "code"


def test_the_commands_are_those_of_the_command_line(file: Path) -> None:
    run = CliRunner()
    assert "groundedness" in run.invoke(app, ["rubric", "list"]).stdout
    assert run.invoke(app, ["rubric", "check", str(file)]).exit_code == 0
    assert run.invoke(app, ["rubric", "check", "nowhere.toml"]).exit_code == 2
    assert run.invoke(app, ["rubric", "try", str(file)]).exit_code == 2
