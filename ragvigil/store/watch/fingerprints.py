"""Counts of what notices compare: how many requests showed each value, by minute and replica."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ragvigil.store.engine.priority import Priority
from ragvigil.store.watch.minute_counts import Counted

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

MOST_VALUES, MOST_TEMPLATES = 50, 10
"""Values that a minute of a place counts by name, of each kind; prompts are the longest values."""
TEMPLATE_SHARE = 0.2
"""Share of an hour's requests from which a sentence belongs to the template."""
MOST_USUAL = 500
COUNTED = Counted(
    table="fingerprint_minutes",
    statement="fingerprint_count",
    at_once=1800,
    parameters={"most_values": MOST_VALUES, "most_templates": MOST_TEMPLATES},
)
Place: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """One value of a place: the hours in which it came (starts, seconds), and its requests there.

    An empty value stands for all that are not counted by name. A prompt's (kind `template`) are the
    hashes of its sentences, with blanks between them.
    """

    place: Place
    kind: str
    value: str
    hours: tuple[int, ...]
    requests: tuple[int, ...]


def by_hour(store: Store, kinds: Sequence[str], since: int) -> list[Hours]:
    """Values of these kinds since a time (seconds), added up over all replicas.

    Of each place and kind the MOST_USUAL most frequent. Raises StoreError.
    """
    parameters = {
        "kinds": list(kinds),
        "since": max(0, since),
        "share": TEMPLATE_SHARE,
        "most": MOST_USUAL,
    }
    return [
        Hours(
            place=(row["service"], row["environment"], row["route"]),
            kind=row["kind"],
            value=row["value"],
            hours=tuple(map(int, row["hours"])),
            requests=tuple(map(int, row["requests"])),
        )
        for row in store.read("fingerprints_usual", parameters, priority=Priority.TICK)
    ]
