"""Rubrics are data: one TOML file each; the folder is the registry.

Other distributions add rubrics: an entry point of the group `ragvigil.rubrics` names a package, and
every `*.toml` in it is a rubric.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.metadata import EntryPoint
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from ragvigil.model.plugin import HOUSE, LeftOut, distribution, plug_in, refusal
from ragvigil.model.score import Layer
from scorers.judge_table import About, BadTable, JudgeTable, parse_judge_table
from scorers.pattern_table import BadPattern, PatternTable, parse_pattern_table

GROUP = "ragvigil.rubrics"

FIELDS = frozenset(
    {"query", "retrieved", "document_texts", "retrieved_texts", "reranked", "context", "answer",
     "citations", "usage"}
)  # fmt: skip
"""Fields of a record that a rubric may need."""
SCALES = frozenset({"0..1", "label"})
DERIVED = ("precision", "answerable", "rank_gain", "prompt_mean")
"""Scores that are computed from the grades of chunks, by `scorers/judge/derived_scores.py`."""


class BadRubric(ValueError):
    """A rubric file is wrong; `str(error)` names the file, the key and what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """A criterion: its layer, the fields it needs, and when a record fails it.

    A record that lacks a field in `needs` is not applicable. A value under `fails_below` fails;
    None for a rubric that is only a label. `judge` is what a language model is asked, `asks` what
    a person who labels is asked: a question to which yes is a pass. `pattern` is what code looks
    for in a text of the record. A rubric `derived_from` another computes its `aggregation` from the
    judge's grades there; grades as good as `relevant_from` count as relevant.
    """

    name: str
    layer: Layer
    version: str
    scale: str
    needs: tuple[str, ...]
    description: str
    fails_below: float | None = None
    labels: tuple[str, ...] = ()
    judge: JudgeTable | None = None
    pattern: PatternTable | None = None
    asks: str = ""
    derived_from: str = ""
    aggregation: str = ""
    relevant_from: str = ""


