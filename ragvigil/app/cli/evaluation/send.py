"""Sends a run to the daemon, and shows it beside the live traffic of its release."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragvigil.app.settings import Settings
    from ragvigil.evaluation.gate.decide import Gate
    from ragvigil.evaluation.result_file import Header, Results
    from ragvigil.evaluation.run import Outcome

AT_ONCE = 100
"""Cases of one request: some 150 KB, which is within `[web] max_body_bytes`."""
ID_LETTERS, DIGITS = 16, 6
MOST_SENTENCES, MOST_LETTERS, MOST_COMPARISONS = 50, 1000, 2000
"""What the daemon takes of a gate."""


def send_run(
    settings: Settings, results: Results, outcomes: Sequence[Outcome], compared: Gate | None
) -> None:
    """Sends every case with its values, and prints how the set stands beside live traffic.

    `compared` is what the gate said of the run, if it was asked. Raises Refused or Unreachable.
    """
    from ragvigil.app.client import api

    run = _run(results.header)
    cases = [_case(outcome) for outcome in outcomes]
    for first in range(0, len(cases), AT_ONCE):
        body = {**run, "cases": cases[first : first + AT_ONCE]}
        api.post(settings, "evaluations", body, role="ingest")
    if compared:
        send_gate(settings, compared)
    _say_beside_live(settings, run["run_id"])


def send_gate(settings: Settings, compared: Gate) -> None:
    """Sends what the gate said of a run that was sent. Raises Refused or Unreachable."""
    from ragvigil.app.client import api
    from ragvigil.evaluation.gate.document import as_document
    from scorers.rubric import rubric_layers

    document = as_document(compared, rubric_layers())
    body = {
        "state": document["state"],
        "base_release": compared.base.release,
        "sentences": [reason[:MOST_LETTERS] for reason in document["reasons"]][:MOST_SENTENCES],
        "comparisons": [
            _comparison(each) for each in (*document["overall"], *document["slices"]) if each["n"]
        ][:MOST_COMPARISONS],
    }
    run_id = _run(compared.new)["run_id"]
    api.post(settings, f"evaluations/{run_id}/gate", body, role="ingest")


def _comparison(each: dict[str, Any]) -> dict[str, Any]:
    dimension, value = next(iter(each["slice"].items()), ("", ""))
    low, high = each["interval"]
    return {
        **{name: each[name] for name in ("rubric", "layer", "verdict", "decides", "n")},
        **{name: round(each[name], DIGITS) for name in ("base", "new")},
        "dimension": dimension,
        "slice": value,
        "low": round(low, DIGITS),
        "high": round(high, DIGITS),
        "allowed": each["limit"],
    }


def _say_beside_live(settings: Settings, run_id: str) -> None:
    """Prints what the run says of the set, on standard error: a table may be on the other."""
    from ragvigil.app.cli.output.console import print_text
    from ragvigil.app.client import api

    try:
        reply = api.get(settings, f"evaluations/{run_id}")
    except api.Unreachable as error:  # a token that may only write, as CI has
        print_text(f"sent as {run_id}; it is not compared here: {error}", to=sys.stderr)
        return
    for sentence in (f"sent as {run_id}.", *reply["sentences"]):
        print_text(sentence, to=sys.stderr)


def _run(header: Header) -> dict[str, Any]:
    values = {
        "ran": datetime.fromtimestamp(header.time_unix, UTC).isoformat(),
        "set_name": header.set_name,
        "set_hash": header.set_hash,
        "target": header.target,
        "release": header.release,
    }
    # The same run has the same id, whichever command sends it.
    digest = sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
    return {"run_id": digest[:ID_LETTERS], **values}


def _case(outcome: Outcome) -> dict[str, Any]:
    result, case, record = outcome.result, outcome.question.case, outcome.record
    question = case.group or case.question
    return {
        "case_id": case.case_id,
        "question": sha256(question.encode("utf-8", "replace")).hexdigest()[:ID_LETTERS],
        "condition": result.condition.value,
        "service": case.service or (record.service if record else ""),
        # The environment of a trace is that of the run, which has no live traffic.
        "environment": case.environment,
        "route": case.route or (record.route if record else ""),
        "reading": result.reading.value if result.reading else "",
        "values": {
            name: round(value, DIGITS) for name, value in result.values.items() if value is not None
        },
    }
