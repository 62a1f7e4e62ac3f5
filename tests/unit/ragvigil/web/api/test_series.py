"""`/api/v1/series` gives series with what changed meanwhile, and refuses what it cannot read."""

from __future__ import annotations

import pytest

from ragvigil.model.deploy import Deploy
from ragvigil.model.notice import ChangeKind
from ragvigil.store.engine.store import Store
from ragvigil.store.watch import deploys, notices
from tests.flow.test_api import HOUR, NANOS, NOW, client
from tests.unit.ragvigil.web.api.test_notices import notice
from tests.unit.ragvigil.web.views.test_series import write


async def test_it_has_the_points_and_the_changes_of_the_window(store: Store) -> None:
    write(store, [(NOW - HOUR, 1.0), (NOW - HOUR, 0.5)])
    store.write(notices.batch([notice(1, 7200), notice(2, 3600)], NOW * NANOS))
    mark = Deploy(
        deploy_id="d", service="helpdesk", time_unix_nano=(NOW - 60) * NANOS, version="1.4.0"
    )
    store.write(deploys.batch([mark], NOW * NANOS))
    query = "route=/ask&service=helpdesk&rubric=citation_validity&since=6h"
    reply = await client(store).get(f"/api/v1/series?{query}")
    assert reply.status_code == 200
    found = reply.json()
    assert [(point["mean"], point["n"]) for point in found["series"][0]["points"]] == [(0.75, 2)]
    assert [(each["letter"], each["id"]) for each in found["changes"]] == [
        ("A", "d"),
        ("B", "n2"),
        ("C", "n1"),
    ]
    assert found["changes"][0]["words"] == "release 1.4.0"
    assert found["changes"][1]["kind"] == ChangeKind.RECHUNKED


@pytest.mark.parametrize(
    "query",
    [
        "since=soon",
        "until=soon",
        "since=1h&until=2h",
        "since=2000d",
        "color=red",
        "rubric=" + "x" * 300,
        "route=" + "x" * 300,
    ],
)
async def test_what_it_cannot_read_is_refused(store: Store, query: str) -> None:
    assert (await client(store).get(f"/api/v1/series?{query}")).status_code == 422
