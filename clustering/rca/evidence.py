"""A finding that was submitted, checked against the stored spans."""

from __future__ import annotations

from dataclasses import dataclass

from clustering.rca.finding import GRADES, Finding, QuoteForm
from clustering.rca.plain import plain
from clustering.rca.quotes import stands_in
from clustering.rca.tools import Case, Refused
from ragvigil.model.issue import Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A finding and those of its quotes that stand in the spans they name."""

    finding: Finding
    quotes: tuple[Quote, ...]
    dropped: int


def checked(finding: Finding, case: Case) -> Checked:
    """The finding with its quotes looked up. Raises Refused where it proves nothing; StoreError.

    That nothing can be determined needs no proof.
    """
    found = [_looked_up(one, case) for one in finding.quotes]
    quotes = tuple(dict.fromkeys(one for one in found if isinstance(one, Quote)))
    failed = [one for one in found if isinstance(one, str)]
    if finding.is_determinable:
        lacking = [
            name for name in ("cause", "layer", "fix", *GRADES) if not getattr(finding, name)
        ]
        if lacking:
            raise Refused(f"the finding lacks {', '.join(lacking)}")
        if not quotes:
            raise Refused(f"none of its quotes was found ({'; '.join(failed) or 'it has none'})")
    return Checked(finding=finding, quotes=quotes, dropped=len(failed))


def _looked_up(quote: QuoteForm, case: Case) -> Quote | str:
    """The quote as it is kept, or why it is dropped."""
    try:
        span = case.span(quote.trace_id, quote.span_id)
    except Refused as error:
        return str(error)
    if not stands_in(quote.text, span):
        return "the words do not stand in the span, or are too few"
    return Quote(
        text=plain(quote.text), trace_id=quote.trace_id.lower(), span_id=quote.span_id.lower()
    )
