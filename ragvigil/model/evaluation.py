"""Results as OpenTelemetry names them, and the mark of those that this house has exported."""

from __future__ import annotations

from ragvigil.model.span import Attributes, Scope

EVENT = "gen_ai.evaluation.result"
SCOPE = "ragvigil"
"""The instrumentation scope, and the service name, of what this house exports."""
OWN = "ragvigil.evaluator"
"""The attribute that only exported results have; a Collector may rename scopes."""


def is_own_result(scope: Scope, attributes: Attributes) -> bool:
    """Whether a span or log record is a result that this house exported and that came back.

    >>> is_own_result(Scope(name="ragvigil"), {}), is_own_result(Scope(), {OWN: "judge"})
    (True, True)
    >>> is_own_result(Scope(name="helpdesk"), {"gen_ai.evaluation.name": "thumbs"})
    False
    """
    return scope.name == SCOPE or OWN in attributes
