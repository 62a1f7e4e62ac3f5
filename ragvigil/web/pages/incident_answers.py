"""The answers of the page of an incident: pairs of its audit, and those that show it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from ragvigil.store.records import records
from ragvigil.web.views.records import RecordForm
from ragvigil.web.views.triage import pairs as side_by_side
from ragvigil.web.views.triage.incident_reading import IncidentFacts
from ragvigil.web.views.triage.sentences import traces_of

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

FEW_PAIRS, READ_PAIRS, MOST_PAIRS = 3, 9, 50
"""Pairs that are shown, of how many they are chosen, and how many the link shows."""
MOST_TRACES = 5


def shown_answers(store: Store, facts: IncidentFacts, *, shows_all: bool) -> dict[str, Any]:
    """What the template shows of them; all are read at once."""
    chosen = side_by_side.worst_first(facts.pairs)[: MOST_PAIRS if shows_all else READ_PAIRS]
    traces = traces_of(facts.opened.incident, MOST_TRACES)
    keys = side_by_side.keys_of(chosen)
    found = records.of_traces(store, chain(traces, (trace_id for trace_id, _ in keys)))
    forms = {
        (record["trace_id"], record["record_id"]): RecordForm.model_validate(record)
        for record in found
    }
    views = side_by_side.pair_views(chosen, forms)
    shown = [record for record in forms.values() if record.trace_id in traces]
    stored = {record.trace_id for record in shown}
    return {
        "pairs": views if shows_all else side_by_side.of_each_question(views, FEW_PAIRS),
        "all_pairs": len(facts.pairs),
        "shows_all": shows_all,
        "answers": shown,
        "missing_traces": [trace for trace in traces if trace not in stored],
    }
