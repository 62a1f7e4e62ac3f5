"""Finds out who sent a request: by a bearer token, a session, or a trusted proxy's header."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Collection, Mapping
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import Scope

from ragvigil.model.endpoint import split_endpoint
from ragvigil.model.token import bearer
from ragvigil.web.errors import is_of_api
from ragvigil.web.identity import LOCAL, Identity, Person, Way
from ragvigil.web.metrics import IDENTITY_REFUSED, Refusal
from ragvigil.web.sessions import Session, Sessions
from ragvigil.web.settings import WebSettings

TOKEN_NEEDED = "a token is needed: Authorization: Bearer TOKEN"
SECRET_PARAMETERS = frozenset({"token", "access_token", "api_key"})
IN_URL = (
    "a token is never part of an address, which logs and histories keep: replace this token now, "
    "and send the new one as Authorization: Bearer TOKEN"
)


class Refused(Exception):
    """A request is refused for how it says who sent it; `str(error)` is the sentence."""

    def __init__(self, status: int, sentence: str, reason: Refusal) -> None:
        super().__init__(sentence)
        self.status = status
        IDENTITY_REFUSED.labels(reason).inc()


class Access:
    """Finds the person of a request.

    Where the settings ask nobody for a token, everybody is the one person `local`, an admin. No
    token at all is not the same as no people: an empty mapping lets nobody in.

    Raises ValueError where `tokens_file` holds no token any more.
    """

    def __init__(self, settings: WebSettings, sessions: Sessions) -> None:
        self.sessions = sessions
        self.prefix = urlsplit(settings.external_url).path.rstrip("/")
        self._settings = settings
        self.take(settings.people())
        self._networks = [ipaddress.ip_network(each) for each in settings.proxy_addresses]
        self._cookie = Cookie(settings)

    def take(self, people: Mapping[str, Person] | None) -> None:
        """Knows these people by their tokens from now on; `None` is everybody.

        A session ends with the token that began it.
        """
        self.is_open = people is None
        # By their hashes: how long a lookup takes then says nothing about a token.
        self._people = {_digest(token): person for token, person in (people or {}).items()}
        self._sessions_of = {
            self.sessions.fingerprint(token, person.name): person
            for token, person in (people or {}).items()
        }

    def person_with(self, token: str) -> Person | None:
        """Whose token this is, None for nobody's."""
        return self._people.get(_digest(token)) if token else None

    def identify(self, scope: Scope) -> Identity | None:
        """Who sent a request, None for nobody known.

        One way counts: the proxy's header, else the `Authorization` header, else the cookie.
        Raises Refused for a token in the address, and for the header from elsewhere.
        """
        self._require_no_token_in(scope)
        if self.is_open:
            return Identity(person=LOCAL, way=Way.LOCAL)
        headers = Headers(scope=scope)
        names = headers.getlist(self._settings.proxy_header) if self._networks else []
        if names:
            return Identity(person=self._proxied(names, scope), way=Way.PROXY)
        if authorizations := headers.getlist("authorization"):
            sent = bearer(authorizations[0]) if len(authorizations) == 1 else ""
            person = self.person_with(sent)
            return Identity(person=person, way=Way.TOKEN) if person else None
        return self._signed_in(headers)

    def challenge(self, scope: Scope) -> tuple[int, dict[str, str]]:
        """Status and headers for nobody known: 401, and for a page 303, the way to sign in."""
        if is_of_api(scope["path"]):
            return 401, {"www-authenticate": "Bearer"}
        wanted = urlencode({"next": self._wanted(scope)})
        return 303, {"location": f"{self.prefix}/sign-in?{wanted}"}

    def _wanted(self, scope: Scope) -> str:
        """The page that somebody wants; for a form that was sent, the page where it was."""
        if scope["method"] == "GET":
            query = scope["query_string"].decode("latin-1")
            return f"{scope['path']}?{query}" if query else str(scope["path"])
        referer = urlsplit(Headers(scope=scope).get("referer", ""))
        return referer.path.removeprefix(self.prefix) or "/"

    def begin(self, token: str) -> str:
        """The `Set-Cookie` header that begins a session of the person with this token."""
        person = self._people[_digest(token)]
        return self._cookie.header(self.sessions, self.sessions.begin(token, person.name))

    def end(self, identity: Identity | None) -> str:
        """The `Set-Cookie` header that takes the cookie away; its session is ended for good."""
        if identity is not None and identity.session is not None:
            self.sessions.end(identity.session)
        return self._cookie.without()

    def renewed(self, identity: Identity | None) -> str:
        """The `Set-Cookie` header that keeps a session alive; empty where none is needed."""
        session = identity.session if identity else None
        after = self.sessions.renewed(session) if session else None
        return self._cookie.header(self.sessions, after) if after else ""

    def _signed_in(self, headers: Headers) -> Identity | None:
        value = self._cookie.value(headers.getlist("cookie"))
        if not value:
            return None
        session = self.sessions.read(value)
        person = self._sessions_of.get(session.fingerprint) if session else None
        if person is None:
            IDENTITY_REFUSED.labels(Refusal.SESSION).inc()
            return None
        return Identity(person=person, way=Way.SESSION, session=session)

    def _proxied(self, names: Collection[str], scope: Scope) -> Person:
        header = self._settings.proxy_header
        peer = peer_of(scope)
        if not _is_in(peer, self._networks):
            sentence = f"{header} comes from {peer}, which is not in [web] proxy_addresses"
            raise Refused(403, sentence, Refusal.PROXY_ADDRESS)
        try:
            (name,) = names
            person = self._settings.proxied(name.encode("latin-1").decode("utf-8"))
        except ValueError as error:
            sentence = f"{header} must name one person, in at most 64 characters"
            raise Refused(403, sentence, Refusal.PROXY_PERSON) from error
        if person is None:
            sentence = "the proxy knows you, but you have no role here: [web] proxy_people"
            raise Refused(403, sentence, Refusal.PROXY_PERSON)
        return person

    def _require_no_token_in(self, scope: Scope) -> None:
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        words = {value for pair in query for value in pair}
        words |= set(scope["path"].split("/")) | set(unquote(scope["path"]).split("/"))
        is_named = any(name.lower() in SECRET_PARAMETERS for name, _ in query)
        if is_named or any(_digest(word) in self._people for word in words):
            raise Refused(400, IN_URL, Refusal.TOKEN_IN_URL)


