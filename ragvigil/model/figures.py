"""Numbers in words, for pages and the command line alike: one form for each kind of number.

An unknown number is a dash, never 0. A minus is U+2212, which is as wide as a plus.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

UNKNOWN = "–"
MINUS = "\u2212"
MINUTE, HOUR, DAY = 60, 3600, 86_400
SMALL_NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def points(change: float | None) -> str:
    """A change of a share with its sign, in points.

    >>> points(-0.56), points(0.02), points(-0.001), points(None)
    ('−56', '+2', '0', '–')
    """
    if change is None:
        return UNKNOWN
    whole = round(100 * change)
    return f"{'+' if whole > 0 else MINUS}{abs(whole)}" if whole else "0"


def in_points(size: float | None) -> str:
    """The size of a change, without a sign.

    >>> in_points(-0.56), in_points(0.01)
    ('56 points', '1 point')
    """
    if size is None:
        return UNKNOWN
    whole = abs(round(100 * size))
    return f"{whole} point{'s' * (whole != 1)}"


def between(low: float | None, high: float | None) -> str:
    """An interval of a change in points; sizes alone where both ends have one sign.

    >>> between(-0.64, -0.48), between(-0.02, 0.04)
    ('between 48 and 64', 'between −2 and +4')
    """
    if low is None or high is None:
        return UNKNOWN
    if low * high < 0:
        return f"between {points(low)} and {points(high)}"
    near, far = sorted(abs(round(100 * end)) for end in (low, high))
    return f"between {near} and {far}"


def score(value: float | None) -> str:
    """A score or a mean of scores.

    >>> score(0.4375), score(None)
    ('0.44', '–')
    """
    return UNKNOWN if value is None else signed(f"{value:.2f}")


def share(part: float | None) -> str:
    """A share in percent, with a decimal where it is close to none or all.

    >>> share(0.97), share(0.003), share(1), share(None)
    ('97 %', '0.3 %', '100 %', '–')
    """
    if part is None:
        return UNKNOWN
    has_decimal = part not in (0, 1) and not 0.01 <= part <= 0.99
    return f"{100 * part:.{int(has_decimal)}f} %"


def share_within(part: float, bounds: tuple[float, float]) -> str:
    """A share with its interval.

    >>> share_within(0.93, (0.81, 0.97))
    '93 % [81, 97]'
    """
    low, high = (100 * bound for bound in bounds)
    return f"{share(part)} [{low:.0f}, {high:.0f}]"


def count(number: float | None) -> str:
    """A whole number with a comma between thousands.

    >>> count(12698), count(None)
    ('12,698', '–')
    """
    return UNKNOWN if number is None else signed(f"{round(number):,}")


def about(number: float) -> str:
    """The number of an estimate, to two digits.

    >>> about(314.3), about(7.4), about(0)
    ('310', '7', '0')
    """
    unit = 10 ** max(0, len(str(int(number))) - 2) if number >= 1 else 1
    return count(round(number / unit) * unit)


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number of things.

    >>> counted(1, "answer"), counted(1201, "answer"), counted(2, "query", "queries")
    ('1 answer', '1,201 answers', '2 queries')
    """
    return f"{count(number)} {noun if number == 1 else plural or noun + 's'}"


def spelled(number: int) -> str:
    """A number in a sentence: a word up to twelve.

    >>> spelled(0), spelled(3), spelled(41)
    ('no', 'three', '41')
    """
    return SMALL_NUMBERS[number] if 0 <= number < len(SMALL_NUMBERS) else count(number)


def duration(seconds: float | None) -> str:
    """A length of time in its largest units.

    >>> [duration(seconds) for seconds in (0.0005, 0.082, 4, 56 * 60, 5400, 6 * 3600, 3 * 86400)]
    ['0.5 ms', '82 ms', '4 s', '56 min', '1 h 30 min', '6 h', '3 days']
    >>> duration(86400), duration(None)
    ('1 day', '–')
    """
    if seconds is None:
        return UNKNOWN
    if seconds < 1:
        return f"{1000 * seconds:.{int(0 < seconds < 0.01)}f} ms"
    if seconds < 2 * MINUTE:
        return f"{seconds:.1f} s".replace(".0 ", " ") if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 2 * DAY and round(seconds) != DAY:
        hours, minutes = divmod(round(seconds / MINUTE), 60)
        parts = (f"{hours} h" * (hours > 0), f"{minutes} min" * (minutes > 0 and hours < 10))
        return " ".join(part for part in parts if part)
    return counted(round(seconds / DAY), "day")


