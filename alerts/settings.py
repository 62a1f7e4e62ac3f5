"""Settings of `[alerts]` and `[metrics]`; the descriptions are the documentation."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from alerts.audits.settings import AuditSettings
from alerts.deltas.settings import DeltaSettings, LabelLimits
from alerts.incidents.settings import IncidentSettings
from alerts.notices.settings import NoticeSettings
from alerts.signals.settings import BrokenSettings, MovedSettings
from ragvigil.model.endpoint import require_file, require_guarded, require_pair


class AlertsSettings(DeltaSettings):
    """How means, baselines and movements are computed."""

    notices: NoticeSettings = NoticeSettings()
    broken: BrokenSettings = BrokenSettings()
    moved: MovedSettings = MovedSettings()
    audit: AuditSettings = AuditSettings()
    incidents: IncidentSettings = IncidentSettings()


class MetricsSettings(LabelLimits):
    """The listener for Prometheus and for health probes."""

    token: SecretStr | None = Field(
        default=None, description="bearer token required for /metrics; not needed on loopback"
    )
    token_file: Path | None = Field(default=None, description="file that holds the token instead")
    tls_certificate: Path | None = Field(default=None, description="PEM file; with tls_key: HTTPS")
    tls_key: Path | None = Field(
        default=None, validate_default=True, description="PEM file of the certificate's key"
    )
    insecure: bool = Field(default=False, description="allow an open address without token and TLS")
    endpoint: str = Field(
        default="127.0.0.1:9464",
        description="address of /metrics, /healthz and /readyz; probes need no token",
    )

    @field_validator("tls_key")
    @classmethod
    def _tls_is_whole(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        require_pair(info.data.get("tls_certificate", key), key)
        return key

    @field_validator("token_file", "tls_certificate", "tls_key")
    @classmethod
    def _file_exists(cls, path: Path | None) -> Path | None:
        return require_file(path)

    @field_validator("endpoint")
    @classmethod
    def _is_guarded(cls, endpoint: str, info: ValidationInfo) -> str:
        values = info.data
        require_guarded(
            endpoint,
            has_token=bool(values.get("token") or values.get("token_file")),
            has_tls=values.get("tls_key") is not None,
            insecure=bool(values.get("insecure")),
        )
        return endpoint

    def secret(self) -> str | None:
        """The token, None where none is asked for. Raises OSError on an unreadable file."""
        if self.token is not None:
            return self.token.get_secret_value()
        if self.token_file is not None:
            return self.token_file.read_text(encoding="utf-8").strip()
        return None
