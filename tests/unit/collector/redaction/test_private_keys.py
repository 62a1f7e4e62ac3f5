"""Private keys go with all their lines, however laid out, named, quoted, escaped or cut."""

from __future__ import annotations

import base64
import json
import random
import string
from collections import Counter

import pytest

from collector.redaction.redact import Redactor
from collector.redaction.settings import RedactSettings

REDACTOR = Redactor(RedactSettings(), key=b"k" * 32)
RNG = random.Random(5)
LINES = ["".join(RNG.choices(string.ascii_letters + string.digits + "+/", k=64)) for _ in range(26)]
LABELS = ["RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", ""]


def pem(label: str = "RSA ", *, is_cut: bool = False) -> str:
    last = [] if is_cut else [f"-----END {label}PRIVATE KEY-----"]
    return "\n".join([f"-----BEGIN {label}PRIVATE KEY-----", *LINES, *last])


def left(text: str) -> list[str]:
    """The lines of the key that are still there."""
    after = REDACTOR.redact_text(text.encode(), Counter()).decode()
    return [line for line in LINES if line in after]


ASSIGNMENTS = [
    "{}", 'SSH_PRIVATE_KEY="{}"', "PRIVATE_KEY={}", "export KEY='{}'", "private_key: {}",
    "--private-key {}", "<privateKey>{}</privateKey>", "key => {}", "key := `{}`", "password={}",
    "https://x.org/?key={}", "-k {}",
]  # fmt: skip


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("form", ASSIGNMENTS)
@pytest.mark.parametrize("is_cut", [False, True], ids=["whole", "cut"])
def test_all_lines_go_behind_every_assignment(label: str, form: str, is_cut: bool) -> None:
    text = form.format(pem(label, is_cut=is_cut))
    for _ in range(4):
        assert left(text) == []
        text = json.dumps(text)


@pytest.mark.parametrize("levels", range(4))
def test_a_service_account_keeps_no_line_in_json_in_json(levels: int) -> None:
    text = json.dumps({"type": "service_account", "private_key": pem("") + "\n"})
    for _ in range(levels):
        text = json.dumps({"content": text})
    assert left(text) == []


@pytest.mark.parametrize("sign", ["> ", "| ", "    ", "# ", "\t", ">> ", "12: "])
@pytest.mark.parametrize("is_cut", [False, True], ids=["whole", "cut"])
def test_a_quoted_or_indented_key_keeps_no_line(sign: str, is_cut: bool) -> None:
    assert left("\n".join(sign + line for line in pem(is_cut=is_cut).split("\n"))) == []


PGP, SSH2 = "PGP PRIVATE KEY BLOCK", "SSH2 ENCRYPTED PRIVATE KEY"
FILES = {
    "pgp": (f"-----BEGIN {PGP}-----\nVersion: GnuPG v2\n", f"=a1B2\n-----END {PGP}-----"),
    "ssh2": (f"---- BEGIN {SSH2} ----\nComment: x", f"---- END {SSH2} ----"),
    "putty": (
        "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nPrivate-Lines: 26",
        "Private-MAC: 0a1b2c",
    ),
    "encrypted": (
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n",
        "-----END RSA PRIVATE KEY-----",
    ),
}


@pytest.mark.parametrize(("first", "last"), FILES.values(), ids=FILES)
def test_other_files_of_keys_keep_no_line(first: str, last: str) -> None:
    assert left("\n".join([first, *LINES, last])) == []
    assert left("\n".join([first, *LINES])) == []
    assert left("\n".join([*LINES, last])) == []


def test_the_end_of_a_key_whose_beginning_was_cut_goes() -> None:
    assert left(f"see:\n{pem().partition(chr(10))[2]}\nthanks") == []


def test_a_key_in_base64_goes_wherever_it_begins() -> None:
    for padding in ("", "a", "ab"):
        encoded = base64.b64encode((padding + pem()).encode()).decode()
        for text in (encoded, f"tls.key: {encoded}", json.dumps({"data": {"tls.key": encoded}})):
            after = REDACTOR.redact_text(text.encode(), Counter()).decode()
            assert encoded[40:120] not in after
            assert encoded[-60:] not in after


def test_numbers_of_a_json_web_key_go() -> None:
    secret = LINES[0].replace("+", "-").replace("/", "_")
    text = json.dumps({"kty": "RSA", "n": "public", "d": secret})
    assert secret not in REDACTOR.redact_text(text.encode(), Counter()).decode()


def test_the_same_key_has_the_same_mark_in_json_and_outside() -> None:
    plain = REDACTOR.redact_text(pem().encode(), Counter())
    within = REDACTOR.redact_text(json.dumps([json.dumps(pem())]).encode(), Counter())
    assert plain.startswith("⟪private_key/".encode())
    assert plain in within


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PRIVATE KEY----- marks the start, and -----END PRIVATE KEY----- the end.",
        "The file begins with -----BEGIN RSA PRIVATE KEY-----",
        "-----BEGIN CERTIFICATE-----\n" + "\n".join(LINES) + "\n-----END CERTIFICATE-----",
        "What is the difference between a public key and a private key?",
    ],
)
def test_words_about_keys_and_public_ones_stay(text: str) -> None:
    assert REDACTOR.redact_text(text.encode(), Counter()) == text.encode()
