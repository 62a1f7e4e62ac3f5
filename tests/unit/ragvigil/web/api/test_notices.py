"""`/api/v1/notices` lists what changed, newest first."""

from __future__ import annotations

from ragvigil.model.notice import ChangeKind, Notice
from ragvigil.store.engine.store import Store
from ragvigil.store.watch import notices
from tests.flow.test_api import NOW, client

NANOS = 10**9


def notice(number: int, ago: int, *, route: str = "/ask", service: str = "helpdesk") -> Notice:
    return Notice(
        notice_id=f"n{number}",
        kind=ChangeKind.RECHUNKED,
        service=service,
        environment="prod",
        route=route,
        since_unix_nano=(NOW - ago) * NANOS,
        noticed_unix_nano=(NOW - ago + 60) * NANOS,
        requests=12,
        share=0.5,
        before="chunks of 400 characters",
        after="chunks of 130 characters",
        evidence={"new_chunk_share": 1.0, "chunk_characters": [400.0, None]},
    )


async def test_changes_are_listed_newest_first_with_what_they_can_explain(store: Store) -> None:
    store.write(notices.batch([notice(1, 7200), notice(2, 3600)], NOW * NANOS))
    store.write(notices.batch([notice(2, 3600)], NOW * NANOS + 1))
    found = (await client(store).get("/api/v1/notices")).json()["notices"]
    assert [notice["id"] for notice in found] == ["n2", "n1"]
    assert (found[0]["kind"], found[0]["causes"]) == ("re-chunked", ["retrieval"])
    assert (found[0]["requests"], found[0]["share"]) == (12, 0.5)
    assert found[0]["evidence"] == {"new_chunk_share": 1.0, "chunk_characters": [400.0, None]}


async def test_they_are_found_by_service_route_and_time(store: Store) -> None:
    made = [notice(1, 60, route="/a"), notice(2, 7200), notice(3, 60, service="other")]
    store.write(notices.batch(made, NOW * NANOS))

    async def ids(query: str) -> set[str]:
        reply = await client(store).get(f"/api/v1/notices?{query}")
        return {notice["id"] for notice in reply.json()["notices"]}

    assert await ids("route=/a") == {"n1"}
    assert await ids("service=other") == {"n3"}
    assert await ids("since=1h") == {"n1", "n3"}
    assert await ids("service=nobody") == set()
    assert (await client(store).get("/api/v1/notices?since=soon")).status_code == 422