class Cookie:
    """The cookie of sessions: not for scripts, not for other sites, and by TLS alone where it is.

    Its name has the port: cookies of two daemons on one machine do not replace each other.
    """

    def __init__(self, settings: WebSettings) -> None:
        is_secure = settings.tls_key is not None or settings.external_url.startswith("https:")
        name = f"ragvigil_{split_endpoint(settings.endpoint)[1]}"
        self.name = f"__Host-{name}" if is_secure else name
        self._rest = f"Path=/; HttpOnly; SameSite=Strict{'; Secure' if is_secure else ''}"

    def value(self, cookies: Collection[str]) -> str:
        """The session in the `Cookie` headers of a request; empty without one."""
        return cookie_parser("; ".join(cookies)).get(self.name, "")

    def header(self, sessions: Sessions, session: Session) -> str:
        """`Set-Cookie` of a session."""
        seconds = sessions.remaining_seconds(session)
        return f"{self.name}={sessions.cookie(session)}; Max-Age={seconds}; {self._rest}"

    def without(self) -> str:
        """`Set-Cookie` that takes it away."""
        return f"{self.name}=; Max-Age=0; {self._rest}"


def peer_of(scope: Mapping[str, object]) -> str:
    """The address that a request came from."""
    client = scope.get("client")
    return str(client[0]) if isinstance(client, tuple | list) else "unknown"


def _is_in(peer: str, networks: Collection[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> bool:
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return any((mapped or address) in network for network in networks)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
