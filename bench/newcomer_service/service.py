"""A help desk behind FastAPI, traced as a new user traces it, with a log of what it really did."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path

import journal
import prompts
import search
import telemetry
import uvicorn
from corpus import Ticket
from fastapi import FastAPI, HTTPException
from opentelemetry import trace


def application(desk: dict[str, Callable[[Ticket], str]], log: Path) -> FastAPI:
    """One POST route for each way to answer."""
    app = FastAPI()
    for name, answer in desk.items():
        app.post(f"/{name}")(_endpoint(answer, log))
    return app


def _endpoint(answer: Callable[[Ticket], str], log: Path) -> Callable[[Ticket], dict[str, str]]:
    def ask(ticket: Ticket) -> dict[str, str]:
        span = trace.get_current_span().get_span_context()
        row: journal.Row = {"trace_id": f"{span.trace_id:032x}"}
        row |= {"ticket": dataclasses.asdict(ticket), "answer": None, "citations": []}
        journal.CURRENT.set(row)
        try:
            row["answer"] = answer(ticket)
        except Exception as error:
            row["error"] = str(error)
            raise HTTPException(502, "the model is down") from error
        finally:
            shown = [search.CHUNKS[name] for name in row.get("shown", ())]
            row["citations"] = prompts.cited(row["answer"] or "", shown)
            journal.write(log, row)
        return {"answer": row["answer"]}

    return ask


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("framework", "instrumentor", "protocol", "endpoint", "name", "model", "port"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--folder", type=Path, required=True)
    told = parser.parse_args()
    spans = told.folder / f"{told.name}.spans.jsonl"
    provider = telemetry.trace_to(told.name, told.endpoint, told.protocol, spans)
    desk = import_module(f"{told.framework}_desk").desk(told.model)

    @asynccontextmanager
    async def flushing(_: FastAPI) -> AsyncIterator[None]:
        yield
        provider.shutdown()

    app = application(desk, told.folder / f"{told.name}.log.jsonl")
    app.router.lifespan_context = flushing
    telemetry.instrument(app, told.framework, told.instrumentor)
    uvicorn.run(app, host="127.0.0.1", port=int(told.port), log_level="warning")


if __name__ == "__main__":
    main()
