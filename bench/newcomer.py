"""A new user's own service: ragvigil's records against the service's log, field by field.

    .venv/bin/python bench/newcomer.py [--small]

A help desk (FastAPI; LangChain or LlamaIndex; a reranker that is a plain function; a corpus of
near-duplicates) is traced by OpenInference or OpenLLMetry and sends over OTLP/HTTP or gRPC. It
writes down what it did for each ticket; the model, a real HTTP server, writes down its prompts.
The service lives in `bench/newcomer_service` and in an environment of its own, which the first run
makes: that takes minutes and the network.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from bench.rig.newcomer_stacks import SERVICE, STACKS, Row, Stack, ask_all, environment, lines_of
from bench.rig.newcomer_stacks import model as language_model
from bench.rig.options import parse_small
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon, start

sys.path.insert(0, str(SERVICE))
import corpus

SEED = 5
TICKETS, SMALL_TICKETS = 120, 16
STORED_SECONDS = 120
MOST_LINES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A ticket as the service and the model know it, and as its spans tell it.

    `prompt` is the user's message that the model received, `shown` are the chunks in it, in its
    order; `carried` is every text in the trace's spans, `numbers` every number.
    """

    stack: Stack
    row: Row
    prompt: str
    usage: Mapping[str, int]
    shown: tuple[corpus.Chunk, ...]
    carried: str
    numbers: frozenset[float]

    @property
    def is_told(self) -> bool:
        """Whether the spans show a call of the model, or an answer; instrumentors lose some."""
        answer = self.row["answer"]
        return bool(self.prompt and self.prompt in self.carried) or bool(
            answer and answer in self.carried
        )


@dataclass(slots=True, kw_only=True)
class Tally:
    """How often spans carry each field and records have it right; what went wrong, in words.

    `told` counts tickets whose spans show an answer, `odd` those with too many records or none.
    `inferred` counts rerankers without a span that were seen all the same, `invented` wrong ones.
    """

    carried: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)
    records: int = 0
    tickets: int = 0
    told: int = 0
    odd: int = 0
    inferred: int = 0
    invented: int = 0
    not_shown: int = 0
    disagreements: int = 0


def ids(documents: Sequence[Mapping[str, Any]]) -> list[str]:
    """Ids in order."""
    return [str(document["id"]) for document in documents]


def texts(documents: Sequence[Mapping[str, Any]]) -> list[str]:
    """Texts in order, white space aside: frameworks strip it."""
    return [" ".join(str(document.get("content", document.get("text"))).split())
            for document in documents]  # fmt: skip


def scores(documents: Sequence[Mapping[str, Any]]) -> list[float | None]:
    """Scores in order."""
    return [document["score"] for document in documents]


def expected(case: Case) -> Iterator[tuple[str, object, bool]]:
    """Each field of the record as the service's log has it, and whether the spans carry it."""
    row, ticket = case.row, case.row["ticket"]
    retrieved, reranked = row.get("retrieved", []), row.get("reranked", [])
    sees_list = bool(retrieved) and _carries_all(case, [chunk["text"] for chunk in retrieved])
    yield "question", ticket["question"], ticket["question"] in case.carried
    yield "route", f"/{ticket['route']}", True
    yield "retrieved", texts(retrieved), sees_list
    sees_ids = sees_list and _carries_all(case, ids(retrieved))
    yield "retrieved ids", ids(retrieved), sees_ids
    yield "retrieved scores", scores(retrieved), sees_ids and case.numbers >= set(scores(retrieved))
    shown = [{"id": chunk.id, "text": chunk.text} for chunk in case.shown]
    sees_context = bool(shown) and _carries_all(case, [case.prompt])
    yield "context", texts(shown), sees_context
    yield "context ids", ids(shown), sees_context and _carries_all(case, ids(shown))
    if ticket["route"] in ("compressed", "engine"):
        yield "reranked", texts(reranked), sees_context and bool(reranked)
    if "error" not in row:
        # Without a span of the model, no text is no empty answer.
        is_seen = bool(row["answer"]) or _has(case, "prompt_tokens")
        yield "answer", row["answer"], is_seen and row["answer"] in case.carried
        yield "citations", row["citations"], sees_context and bool(row["answer"])
        yield "input tokens", case.usage["prompt_tokens"], _has(case, "prompt_tokens")
        yield "output tokens", case.usage["completion_tokens"], _has(case, "completion_tokens")
    else:
        yield "answer", None, True
    yield "model", "stub-large", "stub-large" in case.carried