def money(dollars: float | None) -> str:
    """An amount in US dollars, with more decimals below a cent.

    >>> money(1.12), money(0.0004), money(0), money(None)
    ('1.12 US$', '0.0004 US$', '0.00 US$', '–')
    """
    if dollars is None:
        return UNKNOWN
    return f"{dollars:,.2f} US$" if dollars == 0 or dollars >= 0.01 else f"{dollars:.1g} US$"


def size(number: float | None) -> str:
    """A size on disk or in memory.

    >>> size(3_100_000_000), size(512), size(None)
    ('3.1 GB', '512 bytes', '–')
    """
    if number is None:
        return UNKNOWN
    for unit, bytes_ in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= bytes_:
            return f"{number / bytes_:.1f}".removesuffix(".0") + f" {unit}"
    return counted(round(number), "byte")


def clock_time(time: datetime) -> str:
    """The time of day to the second.

    >>> clock_time(datetime(2026, 11, 22, 7, 24, 10, tzinfo=UTC))
    '07:24:10 UTC'
    """
    return f"{time.astimezone(UTC):%H:%M:%S} UTC"


def date_time(time: datetime) -> str:
    """A day of the year and the minute, for what is read at another time than it was written.

    >>> date_time(datetime(2026, 11, 2, 7, 24, 10, tzinfo=UTC))
    '2 Nov 07:24 UTC'
    """
    time = time.astimezone(UTC)
    return f"{time.day} {MONTHS[time.month - 1]} {time:%H:%M} UTC"


def moment(time: datetime | None, now: datetime) -> str:
    """A time as seen from `now`, in UTC: no more of its date than is needed.

    >>> from datetime import timedelta
    >>> now = datetime(2026, 11, 22, 7, 24, tzinfo=UTC)
    >>> back = (timedelta(minutes=5), timedelta(days=1), timedelta(days=20), timedelta(days=400))
    >>> [moment(now - each, now) for each in back]
    ['07:19', 'Sat 07:24', '2 Nov 07:24', '18 Oct 2025']
    """
    if time is None:
        return UNKNOWN
    time, now = time.astimezone(UTC), now.astimezone(UTC)
    clock = f"{time:%H:%M}"
    days = (now.date() - time.date()).days
    if days == 0:
        return clock
    if 0 < days < 7:
        return f"{DAYS[time.weekday()]} {clock}"
    return day(time, now) if time.year != now.year else f"{day(time, now)} {clock}"


def day(time: datetime | None, now: datetime) -> str:
    """The date of a time, in UTC.

    >>> from datetime import timedelta
    >>> now = datetime(2026, 11, 22, 7, 24, tzinfo=UTC)
    >>> [day(now - timedelta(days=back), now) for back in (0, 1, 20, 400)]
    ['today', 'Sat', '2 Nov', '18 Oct 2025']
    """
    if time is None:
        return UNKNOWN
    time, now = time.astimezone(UTC), now.astimezone(UTC)
    days = (now.date() - time.date()).days
    if days == 0:
        return "today"
    if 0 < days < 7:
        return DAYS[time.weekday()]
    date = f"{time.day} {MONTHS[time.month - 1]}"
    return date if time.year == now.year else f"{date} {time.year}"


def ago(time: datetime | None, now: datetime) -> str:
    """How long ago a time was.

    >>> from datetime import timedelta
    >>> now = datetime(2026, 11, 22, 7, 24, tzinfo=UTC)
    >>> ago(now - timedelta(minutes=5), now), ago(now, now)
    ('5 min ago', 'just now')
    """
    if time is None:
        return UNKNOWN
    seconds = (now - time).total_seconds()
    return "just now" if seconds < 1 else f"{duration(float(round(seconds)))} ago"


def listed(words: Sequence[str], most: int = 5) -> str:
    """Names in a sentence; how many more there are.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c"], most=2)
    ('a', 'a, b and c', 'a, b and 1 more')
    """
    shown = list(words) if len(words) <= most else [*words[:most], f"{len(words) - most} more"]
    return " and ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)


def sentence(text: str) -> str:
    """The text with a capital first letter.

    >>> sentence("two rubrics of /Refunds")
    'Two rubrics of /Refunds'
    """
    return text[:1].upper() + text[1:]


def signed(number: str) -> str:
    """A printed number with a true minus.

    >>> signed("-0.20")
    '−0.20'
    """
    return number.replace("-", MINUS)
