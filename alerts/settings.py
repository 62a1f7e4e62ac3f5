"""Settings of `[alerts]` and `[metrics]`; the descriptions are the documentation."""

from __future__ import annotations

from pydantic import Field, ValidationInfo, field_validator

from alerts.audits.settings import AuditSettings
from alerts.deltas.settings import DeltaSettings, LabelLimits
from alerts.drift.settings import DriftSettings
from alerts.incidents.settings import IncidentSettings
from alerts.limits.settings import OwnLimit
from alerts.notices.settings import NoticeSettings
from alerts.signals.settings import BrokenSettings, MovedSettings
from alerts.slices.settings import SliceSettings
from ragvigil.listener.fields import HostNames, ReadableFile, TlsKey, Token, TokenFile
from ragvigil.model.endpoint import require_guarded
from ragvigil.model.token import NoTokens, read_token, require_consistent


class AlertsSettings(DeltaSettings):
    """How means, baselines and movements are computed."""

    notices: NoticeSettings = NoticeSettings()
    broken: BrokenSettings = BrokenSettings()
    moved: MovedSettings = MovedSettings()
    audit: AuditSettings = AuditSettings()
    drift: DriftSettings = DriftSettings()
    incidents: IncidentSettings = IncidentSettings()
    slices: SliceSettings = SliceSettings()
    limits: tuple[OwnLimit, ...] = Field(
        default=(), description="limits of your own, a table `[[alerts.limits]]` each"
    )


class MetricsSettings(LabelLimits):
    """The listener for Prometheus and for health probes."""

    token: Token | None = Field(
        default=None, description="bearer token required for /metrics; not needed on loopback"
    )
    token_file: TokenFile | None = Field(
        default=None, description="file that holds the token instead"
    )
    tokens: NoTokens | None = Field(
        default=None,
        description='"none": a scrape needs no token, on loopback only; '
        "the same as no token at all, but written",
    )
    allowed_hosts: HostNames = Field(
        default=(),
        description="further Host names that /metrics answers to on loopback; elsewhere a token is "
        "needed, and any name will do",
    )
    tls_certificate: ReadableFile | None = Field(
        default=None, description="PEM file; with tls_key: HTTPS"
    )
    tls_key: TlsKey = Field(
        default=None, validate_default=True, description="PEM file of the certificate's key"
    )
    insecure: bool = Field(
        default=False, description="allow an address that is not loopback without TLS"
    )
    max_connections: int = Field(
        default=64, ge=16, description="connections at the same time, half of them for one address"
    )
    endpoint: str = Field(
        default="127.0.0.1:9464",
        description="address of /metrics, /healthz and /readyz; probes need no token",
    )

    @field_validator("tokens")
    @classmethod
    def _none_is_meant(cls, none: NoTokens | None, info: ValidationInfo) -> NoTokens | None:
        require_consistent(none, [key for key in ("token", "token_file") if info.data.get(key)])
        return none

    @field_validator("endpoint")
    @classmethod
    def _is_guarded(cls, endpoint: str, info: ValidationInfo) -> str:
        given = info.data  # a key that is wrong is missing here, and has its own sentence
        require_guarded(
            endpoint,
            has_token=bool(given.get("token", True) or given.get("token_file", True)),
            has_tls=given.get("tls_key", True) is not None,
            insecure=bool(given.get("insecure", True)),
            none=given.get("tokens") is not None,
        )
        return endpoint

    def secret(self) -> str | None:
        """The token, None where the settings give none and none is needed.

        Raises ValueError if its file holds none any more.
        """
        given = self.token or self.token_file
        return None if given is None else read_token(given)
