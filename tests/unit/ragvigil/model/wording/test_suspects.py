"""What an incident knows of its cause, as the names and reports of issues say it."""

from __future__ import annotations

import doctest
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from ragvigil.model.incident import RERANKER, Incident, LayerVerdict
from ragvigil.model.notice import Cause, ChangeKind, Notice
from ragvigil.model.wording import suspects
from ragvigil.model.wording.suspects import change_words, suspected
from tests.unit.clustering.issues.test_incident_issues import incident_of


def noticed(
    kind: ChangeKind, before: str = "", after: str = "", *, route: str = "/ask", since: int = 1
) -> Notice:
    return Notice(
        notice_id=f"{kind}{route}{after}",
        kind=kind,
        service="desk",
        environment="prod",
        route=route,
        since_unix_nano=since,
        noticed_unix_nano=since + 1,
        requests=12,
        before=before,
        after=after,
    )


def suspecting(*changes: Notice, cause: Cause | None = Cause.GENERATION) -> Incident:
    return replace(incident_of("refusal:refused"), suspects=changes, cause=cause)


def test_the_examples_hold() -> None:
    assert doctest.testmod(suspects).failed == 0


@pytest.mark.parametrize(
    ("kind", "before", "after", "expected"),
    [
        (ChangeKind.PROMPT, "v3", "v6", "since the prompt changed (v3 → v6)"),
        (ChangeKind.PROMPT, "", "v6", "since the prompt changed"),
        (ChangeKind.PROMPT, "v3", "sha:" + "0" * 64, "since the prompt changed"),
        (ChangeKind.RECHUNKED, "80", "20", "since chunks are cut otherwise"),
        (ChangeKind.REEMBEDDED, "", "", "since the same chunks get other scores"),
        (
            ChangeKind.INDEX,
            "2026-06-08-p",
            "2023-01-15-p",
            "since the index went back to an older version (2026-06-08-p → 2023-01-15-p)",
        ),
        (ChangeKind.INDEX, "v6", "v7", "since the index version changed (v6 → v7)"),
        (
            ChangeKind.OTHER_CHUNKS,
            "as usual",
            "the same 3 chunks for every question",
            "since the index returns the same 3 chunks for every question",
        ),
        (ChangeKind.OTHER_CHUNKS, "", "", "since the index returns other chunks"),
        (ChangeKind.DOCUMENTS, "", "4 gone: a, b, c, d", "since documents are gone"),
        (ChangeKind.DOCUMENTS, "", "31 chunks gone", "since documents are gone"),
        (
            ChangeKind.DOCUMENTS,
            "",
            "1 new: x; 9 edited: a",
            "since documents come in other versions",
        ),
        (ChangeKind.DOCUMENTS, "", "2 new: x, y", "since new documents are found"),
        (ChangeKind.DOCUMENTS, "", "other documents are found", "since other documents are found"),
    ],
)
def test_it_says_what_happened_and_from_which_value_to_which(
    kind: ChangeKind, before: str, after: str, expected: str
) -> None:
    assert change_words(suspecting(noticed(kind, before, after))) == expected


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (Cause.CORPUS, "since 9 Nov 14:05 UTC"),
        (Cause.GENERATION, "since 9 Nov 14:05 UTC, with the chunks as before"),
        (Cause.RETRIEVAL, "since 9 Nov 14:05 UTC, retrieval got worse"),
        (None, "since 9 Nov 14:05 UTC"),
    ],
)
def test_without_a_change_that_was_seen_none_is_named(cause: Cause | None, expected: str) -> None:
    began = int(datetime(2026, 11, 9, 14, 5, 59, tzinfo=UTC).timestamp()) * 10**9
    assert change_words(replace(suspecting(cause=cause), since_unix_nano=began)) == expected


def test_the_reranker_is_said_where_the_verdict_names_it() -> None:
    reranker = LayerVerdict(cause=Cause.RETRIEVAL, part=RERANKER)
    incident = replace(suspecting(cause=Cause.RETRIEVAL), verdict=reranker, since_unix_nano=0)
    assert change_words(incident) == "since 1 Jan 00:00 UTC, reranking got worse"


def test_what_most_routes_show_is_what_happened() -> None:
    odd = noticed(ChangeKind.REEMBEDDED, route="/a", since=5)
    others = [
        noticed(
            ChangeKind.OTHER_CHUNKS,
            after=f"other chunks for the same questions on {since} % of requests",
            route=route,
            since=since,
        )
        for route, since in (("/b", 7), ("/c", 6))
    ]
    first, second = suspected(suspecting(odd, *others, cause=Cause.RETRIEVAL))
    assert first.words == "the index returns other chunks for the same questions"
    assert (first.routes, first.since_unix_nano) == (("/b", "/c"), 6)
    assert second.words == "the same chunks get other scores"


def test_what_cannot_have_caused_it_comes_last_on_however_many_routes() -> None:
    releases = [noticed(ChangeKind.RELEASE, "1", "2", route=route) for route in ("/a", "/b", "/c")]
    prompt = noticed(ChangeKind.PROMPT, "v3", "v6", route="/a")
    first, second = suspected(suspecting(*releases, prompt))
    assert first.words == "the prompt changed (v3 → v6)"
    assert second.words == "a release"
