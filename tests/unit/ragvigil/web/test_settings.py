"""Settings of `[web]`: tokens, addresses, refusals in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from ragvigil.web.identity import Person, Role
from ragvigil.web.settings import WebSettings


def test_every_key_is_described() -> None:
    assert all(field.description for field in WebSettings.model_fields.values())


def test_loopback_needs_no_token() -> None:
    assert WebSettings().people() is None
    assert WebSettings().secret("reader") is None


def test_an_open_address_is_refused_without_token_and_tls() -> None:
    with pytest.raises(ValidationError, match=r"0\.0\.0\.0:8088 is reachable .* a token and TLS"):
        WebSettings(endpoint="0.0.0.0:8088")


def test_an_endpoint_is_host_and_port() -> None:
    with pytest.raises(ValidationError, match="8088 is not an address of the form host:port"):
        WebSettings(endpoint="8088")


def test_an_external_url_has_a_scheme() -> None:
    with pytest.raises(ValidationError, match="begins with http"):
        WebSettings(external_url="desk.example")


def test_tokens_come_from_settings_and_file(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("# ours\ningest  aaa\nreader bbb\n\n")
    settings = WebSettings(admin_token="ccc", tokens_file=file)  # type: ignore[arg-type]
    people = {token: (person.name, person.role) for token, person in settings.people().items()}
    assert people == {
        "ccc": ("admin", Role.ADMIN),
        "aaa": ("ingest", Role.INGEST),
        "bbb": ("reader", Role.READER),
    }
    assert settings.secret("reader") == "bbb"
    assert settings.secret("triager") == "ccc"


def test_a_wrong_line_of_the_tokens_file_is_named_but_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("reader bbb\nroot s3cret\n")
    with pytest.raises(ValueError, match=r"tokens:2: is not a line") as error:
        WebSettings(tokens_file=file)
    assert "s3cret" not in str(error.value)


def test_a_line_names_whose_token_it_is_and_what_they_may_sign(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(
        "triager one Ada  Lovelace\napprover two\tbob tags=medical,route:/ask\nreader three\n"
        "approver four tags=law\n"
    )
    people = WebSettings(tokens_file=file).people()
    assert people == {
        "one": Person(name="Ada Lovelace", role=Role.TRIAGER),
        "two": Person(name="bob", role=Role.APPROVER, tags=frozenset({"medical", "route:/ask"})),
        "three": Person(name="reader", role=Role.READER),
        "four": Person(name="approver", role=Role.APPROVER, tags=frozenset({"law"})),
    }


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("reader token tags=law", "tags= lists what an approver may sign"),
        ("approver token bob tags=", "tags= lists what an approver may sign"),
        ("approver token tags=law bob", "has more than a role, a name and tags="),
        ("approver token bob tag=law", "has more than a role, a name and tags="),
        ("reader token " + "x" * 65, "a name has 1 to 64 characters"),
        ("reader token b\u202eob", "a name has 1 to 64 characters"),
        ("reader", "is not a line of the form"),
        ("boss token", "is not a line of the form"),
    ],
)
def test_a_line_that_names_nobody_rightly_is_refused(tmp_path: Path, line: str, why: str) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"admin s3cret\n{line}\n", encoding="utf-8")
    with pytest.raises(ValidationError, match=rf"tokens:2: {why}"):
        WebSettings(tokens_file=file)


def test_a_token_has_one_person(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("reader same ada\nreader same bob\n")
    with pytest.raises(ValidationError, match="tokens:2: is the token of ada too"):
        WebSettings(tokens_file=file)
    file.write_text("reader one ada\ntriager two Ada\n")
    with pytest.raises(ValidationError, match="tokens:2: Ada is ada in another line"):
        WebSettings(tokens_file=file)


def test_a_command_is_the_same_person_in_all_that_it_does(tmp_path: Path) -> None:
    """Else one login would propose a case as the triager, and sign it as the approver."""
    tokens = {"reader_token": "r", "triager_token": "t", "approver_token": "a"}
    settings = WebSettings.model_validate(tokens)
    assert settings.secret("reader") == "r"
    assert settings.secret("triager") == settings.secret("approver") == "a"
    file = tmp_path / "tokens"
    file.write_text("approver b bob\ntriager d ada\nreader c\n")
    named = WebSettings(tokens_file=file)
    assert (named.secret("reader"), named.secret("triager")) == ("c", None), "nobody's is lent"


def test_the_proxy_names_people_by_their_role() -> None:
    people = {"ada@example.org": "approver tags=law", "*": "reader"}
    settings = WebSettings(
        proxy_header="X-Email", proxy_addresses=("10.0.0.0/8",), proxy_people=people
    )
    assert settings.people() == {}, "who comes without the header is nobody"
    assert settings.proxied("Ada@example.org") == Person(
        name="ada@example.org", role=Role.APPROVER, tags=frozenset({"law"})
    )
    assert settings.proxied("Eve@example.org") == Person(name="eve@example.org", role=Role.READER)
    with pytest.raises(ValueError, match="a name has 1 to 64"):
        settings.proxied(" ")
