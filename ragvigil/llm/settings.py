"""Settings of a language model; the descriptions are the documentation."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator

from ragvigil.llm.prices import Price, find_price
from ragvigil.llm.reply_form import ReplyForm, forms_of
from ragvigil.model.endpoint import require_file

PROVIDERS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "bedrock": None}
"""The environment variable of each provider's key; Bedrock finds its own credentials."""
MODEL = re.compile(rf"({'|'.join(PROVIDERS)}):\S+")


class PriceSettings(BaseModel):
    """`[….prices."openai:my-model"]`: the price of a model that prices.toml does not list."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0, allow_inf_nan=False, description="US dollars a million input tokens")
    output: float = Field(
        ge=0, allow_inf_nan=False, description="US dollars a million output tokens"
    )


class LlmSettings(BaseModel):
    """Which model is asked, its timeouts, and what it may cost a day; no model by default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(
        default="",
        description="model: `openai:NAME` (and every server of that protocol: vLLM, "
        "Ollama, LiteLLM, Azure), `anthropic:NAME`, `bedrock:NAME`; empty is none. A name with a "
        "date stays the same model",
    )
    base_url: str = Field(
        default="", description="address of the API if it is not the provider's own"
    )
    key: SecretStr | None = Field(
        default=None,
        description="key of the API; else OPENAI_API_KEY or ANTHROPIC_API_KEY of the environment",
    )
    key_file: Path | None = Field(default=None, description="file that holds the key instead")
    reply_form: Literal["auto", "json_schema", "json_object", "text"] = Field(
        default="auto",
        description="how the form of a reply is asked for: the provider's strict schema, any JSON "
        "object (of OpenAI's protocol only), or text; the last two put the schema into the prompt. "
        "`auto` begins with the first and takes the next if a server refuses one. Replies are "
        "read by the same strict rules in every form",
    )
    timeout_seconds: float = Field(
        default=30.0, gt=0, le=600, description="timeout of one reply, to its last byte"
    )
    deadline_seconds: float = Field(
        default=120.0, gt=0, le=3600, description="timeout of a question, retries included"
    )
    retries: int = Field(
        default=3, ge=0, le=20, description="further attempts after a failure that may pass"
    )
    retry_seconds: float = Field(
        default=30.0,
        gt=0,
        le=600,
        description="longest pause before a retry, even if a server asks for more",
    )
    concurrency: int = Field(default=32, ge=1, le=1024, description="calls at a time")
    max_output_tokens: int = Field(
        default=2000, ge=16, le=200_000, description="longest reply that is asked for and paid"
    )
    max_reply_bytes: int = Field(
        default=1 << 20, ge=1024, le=64 << 20, description="longest reply that is read"
    )
    breaker_failures: int = Field(
        default=10, ge=1, description="failed attempts in a row after which the API gets no calls"
    )
    breaker_seconds: float = Field(
        default=30.0,
        gt=0,
        le=3600,
        description="first pause of such an API; each failed probe doubles it, up to 45 s",
    )
    prices: dict[str, PriceSettings] = Field(
        default={},
        description="prices of models that are not in the published list, in US dollars a million "
        'tokens: `[judge.prices."openai:my-model"]` with `input = 0.40` and `output = 1.60`; they '
        "win over the list, and `judge cost` shows those in use",
    )
    daily_tokens: int | None = Field(
        default=None,
        ge=0,
        description="most tokens a day (UTC), input and output; none is no limit",
    )
    daily_money: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="most US dollars a day (UTC); the model must have a price",
    )
    reserved_share: float = Field(
        default=0.2, ge=0, le=1, description="share of both that is kept for boosts and audits"
    )
    cache_entries: int = Field(
        default=50_000, ge=0, description="replies kept for repeated questions; 0 is none"
    )

    @field_validator("model")
    @classmethod
    def _names_a_provider(cls, model: str) -> str:
        if model and not MODEL.fullmatch(model):
            known = ", ".join(f"{provider}:NAME" for provider in PROVIDERS)
            raise ValueError(f"{model} is not one of {known}")
        return model

    @field_validator("base_url")
    @classmethod
    def _has_a_host(cls, url: str) -> str:
        if url and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
            raise ValueError("must be http://host:port/path, https://..., or empty")
        return url

    @field_validator("reply_form")
    @classmethod
    def _protocol_has_it(cls, form: str, info: ValidationInfo) -> str:
        provider = info.data.get("model", "").partition(":")[0]
        known = forms_of(provider)
        if provider and form != "auto" and form not in known:
            raise ValueError(f"{form} is not one of auto, {', '.join(known)} for {provider}")
        return form

    @field_validator("key_file")
    @classmethod
    def _file_exists(cls, path: Path | None) -> Path | None:
        return require_file(path)

    @field_validator("prices")
    @classmethod
    def _prices_name_models(cls, prices: dict[str, PriceSettings]) -> dict[str, PriceSettings]:
        for model in prices:
            cls._names_a_provider(model)
        return prices

    @field_validator("daily_money")
    @classmethod
    def _has_a_price(cls, money: float | None, info: ValidationInfo) -> float | None:
        model, prices = info.data.get("model"), info.data.get("prices")
        if money is None or not model or prices is None:
            return money
        if _price(model, prices, date.max) is None:
            raise ValueError(f"{model} has no known price; give it one in prices, or use tokens")
        return money


def reply_forms(settings: LlmSettings) -> tuple[ReplyForm, ...]:
    """The forms of reply that may be asked for, strictest first."""
    if settings.reply_form != "auto":
        return (ReplyForm(settings.reply_form),)
    return forms_of(settings.model.partition(":")[0])


def price_of(settings: LlmSettings, day: date) -> Price | None:
    """The model's price on a day: that of the settings, else the published one, else None."""
    return _price(settings.model, settings.prices, day)


def _price(model: str, prices: Mapping[str, PriceSettings], day: date) -> Price | None:
    if model in prices:
        return Price(input=prices[model].input, output=prices[model].output)
    return find_price(model, day)


def api_key(settings: LlmSettings, environment: Mapping[str, str] = os.environ) -> str | None:
    """The key: the setting, else its file, else the environment variable, else None."""
    if settings.key is not None:
        return settings.key.get_secret_value()
    if settings.key_file is not None:
        return settings.key_file.read_text(encoding="utf-8").strip()
    variable = PROVIDERS.get(settings.model.partition(":")[0])
    return environment.get(variable) or None if variable else None
