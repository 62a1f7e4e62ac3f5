"""Settings of `[golden]`; the descriptions are the documentation."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

JSON_PATH = re.compile(r"[^.\s\[\]]+(\.[^.\s\[\]]+|\[\d+\]|\[\*\])*")
NAME = re.compile(r"[^<>\r\n\x00]+")


class TargetSettings(BaseModel):
    """`[golden.target]`: the service that answers a case's question when the case is run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str = Field(
        default="",
        description="HTTP address that a question is posted to as JSON; `{route}` in its path "
        "stands for the case's route. Empty: the case's stored trace is scored again instead",
    )
    question: str = Field(
        default="question", description="path of the question in the body: `input.messages[0].text`"
    )
    body: dict[str, str] = Field(default={}, description="further keys of the body, by their path")
    answer: str = Field(default="answer", description="path of the answer in the reply")
    chunk_ids: str = Field(
        default="",
        description="path of the retrieved chunks' ids in the reply: `chunks[*].id`",
    )
    chunk_texts: str = Field(
        default="", description="path of the retrieved chunks' texts in the reply"
    )
    prompt_ids: str = Field(
        default="", description="path of the ids of the chunks that reached the prompt"
    )
    prompt_texts: str = Field(default="", description="path of their texts")
    model: str = Field(
        default="",
        description="path of the name of the model that answered: a judge is not to judge itself",
    )
    context: str = Field(
        default="",
        description="path of a list in the body that takes texts to answer from instead of "
        "retrieving; empty: the target takes none",
    )
    token: SecretStr | None = Field(default=None, description="sent as `Authorization: Bearer`")
    timeout_seconds: float = Field(
        default=20.0,
        gt=0,
        le=25,
        description="timeout of a request, until the last byte of the answer",
    )
    trace_seconds: float = Field(
        default=10.0,
        gt=0,
        le=600,
        description="wait of `ragvigil evaluate --traced` for the first span of an answer",
    )

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError(f"{url} is not an address that begins with http:// or https://")
        if "{" in url.replace("{route}", "") or "{" in parts.netloc:
            raise ValueError(f"{url} has a placeholder that is not {{route}} in its path")
        return url

    @field_validator(
        "question",
        "answer",
        "chunk_ids",
        "chunk_texts",
        "prompt_ids",
        "prompt_texts",
        "model",
        "context",
    )
    @classmethod
    def _is_a_path(cls, path: str) -> str:
        if path and JSON_PATH.fullmatch(path) is None:
            raise ValueError(f"{path} is not a path like answer, data.text or chunks[*].id")
        return path


class GoldenSettings(BaseModel):
    """Where the golden set lies, who may sign, and how its cases are run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    repository: Path | None = Field(
        default=None,
        description="top folder of the git work tree with the set; without it cases can be "
        "proposed and edited, but not signed",
    )
    file: str = Field(
        default="golden.jsonl",
        description="the set's file in that folder; point `[scorers] golden` at the same file",
    )
    author_name: str = Field(default="ragvigil", description="author and committer of the commits")
    author_email: str = Field(
        default="ragvigil@localhost", description="email address of the commits"
    )
    two_people: bool = Field(
        default=True, description="whoever proposed or edited a case may not sign it"
    )
    near: float = Field(
        default=0.85,
        ge=0.5,
        le=1,
        description="likeness of two questions' letters from which they count as duplicates",
    )
    near_meaning: float = Field(
        default=0.9,
        ge=0.5,
        le=1,
        description="cosine of their vectors from which they do, where local models run",
    )
    run_hours: float = Field(
        default=24.0,
        gt=0,
        le=24 * 30,
        description="hours between runs of a case; without `[golden.target] url` until it passes",
    )
    target: TargetSettings = TargetSettings()

    @field_validator("file")
    @classmethod
    def _is_within(cls, name: str) -> str:
        path = PurePosixPath(name)
        if not path.name or path.is_absolute() or {"..", ".git"} & set(path.parts) or "\\" in name:
            raise ValueError(f"{name!r} is not a file within the repository")
        return str(path)

    @field_validator("author_name", "author_email")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if NAME.fullmatch(name.strip()) is None:
            raise ValueError(f"{name!r} is not a name that a commit can carry")
        return name.strip()