def parse_rubric(text: str, name: str) -> Rubric:
    """Parses the TOML text of the file `name`.

    >>> parse_rubric('name = "a"', "a.toml")
    Traceback (most recent call last):
    ...
    scorers.rubric.BadRubric: a.toml: layer is missing

    Raises BadRubric.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadRubric(f"{name}: is not TOML: {error}") from error
    keys = {field.name for field in fields(Rubric)}
    for key in table:
        if key not in keys:
            raise BadRubric(
                f"{name}: {key}: there is no such key; allowed: {', '.join(sorted(keys))}"
            )
    for key in ("name", "layer", "version", "scale", "needs", "description"):
        if key not in table:
            raise BadRubric(f"{name}: {key} is missing")
    _check(table, name)
    plain: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
    }
    plain["judge"] = _judge_table(table, name)
    plain["pattern"] = _pattern_table(table, name)
    return Rubric(**plain | {"layer": Layer(table["layer"])})


def read_rubric(path: Path) -> Rubric:
    """Reads a rubric file. Raises BadRubric, OSError."""
    try:
        return parse_rubric(path.read_text("utf-8"), path.name)
    except UnicodeDecodeError as error:
        raise BadRubric(f"{path.name}: is not UTF-8: {error.reason}") from error


def _judge_table(table: Mapping[str, Any], name: str) -> JudgeTable | None:
    if "judge" not in table:
        return None
    if table["scale"] != "0..1":
        raise BadRubric(f"{name}: scale: a rubric with [judge] has 0..1")
    try:
        return parse_judge_table(table["judge"])
    except BadTable as error:
        raise BadRubric(f"{name}: judge: {error}") from error


def _pattern_table(table: Mapping[str, Any], name: str) -> PatternTable | None:
    if "pattern" not in table:
        return None
    if table["scale"] != "0..1" or {"judge", "derived_from"} & set(table):
        raise BadRubric(
            f"{name}: pattern: goes with the scale 0..1, without [judge] and derived_from"
        )
    try:
        return parse_pattern_table(table["pattern"])
    except BadPattern as error:
        raise BadRubric(f"{name}: pattern: {error}") from error


def _check(table: Mapping[str, Any], name: str) -> None:
    for key in ("name", "layer", "version", "scale", "description"):
        if not isinstance(table[key], str):
            raise BadRubric(f"{name}: {key}: {table[key]!r} is not a string")
    if not isinstance(table.get("asks", ""), str):
        raise BadRubric(f"{name}: asks: {table['asks']!r} is not a string")
    for key in ("needs", "labels"):
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise BadRubric(f"{name}: {key}: {value!r} is not a list of strings")
    if not table["name"].isidentifier():
        raise BadRubric(f"{name}: name: {table['name']!r} is not letters, digits and _ alone")
    if table["layer"] not in set(Layer):
        raise BadRubric(f"{name}: layer: {table['layer']} is not one of {', '.join(Layer)}")
    if table["scale"] not in SCALES:
        raise BadRubric(
            f"{name}: scale: {table['scale']} is not one of {', '.join(sorted(SCALES))}"
        )
    for field in table["needs"]:
        if field not in FIELDS:
            raise BadRubric(f"{name}: needs: a record has no field {field}")
    _check_derived(table, name)
    bound = table.get("fails_below")
    if bound is not None and not _is_share(bound):
        raise BadRubric(f"{name}: fails_below: {bound} is not between 0 and 1")


def _check_derived(table: Mapping[str, Any], name: str) -> None:
    """Checks the keys that a derived rubric must have and others must not."""
    for key in ("derived_from", "aggregation", "relevant_from"):
        if key not in table:
            continue
        if not isinstance(table[key], str) or not table[key]:
            raise BadRubric(f"{name}: {key}: {table[key]!r} is not a text")
        if "derived_from" not in table or "judge" in table:
            raise BadRubric(f"{name}: {key}: goes with derived_from and without [judge]")
    if "derived_from" in table and table.get("aggregation") not in DERIVED:
        raise BadRubric(
            f"{name}: aggregation: {table.get('aggregation')} is not one of {', '.join(DERIVED)}"
        )
    if "derived_from" in table and "relevant_from" not in table:
        raise BadRubric(f"{name}: relevant_from is missing")


def _is_share(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value <= 1  # type: ignore[operator]


def load_rubrics() -> Mapping[str, Rubric]:
    """All rubrics by name: of `scorers/rubrics`, of other packages, of `[scorers] rubrics`, and
    those that people accepted while the daemon ran, unless another has the name.

    Leaves out rubrics of other packages that are wrong or whose name is taken; see
    `rubrics_left_out`. Raises BadRubric for one of this package.
    """
    return _accepted_rubrics | house_rubrics() | _plugin_rubrics()[0] | _own_rubrics


def rubric_layers() -> dict[str, Layer]:
    """The layer of each rubric."""
    return {name: rubric.layer for name, rubric in load_rubrics().items()}


def read_files(paths: Sequence[Path]) -> dict[str, Rubric]:
    """Reads rubrics from files, and from all `*.toml` in folders. Raises BadRubric."""
    places = {name: f"{HOUSE}: {name}.toml" for name in house_rubrics()}
    rubrics: dict[str, Rubric] = {}
    for path in paths:
        listed = sorted(path.glob("*.toml")) if path.is_dir() else [path]
        if not listed:
            raise BadRubric(f"{path}: holds no *.toml")
        for file in listed:
            try:
                rubric = _read_new(file, file.name, places)
            except OSError as error:
                raise BadRubric(f"{file}: cannot be read: {error.strerror or error}") from error
            rubrics[rubric.name] = rubric
    for rubric in rubrics.values():
        if problem := derivation_problem(rubric, house_rubrics() | rubrics):
            raise BadRubric(f"{places[rubric.name]}: {problem}")
    return rubrics


_own_rubrics: dict[str, Rubric] = {}  # those of `use_own_files`


def use_own_files(paths: Sequence[Path]) -> dict[str, Rubric]:
    """Adds the rubrics of these files to `load_rubrics`, in place of the files of an earlier call.

    Holds for the whole process, as installed rubrics do. Raises BadRubric.
    """
    rubrics = read_files(paths)
    _own_rubrics.clear()
    _own_rubrics.update(rubrics)
    return rubrics


_accepted_rubrics: dict[str, Rubric] = {}  # those of `use_accepted`; replaced, never changed


def use_accepted(rubrics: Iterable[Rubric]) -> None:
    """Adds rubrics that people accepted to `load_rubrics`, in place of those of an earlier call."""
    global _accepted_rubrics
    _accepted_rubrics = {rubric.name: rubric for rubric in rubrics}


def all_accepted() -> Mapping[str, Rubric]:
    """The rubrics of `use_accepted` by name."""
    return _accepted_rubrics


def accepted_rubrics() -> Mapping[str, Rubric]:
    """The rubrics of `use_accepted` by name, without those whose name another rubric has."""
    known = load_rubrics()
    return {name: each for name, each in _accepted_rubrics.items() if known[name] is each}


def rubrics_left_out() -> tuple[LeftOut, ...]:
    """The rubric files and packages of other distributions that cannot be used, each with why."""
    return _plugin_rubrics()[1]


@cache
def house_rubrics() -> dict[str, Rubric]:
    """All rubrics of `scorers/rubrics` by name. Raises BadRubric."""
    rubrics = [
        parse_rubric(file.read_text("utf-8"), file.name)
        for file in _toml_files(files("scorers").joinpath("rubrics"))
    ]
    return {rubric.name: rubric for rubric in rubrics}


@cache
def _plugin_rubrics() -> tuple[dict[str, Rubric], tuple[LeftOut, ...]]:
    """The rubrics of other distributions, in the same order everywhere, and those left out."""
    plugged = plug_in(GROUP, _package)
    left_out = list(plugged.left_out)
    places = {name: f"{HOUSE}: {name}.toml" for name in house_rubrics()}
    rubrics: dict[str, Rubric] = {}
    points: dict[str, EntryPoint] = {}
    for point, listed in plugged.loaded:
        for file in listed:
            try:
                rubric = _read_new(file, f"{distribution(point)}: {file.name}", places)
                rubrics[rubric.name] = rubric
                points[rubric.name] = point
            except (BadRubric, OSError) as error:
                left_out.append(refusal(point, str(error)))
    # Only now that all are known: a derived rubric may be read before its source.
    for name in list(rubrics):
        problem = derivation_problem(rubrics[name], house_rubrics() | rubrics)
        if problem:
            left_out.append(refusal(points[name], f"{places[name]}: {problem}"))
            del rubrics[name]
    return rubrics, tuple(left_out)


def derivation_problem(rubric: Rubric, rubrics: Mapping[str, Rubric]) -> str:
    """Why a derived rubric has no grades to compute from; empty where it has, or is not derived."""
    if not rubric.derived_from:
        return ""
    source = rubrics.get(rubric.derived_from)
    source_table = source.judge if source else None
    if source_table is None or source_table.about is not About.CHUNKS:
        return f"derived_from: {rubric.derived_from} is no rubric that grades chunks"
    counted = [grade.name for grade in source_table.grades if grade.value]
    if rubric.relevant_from not in counted:
        return f"relevant_from: {rubric.relevant_from} is not one of {', '.join(counted)}"
    return ""


def _read_new(file: Traversable | Path, place: str, places: dict[str, str]) -> Rubric:
    """Reads a rubric file; enters its name in `places`. Raises BadRubric if it is taken."""
    try:
        rubric = parse_rubric(file.read_text("utf-8"), place)
    except UnicodeDecodeError as error:
        raise BadRubric(f"{place}: is not UTF-8: {error.reason}") from error
    if rubric.name in places:
        raise BadRubric(f"{place}: name: {rubric.name} is taken by {places[rubric.name]}")
    places[rubric.name] = place
    return rubric


def _package(point: EntryPoint) -> tuple[EntryPoint, list[Traversable]]:
    """An entry point and the rubric files of the package that it names. Raises BadRubric."""
    package = point.load()
    if not hasattr(package, "__path__"):
        raise BadRubric(f"{point.value} is not a package")
    listed = _toml_files(files(package))
    if not listed:
        raise BadRubric(f"{point.value} holds no *.toml")
    return point, listed


def _toml_files(folder: Traversable) -> list[Traversable]:
    rubric_files = [file for file in folder.iterdir() if file.name.endswith(".toml")]
    return sorted(rubric_files, key=lambda file: file.name)
