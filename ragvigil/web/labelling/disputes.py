"""Answers to discuss: a person labelled them, and the judge or another person says otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ragvigil.store.scores import judged, labels
from ragvigil.store.scores.labels import UNSURE, Label
from ragvigil.web.labelling.forms import DisputeForm, PersonSaysForm
from ragvigil.web.views.judges import DisagreementForm

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Place: TypeAlias = tuple[str, str, str]
"""Trace id, record id and rubric."""
MOST = 20
MOST_LABELS = 10_000


def disputes(
    store: Store, found: Sequence[DisagreementForm], person: str, since: int
) -> list[DisputeForm]:
    """The newest disputes on answers that this person has labelled; of others nothing is shown.

    `found` are disagreements of the judge; `since` is in seconds since the epoch.
    """
    filter_ = labels.LabelFilter(since=since, limit=MOST_LABELS)
    by_place = _by_place(labels.find(store, filter_))
    against_judge = {
        (each.trace_id, each.record_id, each.first.rubric): each
        for each in found
        if each.kind == "judge_against_person"
    }
    disputed = [
        place
        for place, given in by_place.items()
        if any(label.labeller == person for label in given)
        and (place in against_judge or len({_verdict(label) for label in given}) > 1)
    ][:MOST]
    questions = _questions(store, disputed)
    return [
        _dispute(place, by_place[place], against_judge.get(place), questions.get(place[:2], ""))
        for place in disputed
    ]


def _by_place(newest_first: Sequence[Label]) -> Mapping[Place, list[Label]]:
    """Labels that decide, by answer and rubric; the newest of each person."""
    by_place: dict[Place, dict[str, Label]] = defaultdict(dict)
    for label in newest_first:
        if label.value is not None or label.label != UNSURE:
            place = (label.trace_id, label.record_id, label.rubric)
            by_place[place].setdefault(label.labeller, label)
    return {place: list(given.values()) for place, given in by_place.items()}


def _verdict(label: Label) -> str:
    if label.value is None:
        return label.label
    return {0.0: "fail", 1.0: "pass"}.get(label.value, f"{label.value:.2f}")


def _questions(store: Store, places: Sequence[Place]) -> Mapping[tuple[str, str], str]:
    stored = judged.read(store, {(trace_id, record_id) for trace_id, record_id, _ in places})
    return {key: each.record.query or "" for key, each in stored.items()}


def _dispute(
    place: Place, given: Sequence[Label], judge: DisagreementForm | None, question: str
) -> DisputeForm:
    trace_id, record_id, rubric = place
    return DisputeForm(
        trace_id=trace_id,
        record_id=record_id,
        rubric=rubric,
        question=question,
        judge=judge.first.name if judge else "",
        judged=judge.first.value if judge else None,
        people=[
            PersonSaysForm(name=label.labeller, verdict=_verdict(label), comment=label.comment)
            for label in given
        ],
    )
