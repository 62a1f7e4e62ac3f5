"""The ten faults that this service can be told to have, each on one route or on all."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

EVERYWHERE = "*"


class Fault(StrEnum):
    """What a one-line change to a real RAG service does wrong."""

    CHUNKER_CHANGE = "chunker_change"
    EMBEDDER_CHANGE = "embedder_change"
    RERANKER_OFF = "reranker_off"
    TOP_K_DOUBLED = "top_k_doubled"
    DROPPED_CITATIONS = "dropped_citations"
    FABRICATED_QUOTES = "fabricated_quotes"
    TRUNCATION = "truncation"
    OVER_REFUSAL = "over_refusal"
    STALE_CORPUS = "stale_corpus"
    INJECTED_DOCUMENT = "injected_document"


class FaultBoard:
    """Which faults are on, and where. Settings look like `fabricated_quotes@/refunds/ask`."""

    def __init__(self, switches: Iterable[str] = ()) -> None:
        self._routes: dict[Fault, set[str]] = {}
        for switch in switches:
            fault, route = parse(switch)
            self.turn_on(fault, route)

    def turn_on(self, fault: Fault, route: str = EVERYWHERE) -> None:
        """Switches a fault on for a route, or for all of them."""
        self._routes.setdefault(fault, set()).add(route)

    def turn_off(self, fault: Fault) -> None:
        """Switches a fault off on every route."""
        self._routes.pop(fault, None)

    def on(self, route: str) -> frozenset[Fault]:
        """The faults that requests of a route have now."""
        return frozenset(
            fault for fault, routes in self._routes.items() if routes & {route, EVERYWHERE}
        )

    def as_dict(self) -> dict[str, list[str]]:
        """Fault to routes, for the admin endpoint."""
        return {fault.value: sorted(routes) for fault, routes in self._routes.items()}


def parse(switch: str) -> tuple[Fault, str]:
    """Reads one switch; raises ValueError that lists the faults there are.

    >>> parse("truncation@/chat")
    (<Fault.TRUNCATION: 'truncation'>, '/chat')
    """
    name, _, route = switch.strip().partition("@")
    if name not in set(Fault):
        raise ValueError(f"{name!r} is not a fault; choose from {', '.join(Fault)}")
    return Fault(name), route or EVERYWHERE


def split_switches(text: str) -> list[str]:
    """The switches of an environment variable, separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]
