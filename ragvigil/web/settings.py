"""Settings of `[web]`; the descriptions are the documentation."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator

from ragvigil.listener.fields import ClientAuthorities, HostNames, ReadableFile, TlsKey
from ragvigil.model.endpoint import require_guarded
from ragvigil.model.token import (
    NotAllowed,
    NoTokens,
    read_token,
    require_consistent,
)
from ragvigil.web.identity import Person, Role
from ragvigil.web.labelling.rules import LabelQueue
from ragvigil.web.people import FORM, people_in, person_of, require_name

HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
OWN_HEADERS = {"authorization", "cookie", "host", "origin", "content-type", "content-length"}
EVERYBODY = "*"
TOKENS = {f"{role}_token": role for role in Role}


class WebSettings(BaseModel):
    """The listener of pages and HTTP API."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    external_url: str = Field(
        default="", description="URL under which others reach it; links use it, its host is allowed"
    )
    runbook_url: str = Field(
        default="",
        description="address of the runbook that alerts link to; "
        "without it `/runbook` of the daemon",
    )
    open_in: Mapping[str, str] = Field(
        default={},
        description="where else a trace can be opened: a name and an address with `{trace_id}`, "
        'and `{span_id}` if wanted, like { Tempo = "https://tempo.example/trace/{trace_id}" }',
    )
    allowed_hosts: HostNames = Field(
        default=(),
        description="further Host names to answer to, besides loopback, endpoint and external_url",
    )
    ingest_token: SecretStr | None = Field(
        default=None, description="may post feedback, deploys and evaluations, reads nothing"
    )
    reader_token: SecretStr | None = Field(default=None, description="may read")
    triager_token: SecretStr | None = Field(
        default=None, description="may read, post, label and triage issues"
    )
    approver_token: SecretStr | None = Field(
        default=None, description="may also sign golden cases and make rubrics live"
    )
    admin_token: SecretStr | None = Field(default=None, description="may do everything")
    tokens_file: ReadableFile | None = Field(
        default=None, description=f"file with tokens of people, one {FORM} a line"
    )
    tokens: NoTokens | None = Field(
        default=None,
        description='"none": nobody needs a token and everybody is admin, on loopback only; '
        "the same as no token at all, but written",
    )
    proxy_header: str = Field(
        default="",
        description="header in which a trusted proxy names the person it signed in, such as "
        "X-Forwarded-Email; from another address than its own it is refused",
    )
    proxy_addresses: tuple[str, ...] = Field(
        default=(),
        validate_default=True,
        description="addresses or networks from which that proxy sends, and nobody else can: "
        "10.0.0.7, 10.1.0.0/24",
    )
    proxy_people: dict[str, str] = Field(
        default={},
        description="`role [tags=a,b]` of each person whom the proxy names; `*` is everybody else, "
        "who may nothing without it",
    )
    tls_certificate: ReadableFile | None = Field(
        default=None, description="PEM file; with tls_key: HTTPS"
    )
    tls_key: TlsKey = Field(
        default=None, validate_default=True, description="PEM file of the certificate's key"
    )
    tls_client_ca: ClientAuthorities | None = Field(
        default=None,
        description="PEM file of authorities; a client must show a certificate that one signed, "
        "besides its token",
    )
    insecure: bool = Field(
        default=False, description="allow an address that is not loopback without TLS"
    )
    max_body_bytes: int = Field(
        default=262_144, ge=1024, description="largest request body; longer ones get 413"
    )
    max_connections: int = Field(
        default=256, ge=16, description="connections at the same time, half of them for one address"
    )
    max_requests_per_second: float | None = Field(
        default=None,
        gt=0,
        description="requests a second of one person, or of one address without a token, those of "
        "10 seconds at once; further ones get 429 and a time to retry after; without it as many as "
        "come",
    )
    label_queues: tuple[LabelQueue, ...] = Field(
        default=(),
        description="rules that fill queues of answers for people to label, with the keys name, "
        "fill (sampled, disagreements, canary or suspicious), rubric, service, route, label, "
        "share, most and days; without any, one of each fill by groundedness",
    )
    endpoint: str = Field(default="127.0.0.1:8088", description="address of pages and API")

    @field_validator("label_queues")
    @classmethod
    def _have_names(cls, queues: tuple[LabelQueue, ...]) -> tuple[LabelQueue, ...]:
        names = [queue.name for queue in queues]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{name} is the name of two queues")
        return queues

    @field_validator("external_url", "runbook_url")
    @classmethod
    def _is_a_url(cls, url: str) -> str:
        if url and (urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname):
            raise ValueError(f"{url} is not a URL that begins with http:// or https://")
        return url.rstrip("/")

    @field_validator("open_in")
    @classmethod
    def _are_addresses_of_traces(cls, open_in: Mapping[str, str]) -> Mapping[str, str]:
        for name, address in open_in.items():
            _require_trace_address(name, address)
        return open_in

    @property
    def runbook(self) -> str:
        """The runbook's address, without an anchor."""
        scheme = "https" if self.tls_key else "http"
        base = self.external_url or f"{scheme}://{self.endpoint}"
        return self.runbook_url or f"{base}/runbook"

    @field_validator(*TOKENS)
    @classmethod
    def _is_a_token_of_one_role(
        cls, token: SecretStr | None, info: ValidationInfo
    ) -> SecretStr | None:
        if token is not None:
            person = _written(info.data).get(read_token(token))
            if person is not None:
                raise ValueError(f"is the token of the role {person.role} too")
        return token

    @field_validator("tokens_file")
    @classmethod
    def _holds_tokens(cls, path: Path | None, info: ValidationInfo) -> Path | None:
        if path is not None:
            with suppress(NotAllowed):  # see require_given
                people_in(path, _written(info.data))
        return path

    @field_validator("tokens")
    @classmethod
    def _none_is_meant(cls, none: NoTokens | None, info: ValidationInfo) -> NoTokens | None:
        require_consistent(none, [key for key in (*TOKENS, "tokens_file") if info.data.get(key)])
        return none

    @field_validator("proxy_header")
    @classmethod
    def _is_a_header(cls, header: str, info: ValidationInfo) -> str:
        if header and (HEADER.fullmatch(header) is None or header.lower() in OWN_HEADERS):
            raise ValueError(f"{header} is not a header that a proxy names people in")
        if header and info.data.get("tokens") is not None:
            raise ValueError('tokens = "none" makes everybody admin; take one of the two out')
        return header

    @field_validator("proxy_addresses")
    @classmethod
    def _are_networks(cls, addresses: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for address in addresses:
            try:
                network = ipaddress.ip_network(address)
            except ValueError as error:
                raise ValueError(f"{address} is not an address or network: {error}") from error
            if not network.prefixlen:
                raise ValueError(f"{address} is every address: anybody could name anybody")
        if bool(addresses) != bool(info.data.get("proxy_header", addresses)):
            raise ValueError("goes with proxy_header: give both, or none")
        return addresses

    @field_validator("proxy_people")
    @classmethod
    def _are_people(cls, people: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        known = _proxy_people(people)
        if len(known) < len(people):
            raise ValueError("names somebody twice: names differ in more than case and spaces")
        if people and not info.data.get("proxy_header", people):
            raise ValueError("goes with proxy_header: give both, or none")
        return people

    @field_validator("endpoint")
    @classmethod
    def _is_guarded(cls, endpoint: str, info: ValidationInfo) -> str:
        given = info.data  # a key that is wrong is missing here, and has its own sentence
        require_guarded(
            endpoint,
            has_token=any(given.get(key, True) for key in (*TOKENS, "tokens_file", "proxy_header")),
            has_tls=given.get("tls_key", True) is not None,
            insecure=bool(given.get("insecure", True)),
            none=given.get("tokens") is not None,
        )
        return endpoint

    def people(self) -> dict[str, Person] | None:
        """Whose every token is, None where nobody has to show who they are.

        Raises ValueError if `tokens_file` holds none any more, or a line that is wrong.
        """
        written = _written(vars(self))
        if self.tokens_file is not None:
            return people_in(self.tokens_file, written)
        return written if written or self.proxy_header else None

    def proxied(self, name: str) -> Person | None:
        """The person whom the proxy calls by this name, None for somebody without a role.

        Names that differ in case are one: as the settings write it, else in small letters.
        Raises ValueError for a name that nobody can have.
        """
        folded, known = require_name(name).casefold(), _proxy_people(self.proxy_people)
        everybody = known.get(EVERYBODY)
        return known.get(folded) or (replace(everybody, name=folded) if everybody else None)

    def secret(self, role: str) -> str | None:
        """A token for commands, which act as the role: never one that names a person.

        For `ingest` and `reader` the weakest that will do. For people's acts always the strongest:
        whoever runs two commands is the same person in both. None where there is no such token.
        """
        ranks = (Role.READER, Role.TRIAGER, Role.APPROVER, Role.ADMIN)
        order: Mapping[str, Sequence[Role]] = {
            Role.READER: ranks,
            Role.INGEST: (Role.INGEST, *ranks[1:]),  # a reader may not post
        }
        unnamed = {
            person.role: token
            for token, person in (self.people() or {}).items()
            if person.name == person.role
        }
        best_first = order.get(role, ranks[:0:-1])
        return next((unnamed[each] for each in best_first if each in unnamed), None)


PLACEHOLDERS = ("trace_id", "span_id")
"""What the addresses of `open_in` may hold in braces."""


def _require_trace_address(name: str, address: str) -> None:
    """Raises ValueError for an address that a page could not fill in and link to."""
    place = address.partition("{")[0]
    if urlsplit(place).scheme not in {"http", "https"} or not urlsplit(place).hostname:
        raise ValueError(f"{name}: {address} is not a URL that begins with http:// or https://")
    unknown = sorted(set(re.findall(r"{([^{}]*)}", address)) - set(PLACEHOLDERS))
    if unknown:
        allowed = " and ".join(f"{{{each}}}" for each in PLACEHOLDERS)
        raise ValueError(f"{name}: {{{unknown[0]}}} is not filled in; {allowed} are")
    if "{trace_id}" not in address:
        raise ValueError(f"{name}: {address} lacks {{trace_id}}")


def _written(values: Mapping[str, Any]) -> dict[str, Person]:
    """The person of every token that is a setting of its own, who is called by the role."""
    given = {role: values.get(key) for key, role in TOKENS.items()}
    return {
        token.get_secret_value(): Person(name=str(role), role=role)
        for role, token in given.items()
        if token
    }


def _proxy_people(people: Mapping[str, str]) -> dict[str, Person]:
    """Everybody by name, folded. Raises ValueError, which names who is written wrongly."""
    known = {}
    for name, words in people.items():
        try:
            person = person_of(words.split(), name)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        known[person.name.casefold()] = person
    return known
