"""Feedback, deploy marks and labels as they are posted, and the ids that they get."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

NAMESPACE = uuid.UUID("6f7b1c9e-5d0e-4f0a-9a53-2b8f3f1c7d10")
"""Never changes: the same post must have the same id in every release."""
YEARS = (datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC))


def _printable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("holds a NUL character")
    return text


def _storable(time: datetime) -> datetime:
    if not YEARS[0] <= time < YEARS[1]:
        raise ValueError("lies outside the years 2000 to 2199")
    return time


def _direction(value: object) -> object:
    """Accepts thumbs as words, booleans or numbers: 1 good, 0 bad."""
    words = {"up": 1.0, "down": 0.0, True: 1.0, False: 0.0}
    return words.get(value, value) if isinstance(value, str | bool) else value


Name = Annotated[str, Field(max_length=256), AfterValidator(_printable)]
Text = Annotated[str, Field(max_length=10_000), AfterValidator(_printable)]
Time = Annotated[AwareDatetime, AfterValidator(_storable)]
Hex = r"^[0-9a-fA-F]*$"
PASS_WORDS = {"pass": 1.0, "good": 1.0, "true": 1.0, "fail": 0.0, "bad": 0.0, "false": 0.0}
MOST_LABELS = 1000
"""Labels in one request."""


class PersonalPost(BaseModel):
    """What a person posts. Whose it is, the request itself shows: a body names nobody."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _names_nobody(cls, body: object) -> object:
        for name in ("actor", "labeller"):
            if isinstance(body, Mapping) and name in body:
                raise ValueError(f"who acts is whose token it is: take `{name}` out of the body")
        return body


class FeedbackPost(BaseModel):
    """A user's feedback on an answer, named by trace, span, session or response id."""

    model_config = ConfigDict(extra="forbid")

    trace_id: Annotated[str, Field(max_length=32, pattern=Hex)] = ""
    span_id: Annotated[str, Field(max_length=16, pattern=Hex)] = ""
    session_id: Name = ""
    response_id: Name = Field(default="", description="the model provider's id of the response")
    kind: Literal["thumbs", "escalation", "correction", "retry", "rating"]
    value: Annotated[float | None, Field(ge=0, le=1), BeforeValidator(_direction)] = Field(
        default=None, description="1 good to 0 bad; `up`, `down`, true and false are understood"
    )
    comment: Text = Field(default="", description="words, or the corrected answer")
    source: Name = "api"
    time: Time | None = Field(default=None, description="when it was given; default now")

    @model_validator(mode="after")
    def _names_an_answer(self) -> FeedbackPost:
        if not (self.trace_id or self.span_id or self.session_id or self.response_id):
            raise ValueError("one of trace_id, span_id, session_id and response_id is needed")
        if self.kind in {"thumbs", "rating"} and self.value is None:
            raise ValueError(f"{self.kind} needs a value, 1 good to 0 bad")
        return self


class DeployPost(BaseModel):
    """A change of a service, marked by hand."""

    model_config = ConfigDict(extra="forbid")

    service: Annotated[Name, Field(min_length=1)]
    environment: Name = ""
    version: Name = Field(default="", description="of the service, prompt, index or model")
    description: Text = Field(default="", description="what changed, in words")
    kind: Name = Field(default="deploy", description="what changed: deploy, prompt, index, model")
    source: Name = "api"
    time: Time | None = Field(default=None, description="when it went live; default now")


def _passed(value: object) -> object:
    """Accepts pass and fail as words, booleans or numbers."""
    return PASS_WORDS.get(str(value).lower(), value) if isinstance(value, str | bool) else value


class LabelPost(PersonalPost):
    """A person's verdict on an answer by one rubric: a value, a word, or both."""

    label_id: Name = Field(
        default="",
        description="the same id again replaces the label; default one per rubric, record and "
        "labeller",
    )
    rubric: Annotated[Name, Field(min_length=1)]
    trace_id: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{32}$")]
    record_id: Annotated[str, Field(pattern=r"^([0-9a-fA-F]{16})?$")] = Field(
        default="", description="needed where the trace has several records"
    )
    value: Annotated[float | None, Field(ge=0, le=1), BeforeValidator(_passed)] = Field(
        default=None, description="1 good to 0 bad; `pass`, `fail`, true and false are understood"
    )
    label: Name = Field(default="", description="the rubric's word, such as `refused`")
    source: Name = "api"
    comment: Text = ""
    time: Time | None = Field(default=None, description="when it was given; default now")

    @model_validator(mode="after")
    def _says_something(self) -> LabelPost:
        if self.value is None:
            self.value = PASS_WORDS.get(self.label.lower())
        if self.value is None and not self.label:
            raise ValueError("a value, 1 good to 0 bad, or a label in words is needed")
        return self


LabelPosts = Annotated[
    Annotated[LabelPost, Tag("one")]
    | Annotated[list[LabelPost], Field(min_length=1, max_length=MOST_LABELS), Tag("many")],
    Discriminator(lambda body: "many" if isinstance(body, list) else "one"),
]
"""One label or a list of them."""


class Accepted(BaseModel):
    """The id under which a post is stored; the same post again has the same id."""

    id: str
    matched: bool = Field(description="whether the answer it names is stored already")


class LabelsAccepted(BaseModel):
    """One entry a label, in the order of the post."""

    labels: list[Accepted]


class DeployForm(BaseModel):
    """A stored deploy mark."""

    id: str
    service: str
    environment: str
    version: str
    kind: str
    description: str
    source: str
    time: datetime


class DeploysForm(BaseModel):
    """Deploy marks, newest first."""

    deploys: list[DeployForm]


def post_id(post: FeedbackPost | DeployPost, time: datetime) -> str:
    """The id of a post made at `time`: equal posts have equal ids."""
    content = post.model_copy(update={"time": time}).model_dump_json()
    return str(uuid.uuid5(NAMESPACE, content))


def label_id(post: LabelPost, labeller: str) -> str:
    """The id of a label: its own, else one made of its rubric, record and labeller.

    So a labeller's second label of a record replaces the first.
    """
    if post.label_id:
        return post.label_id
    parts = (post.rubric, post.trace_id.lower(), post.record_id.lower(), labeller)
    return str(uuid.uuid5(NAMESPACE, "label\x00" + "\x00".join(parts)))
