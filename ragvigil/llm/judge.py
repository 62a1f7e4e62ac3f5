"""The judge's model for other stages: a protocol that the scorers' judge implements."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ragvigil.llm.outcome import Purpose
from ragvigil.llm.settings import LlmSettings
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score

if TYPE_CHECKING:
    from ragvigil.llm.client import Client

Reply = TypeVar("Reply")


class JudgeAccess(Protocol):
    """A judge that may be asked outside its sample; safe to use from any thread."""

    @property
    def reason(self) -> str:
        """Why no model can be asked; empty if one can."""
        ...

    @property
    def model_settings(self) -> LlmSettings | None:
        """Settings of the model that can be asked now; None if none can."""
        ...

    def judge_now(
        self, records: Sequence[RagRecord], purpose: Purpose, rubrics: Sequence[str] = ()
    ) -> list[tuple[Score, ...]] | None:
        """New scores of each record, asked now; None while there is no judge. Blocks.

        `rubrics` names the configured rubrics to ask; empty asks all of them.
        """
        ...

    def with_client(self, asks: Callable[[Client], Coroutine[Any, Any, Reply]]) -> Reply | None:
        """Runs a request on the judge's own loop; None without a model. Blocks.

        Raises CancelledError if the judge stops meanwhile.
        """
        ...
