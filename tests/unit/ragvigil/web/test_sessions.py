"""Sessions outlive a restart, end for good, and slow down who guesses."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ragvigil.web.sessions import KEY_BYTES, MOST_SECONDS, Session, Sessions
from ragvigil.web.slowdown import FORGET_SECONDS, FREE_FAILURES, Slowdown
from ragvigil.web.slowdown import MOST_SECONDS as MOST_PAUSE


class Hands:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def begun(sessions: Sessions) -> tuple[Session, str]:
    session = sessions.begin("s3cret-s3cret-s3cret", "ada")
    return session, sessions.cookie(session)


def test_a_restart_signs_nobody_out(tmp_path: Path) -> None:
    session, cookie = begun(Sessions(tmp_path / "sessions"))
    assert Sessions(tmp_path / "sessions").read(cookie) == session
    form = Sessions(tmp_path / "sessions").form_token("ada")
    assert Sessions(tmp_path / "sessions").is_form_token(form, "ada")
    assert Sessions(tmp_path / "other").read(cookie) is None


def test_the_key_is_for_this_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    Sessions(folder)
    key = folder / "key"
    assert len(key.read_bytes()) == KEY_BYTES
    key.chmod(0o644)
    Sessions(folder)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 33])
def test_a_damaged_key_is_replaced_and_everybody_signs_in_again(
    tmp_path: Path, damage: bytes
) -> None:
    _, cookie = begun(Sessions(tmp_path))
    (tmp_path / "key").write_bytes(damage)
    assert Sessions(tmp_path).read(cookie) is None
    assert len((tmp_path / "key").read_bytes()) == KEY_BYTES


def test_a_session_that_was_ended_stays_ended(tmp_path: Path) -> None:
    hands = Hands()
    sessions = Sessions(tmp_path, hands)
    (ended, cookie), (_, other) = begun(sessions), begun(sessions)
    sessions.end(ended)
    for each in (sessions, Sessions(tmp_path, hands)):
        assert each.read(cookie) is None
        assert each.read(other) is not None
    with (tmp_path / "ended").open("a") as file:
        file.write("torn")
    assert Sessions(tmp_path, hands).read(cookie) is None
    hands.now += MOST_SECONDS
    Sessions(tmp_path, hands)
    assert (tmp_path / "ended").read_text() == "", "no cookie can name it any more"


def test_a_cookie_tells_nobody_the_token_or_the_name() -> None:
    _, cookie = begun(Sessions())
    assert "s3cret" not in cookie
    assert "ada" not in cookie.split(".")


def test_no_two_pages_carry_the_same_token() -> None:
    sessions = Sessions()
    assert sessions.form_token("ada") != sessions.form_token("ada")


def test_who_guesses_waits_longer_each_time() -> None:
    hands = Hands()
    slow = Slowdown(hands)
    pauses = []
    for _ in range(FREE_FAILURES + 8):
        slow.fail("10.0.0.7")
        pauses.append(slow.wait_seconds("10.0.0.7"))
    assert pauses[: FREE_FAILURES - 1] == [0.0] * (FREE_FAILURES - 1)
    assert pauses[FREE_FAILURES - 1 :] == [2, 4, 8, 16, 32, 60, 60, 60, 60]
    assert max(pauses) == MOST_PAUSE
    assert slow.wait_seconds("10.0.0.8") == 0
    hands.now += MOST_PAUSE
    assert slow.wait_seconds("10.0.0.7") == 0
    slow.fail("10.0.0.7")
    slow.forget("10.0.0.7")
    assert slow.wait_seconds("10.0.0.7") == 0


def test_failures_are_forgotten_and_a_network_counts_as_one_address() -> None:
    hands = Hands()
    slow = Slowdown(hands)
    for number in range(FREE_FAILURES):
        slow.fail(f"2001:db8::{number}")
        slow.fail(f"::ffff:10.0.0.{number}")
    assert slow.wait_seconds("2001:db8::ffff") == 2
    assert slow.wait_seconds("::ffff:10.0.0.1") == 0
    hands.now += FORGET_SECONDS
    slow.fail("2001:db8::1")
    assert slow.wait_seconds("2001:db8::1") == 0
