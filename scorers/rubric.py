"""Rubrics are data: one TOML file each, and the folder is the registry.

A package of others brings its own: the entry point group `ragvigil.rubrics` names a package, and
every `*.toml` in it is a rubric.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.metadata import EntryPoint
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from ragvigil.model.plugin import HOUSE, LeftOut, distribution, plug_in, refusal
from ragvigil.model.score import Layer
from scorers.judge_table import About, BadTable, Judging, parse_judging

GROUP = "ragvigil.rubrics"

FIELDS = frozenset(
    {"query", "retrieved", "document_texts", "reranked", "context", "answer", "citations", "usage"}
)
SCALES = frozenset({"0..1", "label"})
DERIVED = ("precision", "answerable", "rank_gain")
"""What can be computed from the grades of chunks; see `scorers/judge/derived_scores.py`."""


class BadRubric(ValueError):
    """A rubric file is wrong; `str(error)` names the file, the key and what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """What is asked, of which layer, and when a record fails it.

    `needs` are the fields of the record without which it cannot be answered; `fails_below` is
    the value under which a record fails, None for a rubric that is only a label. `judge` is what a
    language model is asked; a rubric `derived_from` another computes its `aggregation` from the
    judge's grades there, of which those from `relevant_from` on count as relevant.
    """

    name: str
    layer: Layer
    version: str
    scale: str
    needs: tuple[str, ...]
    description: str
    fails_below: float | None = None
    labels: tuple[str, ...] = ()
    judge: Judging | None = None
    derived_from: str = ""
    aggregation: str = ""
    relevant_from: str = ""


def parse_rubric(text: str, name: str) -> Rubric:
    """The rubric of a TOML text; `name` is the file's.

    >>> parse_rubric('name = "a"', "a.toml")
    Traceback (most recent call last):
    ...
    scorers.rubric.BadRubric: a.toml: layer is missing

    Raises BadRubric.
    """
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadRubric(f"{name}: is not TOML: {error}") from error
    known = {field.name for field in fields(Rubric)}
    for key in written:
        if key not in known:
            raise BadRubric(
                f"{name}: {key}: there is no such key; allowed: {', '.join(sorted(known))}"
            )
    for key in ("name", "layer", "version", "scale", "needs", "description"):
        if key not in written:
            raise BadRubric(f"{name}: {key} is missing")
    _check(written, name)
    plain: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in written.items()
    }
    plain["judge"] = _judging(written, name)
    return Rubric(**plain | {"layer": Layer(written["layer"])})


def read_rubric(path: Path) -> Rubric:
    """The rubric of a file of one's own. Raises BadRubric, OSError."""
    try:
        return parse_rubric(path.read_text("utf-8"), path.name)
    except UnicodeDecodeError as error:
        raise BadRubric(f"{path.name}: is not UTF-8: {error.reason}") from error


def _judging(written: Mapping[str, Any], name: str) -> Judging | None:
    if "judge" not in written:
        return None
    if written["scale"] != "0..1":
        raise BadRubric(f"{name}: scale: a rubric with [judge] has 0..1")
    try:
        return parse_judging(written["judge"])
    except BadTable as error:
        raise BadRubric(f"{name}: judge: {error}") from error


def _check(written: Mapping[str, Any], name: str) -> None:
    for key in ("name", "layer", "version", "scale", "description"):
        if not isinstance(written[key], str):
            raise BadRubric(f"{name}: {key}: {written[key]!r} is not a string")
    for key in ("needs", "labels"):
        value = written.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise BadRubric(f"{name}: {key}: {value!r} is not a list of strings")
    if not written["name"].isidentifier():
        raise BadRubric(f"{name}: name: {written['name']!r} is not letters, digits and _ alone")
    if written["layer"] not in set(Layer):
        raise BadRubric(f"{name}: layer: {written['layer']} is not one of {', '.join(Layer)}")
    if written["scale"] not in SCALES:
        raise BadRubric(
            f"{name}: scale: {written['scale']} is not one of {', '.join(sorted(SCALES))}"
        )
    for field in written["needs"]:
        if field not in FIELDS:
            raise BadRubric(f"{name}: needs: a record has no field {field}")
    _check_derived(written, name)
    bound = written.get("fails_below")
    if bound is not None and not _is_share(bound):
        raise BadRubric(f"{name}: fails_below: {bound} is not between 0 and 1")


def _check_derived(written: Mapping[str, Any], name: str) -> None:
    """What a derived rubric must say, and no other may."""
    for key in ("derived_from", "aggregation", "relevant_from"):
        if key not in written:
            continue
        if not isinstance(written[key], str) or not written[key]:
            raise BadRubric(f"{name}: {key}: {written[key]!r} is not a text")
        if "derived_from" not in written or "judge" in written:
            raise BadRubric(f"{name}: {key}: goes with derived_from and without [judge]")
    if "derived_from" in written and written.get("aggregation") not in DERIVED:
        raise BadRubric(
            f"{name}: aggregation: {written.get('aggregation')} is not one of {', '.join(DERIVED)}"
        )
    if "derived_from" in written and "relevant_from" not in written:
        raise BadRubric(f"{name}: relevant_from is missing")


