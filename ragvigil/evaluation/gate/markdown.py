"""A gate as Markdown, for a comment on a pull request. Pure.

Names of cases and slices come from a file that others may have written: they are escaped, so that
they make no link, no mention, no markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragvigil.evaluation.gate.compare import Comparison, Verdict
from ragvigil.evaluation.gate.decide import FailedCase, Gate, State
from ragvigil.evaluation.gate.layers import layer_of, part_of
from ragvigil.evaluation.gate.sentences import Layers, named, notes, readings, reasons, title
from ragvigil.model.figures import counted, listed, points, score, sentence
from ragvigil.model.text import one_line
from ragvigil.model.wording.markdown import plain

SIGNS = {State.PASS: "✅", State.WORSE: "❌", State.CANNOT_SAY: "❔"}
MOST_ROWS, MOST_CASES, MOST_WHY = 30, 20, 200
_HEADING = (
    "| rubric | layer | base | new | change, points | 90 % interval | allowed | n | verdict |\n"
    "|---|---|---:|---:|---:|---|---:|---:|---|"
)


def as_markdown(gate: Gate, layers: Layers) -> str:
    """The whole report; long lists are cut, and say so."""
    return "\n".join(_lines(gate, layers)) + "\n"


def _lines(gate: Gate, layers: Layers) -> Iterator[str]:
    yield f"### {SIGNS[gate.state]} {plain(title(gate))}"
    yield ""
    yield from (f"- {plain(reason)}" for reason in reasons(gate, layers))
    yield from ("", _HEADING)
    yield from (_row(each, layers) for each in gate.overall if each.decides)
    yield from (
        f"| {plain(each.rubric)} | floor | | {score(each.mean)} | | {score(each.low)} to "
        f"{score(each.high)} | {score(each.floor)} | {each.n} | {_verdict(each.verdict)} |"
        for each in gate.floors
    )
    changed = [each for each in _informing(gate) if each.verdict in _SAID]
    yield from (_row(each, layers) for each in changed[:MOST_ROWS])
    yield from _cases(gate)
    yield ""
    yield from (f"*{plain(sentence(note))}.*  " for note in _footnotes(gate, changed))


_SAID = (Verdict.WORSE, Verdict.BETTER)


def _informing(gate: Gate) -> list[Comparison]:
    """What need not be shown unless it says something: slices and rubrics that do not decide."""
    return [*gate.slices, *(each for each in gate.overall if not each.decides)]


def _row(each: Comparison, layers: Layers) -> str:
    shown = each.difference
    name, layer = plain(named(each)), plain(layer_of(each.rubric, layers))
    if shown is None:
        return f"| {name} | {layer} | – | – | – | – | {points(-each.limit)} | 0 | no value |"
    return (
        f"| {name} | {layer} | {score(shown.base)} | {score(shown.new)} | {points(shown.size)} "
        f"| {points(shown.low)} to {points(shown.high)} | {points(-each.limit)} | {shown.n} "
        f"| {_verdict(each.verdict)} |"
    )


def _verdict(verdict: Verdict) -> str:
    return f"**{verdict.value}**" if verdict is Verdict.WORSE else verdict.value


def _cases(gate: Gate) -> Iterator[str]:
    if not gate.broken and not gate.must_pass:
        return
    yield ""
    yield f"<details><summary>{_summary(gate)}</summary>"
    yield ""
    known = {each.name for each in gate.must_pass}
    shown = [*gate.must_pass, *(each for each in gate.broken if each.name not in known)]
    yield from (_case(each, is_must=each.name in known) for each in shown[:MOST_CASES])
    if len(shown) > MOST_CASES:
        yield f"- and {len(shown) - MOST_CASES} more"
    yield ""
    yield "</details>"


def _summary(gate: Gate) -> str:
    text = f"{counted(len(gate.broken), 'case')} fail now and did not; {gate.mended} the opposite"
    return f"{text}: {readings(gate.broken)}" if gate.broken else text


def _case(each: FailedCase, *, is_must: bool) -> str:
    must = ", **must pass**" if is_must else ""
    why = f": {plain(one_line(each.why, MOST_WHY))}" if each.why else ""
    reading = each.reading.value.replace("_", " ")
    return f"- {plain(each.name)}{must}, {reading} ({part_of(each.reading)}){why}"


def _footnotes(gate: Gate, changed: Sequence[Comparison]) -> Iterator[str]:
    yield from notes(gate)
    if len(changed) > MOST_ROWS:
        yield f"{len(changed) - MOST_ROWS} further rows are left out"
    few = sum(each.verdict is Verdict.TOO_FEW for each in gate.slices)
    if few:
        yield f"{few} of {len(gate.slices)} slices have too few cases to say"
    rare = [
        each.rubric for each in gate.overall if not each.decides and each.verdict is Verdict.TOO_FEW
    ]
    if rare:
        yield f"too few cases to say of {listed(rare)}, which decide nothing here"
