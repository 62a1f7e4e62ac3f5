"""Real certificates, made by openssl: an authority, servers, clients, and a stranger's."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A certificate and its key; `pem` is one file with both."""

    certificate: Path
    key: Path
    pem: Path


def self_signed(folder: Path, name: str = "self", extension: str = NAMES) -> Pair:
    """A certificate that signs itself; good as an authority too."""
    pair = _pair(folder, name)
    _openssl(
        "req", "-x509", *_new(pair, name), "-days", "2", "-out", pair.certificate,
        "-addext", extension,
    )  # fmt: skip
    return _joined(pair)


def signed(folder: Path, name: str, by: Pair) -> Pair:
    """A certificate of this name for localhost and 127.0.0.1 that an authority signed."""
    pair, request, names = _pair(folder, name), folder / f"{name}.csr", folder / f"{name}.ext"
    names.write_text(NAMES)
    _openssl("req", *_new(pair, name), "-out", request)
    _openssl(
        "x509", "-req", "-in", request, "-CA", by.certificate, "-CAkey", by.key, "-CAcreateserial",
        "-days", "2", "-extfile", names, "-out", pair.certificate,
    )  # fmt: skip
    return _joined(pair)


def _pair(folder: Path, name: str) -> Pair:
    return Pair(
        certificate=folder / f"{name}.crt", key=folder / f"{name}.key", pem=folder / f"{name}.pem"
    )


def _new(pair: Pair, name: str) -> tuple[object, ...]:
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    return (*curve, "-keyout", pair.key, "-subj", f"/CN={name}")


def _joined(pair: Pair) -> Pair:
    pair.pem.write_text(pair.certificate.read_text() + pair.key.read_text())
    return pair


def _openssl(*arguments: object) -> None:
    command = ["openssl", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
