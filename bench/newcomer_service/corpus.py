"""A help centre of near-duplicates, and tickets that ask it: made by rule, the same each time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

COUNTRIES = (
    "Austria", "Belgium", "Côte d'Ivoire", "Denmark", "Estonia", "Finland", "Österreich", "日本",
    "Ireland", "Italy", "Latvia", "Malta",
)  # fmt: skip
TOPICS = {
    "parcel": "A parcel of up to {number} kg sent to {country} costs {price} EUR with insurance.",
    "refund": "A refund for an order from {country} takes {number} days; its fee is {price} EUR.",
    "pickup": "A pickup in {country} is booked {number} hours ahead and costs {price} EUR a stop.",
    "storage": "A shop in {country} stores a parcel for {number} days, then for {price} EUR a day.",
    "return": "A return label for {country} is valid for {number} days; another costs {price} EUR.",
    "customs": "A customs form for {country} takes {number} hours; an express one {price} EUR.",
}
HEADER = (
    "Parcelo help centre. This article is part of the terms of carriage of Parcelo and partners, "
    "as they apply to private customers. Read it together with the general terms.\n"
)
FOOTER = (
    "\nAll prices include value added tax where it applies. Parcelo may change them with notice of "
    "thirty days. If an article and a contract differ, the contract is what counts. Was this of "
    "help? Write to the help desk and name the number of your ticket."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A passage; `id` is the service's own."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A question, how it is answered, and how its prompt is written.

    `kind` is what the model does with it, `route` which way the service goes, `style` how chunks
    stand in the prompt; `is_tight` leaves room for two chunks only.
    """

    question: str
    route: str
    style: str
    kind: str
    is_streamed: bool
    is_tight: bool


def chunks() -> list[Chunk]:
    """Every article: shared first and last lines, and a sentence that differs in a few words."""
    found = []
    for sentence in TOPICS.values():
        for place, country in enumerate(COUNTRIES):
            number, price = 3 + place % 5, f"{2 + place}.{len(found) % 90 + 10}"
            body = sentence.format(country=country, number=number, price=price)
            found.append(Chunk(id=f"faq-{100 + len(found)}", text=HEADER + body + FOOTER))
    return found


STYLES = ("ids", "numbers", "passages", "xml", "json", "dashes")
KINDS = ("answer", "answer", "answer", "two", "empty", "fail", "refuse", "answer")


def tickets(routes: tuple[str, ...], count: int, seed: int, first: int) -> Iterator[Ticket]:
    """`count` tickets, numbered from `first`; every style and kind comes on every route."""
    chance = random.Random(seed)
    for place in range(count):
        topic, country = chance.choice(sorted(TOPICS)), chance.choice(COUNTRIES)
        kind = KINDS[place // len(routes) % len(KINDS)]
        words = {"empty": " Say nothing.", "fail": " Fail.", "refuse": " Refuse.", "two": " Both."}
        asked = "zzz qqq" if chance.random() < 0.05 else f"What about {topic} for {country}"
        yield Ticket(
            question=f"Ticket {first + place}: {asked}?{words.get(kind, '')}",
            route=routes[place % len(routes)],
            style=STYLES[place // len(routes) % len(STYLES)],
            kind=kind,
            is_streamed=kind != "fail" and place % 5 == 4,
            is_tight=place % 7 == 6,
        )
