"""Changes have letters, the newest A; what several routes show at once is one change."""

from __future__ import annotations

from ragvigil.model.deploy import Deploy
from ragvigil.model.notice import ChangeKind, Notice
from ragvigil.web.views.changes import MOST_CHANGES, changes

SECOND = 10**9
FOREVER = 10**18


def noticed(name: str, at: int, **more: object) -> Notice:
    usual = {"kind": ChangeKind.PROMPT, "route": "/a", "before": "v3", "after": "v5"}
    return Notice(
        notice_id=name,
        service="s",
        environment="",
        since_unix_nano=at * SECOND,
        noticed_unix_nano=at * SECOND,
        requests=1,
        **(usual | more),  # type: ignore[arg-type]
    )


def marked(name: str, at: int, version: str = "1.4.0") -> Deploy:
    return Deploy(deploy_id=name, service="s", time_unix_nano=at * SECOND, version=version)


def test_the_same_change_on_two_routes_is_one_change() -> None:
    both = [noticed("n1", 100), noticed("n2", 160, route="/b"), noticed("n3", 5000, route="/c")]
    found = changes(both, [], until_nanos=FOREVER)
    assert [(change.letter, change.routes) for change in found] == [
        ("A", ["/c"]),
        ("B", ["/a", "/b"]),
    ]
    assert found[0].words == "prompt v3 → v5"


def test_a_release_that_was_marked_is_named_once() -> None:
    seen = noticed("n", 160, kind=ChangeKind.RELEASE, before="1.3.0", after="1.4.0")
    assert [change.id for change in changes([seen], [marked("d", 100)], until_nanos=FOREVER)] == [
        "d"
    ]
    assert len(changes([seen], [marked("d", 100, "9.9")], until_nanos=FOREVER)) == 2


def test_what_comes_after_the_window_is_left_out_and_there_are_never_too_many() -> None:
    many = [marked(f"d{at:02}", at, str(at)) for at in range(40)]
    found = changes([], many, until_nanos=30 * SECOND)
    assert len(found) == MOST_CHANGES
    assert (found[0].id, found[0].letter) == ("d29", "A")
