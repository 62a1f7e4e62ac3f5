"""One request to a provider: OpenAI and what speaks its protocol, Anthropic, Amazon Bedrock.

pydantic-ai speaks the protocols. Its own retries, and those of the SDKs, are off: the client
retries, so that every attempt is counted, paid for and bounded. Bedrock's SDK is synchronous: an
attempt that is given up ends in its thread by the same timeout, and its replies are bounded by
the tokens that were asked for, not by bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ragvigil.llm.conversation import Conversation, Said
from ragvigil.llm.guard import untraced
from ragvigil.llm.outcome import Setback, Usage
from ragvigil.llm.reply_form import ReplyForm, ReplyForms
from ragvigil.llm.settings import PROVIDERS, LlmSettings, api_key, reply_forms

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters

OVERHEAD_TOKENS = 1024
"""What a protocol adds to a prompt: roles, the tool or the form around the schema."""
WITH_SCHEMA = "\n\nReply with one JSON object that fits this JSON schema, and with nothing else:\n"
MOST_TOKENS = 1_000_000_000
"""More than this no call uses, whatever a provider says."""


class NotConfigured(ValueError):
    """The settings name no model that can be asked; the text says what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The text that came back; `usage` is None where the provider did not say.

    `ended` is the provider's reason: stop, length, content_filter, ...
    """

    text: str
    model: str
    usage: Usage | None
    ended: str


class Endpoint:
    """A model that can be asked; `close` gives its connections back."""

    def __init__(
        self, settings: LlmSettings, *, clock: Callable[[], float], chance: random.Random
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._http = _http(settings, chance)
        self._model = _opened(settings, self._http)
        self.forms = ReplyForms(reply_forms(settings))

    @property
    def address(self) -> str:
        """Where the texts go."""
        return str(self._model.base_url or "")

    def most_usage(self, prompt: str, form: type[BaseModel]) -> Usage:
        """The most that a request can cost: no token is shorter than one byte."""
        schema = len(json.dumps(_schema(form)).encode())
        text = len(prompt.encode("utf-8", "replace"))
        return Usage(
            input_tokens=text + 2 * schema + OVERHEAD_TOKENS,
            output_tokens=self._settings.max_output_tokens,
        )

    async def send(
        self, prompt: str, form: type[BaseModel], reply_form: ReplyForm
    ) -> Sent | Setback:
        """Asks once. Never raises for what the provider does; only cancelling ends it early."""
        from pydantic_ai.messages import ModelRequest
        from pydantic_ai.settings import ModelSettings

        from ragvigil.llm.setback import may_be_the_form, setback_of

        wanted = _asking_for(form, self._model, reply_form)
        asked = ModelSettings(temperature=0.0, max_tokens=self._settings.max_output_tokens)
        said = prompt if reply_form is ReplyForm.JSON_SCHEMA else prompt + _in_words(form)
        messages = [ModelRequest.user_text_prompt(said)]
        # The border with the SDKs: what they raise for a body of the wrong form is any exception.
        try:
            with untraced():
                got = await self._model.request([*messages], asked, wanted)
            sent = _sent(got)
        except Exception as error:
            setback = setback_of(error, self._clock(), prompt)
            if may_be_the_form(error):
                self.forms.failed(reply_form, is_named=setback.refuses_form)
            return setback
        self.forms.worked(reply_form)
        return sent

    def most_of(self, conversation: Conversation) -> Usage:
        """The most that a turn of a conversation can cost."""
        return Usage(
            input_tokens=conversation.most_input_tokens + OVERHEAD_TOKENS,
            output_tokens=self._settings.max_output_tokens,
        )

    async def exchange(self, conversation: Conversation) -> Said | Setback:
        """Asks once for the next turn. Never raises for what the provider does."""
        from pydantic_ai.settings import ModelSettings

        from ragvigil.llm.exchange import messages, parameters, said
        from ragvigil.llm.setback import setback_of

        asked = ModelSettings(temperature=0.0, max_tokens=self._settings.max_output_tokens)
        try:  # the border with the SDKs, as in `send`
            with untraced():
                got = await self._model.request(
                    messages(conversation), asked, parameters(conversation)
                )
            return said(got, _known(got.usage.input_tokens, got.usage.output_tokens))
        except Exception as error:
            return setback_of(error, self._clock())

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()


def _sent(got: ModelResponse) -> Sent:
    from pydantic_ai.messages import ToolCallPart

    calls = [part.args_as_json_str() for part in got.parts if isinstance(part, ToolCallPart)]
    return Sent(
        text="".join(calls) or got.text or "",
        model=got.model_name or "",
        usage=_known(got.usage.input_tokens, got.usage.output_tokens),
        ended=str(got.finish_reason or ""),
    )


def _known(input_tokens: int, output_tokens: int) -> Usage | None:
    """The usage as the provider tells it; None where that cannot be true."""
    if 0 < input_tokens <= MOST_TOKENS and 0 <= output_tokens <= MOST_TOKENS:
        return Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    return None


@lru_cache(maxsize=256)
def _schema(form: type[BaseModel]) -> dict[str, Any]:
    return form.model_json_schema()


def _in_words(form: type[BaseModel]) -> str:
    return WITH_SCHEMA + json.dumps(_schema(form))


def _asking_for(
    form: type[BaseModel], model: Model, reply_form: ReplyForm
) -> ModelRequestParameters:
    """The form as the provider's own strict schema, else as a tool that must be called.

    Where the schema stands in the prompt, as any JSON object, or as text.
    """
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    schema = _schema(form)
    if reply_form is ReplyForm.TEXT:
        return ModelRequestParameters()
    if reply_form is ReplyForm.JSON_OBJECT:
        plain = OutputObjectDefinition(json_schema=schema, name="answer")
        return ModelRequestParameters(
            output_mode="prompted", output_object=plain, prompted_output_template=False
        )
    if model.profile.get("supports_json_schema_output", False):
        described = OutputObjectDefinition(json_schema=schema, name="answer", strict=True)
        return ModelRequestParameters(output_mode="native", output_object=described)
    tool = ToolDefinition(
        name="answer",
        description="Gives the answer.",
        parameters_json_schema=schema,
        kind="output",
        strict=True,
    )
    return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)


def _opened(settings: LlmSettings, http: AsyncClient) -> Model:
    """The model, with the provider's SDK imported. Raises NotConfigured."""
    provider, _, name = settings.model.partition(":")
    if provider == "openai":
        return _openai(settings, name, http)
    if provider == "anthropic":
        return _anthropic(settings, name, http)
    if provider == "bedrock":
        return _bedrock(settings, name)
    raise NotConfigured("no model is configured")


