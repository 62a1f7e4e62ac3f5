"""The pages of the reports in sentences, from the same forms as the API. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragvigil.model.figures import counted, in_points, listed, points, sentence, spelled
from ragvigil.web.rubric_names import rubric_name
from ragvigil.web.views.reports.digest import DigestForm
from ragvigil.web.views.reports.evaluations import (
    ComparisonForm,
    EvaluationForm,
    EvaluationsForm,
    OnlineForm,
)
from ragvigil.web.views.reports.proxies import ProxiesForm, TrackingForm
from ragvigil.web.views.reports.releases import FigureForm, ReleaseForm, ReleasesForm
from ragvigil.web.views.reports.slices import SliceForm, SlicesForm

NO_VERSION = "no version"
FIGURES: Mapping[str, tuple[str, int]] = {
    "context_recall": ("recall", 1),
    "groundedness": ("groundedness", 1),
    "answer_relevance": ("answer relevance", 1),
    "p95_seconds": ("latency", -1),
    "cost_usd": ("cost", -1),
}
"""Figures of a release by what they are called, and whether more is better. A refusal may be right:
its share alone makes no version better or worse."""
SIGNALS: Mapping[str, str] = {
    "thumbs_down": "thumbs-down",
    "escalation": "escalations",
    "correction": "corrections",
    "retry": "retries",
}
STATES: Mapping[str, str] = {
    "pass": "passes",
    "worse": "worse",
    "cannot say": "not enough yet",
}
"""The gate's states as pages say them."""
PASSED = ":passed"
"""Ends the name of a share of cases that pass, as the gate sends it."""
MOST_NAMED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version of a service: all of its answers, and its slices."""

    row: ReleaseForm
    name: str
    slices: tuple[ReleaseForm, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceReleases:
    """The versions of a service, the one that was seen last first.

    `says` compares the newest with the one before; `is_worse` says whether any figure of it is.
    """

    place: str
    says: str
    is_worse: bool
    versions: tuple[Version, ...]


def services_of(found: ReleasesForm) -> list[ServiceReleases]:
    """The releases by service."""
    by_place: dict[tuple[str, str], list[ReleaseForm]] = {}
    for row in found.releases:
        by_place.setdefault((row.service, row.environment), []).append(row)
    return [_service(place, rows) for place, rows in by_place.items()]


def _service(place: tuple[str, str], rows: Sequence[ReleaseForm]) -> ServiceReleases:
    versions = tuple(
        Version(
            row=row,
            name=row.version or NO_VERSION,
            slices=tuple(each for each in rows if each.dimension and each.version == row.version),
        )
        for row in rows
        if not row.dimension
    )
    changes = list(_changes(versions[0].row, versions[1].row)) if len(versions) > 1 else []
    worse = [name for name, is_better in changes if not is_better]
    better = [name for name, is_better in changes if is_better]
    return ServiceReleases(
        place=", ".join(filter(None, (place[0] or "a service without a name", place[1]))),
        says=_newest(versions, worse, better),
        is_worse=bool(worse),
        versions=versions,
    )


def _newest(versions: Sequence[Version], worse: Sequence[str], better: Sequence[str]) -> str:
    """The newest version beside the one before it, by what is worse and better in it."""
    if len(versions) < 2:
        names = [version.name for version in versions]
        return f"Only {names[0]} so far" if names else "No version so far"
    new, old = versions[0], versions[1]
    said = [f"worse than {old.name} in {listed(worse)}"] if worse else []
    said += [f"better {'' if worse else f'than {old.name} '}in {listed(better)}"] if better else []
    if not said:
        return f"{new.name} shows no difference from {old.name}"
    return f"{new.name} is {' and '.join(said)}"


def _changes(new: ReleaseForm, old: ReleaseForm) -> Iterator[tuple[str, bool]]:
    """What differs beyond both intervals, and whether it is better."""
    for field, (name, sign) in FIGURES.items():
        now, before = getattr(new, field), getattr(old, field)
        if now is None or before is None:
            continue
        if is_above(now, before):
            yield name, sign > 0
        elif is_above(before, now):
            yield name, sign < 0


def is_above(first: FigureForm, second: FigureForm) -> bool:
    """Whether the interval of one lies wholly above that of the other."""
    return second.high is not None and first.low > second.high


def releases_heading(services: Sequence[ServiceReleases]) -> str:
    """Which version is better, in a sentence."""
    if not services:
        return "No answer says its version yet"
    if len(services) == 1:
        return services[0].says
    worse = [each for each in services if each.is_worse]
    if not worse:
        return f"No newest version of {counted(len(services), 'service')} is worse than its last"
    return f"{worse[0].place}: {worse[0].says}"


def evaluations_heading(found: EvaluationsForm) -> str:
    """What the newest run before a release showed, in a sentence."""
    if not found.evaluations:
        return "No evaluation has been sent yet"
    newest = found.evaluations[0]
    return f"{what_of(newest)} {_gate_words(newest)}"


def what_of(run: EvaluationForm) -> str:
    """What was asked, by its release where it has one."""
    return run.release or run.set_name


def _gate_words(run: EvaluationForm) -> str:
    if run.gate == "worse":
        return "is worse than its base: the gate stops it"
    if run.gate == "pass":
        return "may go out: nothing is worse than in its base"
    if run.gate == "cannot say":
        return "has too few cases for the gate to say"
    passed = run.cases - run.failed
    return f"passes {passed} of {counted(run.cases, 'case')}"


def evaluation_heading(online: OnlineForm) -> str:
    """What one run showed, in a sentence or two."""
    run = online.evaluation
    apart = [gap for gap in online.gaps if gap.is_apart]
    first = f"{what_of(run)} {_gate_words(run)}"
    if not apart:
        return first
    gap = apart[0]
    than = "easier" if gap.gap > 0 else "harder"
    size, rubric = in_points(gap.gap), rubric_name(gap.rubric)
    return f"{first}. The set is {than} than what users ask, by {size} of {rubric}"


def shown_comparisons(comparisons: Sequence[ComparisonForm]) -> list[ComparisonForm]:
    """What decides, and what else is worse or better."""
    return [each for each in comparisons if each.decides or each.verdict in ("worse", "better")]


def slices_heading(found: SlicesForm) -> str:
    """Which part of the traffic got worse, in a sentence."""
    worse = [row for row in found.slices if row.is_worse]
    if not found.slices:
        return "No slice of the traffic is known yet"
    if not worse:
        return "No slice got worse than the rest of its service"
    names = list(dict.fromkeys(slice_name(row) for row in worse))
    first = worse[0]
    fell = f"{rubric_name(first.rubric)} fell by {in_points(first.delta)}"
    if len(names) == 1:
        return f"{sentence(names[0])} got worse: {fell}"
    return f"{sentence(spelled(len(names)))} slices got worse: {listed(names, MOST_NAMED)}"


def slice_name(row: SliceForm | ReleaseForm) -> str:
    """A slice as pages name it.

    >>> from ragvigil.web.views.reports.slices import SliceForm
    >>> slice_name(SliceForm.model_construct(dimension="language", value="de", name="de"))
    'language de'
    """
    if row.value == "__other__":
        return f"all rarer {row.dimension} values"
    return f"{row.dimension} {row.name or row.value}".strip()


def slice_reading(row: SliceForm) -> str:
    """The state of a slice in a word of the pages."""
    if row.is_worse:
        return "worse"
    if row.low > 0:
        return "better"
    return "moved" if row.high < 0 else "holding"


def users_heading(found: ProxiesForm) -> str:
    """Which rubrics say what users say, in a sentence."""
    signals = [signal for each in found.services for signal in each.signals]
    if not signals:
        return "No user has said anything of a scored answer yet"
    rows = [row for signal in signals for row in signal.rubrics]
    tracking = _names(row for row in rows if row.verdict == "tracks users")
    lost = _names(row for row in rows if row.verdict == "does not track users")
    if tracking:
        verb = "tracks" if len(tracking) == 1 else "track"
        return f"{sentence(listed(tracking, MOST_NAMED))} {verb} what users say"
    if lost:
        verb = "does not track" if len(lost) == 1 else "do not track"
        return f"{sentence(listed(lost, MOST_NAMED))} {verb} what users say"
    return "Too few users have complained to say which rubric tracks them"


def _names(rows: Iterator[TrackingForm]) -> list[str]:
    return list(dict.fromkeys(rubric_name(row.rubric) for row in rows))


def week_heading(found: DigestForm) -> str:
    """The week in a sentence: what to read, decide and renew."""
    parts = []
    if found.failures:
        parts.append(f"{counted(len(found.failures), 'failure')} to read")
    if found.waiting:
        parts.append(f"{counted(found.waiting, 'proposal')} to decide")
    if found.uncovered:
        parts.append(f"{counted(len(found.uncovered), 'topic')} without a golden case")
    return f"This week: {listed(parts)}" if parts else "Nothing of this week waits for you"


def compared_name(rubric: str) -> str:
    """What the gate compared, as pages name it.

    >>> compared_name("citation_validity"), compared_name("injected_context:passed")
    ('citation validity', 'cases that pass injected context')
    """
    name = rubric_name(rubric.removesuffix(PASSED))
    return f"cases that pass {name}" if rubric.endswith(PASSED) else name


def change_in_points(each: ComparisonForm) -> str:
    """The change of a comparison, in points."""
    return points(each.new - each.base)
