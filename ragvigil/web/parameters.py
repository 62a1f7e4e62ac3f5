"""What may stand in the query string of a request to the API."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from ragvigil.web.permissions import Requires


def known_parameters(request: Request) -> None:
    """A dependency of every route of the API.

    Raises HTTPException where the request has not the route's permission. Raises
    RequestValidationError (422) for a parameter that the route does not have, which would otherwise
    be a filter that filters nothing, and for a rubric that does not exist.
    """
    route = request.scope["route"]
    assert isinstance(route, APIRoute)
    for dependency in route.dependencies:
        if isinstance(dependency.dependency, Requires):
            dependency.dependency(request)  # who may not ask at all is told that, and no more
    names = list(query_names(route.dependant))
    problems = [
        _problem(name, f"there is no such parameter; {_listed(names)}")
        for name in dict.fromkeys(request.query_params)
        if name not in names
    ]
    rubrics = sorted(request.app.state.judges.rubrics())
    for name in request.query_params.getlist("rubric") if "rubric" in names and rubrics else ():
        rubric = name.partition(":")[0]  # the rate of a label
        if rubric and rubric not in rubrics:
            problems.append(_problem("rubric", f"there is no rubric {rubric}; {_listed(rubrics)}"))
    if problems:
        raise RequestValidationError(problems)


def query_names(dependant: Dependant) -> Iterator[str]:
    """The query parameters of a route, those of its dependencies included."""
    for dependency in dependant.dependencies:
        yield from query_names(dependency)
    yield from (parameter.alias for parameter in dependant.query_params)


def _problem(name: str, message: str) -> dict[str, object]:
    return {"loc": ("query", name), "msg": message}


def _listed(names: list[str]) -> str:
    return f"there are {', '.join(names)}" if names else "there are none"
