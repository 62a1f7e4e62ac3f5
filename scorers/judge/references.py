"""What is known to be right about a record: its golden case, and passages of trusted sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragvigil.model.record import RagRecord
from scorers.golden import Case, asked
from scorers.judge.material import Reference
from scorers.judge.sources import Sources

MOST_PASSAGES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """Golden cases by what they ask (see `scorers.golden.asked`), and searchable sources."""

    cases: Mapping[str, Case] = field(default_factory=dict)
    sources: Sources | None = None

    def of(self, record: RagRecord) -> Reference:
        """What is known about this record; nothing is an empty reference."""
        case = self.cases.get(asked(record.query)) if self.cases and record.query else None
        said = f"{record.query or ''} {record.answer or ''}"
        passages = self.sources.about(said, most=MOST_PASSAGES) if self.sources else ()
        return Reference(
            answer=case.gold_answer if case else "",
            facts=case.facts if case else (),
            sources=passages,
        )
