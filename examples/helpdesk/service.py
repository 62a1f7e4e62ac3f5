"""The service: `python -m examples.helpdesk.service [--port 8099] [--fault NAME[@ROUTE]]`."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import FastAPI, HTTPException, Query
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from opentelemetry.sdk.trace.export import SpanExporter
from pydantic import BaseModel, Field

from examples.helpdesk.answering import answerer_from
from examples.helpdesk.corpus import TOPICS_BY_ROUTE
from examples.helpdesk.faults import EVERYWHERE, Fault, FaultBoard, parse, split_switches
from examples.helpdesk.pipeline import Asked, Helpdesk, Sleep
from examples.helpdesk.retrieval import MiniLm
from examples.helpdesk.telemetry import make_provider

OnRoute = Annotated[str, Query(description="a route, or * for all")]


class Ask(BaseModel):
    """The body of a question."""

    question: str = Field(min_length=1, max_length=2000)
    language: str = "en"
    session: str = ""


class Source(BaseModel):
    """A chunk that the answer was made from."""

    chunk_id: str
    article_id: str
    title: str


class Reply(BaseModel):
    """The answer, its sources and the id to find its trace by."""

    answer: str
    sources: list[Source]
    trace_id: str


def create_app(desk: Helpdesk) -> FastAPI:
    """The five routes and the admin endpoint of the faults."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        desk.warm_up()
        yield
        desk.provider.shutdown()

    app = FastAPI(title="Brewlark help desk", lifespan=lifespan)
    for route in TOPICS_BY_ROUTE:
        app.post(route, response_model=Reply)(_asker(desk, route))
    _add_admin(app, desk.board)
    FastAPIInstrumentor.instrument_app(
        app,
        tracer_provider=desk.provider,
        exclude_spans=["receive", "send"],
        excluded_urls="/admin,/healthz",
    )
    return app


def _asker(desk: Helpdesk, route: str) -> Callable[[Ask], Reply]:
    def ask(body: Ask) -> Reply:
        told = desk.ask(
            Asked(route=route, question=body.question, language=body.language, session=body.session)
        )
        sources = [
            Source(
                chunk_id=chunk.chunk_id,
                article_id=chunk.article.article_id,
                title=chunk.article.title,
            )
            for chunk in told.context
        ]
        return Reply(answer=told.answer, sources=sources, trace_id=told.trace_id)

    return ask


def _add_admin(app: FastAPI, board: FaultBoard) -> None:
    @app.get("/healthz")
    def healthy() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/admin/faults")
    def list_faults() -> dict[str, list[str]]:
        return board.as_dict()

    @app.put("/admin/faults/{name}")
    def turn_on(name: str, route: OnRoute = EVERYWHERE) -> dict[str, list[str]]:
        board.turn_on(_fault(name), route)
        return board.as_dict()

    @app.delete("/admin/faults/{name}")
    def turn_off(name: str) -> dict[str, list[str]]:
        board.turn_off(_fault(name))
        return board.as_dict()


def _fault(name: str) -> Fault:
    try:
        return parse(name)[0]
    except ValueError as error:
        raise HTTPException(404, str(error)) from error


def make_desk(
    switches: list[str],
    exporter: SpanExporter | None = None,
    sleep: Sleep = lambda _: None,
) -> Helpdesk:
    """The service as the environment and the given faults say.

    With `time.sleep` its own model takes the seconds of a hosted one; else it answers at once.
    """
    embedder, spans = MiniLm(), make_provider(exporter)
    return Helpdesk(
        embedder=embedder,
        answerer=answerer_from(os.environ, embedder, spans),
        provider=spans,
        board=FaultBoard(switches),
        sleep=sleep,
    )


def main() -> None:
    """Serves until it is stopped."""
    import uvicorn

    parser = argparse.ArgumentParser(description="A small RAG service with ten faults.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8099)
    parser.add_argument(
        "--fault",
        action="append",
        default=split_switches(os.environ.get("HELPDESK_FAULTS", "")),
        metavar="NAME[@ROUTE]",
        help=f"one of {', '.join(Fault)}; may be given several times",
    )
    options = parser.parse_args()
    try:
        desk = make_desk(options.fault, sleep=time.sleep)
    except ValueError as error:
        parser.error(str(error))
    uvicorn.run(create_app(desk), host=options.host, port=options.port, log_level="warning")


if __name__ == "__main__":
    main()
