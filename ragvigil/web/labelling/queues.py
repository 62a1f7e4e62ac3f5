"""What is in a queue, how far a person has come in it, and what is next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from ragvigil.store.scores import canary, judged, labels
from ragvigil.store.scores.label_candidates import CandidateFilter, Key, find
from ragvigil.web.labelling.forms import BlindAnswerForm, LabelQueueForm, blind
from ragvigil.web.labelling.rules import DAY, Fill, LabelQueue
from ragvigil.web.views.judges import DisagreementForm

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Disagreements: TypeAlias = Callable[[int], Sequence[DisagreementForm]]
"""The disagreements since a time in seconds since the epoch."""
READ_AHEAD, MOST_READ = 10, 30
"""Answers that are read at once to find the next, and at most: spans may hide the texts of some."""
MOST_LABELS = 10_000
STEADY_TIMES = 4
"""New answers push others back in the order of the hash: what is labelled still counts."""


def contents(store: Store, queue: LabelQueue, disagreements: Disagreements, now: int) -> list[Key]:
    """The answers that a queue may show, always in the same order; `now` in Unix seconds."""
    since = now - queue.days * DAY
    if queue.fill is Fill.DISAGREEMENTS:
        return list(dict.fromkeys(_disputed(queue, disagreements(since))))
    if queue.fill is Fill.CANARY:
        return sorted(_canaries(store, queue), key=lambda key: _place(queue.name, key))
    source = CandidateFilter(
        drawn_from="suspicious" if queue.fill is Fill.SUSPICIOUS else "judged",
        rubric=queue.rubric,
        service=queue.service,
        route=queue.route,
        label=queue.label,
        since=since,
        share=queue.share,
        salt=queue.name,
        limit=STEADY_TIMES * queue.most,
    )
    drawn = find(store, source)
    if drawn or queue.fill is Fill.SUSPICIOUS:
        return drawn
    return find(store, replace(source, drawn_from="all"))


def _disputed(queue: LabelQueue, found: Sequence[DisagreementForm]) -> Iterator[Key]:
    for each in found:
        is_here = queue.service in ("", each.service) and queue.route in ("", each.route)
        if is_here and queue.rubric in (each.first.rubric, each.second.rubric):
            yield each.trace_id, each.record_id


def _canaries(store: Store, queue: LabelQueue) -> Iterator[Key]:
    chosen = canary.current(store)
    for member in chosen.members if chosen else ():
        record = member.record
        if queue.service in ("", record.service) and queue.route in ("", record.route):
            yield record.trace_id, record.record_id


def _place(salt: str, key: Key) -> bytes:
    """The place of an answer: its order says nothing of what it is like."""
    return blake2b("\x00".join((salt, *key)).encode(), digest_size=8).digest()


def labelled_by(store: Store, labeller: str, rubric: str) -> set[Key]:
    """The answers that a person has labelled by a rubric."""
    filter_ = labels.LabelFilter(rubric=rubric, labeller=labeller, limit=MOST_LABELS)
    found = labels.find(store, filter_) if labeller else []
    return {(label.trace_id, label.record_id) for label in found}


def progress(queue: LabelQueue, answers: Sequence[Key], mine: set[Key]) -> LabelQueueForm:
    """How far a person has come who has labelled `mine`."""
    done = sum(_is_in(key, mine) for key in answers)
    return LabelQueueForm(
        **queue.model_dump(include={"name", "fill", "rubric", "service", "route", "label", "days"}),
        total=min(queue.most, len(answers)),
        done=min(queue.most, done),
    )


def next_answer(
    store: Store, answers: Sequence[Key], mine: set[Key], *, shows_retrieved: bool
) -> BlindAnswerForm | None:
    """The first answer with question and text that the person has not labelled.

    None where there is none, or where the spans of the next MOST_READ hide their texts.
    """
    rest = islice((key for key in answers if not _is_in(key, mine)), MOST_READ)
    while keys := list(islice(rest, READ_AHEAD)):
        stored = judged.read(store, keys)
        records = (stored[key].record for key in keys if key in stored)
        shown = (record for record in records if record.query and record.answer)
        if (record := next(shown, None)) is not None:
            return blind(record, shows_retrieved=shows_retrieved)
    return None


def _is_in(key: Key, mine: set[Key]) -> bool:
    """Whether an answer is among those; a label may name its trace alone."""
    return key in mine or (key[0], "") in mine
