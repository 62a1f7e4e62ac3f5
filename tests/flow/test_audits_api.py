"""Audits over the API: what is known of each, and the pairs that it rests on."""

from __future__ import annotations

from dataclasses import replace

from ragvigil.store.engine.store import Store
from ragvigil.store.watch import audits
from tests.flow.test_api import client
from tests.outcomes import NOW, SECOND
from tests.unit.ragvigil.store.watch.test_audits import AUDIT, pair


async def test_audits_are_shown_newest_first_with_their_progress(store: Store) -> None:
    older = replace(AUDIT, audit_id="b", started_unix_nano=NOW - 60 * SECOND, routes=())
    for audit in (replace(older, since_unix_nano=()), AUDIT):
        store.write(audits.batch(audit, [], NOW))
    asked = client(store)
    shown = (await asked.get("/api/v1/audits", params={"since": "3650d"})).json()["audits"]
    assert [audit["audit_id"] for audit in shown] == ["a", "b"]
    first = shown[0]
    assert [route["route"] for route in first["routes"]] == ["/ask", "/chat"]
    assert (first["state"], first["ended"], first["causes"]) == ("running", None, ["generation"])
    assert first["progress"] == "after 2 of 300 pairs"
    assert (first["results"][0]["change"], first["results"][0]["high"]) == (-0.1, None)
    assert shown[1]["routes"] == []
    other = await asked.get("/api/v1/audits", params={"since": "3650d", "service": "other"})
    assert other.json() == {"audits": []}


async def test_one_audit_is_shown_with_its_pairs(store: Store) -> None:
    store.write(audits.batch(AUDIT, [pair(0, 1.0, None)], NOW))
    asked = client(store)
    shown = (await asked.get("/api/v1/audits/a")).json()
    assert shown["audit"]["audit_id"] == "a"
    (compared,) = shown["pairs"]
    assert compared["likeness"] == 0.5
    assert [verdict["value"] for verdict in compared["after"]["verdicts"]] == [1.0, None]
    missing = await asked.get("/api/v1/audits/none")
    assert missing.status_code == 404
    assert missing.json()["error"]["message"] == "there is no audit none"
