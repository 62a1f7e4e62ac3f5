"""`ragvigil rubric new`: a rubric from a sentence, tried on stored answers before it goes live."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragvigil.app.cli.output.console import JsonObject, open_console, print_text, short, table_of
from ragvigil.app.settings import Settings
from ragvigil.llm.budget import Unpriced, pot_of
from ragvigil.llm.outcome import Purpose
from ragvigil.llm.provider import NotConfigured
from ragvigil.llm.settings import price_of
from ragvigil.model import figures
from ragvigil.model.score import Layer
from ragvigil.store.scores.judged import record_of
from scorers.judge.draft import Draft, NoDraft, draft_rubric
from scorers.rubric import load_rubrics

if TYPE_CHECKING:
    from ragvigil.llm.client import Client
    from ragvigil.model.record import RagRecord
    from scorers.rubric import Rubric

WRONG_USE, NO_VERDICT = 2, 1
"""Exit statuses: no draft; a draft that judged no answer, so that it may not go live unasked."""
MOST_LISTED = 100
"""Newest answers of which those to try are chosen: half of them failing, if there are so many."""
MOST_LABELS = 1000
Fetch = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedAnswer:
    """A stored answer: what is known of it, and what the drafted rubric says.

    `value` is None where there was no verdict; `why` then says so. `known` are the rubrics that it
    fails and people's labels, in words.
    """

    trace_id: str
    question: str
    known: tuple[str, ...]
    value: float | None = None
    label: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRubric:
    """A drafted rubric, where its file lies, what it says of stored answers, and what it cost."""

    draft: Draft
    file: Path
    tried: tuple[TriedAnswer, ...]
    tokens: int
    usd: float | None

    @property
    def is_tried(self) -> bool:
        """Whether any answer got a verdict."""
        return any(answer.value is not None for answer in self.tried)


def new_rubric(
    settings: Settings,
    sentence: str,
    fetch: Fetch,
    *,
    to: Path | None,
    layer: Layer | None,
    answers: int,
) -> NewRubric | int:
    """Drafts a rubric, writes its file and tries it on stored answers.

    `fetch` gets the JSON of a path of the API. Returns the exit status where there is no draft,
    after a sentence on standard error.
    """
    if to is not None and to.exists():
        return _refused(f"{to} exists; name another file with --to")
    try:
        chosen = chosen_answers(fetch, answers)
        taken = {*load_rubrics(), *(row["name"] for row in fetch("rubrics")["rubrics"])}
        drafted = asyncio.run(_drafted(settings, sentence, layer, chosen, taken))
    except (NotConfigured, Unpriced, NoDraft) as error:
        return _refused(str(error))
    draft, tried, tokens, usd = drafted
    file = to or _free_file(draft.rubric.name)
    try:
        file.write_text(draft.text, encoding="utf-8")
    except OSError as error:
        return _refused(f"{file}: cannot be written: {error.strerror or error}")
    return NewRubric(draft=draft, file=file, tried=tried, tokens=tokens, usd=usd)


Chosen = tuple["RagRecord", TriedAnswer]


def chosen_answers(fetch: Fetch, most: int) -> list[Chosen]:
    """Newest answers of different questions, half of them failing if there are so many."""
    listed = fetch("records", since="7d", limit=MOST_LISTED)["records"]
    differ = list({row["query"]: row for row in reversed(listed)}.values())[::-1]
    failing = [row for row in differ if row["verdict"]["state"] == "fails"]
    others = [row for row in differ if row["verdict"]["state"] != "fails"]
    of_failing = min(len(failing), max(most // 2, most - len(others)))
    rows = [*failing[:of_failing], *others[: most - of_failing]]
    labels: dict[str, list[str]] = defaultdict(list)
    for label in fetch("labels", limit=MOST_LABELS)["labels"] if rows else ():
        value = "" if label["value"] is None else figures.score(label["value"])
        told = " ".join(filter(None, (value, label["label"])))
        labels[label["trace_id"]].append(f"{label['labeller']}: {label['rubric']} {told}".strip())
    return [
        (record_of(form), _answer(row, labels))
        for row in rows
        for form in fetch(f"traces/{row['trace_id']}")["records"]
        if form["record_id"] == row["record_id"]
    ]


def _answer(row: JsonObject, labels: Mapping[str, Sequence[str]]) -> TriedAnswer:
    fails = [
        f"fails {score['rubric']}" + (f": {score['label']}" if score["label"] else "")
        for score in row["scores"]
        if score["failed"]
    ]
    state = {"passes": "passes", "unknown": "not scored"}.get(row["verdict"]["state"], "fails")
    return TriedAnswer(
        trace_id=row["trace_id"],
        question=row["query"] or "",
        known=(*(fails or [state]), *labels.get(row["trace_id"], ())),
    )


async def _drafted(
    settings: Settings,
    sentence: str,
    layer: Layer | None,
    chosen: Sequence[Chosen],
    taken: Collection[str],
) -> tuple[Draft, tuple[TriedAnswer, ...], int, float | None]:
    """The draft, what it says of the answers, tokens and dollars. Raises NoDraft."""
    from ragvigil.llm.client import open_client

    client = open_client(settings.judge)
    try:
        draft = await draft_rubric(
            client,
            sentence,
            taken=taken,
            author=settings.judge.model,
            layer=layer,
        )
        tried = await _tried(client, settings, draft.rubric, chosen)
        spent = client.budget.spent(pot_of(Purpose.TRY))
        is_priced = price_of(settings.judge, datetime.now(UTC).date()) is not None
        return draft, tried, int(spent.tokens), spent.money if is_priced else None
    finally:
        await client.close()


async def _tried(
    client: Client, settings: Settings, rubric: Rubric, chosen: Sequence[Chosen]
) -> tuple[TriedAnswer, ...]:
    from scorers.judge.asker import Asker

    asker = Asker.of(client, settings.judge)
    scores = await asyncio.gather(
        *(asker.score(record, rubric, Purpose.TRY) for record, _ in chosen)
    )
    return tuple(
        replace(
            answer,
            value=score.value,
            label=score.label,
            why=str(score.details.get("failure_mode") or "") or score.explanation,
        )
        for (_, answer), score in zip(chosen, scores, strict=True)
    )


def show(made: NewRubric) -> None:
    """Prints the draft, a table of the answers with what is known of them, cost and file."""
    rubric, console = made.draft.rubric, open_console()
    assert rubric.judge is not None
    print_text(f"{rubric.name} ({rubric.layer}): {rubric.description}")
    print_text(f"  asks: {rubric.asks}")
    print_text(f"  judge: {' '.join(rubric.judge.instruction.split())}")
    for grade in rubric.judge.grades:
        print_text(f"  {grade.name} = {grade.value:g}: {grade.means}")
    table = table_of("trace", "question", rubric.name, "why", "known so far")
    bar = rubric.fails_below or 0.0
    for answer in made.tried:
        verdict = "no verdict"
        if answer.value is not None:
            verdict = f"{'fails' if answer.value < bar else 'passes'} {figures.score(answer.value)}"
        table.add_row(
            answer.trace_id[:8],
            short(answer.question, console, 40),
            verdict,
            short(answer.why, console, 50),
            short("; ".join(answer.known), console, 60),
        )
    if made.tried:
        console.print(table)
    else:
        print("no answer is stored, so it was tried on none")
    cost = "price unknown" if made.usd is None else f"US$ {made.usd:.4f}"
    print_text(f"cost {cost}, {figures.count(made.tokens)} tokens; file {made.file}")


def plain(made: NewRubric, live: JsonObject | None) -> str:
    """All of it as JSON; `live` is what the daemon said of it, None while it is not live."""
    return json.dumps(
        {
            "name": made.draft.rubric.name,
            "file": str(made.file),
            "text": made.draft.text,
            "tried": [asdict(answer) for answer in made.tried],
            "tokens": made.tokens,
            "usd": made.usd,
            "live": live,
        }
    )


def _free_file(name: str) -> Path:
    """`NAME.toml` in the working folder; with a number where that exists."""
    names = (f"{name}.toml", *(f"{name}_{number}.toml" for number in range(2, 1000)))
    return next(path for path in map(Path, names) if not path.exists())


def _refused(sentence: str) -> int:
    print_text(sentence, to=sys.stderr)
    return WRONG_USE
