r"""Private keys: PEM, OpenPGP, SSH2, PuTTY, base64 of them, without a beginning or an end.

A key is found by its first or last line and taken whole: up to the other one, or as far as lines
look like key material, whatever stands in front of them (`> `, `| `, indentation, a quote).
PEM is RFC 7468, OpenPGP's armour RFC 9580 6.2, SSH2's RFC 4716, PuTTY's file appendix C of its
manual.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collector.redaction.expression import compile_text

MAX_BLOCK_BYTES = 64 << 10
"""The longest key that is taken up to its last line: 16,384-bit RSA has 13 KB."""

_LABEL = r"[ _+]{0,4}[A-Z0-9 _+]{0,40}(?i:PRIVATE[ _+]?KEY)[A-Z _+]{0,10}"
_FIRST = (
    rf"-{{2,5}} {{0,2}}(?i:BEGIN){_LABEL}-{{0,5}}"
    r"|PuTTY-User-Key-File-\d|Private-Lines:\s{0,2}\d{0,4}"
)
_LAST = (
    rf"-{{2,5}} {{0,2}}(?i:END){_LABEL}-{{0,5}}|Private-(?:MAC|Hash):\s{{0,2}}[0-9a-fA-F]{{0,64}}"
)
MARKER = rf"({_FIRST})|({_LAST})"
DETECT_MARKER = (
    r"(?i:private)(?:[ _+]|%20|\\u0020){0,3}(?i:key)[A-Za-z _+%0-9]{0,14}-"
    r"|PuTTY-User-Key|Private-(?:Lines|MAC|Hash):"
)

# What stands between the lines of a key: whitespace, signs of quoting, of strings, of comments.
_JUNK = r"[\s>|#*\"'`+,;:\\./-]{0,40}(?:\d{1,5}[|:.)\]]\s{0,4})?"
_HEADER = (
    r"(?:Proc-Type|DEK-Info|Comment|Subject|Version|Hash|Charset|MessageID|X-[A-Za-z-]{1,30}"
    r"|Encryption|Public-Lines|Private-Lines|Key-Derivation|Argon2-[A-Za-z]{1,12})\s?:[^\n]{0,200}"
)
_MATERIAL = (
    rf"((?:{_JUNK}(?:{_HEADER}|[A-Za-z0-9+/=_]{{16,}}))*)"
    # The last line may be short: it ends where the text, the line or the string does.
    r"(?:((?:\\+[nr]|[ \t]*\r?\n)[\s>|#*\"']{0,12}[A-Za-z0-9+/=]{1,15})(?:[\"'`\\,\n]|\s*$))?"
)
_RUNS = re.compile(rb"([A-Za-z0-9+/=]+)")
MAX_JUNK_BYTES, LONG_BYTES = 24, 16
_LONG = re.compile(rb"[A-Za-z0-9+/]{16}")

# "PRIVATE KEY" in base64, at each of the three places that a byte can have in it, and how keys
# begin without a first line: OpenSSH's magic, PKCS#8 of RSA, EC and Ed25519, PKCS#1, SEC1.
_ENCODED = r"UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW"
_HEADLESS = (
    r"b3BlbnNzaC1rZXktdjE|MII[A-Za-z0-9+/]{2,3}IBADANBgkqhkiG9w0BAQEFAASC|MII[A-Za-z0-9+/]{3,4}IBAAKC"
    r"|MI[A-Za-z0-9+/]{2,3}AgEAMBMGByqGSM49|MC4CAQAwBQYDK2V|MHcCAQEEI"
)
DETECT_ENCODED = f"{_ENCODED}|{_HEADLESS}"
_RUN = r"[A-Za-z0-9+/=_-]"
ENCODED = rf"{_RUN}*(?:{_ENCODED})(?:{_RUN}+(?:{_JUNK}{_RUN}{{40,}})*(?:{_JUNK}{_RUN}{{1,76}})?)?"
HEADLESS = rf"(?:{_HEADLESS})(?:{_RUN}+(?:{_JUNK}{_RUN}{{16,}})*(?:{_JUNK}{_RUN}{{1,64}})?)?"
# Keys in JSON (RFC 7517) and in XML (RFC 3275): the members that are private.
MEMBER = (
    r"[\"'](?:d|p|q|dp|dq|qi|k)[\"']\s{0,4}:\s{0,4}[\"']([A-Za-z0-9_=-]{20,})"
    r"|<(?:D|P|Q|DP|DQ|InverseQ)>\s{0,4}([A-Za-z0-9+/=\s]{20,})</"
)
DETECT_MEMBER = r"(?:kty|KTY)\\*[\"']|<(?:RSAKeyValue|DSAKeyValue|Modulus)>"


def private_keys(text: bytes) -> Iterator[tuple[int, int]]:
    """The extents of private keys that have a first or a last line."""
    matches = compile_text(MARKER).finditer(text)
    markers = [(*match.span(), match.lastindex == 1) for match in matches]
    previous: tuple[int, int] | None = None
    done = 0
    for number, (start, end, is_first) in enumerate(markers):
        following = markers[number + 1][0] if number + 1 < len(markers) else len(text)
        if is_first:
            is_within = previous is not None and text.startswith(b"Private-Lines", start)
            previous = previous if is_within else (start, end)
            stop = _end_of_material(text, end, following)
            if stop > end:
                yield start, stop
                done = stop
            continue
        if previous is not None and end - previous[0] <= MAX_BLOCK_BYTES:
            begin = previous[0] if _LONG.search(text, previous[1], start) else start
        else:
            begin = _start_of_material(text, max(done, start - MAX_BLOCK_BYTES), start)
        if begin < start:
            yield begin, end
        previous, done = None, end


def _end_of_material(text: bytes, start: int, limit: int) -> int:
    """Where key material that begins at `start` ends; `start` if there is none."""
    match = compile_text(_MATERIAL).match(text, start, limit)
    if match is None or not _LONG.search(text, start, match.end(1)):
        return start
    return int(max(match.end(1), match.end(2)))


def _start_of_material(text: bytes, limit: int, end: int) -> int:
    """Where key material that ends at `end` begins; `end` if there is none."""
    pieces = _RUNS.split(text[limit:end])  # junk, run, junk, run, ..., junk
    place = begin = end
    for number in range(len(pieces) - 2, 0, -2):
        run, junk = pieces[number], pieces[number + 1]
        is_last_line = number >= len(pieces) - 4
        if len(junk) > MAX_JUNK_BYTES or (len(run) < LONG_BYTES and not is_last_line):
            break
        place -= len(junk) + len(run)
        begin = place if len(run) >= LONG_BYTES else begin
    return begin


def encoded_keys(text: bytes) -> Iterator[tuple[int, int]]:
    """Runs of base64 that hold a private key, and key material without its first line."""
    for match in compile_text(ENCODED).finditer(text):
        yield match.span()
    for match in compile_text(HEADLESS).finditer(text):
        yield match.span()


def key_members(text: bytes) -> Iterator[tuple[int, int]]:
    """The private numbers of keys in JSON or XML."""
    if compile_text(DETECT_MEMBER).search(text) is not None:
        for match in compile_text(MEMBER).finditer(text):
            yield match.span(match.lastindex)