def _is_share(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value <= 1  # type: ignore[operator]


def load_rubrics() -> Mapping[str, Rubric]:
    """Every rubric by name: of `scorers/rubrics`, of the packages of others, and of own files.

    A rubric of others that is wrong, or whose name is taken, is in `rubrics_left_out` instead.
    Raises BadRubric.
    """
    return house_rubrics() | _outside()[0] | _brought


def read_files(paths: Sequence[Path]) -> dict[str, Rubric]:
    """The rubrics of files, and of all `*.toml` in folders. Raises BadRubric."""
    places = {name: f"{HOUSE}: {name}.toml" for name in house_rubrics()}
    found: dict[str, Rubric] = {}
    for path in paths:
        listed = sorted(path.glob("*.toml")) if path.is_dir() else [path]
        if not listed:
            raise BadRubric(f"{path}: holds no *.toml")
        for file in listed:
            try:
                rubric = _admitted(file, file.name, places)
            except OSError as error:
                raise BadRubric(f"{file}: cannot be read: {error.strerror or error}") from error
            found[rubric.name] = rubric
    for rubric in found.values():
        if problem := orphaned(rubric, house_rubrics() | found):
            raise BadRubric(f"{places[rubric.name]}: {problem}")
    return found


_brought: dict[str, Rubric] = {}


def bring(paths: Sequence[Path]) -> dict[str, Rubric]:
    """From now on `load_rubrics` gives the rubrics of these files too, instead of earlier ones.

    Like what is installed, the files of the settings hold for the whole process. Raises BadRubric.
    """
    found = read_files(paths)
    _brought.clear()
    _brought.update(found)
    return found


def rubrics_left_out() -> tuple[LeftOut, ...]:
    """What is wrong with the rubrics of others, one for each file or package."""
    return _outside()[1]


@cache
def house_rubrics() -> dict[str, Rubric]:
    """Every rubric of `scorers/rubrics`, by name. Raises BadRubric."""
    rubrics = [
        parse_rubric(one.read_text("utf-8"), one.name)
        for one in _listed(files("scorers").joinpath("rubrics"))
    ]
    return {rubric.name: rubric for rubric in rubrics}


@cache
def _outside() -> tuple[dict[str, Rubric], tuple[LeftOut, ...]]:
    """The rubrics of other distributions, in an order that is the same on every machine."""
    plugged = plug_in(GROUP, _package)
    left_out = list(plugged.left_out)
    places = {name: f"{HOUSE}: {name}.toml" for name in house_rubrics()}
    found: dict[str, Rubric] = {}
    points: dict[str, EntryPoint] = {}
    for point, listed in plugged.found:
        for file in listed:
            try:
                rubric = _admitted(file, f"{distribution(point)}: {file.name}", places)
                found[rubric.name] = rubric
                points[rubric.name] = point
            except (BadRubric, OSError) as error:
                left_out.append(refusal(point, str(error)))
    for name in list(found):
        problem = orphaned(found[name], house_rubrics() | found)
        if problem:
            left_out.append(refusal(points[name], f"{places[name]}: {problem}"))
            del found[name]
    return found, tuple(left_out)


def orphaned(rubric: Rubric, known: Mapping[str, Rubric]) -> str:
    """Why a derived rubric has no grades to read; empty where it has, or where it is none."""
    if not rubric.derived_from:
        return ""
    source = known.get(rubric.derived_from)
    judging = source.judge if source else None
    if judging is None or judging.about is not About.CHUNKS:
        return f"derived_from: {rubric.derived_from} is no rubric that grades chunks"
    counted = [grade.name for grade in judging.grades if grade.value]
    if rubric.relevant_from not in counted:
        return f"relevant_from: {rubric.relevant_from} is not one of {', '.join(counted)}"
    return ""


def _admitted(file: Traversable | Path, place: str, places: dict[str, str]) -> Rubric:
    """The rubric of a file; its name is entered in `places`. Raises BadRubric where it is taken."""
    try:
        rubric = parse_rubric(file.read_text("utf-8"), place)
    except UnicodeDecodeError as error:
        raise BadRubric(f"{place}: is not UTF-8: {error.reason}") from error
    if rubric.name in places:
        raise BadRubric(f"{place}: name: {rubric.name} is taken by {places[rubric.name]}")
    places[rubric.name] = place
    return rubric


def _package(point: EntryPoint) -> tuple[EntryPoint, list[Traversable]]:
    """The rubric files of the package that an entry point names."""
    package = point.load()
    if not hasattr(package, "__path__"):
        raise BadRubric(f"{point.value} is not a package")
    listed = _listed(files(package))
    if not listed:
        raise BadRubric(f"{point.value} holds no *.toml")
    return point, listed


def _listed(folder: Traversable) -> list[Traversable]:
    found = [one for one in folder.iterdir() if one.name.endswith(".toml")]
    return sorted(found, key=lambda one: one.name)
