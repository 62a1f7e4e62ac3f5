"""Every listener, every route, every role, and every way in which a token is not one."""

from __future__ import annotations

import base64
import http.client
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from fastapi.routing import APIRoute

from collector.receiver.grpc import METHODS
from collector.receiver.http import PATHS
from ragvigil.app.demo.child_daemon import VARIABLES, ChildDaemon, free_port, running
from ragvigil.web.identity import Role
from ragvigil.web.pages.addresses import every_route, permission_of
from ragvigil.web.permissions import ROLES, Permission
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import application
from tests.patience import PATIENCE_SECONDS

SECRETS = {
    **{f"web__{role}_token": f"of-{role}-0123456789" for role in Role},
    "collector__grpc_token": "of-grpc-0123456789",
    "collector__http_token": "of-http-0123456789",
    "collector__admin_token": "of-backfill-0123456789",
    "metrics__token": "of-metrics-0123456789",
}
STATUS = "/api/v1/status"
PROTOBUF, JSON = "application/x-protobuf", "application/json"
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a request carries a token; `is_one` where it does so as RFC 6750 says."""

    headers: tuple[tuple[str, str], ...] = ()
    query: str = ""
    is_one: bool = False


def ways(token: str) -> dict[str, Way]:
    """What may stand in a request, and the ways that hold the right token wrongly."""
    basic = base64.b64encode(f"admin:{token}".encode()).decode()

    def said(*values: str, is_one: bool = False) -> Way:
        return Way(headers=tuple(("authorization", value) for value in values), is_one=is_one)

    return {
        "right": said(f"Bearer {token}", is_one=True),
        "lower case": said(f"bearer {token}", is_one=True),
        "two spaces": said(f"BEARER  {token}", is_one=True),
        "absent": said(),
        "empty": said("Bearer "),
        "scheme alone": said("Bearer"),
        "nothing": said(""),
        "blank": said("Bearer    "),
        "none": said("Bearer none"),
        "None": said("Bearer None"),
        "wrong": said("Bearer wrong"),
        "cut": said(f"Bearer {token[:-1]}"),
        "longer": said(f"Bearer {token}0"),
        "other case": said(f"Bearer {token.upper()}"),
        "no scheme": said(token),
        "twice the same": said(f"Bearer {token}", f"Bearer {token}"),
        "right and wrong": said(f"Bearer {token}", "Bearer wrong"),
        "empty and right": said("Bearer ", f"Bearer {token}"),
        "list": said(f"Bearer {token}, Bearer {token}"),
        "basic": said(f"Basic {basic}"),
        "token scheme": said(f"Token {token}"),
        "query": Way(query=f"token={token}&access_token={token}"),
        "other header": Way(headers=(("x-api-key", token), ("cookie", f"token={token}"))),
    }


def routes() -> list[APIRoute]:
    """The routes of the real application."""
    return every_route(application(None, None, WebSettings()))  # type: ignore[arg-type]


def calls() -> list[tuple[str, str, Permission]]:
    """Method, path and permission of every route; a placeholder has some value."""
    found = []
    for route in routes():
        permission = permission_of(route)
        assert permission is not None
        path = re.sub(r"\{[^}]*\}", "abc", route.path)
        found += [(method, path, permission) for method in sorted(route.methods)]
    return found


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildDaemon]:
    """A daemon that asks everybody for a token, some of which it reads from files."""
    folder = tmp_path_factory.mktemp("tokens")
    lines = [f"{role} {SECRETS[f'web__{role}_token']}" for role in (Role.READER, Role.APPROVER)]
    (folder / "web").write_text("\n".join(["# ours", *lines, ""]))
    (folder / "http").write_text(SECRETS["collector__http_token"] + "\n")
    settings = {
        "RAGVIGIL_WEB__TOKENS_FILE": str(folder / "web"),
        "RAGVIGIL_COLLECTOR__HTTP_TOKEN_FILE": str(folder / "http"),
    }
    in_files = ("web__reader_token", "web__approver_token", "collector__http_token")
    for name, token in SECRETS.items():
        if name not in in_files:
            settings[f"RAGVIGIL_{name.upper()}"] = token
    with running(folder / "data", settings=settings) as started:
        yield started


def request(
    method: str, address: str, target: str, way: Way, body: bytes = b"", **said: str
) -> tuple[int, str]:
    """Status and text of a request; unlike other clients this one sends every header as it is."""
    headers = [*way.headers, *((name.replace("_", "-"), value) for name, value in said.items())]
    connection = http.client.HTTPConnection(address, timeout=PATIENCE_SECONDS)
    try:
        connection.putrequest(method, f"{target}?{way.query}", skip_host="host" in said)
        for name, value in [*headers, ("content-length", str(len(body)))]:
            connection.putheader(name, value)
        connection.endheaders(body)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


def ask(daemon: ChildDaemon, method: str, path: str, way: Way, **said: str) -> int:
    """The status of a request to the web."""
    if method not in ("GET", "HEAD"):
        body, kind = (b"{}", JSON) if path.startswith("/api/") else (b"", FORM)
        return request(method, daemon.web, path, way, body, content_type=kind, **said)[0]
    return request(method, daemon.web, path, way, **said)[0]


def scrape(daemon: ChildDaemon, way: Way, path: str = "/metrics", **said: str) -> int:
    """The status of a request to the metrics listener."""
    return request("GET", daemon.metrics, path, way, **said)[0]


def send(daemon: ChildDaemon, way: Way, path: str = "/v1/traces", **said: str) -> int:
    """The status of an empty OTLP/HTTP request."""
    return request("POST", daemon.http, path, way, content_type=PROTOBUF, **said)[0]


@pytest.mark.parametrize(("method", "path", "permission"), calls(), ids=str)
def test_a_route_of_the_web_is_for_the_roles_that_may_and_for_nobody_else(
    daemon: ChildDaemon, method: str, path: str, permission: Permission
) -> None:
    for role in Role:
        for name, way in ways(SECRETS[f"web__{role}_token"]).items():
            if name not in ("right", "absent") and role is not Role.ADMIN:
                continue  # what is no token is none of any role
            if way.is_one and name != "right":
                continue  # below, for one route
            status = ask(daemon, method, path, way)
            if way.query:
                assert status == 400, (role, name)
            elif method == "POST" and not path.startswith("/api/"):
                # Besides, a form needs a token of its page: see tests/contract/test_people.py.
                assert status == (403 if way.is_one or path == "/sign-in" else 303), (role, name)
            elif permission is Permission.NONE:
                assert status < 400, (role, name)
            elif not way.is_one:
                assert status == (401 if path.startswith("/api/") else 303), (role, name)
            elif permission in ROLES[role]:
                assert status not in (401, 403), (role, name)
            else:
                assert status == 403, (role, name)


@pytest.mark.parametrize("role", Role)
def test_the_scheme_may_have_any_case(daemon: ChildDaemon, role: Role) -> None:
    expected = 200 if Permission.READ in ROLES[role] else 403
    for name, way in ways(SECRETS[f"web__{role}_token"]).items():
        if way.is_one:
            assert ask(daemon, "GET", STATUS, way) == expected, name


@pytest.mark.parametrize("secret", SECRETS)
def test_the_token_of_another_listener_is_none(daemon: ChildDaemon, secret: str) -> None:
    way = ways(SECRETS[secret])["right"]
    assert (ask(daemon, "GET", STATUS, way) == 401) == (not secret.startswith("web__"))
    assert (scrape(daemon, way) == 401) == (secret != "metrics__token")
    senders = ("collector__http_token", "collector__admin_token")
    assert (send(daemon, way) == 401) == (secret not in senders)


@pytest.mark.parametrize("path", PATHS)
def test_otlp_http_takes_its_tokens_alone(daemon: ChildDaemon, path: str) -> None:
    for secret in ("collector__http_token", "collector__admin_token"):
        for name, way in ways(SECRETS[secret]).items():
            # Langfuse's exporters send the token as the password of basic authentication.
            is_one = way.is_one or name == "basic"
            assert send(daemon, way, path) == (200 if is_one else 401), (secret, name)


@pytest.mark.parametrize("method", METHODS)
def test_otlp_grpc_takes_its_tokens_alone(daemon: ChildDaemon, method: str) -> None:
    with grpc.insecure_channel(daemon.grpc) as channel:
        call = channel.unary_unary(method)
        for secret in ("collector__grpc_token", "collector__admin_token"):
            for name, way in ways(SECRETS[secret]).items():
                expected = "OK" if way.is_one or name == "basic" else "UNAUTHENTICATED"
                assert grpc_code(call, way) == expected, (secret, name)


def grpc_code(call: grpc.UnaryUnaryMultiCallable, way: Way) -> str:
    """The name of the code of an empty call."""
    try:
        call(b"", metadata=way.headers, timeout=PATIENCE_SECONDS)
    except grpc.RpcError as error:
        return str(error.code().name)
    return "OK"


def test_a_backfill_is_the_admins(daemon: ChildDaemon) -> None:
    for secret, expected in (("collector__http_token", 403), ("collector__admin_token", 200)):
        way = ways(SECRETS[secret])["right"]
        assert send(daemon, way, x_ragvigil_backfill="old") == expected


def test_metrics_take_their_token_alone_and_probes_need_none(daemon: ChildDaemon) -> None:
    known = ways(SECRETS["metrics__token"])
    for name, way in known.items():
        assert scrape(daemon, way) == (200 if way.is_one else 401), name
        for path in ("/healthz", "/readyz"):
            assert scrape(daemon, way, path) == 200
    _, text = request("GET", daemon.metrics, "/metrics", known["right"])
    assert re.search(r'^ragvigil_scrapes_refused_total\{reason="token"\} [1-9]', text, flags=re.M)
    assert not any(secret in text for secret in SECRETS.values())


def test_the_log_says_how_each_listener_is_guarded_and_no_token(daemon: ChildDaemon) -> None:
    log = (daemon.data_dir / "daemon.log").read_text()
    assert "tokens of admin, approver, ingest, reader, triager, no TLS" in log
    assert not any(secret in log for secret in SECRETS.values())


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildDaemon]:
    """A daemon as it is on loopback without any settings, but for a name it has in a proxy."""
    settings = {
        f"RAGVIGIL_{section}__ALLOWED_HOSTS": '["Desk.example"]'
        for section in ("COLLECTOR", "METRICS", "WEB")
    }
    with running(tmp_path_factory.mktemp("free") / "data", settings=settings) as started:
        yield started


def test_without_tokens_on_loopback_everybody_of_this_machine_may(free: ChildDaemon) -> None:
    for name, way in ways("s3cret").items():
        assert ask(free, "GET", STATUS, way) == (400 if way.query else 200), name
        assert scrape(free, way) == 200, name
        assert send(free, way) == 200, name
        assert send(free, way, x_ragvigil_backfill="old") == 200, name
    assert "every process of this machine is admin" in (free.data_dir / "daemon.log").read_text()


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:4318", "localhost.evil.example", "", "0.0.0.0"]
)
def test_a_listener_on_loopback_does_not_answer_to_a_foreign_name(
    free: ChildDaemon, host: str
) -> None:
    assert ask(free, "GET", STATUS, Way(), host=host) == 400
    status, sentence = request("GET", free.metrics, "/metrics", Way(), host=host)
    assert (status, "[metrics] allowed_hosts" in sentence) == (421, True)
    status, sentence = request("POST", free.http, "/v1/traces", Way(), content_type=JSON, host=host)
    assert (status, "[collector] allowed_hosts" in sentence) == (421, True)
    assert scrape(free, Way(), "/healthz", host=host) == 200
    _, text = request("GET", free.metrics, "/metrics", Way())
    assert 'ragvigil_requests_refused_total{reason="host"}' in text
    assert 'ragvigil_scrapes_refused_total{reason="host"}' in text
    assert 'ragvigil_web_foreign_total{reason="host"}' in text


@pytest.mark.parametrize("host", ["localhost", "127.0.0.2:4318", "[::1]:9", "DESK.example:80"])
def test_it_answers_to_the_names_of_loopback_and_those_that_are_listed(
    free: ChildDaemon, host: str
) -> None:
    assert ask(free, "GET", STATUS, Way(), host=host) == 200
    assert scrape(free, Way(), host=host) == 200
    assert send(free, Way(), host=host) == 200


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[broken"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"origin": "http://localhost:8088", "sec_fetch_site": "cross-site"}, 403),
        ({"origin": "http://localhost:8088", "sec_fetch_site": "same-origin"}, 422),
        ({"origin": "https://desk.example"}, 422),
    ],
    ids=str,
)
def test_what_a_page_of_another_site_posts_is_refused(
    free: ChildDaemon, said: dict[str, str], expected: int
) -> None:
    assert ask(free, "POST", "/api/v1/deploys", Way(), **said) == expected


@pytest.mark.slow
def test_off_loopback_any_name_will_do_since_a_token_is_needed(tmp_path: Path) -> None:
    ports = {"http": free_port(), "metrics": free_port()}
    settings = {"RAGVIGIL_COLLECTOR__INSECURE": "true", "RAGVIGIL_METRICS__INSECURE": "true"}
    for listener, port in ports.items():
        settings[VARIABLES[listener]] = f"0.0.0.0:{port}"
    settings["RAGVIGIL_COLLECTOR__HTTP_TOKEN"] = settings["RAGVIGIL_METRICS__TOKEN"] = "s3cret"
    with running(tmp_path, settings=settings) as daemon:
        for host in ("ragvigil:4318", "10.0.0.7:9464"):
            for name, expected in (("right", 200), ("absent", 401)):
                way = ways("s3cret")[name]
                assert send(daemon, way, host=host) == expected
                assert scrape(daemon, way, host=host) == expected


@pytest.mark.slow
def test_a_tokens_file_that_is_emptied_opens_nothing_when_the_core_starts_again(
    tmp_path: Path,
) -> None:
    file, way = tmp_path / "tokens", ways("of-admin-0123456789")["right"]
    file.write_text("admin of-admin-0123456789\n")
    with running(tmp_path / "data", settings={"RAGVIGIL_WEB__TOKENS_FILE": str(file)}) as daemon:
        file.write_text("")
        assert ask(daemon, "GET", STATUS, Way()) == 401, "it is read at the start"
        assert ask(daemon, "GET", STATUS, way) == 200
        os.kill(int((daemon.data_dir / "core.lock").read_text()), signal.SIGKILL)
        until(lambda: "cannot start with these settings" in daemon.last_lines())
        with pytest.raises(OSError, match="refused"):
            ask(daemon, "GET", STATUS, Way())
        assert scrape(daemon, Way(), "/readyz") == 503
        assert send(daemon, Way()) == 200, "what arrives meanwhile is kept"
        file.write_text("admin of-admin-0123456789\n")
        until(daemon.is_ready)
        assert ask(daemon, "GET", STATUS, Way()) == 401
        assert ask(daemon, "GET", STATUS, way) == 200


def until(holds: Callable[[], bool]) -> None:
    """Waits until `holds()`."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)
