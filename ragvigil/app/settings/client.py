"""Settings of `[client]`: how the command line reaches a daemon."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ragvigil.listener.fields import Authorities, ReadableFile, TlsKey, Token, TokenFile
from ragvigil.model.token import read_token


class ClientSettings(BaseModel):
    """The daemon that commands talk to, by default that of the same settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str = Field(
        default="",
        description="address of the API, as in https://ragvigil.example:8088; "
        "empty is the [web] endpoint of these settings",
    )
    token: Token | None = Field(
        default=None, description="token that is sent to the API, instead of those of [web]"
    )
    token_file: TokenFile | None = Field(
        default=None, description="file that holds the token instead"
    )
    ca_file: Authorities | None = Field(
        default=None,
        description="PEM file of the authority that signed the daemon's certificate. Without it "
        "the daemon of these settings must show exactly its tls_certificate, another one a "
        "certificate that this system trusts",
    )
    tls_certificate: ReadableFile | None = Field(
        default=None,
        description="PEM file of the certificate that a daemon with tls_client_ca asks for",
    )
    tls_key: TlsKey = Field(
        default=None, validate_default=True, description="PEM file of the certificate's key"
    )
    insecure: bool = Field(
        default=False, description="send a token to another machine without TLS, too"
    )

    @field_validator("url")
    @classmethod
    def _is_a_url(cls, url: str) -> str:
        parts = urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("must be http://host:port, https://host:port, or empty")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("an address only: the token belongs into token_file")
        return url.rstrip("/")

    def secret(self) -> str | None:
        """The token of this section. Raises ValueError if its file holds none any more."""
        given = self.token or self.token_file
        return None if given is None else read_token(given)
