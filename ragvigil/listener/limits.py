"""How many connections a listener keeps, how long it waits for a client, and how it counts."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from enum import StrEnum

from prometheus_client import Counter, Gauge


class Closing(StrEnum):
    """Why a listener closed a connection that its client would have kept."""

    SLOW_HANDSHAKE = "slow_handshake"
    BAD_HANDSHAKE = "bad_handshake"
    WRONG_PROTOCOL = "wrong_protocol"
    BAD_REQUEST = "bad_request"
    SLOW_HEADER = "slow_header"
    LARGE_HEADER = "large_header"
    SLOW_BODY = "slow_body"
    SLOW_READER = "slow_reader"
    IDLE = "idle"
    MADE_ROOM = "made_room"
    NO_ROOM = "no_room"
    STOPPING = "stopping"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """How long a client may keep us waiting, in seconds.

    `head_seconds` is from the accept, TLS handshake included, or from a request's first byte, to
    the end of its header. A body must bring `body_bytes_per_second` on average in every
    `stall_seconds`, and end within `body_seconds`. A client that reads nothing of an answer for
    `send_seconds` is gone. `idle_seconds` is the wait for the next request.
    """

    head_seconds: float = 10.0
    body_seconds: float = 30.0
    stall_seconds: float = 5.0
    body_bytes_per_second: float = 1_000.0
    send_seconds: float = 30.0
    idle_seconds: float = 75.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionCounts:
    """The metrics of a process' listeners: open connections, and those closed by reason."""

    open: Gauge
    closed: Counter


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """What a listener keeps to: its `name` in the metrics, and its `most` connections."""

    name: str
    most: int
    counts: ConnectionCounts
    deadlines: Deadlines = Deadlines()

    def most_of(self, peer: str) -> int:
        """The most connections of one peer: half, so that no address shuts out the others.

        Loopback may have all: there every sender of a sidecar has the same address.
        """
        return self.most if peer == LOOPBACK else max(1, self.most // 2)

    def show_open(self, connections: int) -> None:
        """Sets the number of open connections."""
        self.counts.open.labels(listener=self.name).set(connections)

    def count(self, reason: Closing) -> None:
        """Counts a closed connection."""
        self.counts.closed.labels(listener=self.name, reason=reason.value).inc()


LOOPBACK = "loopback"
V6_PREFIX = 64
"""Whoever has an IPv6 address has all those that begin with the same 64 bits."""


def peer_of(host: str) -> str:
    """Who is counted as one peer: an IPv4 address, an IPv6 network, or this machine.

    >>> [peer_of(host) for host in ("10.0.0.7", "::ffff:10.0.0.7", "127.0.0.1", "2001:db8::5")]
    ['10.0.0.7', '10.0.0.7', 'loopback', '2001:db8::/64']
    """
    address = ipaddress.ip_address(host.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    if address.is_loopback:
        return LOOPBACK
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network((address, V6_PREFIX), strict=False))
