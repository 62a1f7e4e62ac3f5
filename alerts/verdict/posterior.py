"""Weighs the evidence on an incident, and names its layer where one is likely enough. Pure.

Each piece of evidence gets a fit to every leaf (alerts/verdict/leaves.py): the logarithm of how
well the leaf explains it. A leaf explains the measured rubrics if its own fell, those that follow
fell no further, and the others held: a normal likelihood of the distance to what it allows, less a
price for each rubric that it leaves free. The fits add up, the shares of the leaves are their
softmax, and a layer is the sum of its leaves. No evidence vetoes: a fit is bounded.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from alerts.verdict.evidence import SAMPLE, Evidence, Measured, State
from alerts.verdict.leaves import FAMILIES, FOREIGN, KNOWN, LEAVES, Leaf, Rubric, often
from alerts.verdict.words import held_words, missing, settles, signal_words, state_words
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import LayerVerdict, LikelyLayer
from ragvigil.model.notice import CAUSES, Cause, Notice
from ragvigil.model.score import Layer

LEAST_SHARE = 0.8
"""A layer is named from this share on."""
LEAST_DROP = 0.03
"""The fall that makes a leaf: smaller ones follow from anything."""
FOLLOWING = 1.0
"""How far a rubric falls that only follows, as a part of the fall that it follows.

Wrong chunks for 30 % of the questions cost these all of their completeness: it falls as far."""
UNMEASURED_DROP = 0.3
"""The fall that a leaf may have where nothing measured it."""
WANDER = 0.015
"""Levels wander by this much without a cause."""
FREE = 0.35
"""The price of a rubric that a leaf leaves free."""
UNSEEN, UNMARKED = 1.0, 2.0
"""The price of a leaf whose own rubrics nobody measured, and of one without its signals."""
OFTEN = 0.4
"""How often evidence of which only the causes are known comes with these."""
MOST = 6.0
"""The worst fit of one piece of evidence: no measurement is beyond doubt."""
GONE = 0.1
"""The share of its past from which on a number has fallen to nothing: what wears away a part of the
citations leaves more."""
UNMOVED = 2.0
"""The weight of a number that held: it was neither noticed as moved, nor may it have moved."""
TELLS = 0.7
"""The fit by which evidence supports a layer, or contradicts it: twice as likely."""
SHARE_STEP = 0.05
"""Shares are told in these steps, so that an incident is not written anew at every look."""
Fits = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A piece of evidence in words, and its fit to each leaf."""

    words: str
    fits: Fits


NOTHING = Witness(words="", fits=dict.fromkeys(LEAVES, 0.0))


def verdict(evidence: Evidence) -> LayerVerdict:
    """The layer that this evidence points to; undetermined where none is likely enough."""
    if evidence.is_blind:
        return LayerVerdict(is_blind=True)
    witnesses = [*_measured(evidence), *_signals(evidence.signals)]
    witnesses += _held(evidence)
    witnesses += [_notice(notice) for notice in _distinct(evidence.notices)]
    if not any(_spread(witness.fits) > 0 for witness in witnesses):
        return LayerVerdict()
    shares = posterior([*witnesses, _unseen(evidence)])
    likely = layers(shares)
    first = likely[0]
    is_named = first.share >= LEAST_SHARE
    second = likely[1].cause if len(likely) > 1 else first.cause
    pair = _best_leaf(shares, first.cause), _best_leaf(shares, second)
    tells = [(witness, _tells(witness, first.cause)) for witness in witnesses]
    return LayerVerdict(
        cause=first.cause if is_named else None,
        part=first.part if is_named else "",
        likely=tuple(_rounded(layer) for layer in likely if layer.share >= SHARE_STEP),
        supports=tuple(witness.words for witness, by in tells if by > TELLS),
        contradicts=tuple(witness.words for witness, by in tells if by < -TELLS),
        missing=missing(evidence.measured),
        settles="" if is_named else settles(pair, evidence.measured),
        goes_with=evidence.goes_with,
    )


def posterior(witnesses: Iterable[Witness]) -> Fits:
    """The share of every leaf, after these witnesses; the shares add up to 1."""
    fits = {name: math.log(leaf.prior) for name, leaf in LEAVES.items()}
    for witness in witnesses:
        for name, fit in witness.fits.items():
            fits[name] += fit
    most = max(fits.values())
    weights = {name: math.exp(fit - most) for name, fit in fits.items()}
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def layers(shares: Fits) -> list[LikelyLayer]:
    """The layers by share, the likeliest first; with a part that nearly all of its share is of."""
    sums: dict[Cause, dict[str, float]] = {cause: defaultdict(float) for cause in Cause}
    for name, share in shares.items():
        sums[LEAVES[name].cause][LEAVES[name].part] += share
    each = []
    for cause, parts in sums.items():
        total = sum(parts.values())
        part, of = max(parts.items(), key=lambda item: item[1])
        each.append(
            LikelyLayer(cause=cause, share=total, part=part if of >= LEAST_SHARE * total else "")
        )
    return sorted(each, key=lambda layer: -layer.share)


