"""Tokens and money per day: a call is paid for before it is made.

The *sample* pot is paced: by any time of the day it may have spent the part of its day that the
traffic has by then. The *reserved* pot (boosts, audits, canary) may be spent at any time. A call
reserves the most that it can cost, so that the day's spending never exceeds the budget, however
many calls are under way; only a provider that sends more than it was asked for can exceed it, by
what it sent too much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from ragvigil.llm.book import Book, Pot, Spending
from ragvigil.llm.outcome import Purpose, Usage
from ragvigil.llm.prices import Price

DAY_SECONDS = 86_400.0
AHEAD_SECONDS = 600.0
"""The sample may run this far ahead of the traffic: the first call of a day needs it."""
EVEN = (1.0,) * 24
NOTHING = Spending()
NO_PRICE = Price(input=0.0, output=0.0)


class Unpriced(ValueError):
    """There is a money budget, and the model has no price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that a day (UTC) may cost; None is no limit."""

    tokens: int | None = None
    money: float | None = None
    reserved_share: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """What a call may cost at most, taken out of a pot on the day it began."""

    day: date
    pot: Pot
    most: Usage
    price: Price

    @property
    def spending(self) -> Spending:
        """The reservation as tokens and money."""
        return _spending(self.most, self.price)


class Budget:
    """Reserves what a call may cost, and settles what it did cost.

    `price_on` gives the model's price on a day. `hours` are 24 weights, the traffic of each hour
    of the day (UTC); only their proportions count. Raises Unpriced where money is limited and the
    price is unknown.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        price_on: Callable[[date], Price | None],
        clock: Callable[[], float],
        book: Book | None = None,
    ) -> None:
        self._limits = limits
        self._price_on = price_on
        self._clock = clock
        self._book = book or Book()
        self._hours: tuple[float, ...] = EVEN
        self._under_way: dict[tuple[date, Pot], Spending] = {}
        self._price(self._now().date())

    def pace(self, hours: Sequence[float]) -> None:
        """From now on the sample follows this traffic; a day without any is taken as even."""
        if len(hours) != 24 or min(hours) < 0:
            raise ValueError("the traffic of a day is 24 numbers, none under 0")
        self._hours = tuple(hours) if sum(hours) > 0 else EVEN

    def reserve(self, most: Usage, purpose: Purpose) -> Reservation | None:
        """Takes the most that a call can use out of its pot; None where the pot has not as much.

        Raises Unpriced where the model has lost its price.
        """
        now = self._now()
        pot = pot_of(purpose)
        made = Reservation(day=now.date(), pot=pot, most=most, price=self._price(now.date()))
        after = self._book.read(made.day, pot) + made.spending
        if not self._fits(after, pot, now):
            return None
        self._book.write(made.day, pot, after)
        self._holds(made, made.spending)
        return made

    def fits_later(self, most: Usage, purpose: Purpose) -> bool:
        """Whether the call would fit if those under way cost nothing: then waiting may help."""
        now = self._now()
        day, pot = now.date(), pot_of(purpose)
        held = self._under_way.get((day, pot), NOTHING)
        needed = _spending(most, self._price(day))
        return held != NOTHING and self._fits(self._book.read(day, pot) - held + needed, pot, now)

    def settle(self, made: Reservation, used: Usage) -> Spending:
        """Replaces a reservation by what was used, and returns that."""
        real = _spending(used, made.price)
        self._holds(made, NOTHING - made.spending)
        before = self._book.read(made.day, made.pot)
        self._book.write(made.day, made.pot, before - made.spending + real)
        return real

    def spent(self, pot: Pot) -> Spending:
        """What the pot has spent today, reservations of calls under way included."""
        return self._book.read(self._now().date(), pot)

    def allowed(self, pot: Pot) -> tuple[float | None, float | None]:
        """Tokens and money that the pot may have spent by now; None is no limit."""
        return self._allowed(pot, self._now())

    def close(self) -> None:
        """Gives the book's file back."""
        self._book.close()

    def _holds(self, made: Reservation, more: Spending) -> None:
        """Counts what calls under way hold; without any it is nothing, not a rest of rounding."""
        key = made.day, made.pot
        held = self._under_way.pop(key, NOTHING) + more
        if held.tokens > 0:
            self._under_way[key] = held

    def _fits(self, after: Spending, pot: Pot, now: datetime) -> bool:
        tokens, money = self._allowed(pot, now)
        # Sums of prices are not exact: a billionth of a dollar is no reason to refuse a call.
        return (tokens is None or after.tokens <= tokens) and (
            money is None or after.money <= money + 1e-9
        )

    def _allowed(self, pot: Pot, now: datetime) -> tuple[float | None, float | None]:
        part = self._limits.reserved_share
        if pot is Pot.SAMPLE:
            part = (1 - part) * traffic_by(seconds_of_day(now) + AHEAD_SECONDS, self._hours)
        tokens, money = self._limits.tokens, self._limits.money
        return None if tokens is None else tokens * part, None if money is None else money * part

    def _price(self, day: date) -> Price:
        price = self._price_on(day)
        if price is None and self._limits.money is not None:
            raise Unpriced("a budget in money needs a model with a known price")
        return price or NO_PRICE

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)


def pot_of(purpose: Purpose) -> Pot:
    """Who pays: the sample for itself, the reserve for everything that cannot wait its turn."""
    return Pot.SAMPLE if purpose is Purpose.SAMPLE else Pot.RESERVED


def seconds_of_day(now: datetime) -> float:
    """Seconds since midnight."""
    return now.hour * 3600 + now.minute * 60 + now.second + now.microsecond / 1e6


def traffic_by(seconds: float, hours: Sequence[float]) -> float:
    """The part of a day's traffic that has come by a time of the day, in seconds from midnight.

    >>> traffic_by(18 * 3600, EVEN)
    0.75
    """
    whole, within = divmod(min(seconds, DAY_SECONDS), 3600)
    hour = int(whole)
    come = sum(hours[:hour]) + (hours[hour] * within / 3600 if hour < 24 else 0.0)
    return come / sum(hours)


def _spending(usage: Usage, price: Price) -> Spending:
    return Spending(tokens=usage.input_tokens + usage.output_tokens, money=price.cost(usage))
