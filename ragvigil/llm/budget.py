"""Tokens and money per day: a call is paid for before it is made.

The *sample* pot is paced: at any time of the day it may have spent the same share of its budget
as has come of the day's traffic. The *reserved* pot (boosts, audits, canary) may be spent at any
time. A call reserves the most that it can cost, so that the day's spending stays within the
budget however many calls are under way. Only a provider that sends more than it was asked for can
exceed it, by the excess.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from ragvigil.llm.outcome import Purpose, Usage
from ragvigil.llm.prices import Price
from ragvigil.llm.spending import Pot, Spending, SpendingLog

DAY_SECONDS = 86_400.0
AHEAD_SECONDS = 600.0
"""How far the sample may run ahead of the traffic: the first call of a day needs it."""
EVEN = (1.0,) * 24
NOTHING = Spending()
NO_PRICE = Price(input=0.0, output=0.0)


class Unpriced(ValueError):
    """Money is limited, and the model has no known price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that a day (UTC) may cost; None is no limit."""

    tokens: int | None = None
    money: float | None = None
    reserved_share: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """The most that a call may cost, taken out of a pot on the day on which it began."""

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

    `price_on` gives the model's price on a day. Raises Unpriced if money is limited and the price
    is unknown.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        price_on: Callable[[date], Price | None],
        clock: Callable[[], float],
        log: SpendingLog | None = None,
    ) -> None:
        self._limits = limits
        self._price_on = price_on
        self._clock = clock
        self._log = log or SpendingLog()
        self._hours: tuple[float, ...] = EVEN
        self._under_way: dict[tuple[date, Pot], Spending] = {}
        self._price(self._now().date())

    def pace(self, hours: Sequence[float]) -> None:
        """Paces the sample by the traffic of each hour of the day (UTC), as 24 weights.

        Only their proportions count; without any traffic all hours are equal. Raises ValueError.
        """
        if len(hours) != 24 or min(hours) < 0:
            raise ValueError("the traffic of a day is 24 numbers, none under 0")
        self._hours = tuple(hours) if sum(hours) > 0 else EVEN

    def reserve(self, most: Usage, purpose: Purpose) -> Reservation | None:
        """Takes the most that a call can use out of its pot; None if the pot has less.

        Raises Unpriced if the model has no price any more.
        """
        now = self._now()
        pot = pot_of(purpose)
        day, price = now.date(), self._price(now.date())
        reservation = Reservation(day=day, pot=pot, most=most, price=price)
        after = self._log.read(day, pot) + reservation.spending
        if not self._fits(after, pot, now):
            return None
        self._log.write(day, pot, after)
        self._hold(reservation, reservation.spending)
        return reservation

    def fits_later(self, most: Usage, purpose: Purpose) -> bool:
        """Whether the call would fit if those under way cost nothing: then waiting may help."""
        now = self._now()
        day, pot = now.date(), pot_of(purpose)
        reserved = self._under_way.get((day, pot), NOTHING)
        needed = _spending(most, self._price(day))
        after = self._log.read(day, pot) - reserved + needed
        return reserved != NOTHING and self._fits(after, pot, now)

    def settle(self, reservation: Reservation, used: Usage) -> Spending:
        """Replaces a reservation by what was used, and returns what that cost."""
        spent = _spending(used, reservation.price)
        self._hold(reservation, NOTHING - reservation.spending)
        before = self._log.read(reservation.day, reservation.pot)
        self._log.write(reservation.day, reservation.pot, before - reservation.spending + spent)
        return spent

    def spent(self, pot: Pot) -> Spending:
        """What the pot has spent today, reservations of calls under way included."""
        return self._log.read(self._now().date(), pot)

    def allowed(self, pot: Pot) -> tuple[float | None, float | None]:
        """Tokens and money that the pot may have spent by now; None is no limit."""
        return self._allowed(pot, self._now())

    def close(self) -> None:
        """Closes the file."""
        self._log.close()

    def _hold(self, reservation: Reservation, more: Spending) -> None:
        """Adds to what calls under way have reserved."""
        key = reservation.day, reservation.pot
        reserved = self._under_way.pop(key, NOTHING) + more
        # Without a call under way the entry goes: sums of money leave a rest of rounding.
        if reserved.tokens > 0:
            self._under_way[key] = reserved

    def _fits(self, after: Spending, pot: Pot, now: datetime) -> bool:
        tokens, money = self._allowed(pot, now)
        # Sums of prices are not exact: a billionth of a dollar is no reason to refuse a call.
        return (tokens is None or after.tokens <= tokens) and (
            money is None or after.money <= money + 1e-9
        )

    def _allowed(self, pot: Pot, now: datetime) -> tuple[float | None, float | None]:
        share = self._limits.reserved_share
        if pot is Pot.SAMPLE:
            share = (1 - share) * traffic_by(seconds_of_day(now) + AHEAD_SECONDS, self._hours)
        tokens, money = self._limits.tokens, self._limits.money
        return None if tokens is None else tokens * share, None if money is None else money * share

    def _price(self, day: date) -> Price:
        price = self._price_on(day)
        if price is None and self._limits.money is not None:
            raise Unpriced("a budget in money needs a model with a known price")
        return price or NO_PRICE

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)


def pot_of(purpose: Purpose) -> Pot:
    """The pot that pays: the sample for itself, the reserve for calls that cannot wait."""
    return Pot.SAMPLE if purpose is Purpose.SAMPLE else Pot.RESERVED


def seconds_of_day(now: datetime) -> float:
    """Seconds since midnight."""
    return now.hour * 3600 + now.minute * 60 + now.second + now.microsecond / 1e6


def traffic_by(seconds: float, hours: Sequence[float]) -> float:
    """The share of a day's traffic that has come by `seconds` after midnight.

    >>> traffic_by(18 * 3600, EVEN)
    0.75
    """
    whole, within = divmod(min(seconds, DAY_SECONDS), 3600)
    hour = int(whole)
    arrived = sum(hours[:hour]) + (hours[hour] * within / 3600 if hour < 24 else 0.0)
    return arrived / sum(hours)


def _spending(usage: Usage, price: Price) -> Spending:
    return Spending(tokens=usage.input_tokens + usage.output_tokens, money=price.cost(usage))
