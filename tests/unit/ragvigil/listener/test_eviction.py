"""Who has to go when a listener is full."""

from __future__ import annotations

from ragvigil.listener.eviction import GRACE_SECONDS, Waiting, first_to_go

NOW = 1_000.0


def waiting(
    name: str, *, peer: str, silent_seconds: float, is_proven: bool = False
) -> Waiting[str]:
    return Waiting(connection=name, peer=peer, since=NOW - silent_seconds, is_proven=is_proven)


def test_nobody_goes_when_nobody_waits() -> None:
    assert first_to_go([], NOW) == []


def test_silent_newcomers_go_before_clients_that_made_requests() -> None:
    exporters = [
        waiting(f"e{n}", peer="gateway", silent_seconds=60, is_proven=True) for n in range(50)
    ]
    silent = waiting("silent", peer="elsewhere", silent_seconds=GRACE_SECONDS + 1)
    assert first_to_go([*exporters, silent], NOW) == ["silent"]


def test_of_young_connections_those_of_the_busiest_peer_go() -> None:
    flood = [waiting(f"f{n}", peer="flood", silent_seconds=0.5) for n in range(5)]
    newcomer = waiting("newcomer", peer="other", silent_seconds=0.6)
    assert first_to_go([newcomer, *flood], NOW, most=5) == ["f0", "f1", "f2", "f3", "f4"]


def test_within_a_peer_the_longest_silent_goes_first() -> None:
    flood = [waiting(f"f{n}", peer="loopback", silent_seconds=n / 10) for n in range(1, 6)]
    assert first_to_go(flood, NOW, most=2) == ["f5", "f4"]


def test_a_client_that_made_requests_goes_alone() -> None:
    proven = [
        waiting(f"p{n}", peer="gateway", silent_seconds=n, is_proven=True) for n in range(1, 9)
    ]
    assert first_to_go(proven, NOW) == ["p8"]


def test_many_addresses_with_few_connections_gain_nothing() -> None:
    exporters = [waiting(f"e{n}", peer="app", silent_seconds=9, is_proven=True) for n in range(9)]
    net = [waiting(f"n{n}", peer=f"10.0.0.{n}", silent_seconds=5) for n in range(9)]
    assert set(first_to_go([*exporters, *net], NOW)) == {f"n{n}" for n in range(9)}
