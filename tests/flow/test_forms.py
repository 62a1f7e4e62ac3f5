"""Whatever a form of a page holds, the page answers: never 500."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from ragvigil.store.engine.store import Store
from ragvigil.web.pages.addresses import every_route
from ragvigil.web.sessions import Sessions
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import application
from tests.flow.test_api import NOW, keep, outcome
from tests.flow.test_openapi import whole_api
from tests.issues import failure, issue
from tests.issues import keep as keep_issues

pytestmark = pytest.mark.slow

TEMPLATES = Path("ragvigil/web/templates")
FIELDS = sorted(
    {
        name
        for path in TEMPLATES.rglob("*.html")
        for name in re.findall(r'name="(\w+)"', path.read_text("utf-8"))
    }
    - {"form_token"}
)
TRACE = f"{1:032x}"
VALUES = st.one_of(
    st.sampled_from(["", "i1", TRACE, "pass", "fail", "1", "-1", "9" * 30, "4h", "ever", "count"]),
    st.text(max_size=40),
    st.just("x" * 20_000),
)
BODIES = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6)
VERBS = st.sampled_from(["acknowledge", "snooze", "resolve", "merge", "unmerge", "assign", "x"])
IDS = st.one_of(st.sampled_from(["i1", TRACE, "none"]), st.text(min_size=1, max_size=20))


def forms() -> list[str]:
    """The paths of the forms of pages."""
    routes = every_route(application(None, None, WebSettings()))  # type: ignore[arg-type]
    posted = [route.path for route in routes if "POST" in route.methods]
    return [path for path in posted if not path.startswith("/api/")]


@pytest.fixture
def sessions() -> Sessions:
    return Sessions()


@pytest.fixture
def browser(store: Store, tmp_path: Path, sessions: Sessions) -> TestClient:
    keep(store, [outcome(1, NOW - 60, value=0.5)])
    keep_issues(store, [failure(4)], issue())
    web = whole_api(store, tmp_path, sessions=sessions)
    return TestClient(web, raise_server_exceptions=False, follow_redirects=False)


@pytest.mark.parametrize("path", forms())
def test_no_form_makes_a_page_fail(browser: TestClient, sessions: Sessions, path: str) -> None:
    token = sessions.form_token("local local")

    @given(body=BODIES, verb=VERBS, name=IDS, is_whole=st.booleans())
    @settings(
        max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    def holds(body: dict[str, str], verb: str, name: str, is_whole: bool) -> None:
        values = {"{verb}": verb}
        target = re.sub(r"\{\w+\}", lambda found: quote(values.get(found[0], name), ""), path)
        headers = {"accept": "text/html"}
        fields = body | ({"form_token": token} if is_whole else {})
        data = {key: value.encode("utf-8", "surrogatepass") for key, value in fields.items()}
        reply = browser.post(target, data=data, headers=headers)
        assert reply.status_code < 500, (target, fields, reply.text[:500])

    holds()