def _openai(settings: LlmSettings, name: str, http: AsyncClient) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(
        api_key=_key(settings),
        base_url=settings.base_url or None,
        http_client=http,
        max_retries=0,
        timeout=settings.timeout_seconds,
    )
    return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client))


def _anthropic(settings: LlmSettings, name: str, http: AsyncClient) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(
        api_key=_key(settings),
        base_url=settings.base_url or None,
        http_client=http,
        max_retries=0,
        timeout=settings.timeout_seconds,
    )
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))


def _bedrock(settings: LlmSettings, name: str) -> Model:
    try:
        import boto3
        from botocore.config import Config
    except ImportError as error:
        raise NotConfigured("Bedrock needs its SDK: pip install 'ragvigil[bedrock]'") from error
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    config = Config(
        retries={"total_max_attempts": 1},
        read_timeout=settings.timeout_seconds,
        connect_timeout=settings.timeout_seconds,
        max_pool_connections=settings.concurrency,
    )
    client = boto3.client("bedrock-runtime", endpoint_url=settings.base_url or None, config=config)
    return BedrockConverseModel(name, provider=BedrockProvider(bedrock_client=client))


def _key(settings: LlmSettings) -> str:
    """The key; an endpoint of one's own may need none, but the SDKs need a word in its place."""
    key = api_key(settings)
    if not key and not settings.base_url:
        variable = PROVIDERS[settings.model.partition(":")[0]]
        raise NotConfigured(f"a key is missing: key_file, or {variable} in the environment")
    return key or "none"


def _http(settings: LlmSettings, chance: random.Random) -> AsyncClient:
    from ragvigil.llm.transport import bounded_client

    return bounded_client(
        most_bytes=settings.max_reply_bytes, connections=settings.concurrency, chance=chance
    )