def _measured(evidence: Evidence) -> list[Witness]:
    """One witness of each measured rubric; none where nothing is worse that a layer can have.

    What held beside a change, or beside slower requests, says that no answer is worse, not that the
    trouble is of another layer.
    """
    if not _is_worse(evidence):
        return []
    measured = evidence.measured
    changes = {each.rubric: each for each in measured}
    fits = {
        name: _fits_of(leaf, changes, _marked_share(leaf, evidence.signals))
        for name, leaf in LEAVES.items()
    }
    largest = max((-each.change for each in measured), default=0.0)
    return [
        Witness(
            words=state_words(each, each.state(largest)),
            fits={name: fits[name][each.rubric] for name in LEAVES},
        )
        for each in measured
    ]


def _marked_share(leaf: Leaf, signals: Iterable[Finding]) -> float:
    """The largest share of the answers that a rate among the marks of a leaf tells of; 0 if none.

    Where all answers are in another language, a rubric may fall to nothing by that alone.
    """
    return max(
        (
            signal.value
            for signal in signals
            if signal.kind is FindingKind.BROKEN
            and signal.value is not None
            and signal.signal.partition(":")[0] in leaf.marks
        ),
        default=0.0,
    )


def _fits_of(
    leaf: Leaf, measured: Mapping[Rubric, Measured], marked_share: float
) -> dict[Rubric, float]:
    """How well a leaf explains each measured rubric."""
    own = [each for rubric, each in measured.items() if rubric in leaf.falls]
    largest = max(UNMEASURED_DROP, marked_share)
    fall = min([min(each.change, -LEAST_DROP) for each in own], default=-largest)
    fits: dict[Rubric, float] = {}
    for rubric, each in measured.items():
        if rubric in leaf.falls:
            # Of several falls of a leaf one is enough: the others may be too coarse to show it.
            is_first = each is min(own, key=lambda fallen: fallen.change)
            fits[rubric] = (_normal(each, below=-LEAST_DROP) if is_first else 0.0) - FREE
        elif rubric in leaf.follows:
            fits[rubric] = _normal(each, above=FOLLOWING * fall) - FREE
        elif rubric in leaf.free:
            fits[rubric] = -FREE
        else:
            fits[rubric] = _normal(each, above=0.0)
    return fits


def _normal(measured: Measured, *, below: float = 1.0, above: float = -1.0) -> float:
    """The logarithm of a normal likelihood of the distance to what is allowed, at least -MOST."""
    beyond = max(measured.change - below, above - measured.change, 0.0)
    score = beyond / math.hypot(measured.error, WANDER)
    return max(-score * score / 2, -MOST)


def _signals(findings: Iterable[Finding]) -> list[Witness]:
    """One witness of each family of signals: the one that tells most."""
    best: dict[str, Witness] = {}
    for finding in findings:
        witness = Witness(words=signal_words(finding), fits=_signal_fits(finding))
        family = _family(finding.signal)
        known = best.get(family)
        if known is None or _spread(witness.fits) > _spread(known.fits):
            best[family] = witness
    return list(best.values())


def _signal_fits(finding: Finding) -> Fits:
    """How often each leaf brings a signal; an unknown one by the causes that it may have."""
    base = finding.signal.partition(":")[0]
    names = (*(f"{base} {way}" for way in _ways(finding)), finding.signal, base)
    if KNOWN.intersection(names):
        return {key: math.log(often(leaf, *names)) for key, leaf in LEAVES.items()}
    if finding.signal in set(Rubric):
        return {key: math.log(_unsized(leaf, finding.signal)) for key, leaf in LEAVES.items()}
    if finding.causes:
        return _by_causes(finding.causes)
    if finding.layer is Layer.RETRIEVAL:
        return _by_causes((Cause.RETRIEVAL, Cause.CORPUS))
    return dict.fromkeys(LEAVES, 0.0)


def _held(evidence: Evidence) -> list[Witness]:
    """One witness of each family of numbers that held and of which none moved, likewise."""
    if not _is_worse(evidence):
        return []
    moved = {_family(finding.signal) for finding in evidence.signals}
    best: dict[str, Witness] = {}
    for name in evidence.held:
        brought = {
            key: max(often(leaf, way) for way in (name, f"{name} up", f"{name} down"))
            for key, leaf in LEAVES.items()
        }
        fits = {key: UNMOVED * math.log(1 - share) for key, share in brought.items()}
        witness = Witness(words=held_words(name), fits=fits)
        family = _family(name)
        if family not in moved and _spread(fits) > _spread(best.get(family, NOTHING).fits):
            best[family] = witness
    return list(best.values())


