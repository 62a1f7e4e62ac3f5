"""Which answers show an incident as answers to their question always did: they are none of it.

Where some questions are always refused, or have short answers, no rate tells which of them are new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragvigil.model.issue import MEASURES, OTHER_CHUNKS
from ragvigil.store.issues.spikes import FAILED
from ragvigil.store.issues.usual_answers import with_usual_label, with_usual_measure

if TYPE_CHECKING:
    from clustering.issues.incident_group import IncidentWindow
    from ragvigil.model.issue import Failure
    from ragvigil.store.engine.store import Store
    from ragvigil.store.issues.failing_changes import Key
    from ragvigil.store.issues.failing_rows import KeptFailure


@dataclass(slots=True, kw_only=True)
class UsualAnswers:
    """What was looked up of an incident's answers, by label or measure, and what is as usual."""

    looked_up: set[tuple[str, Key]] = field(default_factory=set)
    usual: set[tuple[str, Key]] = field(default_factory=set)

    def without(
        self, store: Store, window: IncidentWindow, rows: Sequence[KeptFailure]
    ) -> list[KeptFailure]:
        """The failures of a window but for those that are as usual. Raises StoreError."""
        until = int(window.first) // 60 * 60
        labels = sorted(signal for signal in window.signals if _is_label(signal))
        for signal in labels:
            rubric, _, label = signal.partition(":")
            fresh = self._fresh(signal, [row for row in rows if _shows(row.failure, signal)])
            keys = with_usual_label(store, fresh, rubric=rubric, label=label, until=until)
            self._keep(signal, fresh, keys)
        for measure in MEASURES:
            fresh = self._fresh(measure, [row for row in rows if measure in _measures(row.failure)])
            keys = with_usual_measure(store, fresh, measure=measure, until=until)
            self._keep(measure, fresh, keys)
        return [row for row in rows if not self._is_usual(row, labels)]

    def _fresh(self, shown: str, rows: Sequence[KeptFailure]) -> list[KeptFailure]:
        """Those that were not looked up before."""
        return [row for row in rows if (shown, row.key) not in self.looked_up]

    def _keep(self, shown: str, fresh: Sequence[KeptFailure], keys: set[Key]) -> None:
        self.looked_up |= {(shown, row.key) for row in fresh}
        self.usual |= {(shown, key) for key in keys}

    def _is_usual(self, row: KeptFailure, labels: Sequence[str]) -> bool:
        if measures := _measures(row.failure):
            return all((measure, row.key) in self.usual for measure in measures)
        return any((label, row.key) in self.usual for label in labels)


def _is_label(signal: str) -> bool:
    label = signal.partition(":")[2]
    return bool(label) and label != FAILED


def _shows(failure: Failure, signal: str) -> bool:
    """Whether it shows a label, and no more: that it draws on other chunks is no usual answer."""
    rubric, _, label = signal.partition(":")
    labels = {part.strip() for part in failure.label.split(",")}
    return failure.rubric == rubric and label in labels and OTHER_CHUNKS not in failure.rubrics


def _measures(failure: Failure) -> tuple[str, ...]:
    """The measures that it fails where it fails nothing else; else none."""
    return failure.rubrics if MEASURES.keys() >= set(failure.rubrics) else ()
