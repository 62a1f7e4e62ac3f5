"""Decides the route under which an answer is counted; keeps the number of names small."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from collector.claims.claim import Field
from collector.claims.recover import text
from collector.record.tree import Node
from ragvigil.model.span import SpanKind

OTHER = "__other__"
LIMIT = 200
LONGEST = 300
"""Characters of a name; the rest is cut off."""
UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
# In this order: an e-mail address, UUID or date contains what the later patterns match.
TEMPLATES = (
    (re.compile(r"[\w.+-]+(?:@|%40)[\w-]+\.[\w.-]+"), "{email}"),
    (re.compile(rf"(?<![0-9A-Za-z-]){UUID}(?![\w-])"), "{uuid}"),
    (re.compile(r"(?<![\w-])\d{4}-\d{2}-\d{2}(?:T[\d:.+Z-]*)?(?![\w-])"), "{date}"),
    (re.compile(r"(?<![\w-])(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{12,}(?![\w-])"), "{hex}"),
    (re.compile(r"(?<![\w{}.])\d+(?:[.,:_-]\d+)*(?![\w}])"), "{number}"),
    (re.compile(r"(?<![^/\s])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{16,}(?![^/\s])"), "{id}"),
)
PATH_ATTRIBUTES = ("url.path", "http.target", "url.full", "http.url")
ENVIRONMENT = ("deployment.environment.name", "deployment.environment")


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRules:
    """The user's rules, pairs of pattern and template, tried in order before anything else.

    A template may use the pattern's groups (`\\1`).
    """

    rules: tuple[tuple[re.Pattern[str], str], ...] = ()

    @classmethod
    def of(cls, rules: Mapping[str, str]) -> RouteRules:
        """Rules from the regular expressions of the settings; raises re.error on a faulty one."""
        return cls(
            rules=tuple((re.compile(expression), name) for expression, name in rules.items())
        )

    def apply(self, route: str) -> str | None:
        """The name by the first rule that matches the whole route; None if none matches."""
        for pattern, template in self.rules:
            match = pattern.fullmatch(route)
            if match is not None:
                return match.expand(template)
        return None


class RouteCap:
    """Admits `limit` distinct routes per service; later ones are counted as `__other__`."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._seen: dict[str, set[str]] = {}

    def admit(self, service: str, route: str) -> str:
        """The route itself if it is known or there is room, else `__other__`."""
        routes = self._seen.setdefault(service, set())
        if route in routes:
            return route
        if len(routes) >= self._limit:
            return OTHER
        routes.add(route)
        return route

    def take(self, other: RouteCap) -> bool:
        """Admits the routes of another cap; False if there was not room for all."""
        pairs = [(service, route) for service, routes in other._seen.items() for route in routes]
        admitted = [self.admit(service, route) == route for service, route in pairs]
        return all(admitted)

    def copy(self) -> RouteCap:
        """An independent copy."""
        other = RouteCap(self._limit)
        other.take(self)
        return other


def templated(name: str) -> str:
    """Replaces numbers, ids, dates and e-mail addresses in a name by placeholders.

    >>> templated("/orders/1234/items"), templated("/v1/ask")
    ('/orders/{number}/items', '/v1/ask')
    >>> templated("/u/ann@example.org/2026-08-01")
    '/u/{email}/{date}'
    """
    name = name[:LONGEST]
    # Most routes are plain words and skip six expressions.
    if name.isascii() and name.replace("/", "").replace("_", "").isalpha():
        return name
    for pattern, template in TEMPLATES:
        name = pattern.sub(template, name)
    return name


def route_of(root: Node, answering: Node | None, members: Iterable[Node], rules: RouteRules) -> str:
    """The route: declared, else of the nearest SERVER span, else the application's name for it."""
    declared = next((route for node in members if (route := _claim(node, Field.ROUTE))), "")
    if declared:
        return declared
    raw = _server_route(root, answering) or _application_name(root, answering) or _service(root)
    return rules.apply(raw) or templated(raw)


def entry_route_of(root: Node, rules: RouteRules) -> str:
    """The route of the outermost SERVER span at or above the record's root, else empty."""
    chain = [root, *root.above()]
    for node in reversed(chain):
        route = _server(node)
        if route:
            return rules.apply(route) or templated(route)
    return ""


def _claim(node: Node, field: Field) -> str:
    return text(node.reading.get(field)) if node.reading is not None else ""


def _server_route(root: Node, answering: Node | None) -> str:
    """The route of the nearest SERVER span at or above the root, else between root and answer."""
    for node in (root, *root.above()):
        route = _server(node)
        if route:
            return route
    for node in answering.above() if answering is not None else ():
        if node is root:
            break
        route = _server(node)
        if route:
            return route
    return ""


def _server(node: Node) -> str:
    """The route of an entry span: `http.route`, path, RPC method or message destination."""
    if node.reading is None:
        return ""
    attributes, kind = node.reading.span.attributes, node.reading.span.kind
    route = text(attributes.get("http.route"))
    if kind not in (SpanKind.SERVER, SpanKind.CONSUMER):
        return route if kind is not SpanKind.CLIENT else ""
    return route or _path(attributes) or _rpc(attributes) or _messaging(attributes)


def _path(attributes: Mapping[str, object]) -> str:
    for name in PATH_ATTRIBUTES:
        path = text(attributes.get(name))
        if path:
            without_query = path.partition("?")[0].partition("#")[0]
            _, scheme, rest = without_query.partition("://")
            return "/" + rest.partition("/")[2] if scheme else without_query
    return ""


def _rpc(attributes: Mapping[str, object]) -> str:
    service, method = text(attributes.get("rpc.service")), text(attributes.get("rpc.method"))
    return f"{service}/{method}" if service and method else service or method


def _messaging(attributes: Mapping[str, object]) -> str:
    names = ("messaging.destination.name", "messaging.destination", "faas.name",
             "graphql.operation.name")  # fmt: skip
    return next((name_ for name in names if (name_ := text(attributes.get(name)))), "")


def _application_name(root: Node, answering: Node | None) -> str:
    """The workflow's name, else the agent's, else that of the topmost span."""
    chain = [node for node in (root, *root.above()) if node.reading is not None]
    below = [] if answering is None else [node for node in answering.above() if node.reading]
    for field in (Field.WORKFLOW, Field.AGENT_NAME):
        for node in (*chain, *below):
            name_ = _claim(node, field)
            if name_:
                return name_
    top = chain[-1] if chain else answering
    return top.reading.span.name if top is not None and top.reading is not None else ""


def _service(root: Node) -> str:
    return text(root.reading.span.resource.attributes.get("service.name")) if root.reading else ""
