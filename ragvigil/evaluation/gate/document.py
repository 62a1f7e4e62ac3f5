"""A gate as one JSON document, for scripts. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ragvigil.evaluation.gate.compare import Comparison
from ragvigil.evaluation.gate.decide import FailedCase, Gate
from ragvigil.evaluation.gate.layers import layer_of
from ragvigil.evaluation.gate.sentences import Layers, notes, reasons, title


def as_document(gate: Gate, layers: Layers) -> dict[str, Any]:
    """The state with its reasons, every comparison, and the cases that fail."""
    return {
        "state": gate.state.value,
        "title": title(gate),
        "reasons": reasons(gate, layers),
        "notes": list(notes(gate)),
        "base": asdict(gate.base),
        "new": asdict(gate.new),
        "unmeasured": list(gate.unmeasured),
        "cases": len(gate.pairing.pairs),
        "only_base": [list(key) for key in gate.pairing.only_base],
        "only_new": [list(key) for key in gate.pairing.only_new],
        "overall": [_comparison(each, layers) for each in gate.overall],
        "slices": [_comparison(each, layers) for each in gate.slices],
        "floors": [asdict(each) for each in gate.floors],
        "must_pass_failed": [_case(each) for each in gate.must_pass],
        "must_pass_not_run": list(gate.missing),
        "fixes": [asdict(each) for each in gate.fixes],
        "failing_now": [_case(each) for each in gate.broken],
        "passing_again": gate.mended,
    }


def _comparison(each: Comparison, layers: Layers) -> dict[str, Any]:
    shown = each.difference
    dimension, value = each.slice
    return {
        "rubric": each.rubric,
        "layer": layer_of(each.rubric, layers),
        "slice": {} if each.is_overall else {dimension: value},
        "verdict": each.verdict.value,
        "decides": each.decides,
        "limit": each.limit,
        "base": shown.base if shown else None,
        "new": shown.new if shown else None,
        "change": shown.size if shown else None,
        "interval": [shown.low, shown.high] if shown else None,
        "chance": each.chance,
        "n": shown.n if shown else 0,
        "groups": shown.groups if shown else 0,
        "detectable": shown.detectable if shown else None,
        "needed": each.needed,
        "unscored": each.unscored,
    }


def _case(each: FailedCase) -> dict[str, Any]:
    return {
        "case_id": each.case_id,
        "condition": each.condition,
        "reading": each.reading.value,
        "why": each.why,
    }
