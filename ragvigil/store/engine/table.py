"""Values of the model as rows of a table, and back: by name, so that a field is added in one place.

A dataclass says what its table holds; a migration makes the column. The rules:

    field                                column
    `since_unix_nano: int`               `since`, a time of 1970 to 2262; 0 means none
    an enum, an enum or None             its value, empty for None
    a bool                               0 or 1
    a sequence of texts, numbers, enums  an array
    other tuples, dicts                  JSON
    a dataclass                          the columns of its own fields
    any other                            of the same name, as it is

What depends on types alone is worked out once, when the table is declared. Rows of the hot path
(`records/record_rows.py`, `records/span_rows.py`) are built by hand and only declare their columns
here: converting each value by its type takes five times as long (3.8 µs a score against 0.8).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast, get_args, get_origin

from ragvigil.store.engine.batch import Rows
from ragvigil.store.engine.errors import QueryFailed
from ragvigil.store.engine.json_values import dump, is_enum, load, type_hints, without_none
from ragvigil.store.engine.priority import Priority

NANO_SUFFIX = "_unix_nano"
MOST_NANOS = 2**63 - 1
TIMES_AS_NUMBERS = {"DateTime*": "int"}
"""Reads times as whole numbers; a datetime would cut off the nanoseconds."""

Value = TypeVar("Value")
Read: TypeAlias = Mapping[str, Any]
"""A row as it was read: values by column, times as numbers."""
Convert: TypeAlias = Callable[[Any], Any]


class Reads(Protocol):
    """What a table needs of the store. A protocol: the store's own modules import this one."""

    def read(
        self,
        name: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        priority: Priority = Priority.PAGE,
        formats: Mapping[str, str] | None = None,
    ) -> list[dict[str, Any]]:
        """Rows of a named query."""
        ...


declared: dict[str, dict[str, str]] = {}
"""The tables that this process may write: for each column, the field that is written there."""


def nanos(value: int) -> int:
    """The nearest time that DateTime64(9) can hold: 1970 to 2262."""
    return min(max(value, 0), MOST_NANOS)


