"""A system prompt is compared without what varies by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.record.prompt_template import MOST_SENTENCES, masked, template_of

MONDAY = datetime(2026, 11, 23, 9, 5, tzinfo=UTC)
FORMS = (
    "Today is {0:%A}, {0.day} {0:%B} {0:%Y}.",
    "Current date: {0:%B} {0.day}, {0:%Y}",
    "It is {0:%Y-%m-%d %H:%M:%S}.",
    "It is {0:%Y-%m-%dT%H:%M:%SZ}",
    "Now: {0:%I:%M %p} UTC on {0:%A}",
    "{0:%A}, {0:%b} {0.day}: open",
    "Stand: {0:%d.%m.%Y}, {0:%H:%M} Uhr",
    "今天是{0:%Y}年{0.month}月{0.day}日。",
)


@pytest.mark.parametrize("form", FORMS)
def test_a_date_or_a_time_makes_no_other_prompt(form: str) -> None:
    lines = {
        template_of([f"You help.\n{form.format(MONDAY + timedelta(days=days, minutes=77 * days))}"])
        for days in range(400)
    }
    assert len(lines) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Heute ist Montag, der 23. November 2026.", "Heute ist Dienstag, der 1. März 2027."),
        ("Nous sommes le lundi 23 novembre 2026.", "Nous sommes le mardi 1 mars 2027."),
        ("Hoy es lunes, 23 de noviembre de 2026.", "Hoy es martes, 1 de marzo de 2027."),
        ("Ticket AB-1234 of jane@example.com", "Ticket XY-9 of bob.b@example.org"),
        ("Request 3f2a9c88-aaaa-bbbb-cccc-0123456789ab.", "Request 77777777-abcd-0000-ffff-1."),
    ],
)
def test_what_varies_is_masked_in_any_language(first: str, second: str) -> None:
    assert template_of([first]) == template_of([second])


def test_names_of_the_tenant_and_the_user_are_masked() -> None:
    for name in ("Acme", "Umbrella Corporation"):
        assert template_of([f"You work for {name}. Be kind."], [name]) == template_of(
            ["You work for #. Be kind."]
        )


def test_an_edit_changes_the_sentence_that_it_touches_and_no_other() -> None:
    before = template_of(["You help customers. Cite each claim. Be brief."])
    after = template_of(["You help customers. Cite every claim. Be brief."])
    assert (len(before), len(set(before) & set(after))) == (3, 2)


def test_white_space_and_line_ends_are_no_edit() -> None:
    assert template_of(["Be  brief.\r\nCite."]) == template_of(["Be brief.", "Cite."])


@given(st.lists(st.text(), max_size=4), st.lists(st.text(max_size=5), max_size=2))
def test_any_text_has_a_template(texts: list[str], names: list[str]) -> None:
    template = template_of(texts, names)
    assert template == template_of(texts, names)
    assert len(template) <= MOST_SENTENCES
    assert all(0 <= sentence < 2**32 for sentence in template)
    for text in texts:
        assert masked(masked(text)) == masked(text) or "#" in masked(text)


def test_a_long_prompt_keeps_its_ends() -> None:
    rules = [f"Rule {'abcdefghij'[n // 10]}{'abcdefghij'[n % 10]} holds." for n in range(100)]
    template = template_of(rules)
    assert len(template) == MOST_SENTENCES
    assert template[0] == template_of(rules[:1])[0]
    assert template[-1] == template_of(rules[-1:])[0]
