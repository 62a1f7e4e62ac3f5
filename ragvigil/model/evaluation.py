"""OpenTelemetry's name for evaluation results, and the mark of those that ragvigil exports."""

from __future__ import annotations

from ragvigil.model.span import Attributes, Scope

EVENT = "gen_ai.evaluation.result"
SCOPE = "ragvigil"
"""The instrumentation scope, and the service name, of exported results."""
OWN = "ragvigil.evaluator"
"""An attribute that only exported results have, because a Collector may rename scopes."""


def is_own_result(scope: Scope, attributes: Attributes) -> bool:
    """Whether a span or log record is a result that ragvigil exported itself.

    >>> is_own_result(Scope(name="ragvigil"), {}), is_own_result(Scope(), {OWN: "judge"})
    (True, True)
    >>> is_own_result(Scope(name="helpdesk"), {"gen_ai.evaluation.name": "thumbs"})
    False
    """
    return scope.name == SCOPE or OWN in attributes