def said(record: Mapping[str, Any]) -> dict[str, object]:
    """The same fields of a record."""
    return {
        "question": record["query"],
        "route": record["route"],
        "retrieved": texts(record["retrieved"]),
        "retrieved ids": ids(record["retrieved"]),
        "retrieved scores": scores(record["retrieved"]),
        "context": texts(record["context"]),
        "context ids": ids(record["context"]),
        "reranked": texts(record["reranked"]),
        "answer": record["answer"],
        "citations": [cited["chunk_id"] or cited["target"] for cited in record["citations"]],
        "input tokens": record["usage"]["input_tokens"],
        "output tokens": record["usage"]["output_tokens"],
        "model": record["dimensions"]["llm_model"],
    }


def _carries_all(case: Case, wanted: Sequence[str]) -> bool:
    return all(text in case.carried for text in wanted)


def _has(case: Case, name: str) -> bool:
    return case.usage[name] > 0 and case.usage[name] in case.numbers


def judge(tally: Tally, case: Case, found: Sequence[Mapping[str, Any]]) -> None:
    """Compares the records of a ticket's trace with its case."""
    tally.tickets += 1
    tally.records += len(found)
    name = f"{case.stack.name} {case.row['ticket']['question']!r} {case.row['ticket']['route']}"
    name += f" {case.row['ticket']['style']} {case.row['trace_id']}"
    if "shown" in case.row and case.row["shown"] != [chunk.id for chunk in case.shown]:
        tally.disagreements += 1
        tally.misses.append(f"{name}: the service's log and the prompt do not agree")
    tally.told += case.is_told
    if len(found) > 1 or (case.is_told and not found):
        tally.odd += 1
        tally.misses.append(f"{name}: {len(found)} records")
    got = said(found[0]) if found else {}
    reranked = got.get("reranked") or []
    if case.row["ticket"]["route"] in ("plain", "chain") and reranked:
        # A function without a span: the order of the prompt may show what it did.
        tally.inferred += 1
        if reranked != texts([{"text": chunk.text} for chunk in case.shown]):
            tally.misses.append(f"{name}: reranked, which nothing shows")
            tally.invented += 1
    for what, wanted, is_carried in expected(case) if case.is_told else ():
        if is_carried:
            tally.carried[what] += 1
            tally.right[what] += got.get(what) == wanted
            if got.get(what) != wanted:
                tally.misses.append(
                    f"{name}: {what}\n  {_brief(got.get(what))}\n  {_brief(wanted)}"
                )
    for record in found:
        for document in record["context"]:
            if not _holds(case.prompt, document["content"] or ""):
                tally.not_shown += 1
                tally.misses.append(f"{name}: chunk {document['id']} is not in the prompt")


def _brief(value: object) -> str:
    """What tells chunks of a shared beginning apart."""
    return repr(value).replace(" ".join(corpus.HEADER.split()), "…").replace(
        " ".join(corpus.FOOTER.split()), "…")[:400]  # fmt: skip


def _holds(prompt: str, text: str) -> bool:
    plain = " ".join(prompt.split())
    within = json.dumps(text, ensure_ascii=False)[1:-1]
    return " ".join(text.split()) in plain or within in prompt


def cases(stack: Stack, rows: Sequence[Row], folder: Path) -> Iterator[Case]:
    """The rows of a stack's log with the prompts that the model got and what the spans carry."""
    prompts = lines_of(folder / "model.jsonl")
    strings: dict[str, list[str]] = {}
    numbers: dict[str, set[float]] = {}
    for span in lines_of(folder / f"{stack.name}.spans.jsonl"):
        trace_id = span["context"]["trace_id"].removeprefix("0x")
        values = [span["attributes"], *(event["attributes"] for event in span["events"])]
        for leaf in (leaf for value in values for leaf in _leaves(value)):
            if isinstance(leaf, str):
                strings.setdefault(trace_id, []).append(leaf)
            else:
                numbers.setdefault(trace_id, set()).add(leaf)
    for row in rows:
        number = row["ticket"]["question"].partition(":")[0] + ":"
        asked = next((sent for sent in reversed(prompts) if number in sent["prompt"]), {})
        yield Case(
            stack=stack,
            row=row,
            prompt=asked.get("prompt", ""),
            usage=Counter(asked.get("usage", {})),
            shown=tuple(_shown(asked.get("prompt", ""))),
            carried="\x00".join(strings.get(row["trace_id"], ())),
            numbers=frozenset(numbers.get(row["trace_id"], ())),
        )


