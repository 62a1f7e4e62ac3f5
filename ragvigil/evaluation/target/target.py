"""Targets: each is asked a case's question and gives its reply as JSON.

>>> kind_of("https://desk.example/ask"), kind_of("desk.app:answer"), kind_of("answers.jsonl")
('url', 'function', 'file')
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from clustering.golden.settings import TargetSettings
from ragvigil.evaluation.target.function import FunctionTarget
from ragvigil.evaluation.target.recorded import RecordedTarget
from ragvigil.evaluation.target.reply import Asked, record_of
from ragvigil.evaluation.target.url import ask
from ragvigil.model.record import RagRecord

FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class Target(Protocol):
    """What is evaluated."""

    name: str
    """Names it in reports and in the cache; holds no secret."""
    takes_context: bool
    """Whether it can be given texts to answer from instead of those that it would retrieve."""
    is_recorded: bool
    """Whether nothing is asked, so that there is nothing to keep."""

    def reply(self, asked: Asked, context: Sequence[str] | None) -> Any:
        """The reply to a question, as JSON; may be called by several threads. Raises NoAnswer."""
        ...

    def record(self, asked: Asked, reply: object) -> RagRecord:
        """What a reply shows. Raises NoAnswer where it has another form."""
        ...


class UrlTarget:
    """A service behind a URL, as `[golden.target]` describes its body and its reply."""

    is_recorded = False

    def __init__(self, settings: TargetSettings) -> None:
        self._settings = settings
        self.name = settings.url.partition("?")[0]
        self.takes_context = bool(settings.context)

    def reply(self, asked: Asked, context: Sequence[str] | None) -> Any:
        """Posts the question. Raises NoAnswer."""
        return ask(asked, self._settings, context)

    def record(self, asked: Asked, reply: object) -> RagRecord:
        """What a reply shows, by the configured paths. Raises NoAnswer."""
        return record_of(asked, reply, self._settings)


def kind_of(name: str) -> str:
    """What `--target` names: `url`, `function` or `file`."""
    if name.startswith(("http://", "https://")):
        return "url"
    return "function" if FUNCTION.fullmatch(name) else "file"


def target_of(name: str, settings: TargetSettings) -> Target:
    """The target that a name stands for. Raises BadTarget, and pydantic's ValidationError."""
    kind = kind_of(name)
    if kind == "function":
        return FunctionTarget(name)
    if kind == "file":
        return RecordedTarget(Path(name))
    return UrlTarget(TargetSettings(**settings.model_dump() | {"url": name}))
