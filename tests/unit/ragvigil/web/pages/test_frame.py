"""The bars around a page and the parts that all pages share, as HTML."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from jinja2 import DictLoader
from markupsafe import escape

from ragvigil.model.issue import IssueState
from ragvigil.model.score import Layer
from ragvigil.store.records.places import RoutePlace
from ragvigil.web.identity import Person, Role
from ragvigil.web.pages.frame import PAGES, Frame, compile_templates
from ragvigil.web.scope import Scope
from ragvigil.web.views.chrome import Chrome

NOW = datetime(2026, 11, 22, 7, 24, 10, tzinfo=UTC)
HOSTILE = '"><script>alert(1)</script>'
PAGE = '{% extends "frame.html" %}{% block content %}<h1>Now</h1>{% endblock %}'


def place(route: str) -> RoutePlace:
    return RoutePlace(service="helpdesk", environment="demo", route=route)


def shown(text: str = PAGE, scope: Scope | None = None, **values: Any) -> str:
    kept: dict[str, Any] = {
        "chrome": Chrome(places=(place("/refunds/ask"), place(HOSTILE)), open_pages=1),
        "person": Person(name="mara", role=Role.TRIAGER),
        "refresh_seconds": 0,
    }
    kept |= {name: values.pop(name) for name in list(values) if name in kept}
    frame = Frame(page="now", title="Now", version="1.0", updated=NOW, is_signed_in=True, **kept)
    base: dict[str, Any] = {
        "frame": frame, "scope": scope or Scope(), "now": NOW, "request_path": "/issues",
        "form_token": "t0ken", "done": "",
    }  # fmt: skip
    return PAGES.from_string(text).render(base | values)


def test_templates_are_compiled_before_anybody_opens_a_page() -> None:
    cache = PAGES.cache
    assert cache is not None
    cache.clear()
    compile_templates.cache_clear()
    compiled = compile_templates(0.0)
    names = {name for _, name in cache}
    assert names == set(PAGES.list_templates())
    assert compiled == len(names) > 50


def test_the_bars_say_what_is_watched_and_open() -> None:
    html = shown()
    assert "2 routes" in html
    assert "1 open page</a>" in html
    assert "no open page" in shown(chrome=Chrome(places=(place("/a"),)))
    assert "watching nothing yet" in shown(chrome=Chrome())


def test_every_link_of_the_bars_keeps_the_scope_and_the_prefix() -> None:
    scope = Scope(service="help desk", since="7d", clock="local", prefix="/rag")
    html = shown(scope=scope)
    for link in re.findall(r'href="(/rag/[^"]*)"', html):
        assert "static" in link or "clock=local" in link or "service=help+desk" in link, link
    assert 'action="/rag/search"' in html
    assert '<input type="hidden" name="service" value="help desk">' in html


def test_what_strangers_wrote_is_text() -> None:
    html = shown(scope=Scope(route=HOSTILE), person=Person(name=HOSTILE, role=Role.READER))
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_nothing_stands_inline_that_the_policy_forbids() -> None:
    html = shown()
    assert "style=" not in html
    assert not re.search(r"\son\w+=", html)
    assert not re.search(r"<script(?![^>]* src=)", html)


def test_a_page_that_renews_itself_says_when() -> None:
    html = shown(refresh_seconds=15)
    assert "Updated" in html
    assert ", again in 15 s" in html
    assert 'data-refresh="15"' in html
    assert "data-refresh" not in shown()


def test_each_control_has_a_name_and_each_id_is_unique() -> None:
    html = shown()
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    for control in re.findall(r'<(?:input|select|textarea)(?![^>]*type="hidden")[^>]*>', html):
        (name,) = re.findall(r'id="([^"]+)"', control)
        assert f'for="{name}"' in html, control


def test_a_form_that_acts_carries_the_token_and_what_it_is_given() -> None:
    html = shown(
        '{% from "parts/button.html" import act with context %}'
        '{{ act("/incidents/x/acknowledge", "Acknowledge", key="a", fields={"why": why}) }}',
        scope=Scope(since="7d"),
        why=HOSTILE,
    )
    assert 'method="post" action="/incidents/x/acknowledge?since=7d"' in html
    assert '<input type="hidden" name="form_token" value="t0ken">' in html
    assert 'data-key="a"' in html
    assert "<script>" not in html


@pytest.mark.parametrize("word", [*IssueState, "worse", "holding", "a word of tomorrow"])
def test_a_state_is_a_word_beside_its_glyph(word: str) -> None:
    html = shown('{% from "parts/state.html" import state %}{{ state(word) }}', word=word)
    assert f"</svg>{word}</span>" in html
    assert 'aria-hidden="true"' in html


@pytest.mark.parametrize("layer", Layer)
def test_a_layer_has_its_word_icon_and_hue(layer: Layer) -> None:
    html = shown('{% from "parts/layer.html" import layer %}{{ layer(name) }}', name=layer.value)
    word = layer.value.replace("_", "-")
    assert f'<span class="layer {word}">' in html
    assert f"</svg>{word}</span>" in html


def test_a_time_is_an_element_that_a_script_may_show_on_the_readers_clock() -> None:
    html = shown(
        "{{ t | time }} {{ t | ago }} {{ none | time }}", t=NOW - timedelta(minutes=5), none=None
    )
    assert '<time datetime="2026-11-22T07:19:10Z" data-form="time">07:19</time>' in html
    assert 'data-form="ago">5 min ago</time>' in html
    assert html.endswith(" –")


def test_what_was_done_is_said_in_a_sentence_and_never_in_the_readers_words() -> None:
    assert "Acknowledged." in shown(done="acknowledge")
    html = shown(done=HOSTILE)
    assert "Done." in html
    assert "alert(1)" not in html.partition("<main")[2]


def test_an_upgrade_of_the_files_leaves_the_pages_of_a_daemon_that_runs() -> None:
    files = {"now.html": "{{ 1 }} of this version"}
    pages = PAGES.overlay(loader=DictLoader(files))
    before = pages.get_template("now.html").render()
    files["now.html"] = "{{ 1 | filter_of_the_next_version }}"
    assert pages.get_template("now.html").render() == before


def test_what_stands_between_backticks_is_a_command() -> None:
    html = shown("{{ words | commands }}", words=f"ask `ragvigil why`, `{HOSTILE}")
    assert html == f"ask <code>ragvigil why</code>, `{escape(HOSTILE)}"


def test_a_form_of_the_scope_holds_both_ends_of_the_time() -> None:
    html = shown(scope=Scope(since="2026-11-22T14:00:00+02:00", until="2026-11-22T13:30:00Z"))
    assert 'value="2026-11-22T12:00"' in html
    assert 'value="2026-11-22T13:30"' in html
    interval = "2026-11-22T14:00:00+02:00/2026-11-22T13:30:00Z"
    assert f'<option value="{escape(interval)}" selected>' in html
    assert "2026-11-22 12:00 to 2026-11-22 13:30" in html


def test_an_answer_without_a_route_is_no_choice_of_the_scope() -> None:
    html = shown(chrome=Chrome(places=(place(""), place("/refunds/ask"))))
    assert ">none<" not in html
    assert "/refunds/ask" in html
