"""Failures of the database: which will pass, and which never succeed.

StoreError
├── Unavailable      down, slow, read-only, out of memory: a retry may succeed
├── Abandoned        nobody waits for the answer any more: the query was not run
├── Refused          the data itself is refused: a retry never succeeds
├── Fenced           this daemon does not lead any more: the leader writes instead
├── WriterStopped    too many rows were refused: nothing is written until a person looks
├── QueryFailed      a read that is wrong or over its limits
│   └── PartDamaged  the disk or somebody has damaged a part that it reads
├── StoreUnusable    the embedded store does not open; a person must look
└── SchemaMismatch   an applied migration is not that of this version, or a column is missing
"""

from __future__ import annotations

import re


class StoreError(Exception):
    """The base of all errors that the store raises."""


class Unavailable(StoreError):
    """The database cannot answer now; a retry may succeed."""


class Abandoned(StoreError):
    """The query was not run, as its request has ended."""


class Refused(StoreError):
    """The database, or the driver that encodes for it, refuses the rows for good."""


class Fenced(StoreError):
    """The rows are the leader's to write, and this daemon does not lead."""


class WriterStopped(StoreError):
    """More than 1 % of the rows were refused."""


class QueryFailed(StoreError):
    """The query is wrong, or exceeds its time, rows or memory."""


class PartDamaged(QueryFailed):
    """`part` of `table` is damaged; the query succeeds once it is set aside."""

    def __init__(self, message: str, table: str, part: str) -> None:
        super().__init__(message)
        self.table, self.part = table, part


class StoreUnusable(StoreError):
    """The embedded store does not open; `str(error)` says in a sentence why, and what to do."""


class SchemaMismatch(StoreError):
    """The tables are not those that this version's migrations make."""


# ClickHouse error codes that blame the rows: wrong types, sizes, encodings, constraints.
DATA_CODES = frozenset(
    {6, 26, 27, 32, 33, 38, 41, 53, 69, 70, 72, 117, 128, 131, 190, 321, 349, 407, 441, 469}
)
FENCED_CODE = 395
"""Of `throwIf`, which only the lease's condition uses."""
# Codes of a database that cannot answer now; every other code is the query's own fault.
PASSING_CODES = frozenset({173, 202, 209, 210, 236, 242, 243, 279, 319, 394, 425, 439, 516, 999})
# Codes of a read that finds its part damaged: wrong checksums, sizes, marks, a file that is gone.
DAMAGE_CODES = frozenset({32, 33, 40, 107, 117, 226, 227, 228, 246, 271, 354, 432})
# The driver cuts long messages: what follows the table may be missing.
_PART = re.compile(r"while reading from part [^\n]*/(\w+)/ in table `?ragvigil`?\.`?(\w+)")
ENCODING_ERRORS = (TypeError, ValueError, OverflowError, AttributeError, KeyError, IndexError)


def write_failure(error: Exception) -> StoreError:
    """Refused if the rows are to blame, else Unavailable, which is retried."""
    from clickhouse_connect.driver.exceptions import DatabaseError, DataError

    text = _short(error)
    if isinstance(error, DataError):
        return Refused(text)
    if isinstance(error, DatabaseError):
        if error.code == FENCED_CODE:
            return Fenced(text)
        return Refused(text) if error.code in DATA_CODES else Unavailable(text)
    if _is_of_the_program(error):
        return Refused(text)
    return Unavailable(text)


def read_failure(error: Exception) -> StoreError:
    """QueryFailed if the same query would fail again, else Unavailable."""
    from clickhouse_connect.driver.exceptions import DatabaseError

    is_damage = isinstance(error, DatabaseError) and error.code in DAMAGE_CODES
    if is_damage and (damaged := _PART.search(str(error))):
        return PartDamaged(_short(error), table=damaged[2], part=damaged[1])
    if isinstance(error, DatabaseError) and error.code and error.code not in PASSING_CODES:
        return QueryFailed(_short(error))
    if _is_of_the_program(error):
        return QueryFailed(_short(error))
    return Unavailable(_short(error))


def _is_of_the_program(error: Exception) -> bool:
    """Whether the interpreter raised it on a value; no connection did."""
    return isinstance(error, ENCODING_ERRORS) and not isinstance(error, OSError)


def _short(error: Exception, limit: int = 500) -> str:
    from urllib3.exceptions import MaxRetryError

    cause = error.__cause__
    # Its own text is first the address with every setting of the query.
    said = cause.reason if isinstance(cause, MaxRetryError) else error
    text = str(said).strip() or type(error).__name__
    return text if len(text) <= limit else f"{text[:limit]}…"