def declare(table: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Declares the columns of rows that are built by hand; the store checks them when it opens."""
    declared.setdefault(table, {}).update((name, f"{table}.{name}") for name in columns)
    return tuple(columns)


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a dataclass, or of one inside it: `path` leads there from the outermost."""

    path: str
    column: str
    hint: Any


class Table(Generic[Value]):
    """A table whose rows are values of one dataclass.

    `columns` gives, by field, the columns that have another name than the rules give. `computed`
    are further columns, each made of the whole value. `parsed` are fields that functions of their
    own make of the whole row; no column is written for them, unless `computed` has one.
    """

    def __init__(
        self,
        name: str,
        kind: type[Value],
        *,
        columns: Mapping[str, str] | None = None,
        computed: Mapping[str, Callable[[Value], object]] | None = None,
        parsed: Mapping[str, Callable[[Read], object]] | None = None,
    ) -> None:
        self.name, self.kind = name, kind
        self._computed = dict(computed or {})
        written = list(_fields(kind, columns or {}, set(parsed or {})))
        # One call reads all fields, those of inner dataclasses by their dotted path.
        get = attrgetter(*(field.path for field in written))
        # With one path attrgetter gives the bare value.
        self._get = get if len(written) > 1 else lambda value: (get(value),)
        self._convert = [_writing(field.hint, field.path) for field in written]
        self.columns = (*(field.column for field in written), *self._computed)
        self.value = _reader(kind, columns or {}, dict(parsed or {}))
        """Makes the value of a row that was read; raises KeyError where it lacks a column."""
        self.sources = {field.column: f"{kind.__name__}.{field.path}" for field in written}
        self.sources |= {column: f"{kind.__name__} ({column})" for column in self._computed}

    def rows(self, values: Iterable[Value], **stamps: object) -> Rows:
        """Rows of the values; `stamps` are further columns, with one value for all rows."""
        constants = tuple(stamps.values())
        return Rows(
            (*self.columns, *stamps), [(*self._values(value), *constants) for value in values]
        )

    def read(
        self,
        store: Reads,
        name: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        priority: Priority = Priority.PAGE,
    ) -> list[Value]:
        """Rows of the named query as values of the dataclass. Raises as `Store.read` does.

        The query must return every column that a field of the dataclass is read from, under the
        column's own name.
        """
        rows = store.read(name, parameters, priority=priority, formats=TIMES_AS_NUMBERS)
        try:
            return [self.value(row) for row in rows]
        except KeyError as error:
            raise QueryFailed(
                f"{name}.sql gives no column {error}, which {self.kind.__name__} has"
            ) from error

    def _values(self, value: Value) -> Iterator[object]:
        for content, convert in zip(self._get(value), self._convert, strict=True):
            yield content if convert is None else convert(content)
        for compute in self._computed.values():
            yield compute(value)


def table(name: str, kind: type[Value], **options: Any) -> Table[Value]:
    """Makes a Table with these options and declares its columns: the store checks them."""
    made = Table(name, kind, **options)
    declared.setdefault(name, {}).update(made.sources)
    return made


def _fields(kind: type, columns: Mapping[str, str], without: Collection[str]) -> Iterator[_Field]:
    hints = type_hints(kind)
    for field in fields(kind):
        hint = hints[field.name]
        if field.name in without:
            continue
        if is_dataclass(hint):
            for inner in _fields(hint, columns, without):  # type: ignore[arg-type]
                yield _Field(f"{field.name}.{inner.path}", inner.column, inner.hint)
        else:
            yield _Field(field.name, _column(field.name, columns), hint)


def _column(name: str, columns: Mapping[str, str]) -> str:
    return columns.get(name, name.removesuffix(NANO_SUFFIX))


def _reader(
    kind: type[Value], columns: Mapping[str, str], parsed: Mapping[str, Callable[[Read], object]]
) -> Callable[[Read], Value]:
    hints = type_hints(cast(type, kind))
    plain: list[tuple[str, str, Convert | None]] = []
    whole: list[tuple[str, Callable[[Read], object]]] = []
    for field in fields(kind):  # type: ignore[arg-type]
        hint = hints[field.name]
        if field.name in parsed:
            whole.append((field.name, parsed[field.name]))
        elif is_dataclass(hint):
            whole.append((field.name, _reader(hint, columns, parsed)))  # type: ignore[arg-type]
        else:
            plain.append((field.name, _column(field.name, columns), _reading(hint)))

    def value(row: Read) -> Value:
        values = {
            name: row[column] if convert is None else convert(row[column])
            for name, column, convert in plain
        }
        return kind(**values, **{name: read(row) for name, read in whole})

    return value


def _writing(hint: Any, path: str) -> Convert | None:
    """How a value of this type is written; None where it is written as it is."""
    inner = without_none(hint)
    if path.endswith(NANO_SUFFIX) and inner is int:
        return nanos  # spans may carry any time, and the driver refuses what does not fit
    if is_enum(inner):
        return lambda value: "" if value is None else value.value
    if inner is bool:
        return lambda value: None if value is None else int(value)
    if _is_array(inner):
        if is_enum(get_args(inner)[0]):
            return lambda values: [value.value for value in values]
        return list
    if get_origin(inner) is not None:
        return dump
    return None


def _reading(hint: Any) -> Convert | None:
    """How a value of this type is read; None where it is taken as it is."""
    inner = without_none(hint)
    if is_enum(inner):
        # LowCardinality columns are not Nullable here: an empty text stands for None.
        return inner if inner is hint else lambda value: inner(value) if value else None
    if inner is bool:
        return bool if inner is hint else lambda value: None if value is None else bool(value)
    if _is_array(inner):
        item = get_args(inner)[0]
        return (lambda values: tuple(map(item, values))) if is_enum(item) else tuple
    if get_origin(inner) is not None:
        return lambda text: load(inner, text)
    return None


def _is_array(hint: Any) -> bool:
    """Whether it is a sequence of texts, numbers or enums."""
    items = get_args(hint)
    if get_origin(hint) is Sequence:
        return True
    if get_origin(hint) is not tuple or len(items) != 2 or items[1] is not Ellipsis:
        return False
    return isinstance(items[0], type) and not is_dataclass(items[0])
