"""The message of an incident: a tested text of at most six lines."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.incidents.message import Message, lines, message
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import RERANKER, Incident, LayerVerdict, LikelyLayer
from ragvigil.model.notice import Cause, ChangeKind
from ragvigil.model.score import Layer
from tests.unit.alerts.incident_values import SETTINGS, finding, folded, moved, notice

SNAPSHOTS = Path(__file__).parent / "messages"
TRACES = tuple(f"{number:032x}" for number in range(1, 8))
CITES = "38 of 41 answers cite what is not there (93 % [81, 97], ceiling 30 %)"


def rechunked() -> Incident:
    chunks = "chunks of {} characters".format
    change = notice("n", -3, ChangeKind.RECHUNKED, before=chunks(512), after=chunks(118))
    audit = finding(
        "x",
        -3,
        kind=FindingKind.AUDIT,
        signal="context_relevance",
        layer=Layer.RETRIEVAL,
        causes=(Cause.RETRIEVAL,),
        value=0.61,
        reference=0.71,
        low=-0.15,
        high=-0.05,
        n=200,
        traces=TRACES,
        routes=("/ask", "/chat", "/refunds", "/orders"),
    )
    ticket = moved("m", 4, signal="context_tokens", layer=Layer.RETRIEVAL, words="tokens fell")
    return folded((), [audit, ticket], 60, (change,))[0][0]


def invalid_citations() -> Incident:
    broken = finding(
        "b",
        signal="citation_validity:failed",
        causes=(Cause.GENERATION,),
        value=0.93,
        reference=0.3,
        low=0.51,
        high=0.68,
        n=41,
        words=CITES,
        traces=TRACES[:2],
    )
    return folded((), [broken], 3)[0][0]


def put_back() -> Incident:
    change = notice("n", 0, before="v1", after="v2", route="")
    fix = notice("f", 50, before="v2", after="v1", route="")
    drift = finding("d", 20, kind=FindingKind.DRIFT, signal="groundedness", layer=Layer.GENERATION)
    drift = replace(drift, value=0.7, reference=0.82, low=-0.17, high=-0.07, n=90)
    return folded((), [drift], 60, (change, fix))[0][0]


def unexplained() -> Incident:
    slow = finding("s", signal="slow", words="9 of 12 requests take longer than 60 s", routes=())
    ticket = moved("m", 5, signal="cost_usd", value=0.02, reference=0.01, low=0.007, high=0.013)
    return folded((), [slow, ticket], 9)[0][0]


def test_a_roll_out_in_steps_is_one_change_on_its_routes_from_its_first_step() -> None:
    versions = {"before": "p14", "after": "p15"}
    steps = (
        notice("1", -60, ChangeKind.PROMPT, share=0.1, **versions),
        notice("2", 5, ChangeKind.PROMPT, **versions),
        notice("3", -40, ChangeKind.PROMPT, share=0.1, route="/chat", **versions),
    )
    broken = finding("b", causes=(Cause.GENERATION,), routes=("/ask", "/chat"))
    ((incident,), _) = folded((), [broken], 10, steps)
    assert message(incident, SETTINGS).changed == (
        "prompt on 2 routes, p14 → p15; coincides, 60 min before"
    )


def test_a_release_that_is_marked_and_seen_is_on_all_routes() -> None:
    seen = [
        notice(route, 0, ChangeKind.RELEASE, before="1", after="2", route=route)
        for route in ("/ask", "/chat")
    ]
    mark = notice("mark:1", -1, ChangeKind.RELEASE, after="2", route="")
    broken = finding("b", causes=(Cause.GENERATION,), routes=("/ask", "/chat"))
    ((incident,), _) = folded((), [broken], 10, (mark, *seen))
    assert message(incident, SETTINGS).changed.startswith("release on all routes, ")


@pytest.mark.parametrize("made", [rechunked, invalid_citations, put_back, unexplained])
def test_the_text_is_that_of_the_snapshot(made: object) -> None:
    """To renew a snapshot, delete it and run this test."""
    incident = made()  # type: ignore[operator]
    text = "\n".join(lines(message(incident, SETTINGS, "https://vigil.example"))) + "\n"
    path = SNAPSHOTS / f"{made.__name__}.txt"  # type: ignore[attr-defined]
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    assert text.replace(incident.incident_id, "ID") == path.read_text(encoding="utf-8").replace(
        incident.incident_id, "ID"
    )


def worse(name: str, kind: FindingKind, signal: str, layer: Layer, **levels: float) -> Finding:
    words = f"{signal} is worse"
    return finding(name, 0, kind=kind, signal=signal, layer=layer, words=words, **levels)


REFUSE = worse(
    "r", FindingKind.BROKEN, "refusal:refused", Layer.GENERATION, value=0.95, reference=0.15
)
CITE = worse(
    "c", FindingKind.BROKEN, "citation_validity:failed", Layer.CROSS_CUTTING,
    value=0.31, reference=0.2,
)  # fmt: skip
IRRELEVANT = worse(
    "i", FindingKind.MOVED, "context_relevance", Layer.RETRIEVAL, value=0.02, reference=0.6
)
SHORTER = worse(
    "s", FindingKind.MOVED, "answer_words", Layer.GENERATION, value=40.0, reference=90.0
)
USED = worse("u", FindingKind.MOVED, "chunk_utilization", Layer.RETRIEVAL, value=0.1, reference=0.6)
UNFOUNDED = worse(
    "g", FindingKind.AUDIT, "groundedness", Layer.GENERATION, value=0.5, reference=0.8
)
LABELLED = worse(
    "l", FindingKind.MOVED, "groundedness:unsupported", Layer.GENERATION, value=0.3, reference=0.05
)
OVER_LIMIT = worse(
    "o", FindingKind.BROKEN, "groundedness:unsupported", Layer.GENERATION, value=0.4, reference=0.3
)
SLOW = worse(
    "t", FindingKind.BROKEN, "seconds_total:slow", Layer.CROSS_CUTTING, value=0.9, reference=0.05
)


@pytest.mark.parametrize(
    ("findings", "first"),
    [
        ((SHORTER, IRRELEVANT), IRRELEVANT),  # relevance before length
        ((UNFOUNDED, REFUSE), REFUSE),  # what harms more answers
        ((CITE, UNFOUNDED), UNFOUNDED),  # of equal harm, the layer upstream
        ((SLOW, UNFOUNDED), UNFOUNDED),  # slowness makes no answer worse
        ((USED, CITE), CITE),
        ((CITE, OVER_LIMIT), OVER_LIMIT),  # a broken rate counts its answers, whatever its ceiling
        ((SHORTER, LABELLED), LABELLED),  # a quarter of the answers, and no length
    ],
)
def test_what_harms_most_comes_first(findings: tuple[Finding, ...], first: Finding) -> None:
    (incident,), _ = folded((), findings, 3)
    assert message(incident, SETTINGS).worse.startswith(first.words)


def test_a_rate_that_is_back_has_no_interval_of_a_change() -> None:
    back = replace(REFUSE, words="back under the ceiling since 14:10 UTC", low=0.1, high=0.2)
    (incident,), _ = folded((), [back], 3)
    assert message(incident, SETTINGS).worse == back.words


def test_values_that_look_the_same_are_no_change() -> None:
    change = notice("n", 0, before="x" * 50 + "1", after="x" * 50 + "2", route="")
    (incident,), _ = folded((), [REFUSE], 3, (change,))
    assert "→" not in message(incident, SETTINGS).changed


def test_without_an_address_the_link_is_a_command() -> None:
    incident = invalid_citations()
    assert message(incident, SETTINGS).link == f"ragvigil incidents show {incident.incident_id}"


@given(words=st.text(max_size=400), route=st.text(max_size=300), trace=st.text(max_size=90))
def test_a_message_is_at_most_six_short_lines_whatever_it_holds(
    words: str, route: str, trace: str
) -> None:
    held = finding("a", words=words, routes=(route, "/b"), traces=(trace, *TRACES), service=words)
    change = notice("n", -1, service=words, route=route, before=words, after=words)
    incident = folded((), [held], 1, (change,))[0][0]
    parts = message(incident, SETTINGS)
    assert len(lines(parts)) <= 6
    for field in fields(Message):
        text = getattr(parts, field.name)
        assert len(text) <= 200
        assert text.isprintable()


def test_no_word_of_statistics_stands_in_a_message() -> None:
    for made in (rechunked, invalid_citations, put_back, unexplained):
        text = " ".join(lines(message(made(), SETTINGS))).lower()
        assert not any(word in text for word in ("nats", "posterior", "e-value", "caused"))


@pytest.mark.parametrize(
    ("verdict", "line"),
    [
        (
            LayerVerdict(cause=Cause.RETRIEVAL, part=RERANKER),
            "retrieval, the reranker: the prompt lost what was found",
        ),
        (
            LayerVerdict(
                likely=(
                    LikelyLayer(cause=Cause.RETRIEVAL, share=0.6),
                    LikelyLayer(cause=Cause.GENERATION, share=0.4),
                ),
                settles="judge what was retrieved, before and after",
            ),
            "undetermined: retrieval or generation; to settle it: "
            "judge what was retrieved, before and after",
        ),
        (
            LayerVerdict(is_blind=True),
            "none: the spans lack what they had, and nothing else is known to be worse",
        ),
    ],
)
def test_the_layer_is_said_as_far_as_it_is_known(verdict: LayerVerdict, line: str) -> None:
    incidents, _ = folded((), [finding("a")], 5)
    incident = replace(incidents[0], cause=verdict.cause, verdict=verdict)
    assert message(incident, SETTINGS).cause == line
