"""A Python function as a target: `module:function`, called with a question."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragvigil.evaluation.target.reply import Asked, NoAnswer, plain_paths, record_of
from ragvigil.evaluation.target.wrong import BadTarget
from ragvigil.model.record import RagRecord

CONTEXT = "context"
"""The parameter by which a function says that it takes texts to answer from."""


class FunctionTarget:
    """Calls a function with the question, and with `context` where it has such a parameter.

    It returns the answer as a text, or what a URL would reply: an object with `answer` and the
    other keys of `[golden.target]`. Raises BadTarget where there is no such function.
    """

    is_recorded = False

    def __init__(self, name: str) -> None:
        self.name = name
        self._call = _function(name)
        self.takes_context = CONTEXT in inspect.signature(self._call).parameters

    def reply(self, asked: Asked, context: Sequence[str] | None) -> Any:
        """What the function returns. Raises NoAnswer where it raises."""
        given = {} if context is None else {CONTEXT: list(context)}
        try:
            reply = self._call(asked.question, **given)
        except Exception as error:  # the border with code that is not ours
            raise NoAnswer(f"raised {type(error).__name__}: {error}") from error
        return {"answer": reply} if isinstance(reply, str) else reply

    def record(self, asked: Asked, reply: object) -> RagRecord:
        """What the reply shows. Raises NoAnswer."""
        return record_of(asked, reply, plain_paths(reply))


def _function(name: str) -> Any:
    module, _, function = name.partition(":")
    if (here := str(Path.cwd())) not in sys.path:
        # As `python -m` does: a service's own module lies where the command is run.
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), function, None)
    except Exception as error:  # its module may raise anything
        raise BadTarget(f"{name}: {module} cannot be imported: {error}") from error
    if not callable(found):
        raise BadTarget(f"{name}: {module} has no function {function}")
    return found
