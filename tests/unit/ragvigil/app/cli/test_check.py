"""`ragvigil check`: what is allowed and surprises is a warning; secrets are never printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from alerts.settings import MetricsSettings
from collector.settings import CollectorSettings
from collector.spool.reserve import Space
from ragvigil.app.cli.check import report, warnings
from ragvigil.app.settings import Settings, known_keys
from ragvigil.app.settings import warnings as of_settings
from ragvigil.app.settings.guards import guards
from ragvigil.app.settings.in_force import plain
from ragvigil.web.settings import WebSettings
from scorers.judge.settings import JudgeSettings
from scorers.settings import ScorersSettings


@pytest.fixture(autouse=True)
def _large_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_settings, "space_of", lambda _: Space(free=1 << 40, total=1 << 40))


def keys(settings: Settings) -> list[str]:
    return [warning.key for warning in warnings(settings)]


def test_the_defaults_need_no_warning() -> None:
    assert keys(Settings()) == []


@pytest.mark.parametrize(
    ("total", "expected"),
    [
        (100 << 30, []),
        (10 << 30, ["[store] max_bytes"]),
        (1 << 30, ["[store] disk_reserve_bytes", "[store] max_bytes"]),
    ],
)
def test_a_disk_that_is_small_for_the_store_is_warned_of(
    total: int, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_settings, "space_of", lambda _: Space(free=total, total=total))
    assert keys(Settings()) == expected


def test_open_addresses_in_clear_text_are_warned_of_section_by_section() -> None:
    settings = Settings(
        collector=CollectorSettings(insecure=True), metrics=MetricsSettings(insecure=True)
    )
    assert keys(settings) == ["[collector] insecure", "[metrics] insecure"]


def judged(**values: object) -> Settings:
    told = {"model": "openai:m", "key": SecretStr("k"), "daily_tokens": 1000} | values
    return Settings(judge=JudgeSettings.model_validate(told))


def test_a_judge_with_a_key_and_a_budget_needs_no_warning() -> None:
    assert keys(judged()) == []


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"key": None}, "[judge] key"),
        ({"daily_tokens": None}, "[judge] daily_money"),
        ({"sample_rate": 0}, "[judge] sample_rate"),
        ({"rubrics": ("chunk_utilization",)}, "[judge] rubrics"),
    ],
)
def test_what_surprises_in_a_judge_is_warned_of(
    values: dict[str, object], key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert keys(judged(**values)) == [key]


def test_an_api_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert keys(judged(key=None, base_url="http://localhost:8000/v1")) == []


def test_a_spool_that_is_emptied_at_boot_is_warned_of() -> None:
    assert keys(Settings(data_dir=Path("/tmp/ragvigil"))) == ["data_dir"]
    assert keys(Settings(data_dir=Path("tmp/ragvigil"))) == []


def test_a_rubric_that_there_is_not_is_warned_of_where_it_is_named() -> None:
    settings = Settings(scorers=ScorersSettings(disabled=("loud",), fails_below={"soft": 0.5}))
    found = list(warnings(settings))
    assert [warning.key for warning in found] == ["[scorers] disabled", "[scorers] fails_below"]
    assert found[0].explanation.startswith("loud is not one of answer_complete_text, ")


def test_every_key_has_its_value_and_no_section_is_one() -> None:
    shown = plain(Settings())
    paths = list(known_keys())
    leaves = {
        ".".join(path)
        for path in paths
        if not any(other[: len(path)] == path and other != path for other in paths)
    }
    assert set(shown) == leaves
    assert shown["collector.limits.max_nesting"] == 20


def test_a_secret_is_said_to_be_set_and_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    metrics = MetricsSettings.model_validate({"token": "hunter2"})
    web = WebSettings.model_validate({"admin_token": "hunter2"})
    for as_json in (False, True):
        assert report(Settings(metrics=metrics, web=web), show_all=True, as_json=as_json) == 0
    out = capsys.readouterr().out
    assert "hunter2" not in out
    assert "metrics.token = set, not shown" in out


def test_a_password_in_a_url_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings.model_validate({"store": {"url": "http://me:hunter2@db:8123/rag"}})
    report(settings, show_all=True, as_json=False)
    out = capsys.readouterr().out
    assert "hunter2" not in out
    assert "store.url = http://me:***@db:8123/rag" in out


def test_a_script_gets_errors_warnings_and_on_demand_the_settings(
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = Settings(metrics=MetricsSettings(insecure=True))
    report(settings, show_all=False, as_json=True)
    assert json.loads(capsys.readouterr().out) == {
        "errors": [],
        "warnings": [
            {
                "key": "[metrics] insecure",
                "explanation": "tokens and texts cross the network in clear text, unless TLS is on",
            }
        ],
        "listeners": guards(settings),
    }
    report(settings, show_all=True, as_json=True)
    assert json.loads(capsys.readouterr().out)["settings"]["metrics.insecure"] is True


def test_people_get_a_line_a_warning_and_how_many(capsys: pytest.CaptureFixture[str]) -> None:
    report(Settings(), show_all=False, as_json=False)
    *_, web, last = capsys.readouterr().out.splitlines()
    assert web == "[web] endpoint: no token, every process of this machine is admin, no TLS"
    assert last == "the settings are valid; 0 warnings"
    report(Settings(metrics=MetricsSettings(insecure=True)), show_all=False, as_json=False)
    *_, first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("warning: [metrics] insecure: tokens and texts")
    assert last == "the settings are valid; 1 warning"
