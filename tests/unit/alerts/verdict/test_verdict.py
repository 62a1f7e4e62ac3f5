"""The verdict on an incident: which layer its evidence points to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alerts.verdict.evidence import SAMPLE, Evidence, Measured
from alerts.verdict.leaves import LEAVES, Rubric
from alerts.verdict.posterior import LEAST_SHARE, verdict
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import RERANKER, LayerVerdict
from ragvigil.model.notice import Cause, ChangeKind
from ragvigil.model.score import Layer
from tests.unit.alerts.incident_values import finding, moved, notice

R, G, C = Cause.RETRIEVAL, Cause.GENERATION, Cause.CORPUS
Levels = dict[Rubric, float]
HELD = 0.0


def signal(name: str, layer: Layer = Layer.CROSS_CUTTING, *causes: Cause) -> Finding:
    return finding(name, signal=name, layer=layer, causes=causes, kind=FindingKind.MOVED)


def said(
    levels: Levels | None = None,
    signals: tuple[str, ...] = (),
    kinds: tuple[ChangeKind, ...] = (),
    error: float = 0.02,
) -> LayerVerdict:
    measured = [
        Measured(rubric=rubric, change=change, error=error, n=200)
        for rubric, change in (levels or {}).items()
    ]
    return verdict(
        Evidence(
            measured=tuple(measured),
            signals=tuple(map(signal, signals)),
            notices=tuple(notice(str(place), 0, kind) for place, kind in enumerate(kinds)),
        )
    )


CHUNKS_HELD = {Rubric.RETRIEVED: HELD, Rubric.PROMPT: HELD}
RULES = [
    ({Rubric.RETRIEVED: -0.15, Rubric.PROMPT: -0.15, Rubric.GROUNDED: -0.08}, R),
    ({**CHUNKS_HELD, Rubric.GROUNDED: -0.12}, G),
    ({**CHUNKS_HELD, Rubric.GROUNDED: HELD, Rubric.FACTUAL: -0.12}, C),
    ({**CHUNKS_HELD, Rubric.GROUNDED: HELD, Rubric.COMPLETE: -0.12}, G),
    ({**CHUNKS_HELD, Rubric.GROUNDED: HELD, Rubric.ATTRIBUTED: -0.2}, G),
    ({**CHUNKS_HELD, Rubric.GROUNDED: HELD, Rubric.RELEVANT: -0.12}, G),
]
"""The rules of the table that rest on judged rubrics, in its order."""


@pytest.mark.parametrize(("levels", "cause"), RULES)
def test_each_rule_of_the_table_names_its_layer(levels: Levels, cause: Cause) -> None:
    assert said(levels).cause is cause


def test_over_fetching_is_retrieval() -> None:
    assert said(signals=("chunk_utilization", "context_chunks")).cause is R


TEARS = {ChangeKind.RECHUNKED, ChangeKind.REINDEXED}
"""Chunks that are cut anew tear what answers cite: these fit a fall of attribution."""


@pytest.mark.parametrize(("levels", "cause"), RULES)
@pytest.mark.parametrize("kind", [kind for kind in ChangeKind if kind is not ChangeKind.DOCUMENTS])
def test_a_change_that_fits_not_lowers_a_verdict_and_turns_none(
    levels: Levels, cause: Cause, kind: ChangeKind
) -> None:
    fits = {cause, None} | ({R} if Rubric.ATTRIBUTED in levels and kind in TEARS else set())
    assert said(levels, kinds=(kind,)).cause in fits


@pytest.mark.parametrize(
    ("levels", "signals"),
    [
        ({}, ("citation_validity",)),
        ({}, ("citation_validity", "chunk_characters")),
        ({**CHUNKS_HELD, Rubric.ATTRIBUTED: -0.2}, ()),
        ({Rubric.RETRIEVED: 0.03, Rubric.PROMPT: -0.02, Rubric.ATTRIBUTED: -0.15}, ("citations",)),
    ],
)
def test_citations_torn_by_chunks_that_are_cut_anew_are_retrieval(
    levels: Levels, signals: tuple[str, ...]
) -> None:
    assert said(levels, signals, (ChangeKind.RECHUNKED,)).cause is R
    # By themselves they are the model's.
    assert said(levels, tuple({*signals} - {"chunk_characters"})).cause is G


def test_the_reranker_is_told_from_the_retriever_by_what_reached_the_prompt() -> None:
    lost = said({Rubric.RETRIEVED: HELD, Rubric.PROMPT: -0.2, Rubric.GROUNDED: -0.1})
    assert (lost.cause, lost.part) == (R, RERANKER)
    both = said({Rubric.RETRIEVED: -0.2, Rubric.PROMPT: -0.2, Rubric.GROUNDED: -0.1})
    assert (both.cause, both.part) == (R, "")


def test_documents_that_changed_are_the_corpus_only_where_the_chunks_are_worse() -> None:
    worse = {Rubric.RETRIEVED: -0.2, Rubric.PROMPT: -0.2, Rubric.GROUNDED: -0.1}
    assert said(worse).cause is R
    assert said(worse, kinds=(ChangeKind.DOCUMENTS,)).cause is C
    unsupported = {**CHUNKS_HELD, Rubric.GROUNDED: -0.15}
    assert said(unsupported, kinds=(ChangeKind.DOCUMENTS,)).cause is not C


def test_an_answer_worse_by_its_chunks_alone_is_never_generation() -> None:
    """Falls that follow get significant with data: they must not outweigh what they follow."""
    for error in (0.05, 0.02, 0.005):
        levels = {
            Rubric.RETRIEVED: -0.2, Rubric.PROMPT: -0.22, Rubric.GROUNDED: -0.1,
            Rubric.COMPLETE: -0.1, Rubric.RELEVANT: -0.05,
        }  # fmt: skip
        assert said(levels, error=error).cause is R


def test_falling_utilization_with_rising_refusals_is_retrieval() -> None:
    assert said(signals=("refusal:refused", "chunk_utilization")).cause is R
    assert said(signals=("refusal:refused",)).cause is None
    held = {**CHUNKS_HELD, Rubric.COMPLETE: -0.2}
    assert said(held, signals=("refusal:refused",)).cause is G


@pytest.mark.parametrize(
    "signals",
    [
        ("answer_language:failed", "chunk_utilization", "groundedness"),
        ("citation_validity:failed",),
        ("answer_complete_text:truncated",),
        ("answer_complete_text:empty", "answer_words", "chunk_utilization"),
    ],
)
def test_what_answers_do_by_themselves_is_generation(signals: tuple[str, ...]) -> None:
    assert said(signals=signals).cause is G


def test_less_context_makes_answers_incomplete_though_each_chunk_is_as_relevant() -> None:
    levels = {**CHUNKS_HELD, Rubric.GROUNDED: HELD, Rubric.COMPLETE: -0.2}
    assert said(levels).cause is G
    measured = [Measured(rubric=name, change=levels[name], error=0.02, n=200) for name in levels]
    smaller = (moved("tokens", signal="context_tokens"),)
    cut = (notice("n", 0, ChangeKind.RECHUNKED),)
    found = verdict(Evidence(measured=tuple(measured), signals=smaller, notices=cut))
    assert found.cause is R


def test_citations_that_are_left_out_are_generation_though_every_judged_rubric_held() -> None:
    names = ("citation_coverage", "citations", "answer_words")
    judged = (*CHUNKS_HELD, Rubric.GROUNDED, Rubric.COMPLETE, Rubric.RELEVANT)
    held = (Measured(rubric=rubric, change=HELD, error=0.04, n=90) for rubric in judged)
    fell = (replace(signal(name), value=0.4, reference=0.9) for name in names)
    assert verdict(Evidence(measured=tuple(held), signals=tuple(fell))).cause is G


@pytest.mark.parametrize(("left", "cause"), [(0.0, G), (0.6, None)])
def test_answers_without_any_citation_are_generation_before_anything_is_judged(
    left: float, cause: Cause | None
) -> None:
    fell = replace(signal("citation_coverage"), value=left, reference=0.95)
    released = (notice("release", 0, ChangeKind.RELEASE),)
    assert verdict(Evidence(signals=(fell,), notices=released)).cause is cause


def test_older_texts_may_lack_what_is_asked_though_each_chunk_is_about_it() -> None:
    told = said(
        {**CHUNKS_HELD, Rubric.GROUNDED: HELD, Rubric.COMPLETE: -0.14},
        ("context_tokens", "chunk_characters", "answer_relevance"),
        (ChangeKind.DOCUMENTS,),
    )
    assert told.cause is C


def test_refusals_beside_chunks_that_held_are_generation() -> None:
    refused = (signal("refusal:refused", Layer.GENERATION, *Cause),)
    held = ("chunk_utilization", "context_relevance", "score_gap", "top_score")
    assert verdict(Evidence(signals=refused)).cause is None
    found = verdict(Evidence(signals=refused, held=held))
    assert found.cause is G
    assert "context relevance held, on all traffic" in found.supports
    # Of a family of which one moved, none tells.
    moves = (*refused, signal("chunk_characters", Layer.RETRIEVAL))
    both = verdict(Evidence(signals=moves, held=("score_gap",)))
    assert both.likely == verdict(Evidence(signals=moves)).likely


def test_what_held_beside_slower_requests_tells_of_no_layer() -> None:
    held = ("chunk_utilization", "context_relevance", "score_gap", "top_score")
    slow = Evidence(signals=(signal("seconds_total"),), held=held)
    assert verdict(slow) == LayerVerdict()
    release = replace(slow, notices=(notice("r", 0, ChangeKind.RELEASE),))
    assert verdict(release).cause is None
    steady = (Measured(rubric=Rubric.RETRIEVED, change=HELD, error=0.02, n=200),)
    assert verdict(replace(slow, measured=steady)) == LayerVerdict()
    unsure = (Measured(rubric=Rubric.GROUNDED, change=-0.1, error=0.05, n=90, by=SAMPLE),)
    assert verdict(replace(slow, measured=unsure)).cause is G


@pytest.mark.parametrize("mark", ["answer_language:failed", "refusal:refused"])
def test_what_all_answers_have_may_cost_a_rubric_everything(mark: str) -> None:
    """Chunks cut anew would explain these falls, but not the rate."""
    falls = {Rubric.RELEVANT: -0.5, Rubric.COMPLETE: -0.8, Rubric.GROUNDED: -0.8}
    if mark.startswith("answer_language"):
        falls |= {Rubric.ATTRIBUTED: -0.9}
    measured = tuple(
        Measured(rubric=rubric, change=change, error=0.04, n=32)
        for rubric, change in (CHUNKS_HELD | falls).items()
    )
    rate = finding("l", signal=mark, value=0.95, reference=0.2, causes=(G,))
    assert verdict(Evidence(measured=measured, signals=(rate,))).cause is G


def test_signals_of_one_family_count_once() -> None:
    alone = said({**CHUNKS_HELD, Rubric.GROUNDED: -0.1}, ("score_gap",))
    family = ("score_gap", "top_score")
    together = said({**CHUNKS_HELD, Rubric.GROUNDED: -0.1}, family)
    assert together.likely == alone.likely


@pytest.mark.parametrize(
    ("name", "value", "reference", "first"),
    [
        ("answer_words", 140.0, 100.0, G),
        ("context_chunks", 16.0, 8.0, R),
        ("context_chunks", 3.0, 8.0, R),
    ],
)
def test_which_way_a_number_moved_counts(
    name: str, value: float, reference: float, first: Cause
) -> None:
    told = verdict(Evidence(signals=(replace(signal(name), value=value, reference=reference),)))
    assert told.cause is first


def test_a_number_that_is_where_it_was_went_no_way() -> None:
    of_none = replace(signal("citations"), value=0.0, reference=0.0)
    told = verdict(Evidence(signals=(of_none,)))
    assert told.likely == verdict(Evidence(signals=(signal("citations"),))).likely


@pytest.mark.parametrize(
    ("kinds", "cause"),
    [
        ((ChangeKind.PROMPT,), G),
        ((ChangeKind.RECHUNKED,), R),
        ((ChangeKind.RERANKER,), R),
        ((ChangeKind.RELEASE,), None),
        ((ChangeKind.PROMPT, ChangeKind.RECHUNKED), None),
        ((), None),
    ],
)
def test_a_change_alone_names_what_it_can_change(
    kinds: tuple[ChangeKind, ...], cause: Cause | None
) -> None:
    assert said(kinds=kinds).cause is cause


def test_what_says_nothing_of_layers_leaves_the_verdict_empty() -> None:
    assert said(signals=("seconds_total:slow", "error", "cost_usd")) == LayerVerdict()


def test_a_signal_of_a_plugin_counts_by_its_causes_and_layer() -> None:
    told = signal("own_rubric", Layer.GENERATION, G)
    assert verdict(Evidence(signals=(told,))).cause is G
    chunks = verdict(Evidence(signals=(signal("own_rubric", Layer.RETRIEVAL),)))
    assert G not in {layer.cause for layer in chunks.likely if layer.share > 0.1}


def test_what_the_spans_no_longer_show_is_no_layer() -> None:
    assert verdict(Evidence(is_blind=True)) == LayerVerdict(is_blind=True)


def test_an_undetermined_verdict_says_what_would_settle_it() -> None:
    unseen = said({Rubric.GROUNDED: -0.12})
    assert unseen.cause is None
    assert {layer.cause for layer in unseen.likely[:2]} == {R, G}
    assert unseen.settles == "judge what was retrieved, before and after"
    coarse = said(
        {Rubric.RETRIEVED: -0.02, Rubric.PROMPT: -0.02, Rubric.GROUNDED: -0.08}, error=0.05
    )
    assert coarse.cause is None
    assert coarse.settles == "about 1650 more answers judged for context_relevance"


def test_evidence_is_told_for_and_against() -> None:
    told = said({Rubric.RETRIEVED: -0.2, Rubric.GROUNDED: -0.1}, kinds=(ChangeKind.PROMPT,))
    assert told.cause is R
    assert told.supports == ("context_relevance dropped by about 20 points, by the audit",)
    assert told.contradicts == ("prompt on /ask changed just before",)
    assert told.missing == ("no reference to compare with, so the corpus cannot be tested",)


def test_shares_add_up_and_a_named_layer_has_most_of_them() -> None:
    told = said({**CHUNKS_HELD, Rubric.GROUNDED: -0.12})
    assert told.likely[0].share >= LEAST_SHARE
    assert sum(layer.share for layer in told.likely) == pytest.approx(1, abs=0.1)


def test_the_priors_are_shares() -> None:
    assert sum(leaf.prior for leaf in LEAVES.values()) == pytest.approx(1, abs=0.05)


def test_what_held_beside_a_change_alone_is_no_evidence_against_its_layer() -> None:
    """An audit that finds no drop says that the change did no harm."""
    kind = ChangeKind.OTHER_CHUNKS
    steady = {Rubric.RETRIEVED: 0.05, Rubric.PROMPT: 0.04, Rubric.COMPLETE: -0.02}
    change = finding("c", signal=str(kind), causes=(R, C), kind=FindingKind.CHANGED)
    evidence = Evidence(
        measured=tuple(
            Measured(rubric=rubric, change=by, error=0.02, n=60) for rubric, by in steady.items()
        ),
        signals=(change,),
        notices=(notice("c", 0, kind),),
    )
    assert verdict(evidence).cause is R
    moved_too = replace(evidence, signals=(signal("answer_words"),))
    assert verdict(moved_too).cause is not R
