"""One request to a provider: OpenAI and what speaks its protocol, Anthropic, Amazon Bedrock.

pydantic-ai implements the protocols. Its own retries, and those of the SDKs, are off: the client
retries, so that every attempt is counted, paid for and bounded. Bedrock's SDK is synchronous: a
cancelled attempt ends in its thread by the same timeout, and its replies are bounded by
`max_output_tokens`, not by bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import BaseModel

from ragvigil.extras import JUDGES, missing
from ragvigil.llm.conversation import AssistantMessage, Conversation
from ragvigil.llm.guard import untraced
from ragvigil.llm.outcome import Setback, Usage
from ragvigil.llm.reply_form import ReplyForm, ReplyForms
from ragvigil.llm.settings import PROVIDERS, LlmSettings, api_key, reply_forms
from ragvigil.model.endpoint import is_loopback

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters

OVERHEAD_TOKENS = 1024
"""An allowance for what a protocol adds to a prompt: roles, the tool or form around a schema."""
WITH_SCHEMA = "\n\nReply with one JSON object that fits this JSON schema, and with nothing else:\n"
MOST_TOKENS = 1_000_000_000
"""No call uses more: a provider that reports more is not believed."""


class NotConfigured(ValueError):
    """The settings name no usable model; the text says what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The text of a response; `usage` is None if the provider did not report it.

    `ended` is the provider's reason for its end: stop, length, content_filter, ...
    """

    text: str
    model: str
    usage: Usage | None
    ended: str


class Endpoint:
    """The configured model at its provider; `close` closes its connections."""

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
        """The address that texts are sent to."""
        return str(self._model.base_url or "")

    def most_usage(self, prompt: str, form: type[BaseModel]) -> Usage:
        """An upper bound of what a request can use: no token is shorter than one byte."""
        schema = len(json.dumps(_schema(form)).encode())
        text = len(prompt.encode("utf-8", "replace"))
        return Usage(
            input_tokens=text + 2 * schema + OVERHEAD_TOKENS,
            output_tokens=self._settings.max_output_tokens,
        )

    async def send(
        self, prompt: str, form: type[BaseModel], reply_form: ReplyForm
    ) -> Sent | Setback:
        """Sends one request; never raises for what the provider does."""
        from pydantic_ai.messages import ModelRequest
        from pydantic_ai.settings import ModelSettings

        from ragvigil.llm.setback import may_be_the_form, setback_of

        parameters = _parameters(form, self._model, reply_form)
        options = ModelSettings(temperature=0.0, max_tokens=self._settings.max_output_tokens)
        text = prompt if reply_form is ReplyForm.JSON_SCHEMA else prompt + _schema_prompt(form)
        messages = [ModelRequest.user_text_prompt(text)]
        # The border with the SDKs: for a malformed body they raise any exception.
        try:
            with untraced():
                response = await self._model.request([*messages], options, parameters)
            sent = _sent(response)
        except Exception as error:
            setback = setback_of(error, self._clock(), prompt)
            if may_be_the_form(error):
                self.forms.failed(reply_form, is_named=setback.refuses_form)
            return setback
        self.forms.worked(reply_form)
        return sent

    def most_of(self, conversation: Conversation) -> Usage:
        """An upper bound of what a turn of a conversation can use."""
        return Usage(
            input_tokens=conversation.most_input_tokens + OVERHEAD_TOKENS,
            output_tokens=self._settings.max_output_tokens,
        )

    async def exchange(self, conversation: Conversation) -> AssistantMessage | Setback:
        """Sends one request for the next turn; never raises for what the provider does."""
        from pydantic_ai.settings import ModelSettings

        from ragvigil.llm.exchange import message_of, messages, parameters
        from ragvigil.llm.setback import setback_of

        options = ModelSettings(temperature=0.0, max_tokens=self._settings.max_output_tokens)
        try:  # the border with the SDKs, as in `send`
            with untraced():
                response = await self._model.request(
                    messages(conversation), options, parameters(conversation)
                )
            return message_of(response, _usage(response))
        except Exception as error:
            return setback_of(error, self._clock())

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()


def _sent(response: ModelResponse) -> Sent:
    from pydantic_ai.messages import ToolCallPart

    calls = [part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart)]
    return Sent(
        text="".join(calls) or response.text or "",
        model=response.model_name or "",
        usage=_usage(response),
        ended=str(response.finish_reason or ""),
    )


def _usage(response: ModelResponse) -> Usage | None:
    """The usage that the provider reports; None if it cannot be true."""
    input_tokens, output_tokens = response.usage.input_tokens, response.usage.output_tokens
    if 0 < input_tokens <= MOST_TOKENS and 0 <= output_tokens <= MOST_TOKENS:
        return Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    return None


@lru_cache(maxsize=256)
def _schema(form: type[BaseModel]) -> dict[str, Any]:
    return form.model_json_schema()


def _schema_prompt(form: type[BaseModel]) -> str:
    return WITH_SCHEMA + json.dumps(_schema(form))


def _parameters(
    form: type[BaseModel], model: Model, reply_form: ReplyForm
) -> ModelRequestParameters:
    """Asks for the form by the provider's strict schema, else by a tool that must be called.

    JSON_OBJECT asks for any JSON object and TEXT for text: then the schema is in the prompt.
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
    """The model; imports the provider's SDK. Raises NotConfigured."""
    provider, _, name = settings.model.partition(":")
    if provider in JUDGES and (why := missing(JUDGES[provider])):
        raise NotConfigured(why)
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
    import boto3
    from botocore.config import Config
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
    """The key; a server with a `base_url` may need none, but the SDKs refuse an empty one."""
    key = api_key(settings)
    if not key and not settings.base_url:
        variable = PROVIDERS[settings.model.partition(":")[0]]
        raise NotConfigured(f"a key is missing: key_file, or {variable} in the environment")
    return key or "none"


def _http(settings: LlmSettings, chance: random.Random) -> AsyncClient:
    from ragvigil.llm.transport import bounded_client

    host = urlsplit(settings.base_url).hostname or ""
    return bounded_client(
        most_bytes=settings.max_reply_bytes,
        connections=settings.concurrency,
        chance=chance,
        use_proxies=not is_loopback(host),  # a model on this machine needs none
    )
