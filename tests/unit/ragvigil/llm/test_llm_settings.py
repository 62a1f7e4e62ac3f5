"""Settings of a model are refused in one sentence, and the key comes from where it is kept."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from ragvigil.llm.prices import Price
from ragvigil.llm.settings import LlmSettings, api_key, price_of

DAY = date(2026, 11, 1)


def test_no_model_is_asked_by_default() -> None:
    assert LlmSettings().model == ""
    assert price_of(LlmSettings(), DAY) is None


@pytest.mark.parametrize(
    ("given", "key", "sentence"),
    [
        (
            {"model": "gpt-5-mini"},
            "model",
            "gpt-5-mini is not one of openai:NAME, anthropic:NAME, bedrock:NAME",
        ),
        (
            {"model": "openai:"},
            "model",
            "openai: is not one of openai:NAME, anthropic:NAME, bedrock:NAME",
        ),
        ({"base_url": "localhost:8000"}, "base_url", "must be http://host:port/path, https://..."),
        ({"key_file": "/no/such/key"}, "key_file", "/no/such/key is not a file that can be read"),
        (
            {"model": "openai:my-own", "daily_money": 5},
            "daily_money",
            "openai:my-own has no known price; give it one in prices, or use tokens",
        ),
        ({"prices": {"mine": {"input": 1, "output": 1}}}, "prices", "mine is not one of openai:N"),
        ({"prices": {"openai:m": {"input": -1, "output": 1}}}, "input", "Input should be greater"),
        ({"daily_money": float("nan")}, "daily_money", "Input should be a finite number"),
        ({"timeout_seconds": 0}, "timeout_seconds", "Input should be greater than 0"),
        ({"temperature": 1}, "temperature", "Extra inputs are not permitted"),
    ],
    ids=str,
)
def test_wrong_settings_are_refused_in_one_sentence(
    given: dict[str, Any], key: str, sentence: str
) -> None:
    with pytest.raises(ValidationError) as error:
        LlmSettings(**given)
    (problem,) = error.value.errors()
    assert problem["loc"][-1] == key
    assert problem["msg"].removeprefix("Value error, ").startswith(sentence)


def test_a_price_of_the_settings_makes_an_unknown_model_affordable_and_wins_over_ours() -> None:
    prices = {
        "openai:my-own": {"input": 1, "output": 2},
        "openai:gpt-5-mini": {"input": 0, "output": 0},
    }
    for model, price in (
        ("my-own", Price(input=1, output=2)),
        ("gpt-5-mini", Price(input=0, output=0)),
    ):
        settings = LlmSettings(model=f"openai:{model}", daily_money=1.0, prices=prices)  # type: ignore[arg-type]
        assert price_of(settings, DAY) == price


def test_the_written_key_wins_over_its_file_and_the_file_over_the_environment(
    tmp_path: Path,
) -> None:
    environment = {"OPENAI_API_KEY": "of openai", "ANTHROPIC_API_KEY": "of anthropic"}
    file = tmp_path / "key"
    file.write_text("in a file\n")
    written = LlmSettings(model="openai:m", key=SecretStr("xyzzy"), key_file=file)
    assert api_key(written, environment) == "xyzzy"
    assert api_key(LlmSettings(model="openai:m", key_file=file), environment) == "in a file"
    assert api_key(LlmSettings(model="openai:m"), environment) == "of openai"
    assert api_key(LlmSettings(model="anthropic:m"), environment) == "of anthropic"
    assert api_key(LlmSettings(model="anthropic:m"), {}) is None
    assert api_key(LlmSettings(model="bedrock:m"), environment) is None
    assert "xyzzy" not in repr(written)