def _shown(prompt: str) -> list[corpus.Chunk]:
    """The chunks in a prompt, in its order."""
    places = {}
    for chunk in corpus.chunks():
        for text in (chunk.text, json.dumps(chunk.text, ensure_ascii=False)[1:-1]):
            if text in prompt:
                places[prompt.index(text)] = chunk
    return [places[place] for place in sorted(places)]


def _leaves(value: object) -> Iterator[str | float]:
    """Every text and number of a value; of a text that is JSON also what is in it."""
    if isinstance(value, str):
        yield value
        if value[:1] in "{[":
            try:
                yield from _leaves(json.loads(value))
            except ValueError:
                return
    elif isinstance(value, dict):
        for member in value.values():
            yield from _leaves(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _leaves(member)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def stored(daemon: ChildDaemon, trace_id: str, give_up: float) -> list[Mapping[str, Any]]:
    """The records of a trace, once it is stored; none after `give_up` (monotonic)."""
    while True:
        try:
            return list(daemon.get(f"traces/{trace_id}")["records"])
        except httpx2.HTTPStatusError:
            if time.monotonic() > give_up:
                return []
            time.sleep(0.5)


def run(stacks: Sequence[Stack], count: int, folder: Path) -> tuple[Tally, set[str]]:
    """Asks every stack `count` tickets; the tally, and the services that doctor lists."""
    python, tally = environment(), Tally()
    daemon = start(folder / "daemon", settings={"RAGVIGIL_INFERENCE__ENABLED": "false"})
    try:
        daemon.wait_ready()
        with language_model(python, folder / "model.jsonl") as model_url:
            for place, stack in enumerate(stacks):
                tickets = list(
                    corpus.tickets(stack.routes, count, SEED + place, 1000 * (place + 1))
                )
                rows = ask_all(stack, tickets, daemon, model_url, folder)
                _judge_stack(tally, cases(stack, rows, folder), lambda trace_id: stored(
                    daemon, trace_id, time.monotonic() + STORED_SECONDS))  # fmt: skip
                progress(f"{stack.name}: {len(rows)} tickets")
        listed = {source["service"] for source in daemon.get("doctor")["sources"]}
    finally:
        daemon.stop()
    return tally, listed


def _judge_stack(
    tally: Tally, found: Iterator[Case], records: Callable[[str], Sequence[Mapping[str, Any]]]
) -> None:
    for case in found:
        judge(tally, case, records(case.row["trace_id"]))


def main() -> None:
    small = parse_small(__doc__)
    stacks = STACKS[::3] if small else STACKS
    count = SMALL_TICKETS if small else TICKETS
    with tempfile.TemporaryDirectory() as folder:
        tally, listed = run(stacks, count, Path(folder))
    for miss in tally.misses[:MOST_LINES]:
        progress(f"FAULT {miss}")
    wrong = {
        name: f"{tally.right[name]} of {carried}"
        for name, carried in tally.carried.items()
        if tally.right[name] != carried
    }
    figures = {
        "stacks": len(stacks), "tickets": tally.tickets, "told": tally.told,
        "records": tally.records, "rerankers_inferred": tally.inferred,
        "fields_carried": tally.carried.total(), "fields_right": tally.right.total(),
        "wrong": wrong, "not_shown": tally.not_shown,
    }  # fmt: skip
    bars = {
        "one record for each ticket that the spans tell": tally.odd == 0
        and tally.told > 0.9 * len(stacks) * count,
        "no reranker invented": tally.invented == 0,
        "every field of every record that the spans carry": not wrong,
        "0 chunks as context that the prompt did not hold": tally.not_shown == 0,
        "the service's log agrees with the prompts": tally.disagreements == 0,
        "doctor lists every service": listed >= {stack.name for stack in stacks},
    }
    finish("newcomer", figures, bars, seed=SEED)


if __name__ == "__main__":
    main()