def _is_worse(evidence: Evidence) -> bool:
    """Whether anything is worse that a layer can have; a sustained drop is, however unsure."""
    if not evidence.signals:
        return bool(evidence.measured)
    return any(map(_tells_of_layers, evidence.signals)) or any(
        each.by == SAMPLE or each.state(0.0) is State.DROPPED for each in evidence.measured
    )


def _tells_of_layers(finding: Finding) -> bool:
    """Whether a signal is of answers or chunks: no mere change, and not time, money or traffic."""
    is_change = finding.kind is FindingKind.CHANGED
    return not is_change and (bool(finding.causes) or _spread(_signal_fits(finding)) > 0)


def _family(signal: str) -> str:
    name = signal.partition(":")[0]
    return FAMILIES.get(signal) or FAMILIES.get(name) or name


def _ways(finding: Finding) -> tuple[str, ...]:
    """Which way a signal moved, as the leaves name it; none where that is not known.

    A number that is where it was moved nowhere: none of none are not gone.
    """
    if finding.value is None or finding.reference is None or finding.value == finding.reference:
        return ()
    if finding.value > finding.reference:
        return ("up",)
    return ("gone", "down") if finding.value <= GONE * finding.reference else ("down",)


def _unsized(leaf: Leaf, rubric: str) -> float:
    """How often a leaf brings a fall of a judged rubric whose size nobody told."""
    if rubric in leaf.falls:
        return OFTEN
    return OFTEN / 2 if rubric in leaf.follows else FOREIGN


def _notice(notice: Notice) -> Witness:
    where = f" on {notice.route}" if notice.route else ""
    words = f"{notice.kind}{where} changed just before"
    if notice.kind in KNOWN:
        fits = {name: math.log(often(leaf, notice.kind)) for name, leaf in LEAVES.items()}
    else:
        fits = dict(_by_causes(CAUSES[notice.kind]))
    return Witness(words=words, fits=fits)


def _by_causes(causes: Sequence[Cause]) -> Fits:
    """The fit of evidence of which only the possible causes are known; none of no or all causes."""
    if not causes or set(causes) == set(Cause):
        return dict.fromkeys(LEAVES, 0.0)
    return {
        name: math.log(OFTEN if leaf.cause in causes else FOREIGN) for name, leaf in LEAVES.items()
    }


def _distinct(notices: Iterable[Notice]) -> list[Notice]:
    """One notice of each kind: the same change on further routes tells nothing new."""
    return list({notice.kind: notice for notice in reversed(list(notices))}.values())[::-1]


def _unseen(evidence: Evidence) -> Witness:
    """The prices of leaves of which nothing of their own is seen."""
    measured = {each.rubric for each in evidence.measured}
    seen = {finding.signal.partition(":")[0] for finding in evidence.signals}
    marks = seen | {notice.kind for notice in evidence.notices}
    fits = dict.fromkeys(LEAVES, 0.0)
    for name, leaf in LEAVES.items():
        if leaf.falls and measured and not leaf.falls & measured:
            fits[name] = -UNSEEN
        if leaf.marks and (measured or seen) and not leaf.marks & marks:
            fits[name] = -UNMARKED
    return Witness(words="", fits=fits)


def _tells(witness: Witness, cause: Cause) -> float:
    """By how much evidence fits a layer better than all others, before any other evidence."""

    def fit(leaves: Mapping[str, Leaf]) -> float:
        total = sum(leaf.prior for leaf in leaves.values())
        return sum(
            leaf.prior / total * math.exp(witness.fits[name]) for name, leaf in leaves.items()
        )

    own = {name: leaf for name, leaf in LEAVES.items() if leaf.cause is cause}
    others = {name: leaf for name, leaf in LEAVES.items() if leaf.cause is not cause}
    return math.log(fit(own) / fit(others))


def _best_leaf(shares: Fits, cause: Cause) -> Leaf:
    names = [name for name, leaf in LEAVES.items() if leaf.cause is cause]
    return LEAVES[max(names, key=lambda name: shares[name])]


def _spread(fits: Fits) -> float:
    return max(fits.values()) - min(fits.values())


def _rounded(layer: LikelyLayer) -> LikelyLayer:
    share = round(round(layer.share / SHARE_STEP) * SHARE_STEP, 2)
    return LikelyLayer(cause=layer.cause, share=share, part=layer.part)
