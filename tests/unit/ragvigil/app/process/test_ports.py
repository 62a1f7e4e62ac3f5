"""A taken address is found before anything starts, and named by its setting."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from alerts.settings import MetricsSettings
from collector.settings import CollectorSettings
from ragvigil.app.demo.child_daemon import free_port
from ragvigil.app.process.ports import PortTaken, require_free
from ragvigil.app.settings import Settings, endpoints
from ragvigil.web.settings import WebSettings


@pytest.fixture
def settings() -> Settings:
    """Listeners on four free ports."""
    grpc, http, metrics, web = (f"127.0.0.1:{free_port()}" for _ in range(4))
    return Settings(
        collector=CollectorSettings(grpc_endpoint=grpc, http_endpoint=http),
        metrics=MetricsSettings(endpoint=metrics),
        web=WebSettings(endpoint=web),
    )


@pytest.fixture
def taken() -> Iterator[str]:
    """An address that somebody listens on."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def test_free_addresses_are_let_through_and_stay_free(settings: Settings) -> None:
    require_free(settings)
    require_free(settings)


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ("collector", "grpc_endpoint"),
        ("collector", "http_endpoint"),
        ("metrics", "endpoint"),
        ("web", "endpoint"),
    ],
)
def test_a_taken_address_is_named_by_its_setting_and_variable(
    settings: Settings, taken: str, section: str, key: str
) -> None:
    part = getattr(settings, section).model_copy(update={key: taken})
    changed = settings.model_copy(update={section: part})
    assert endpoints(changed)[section, key] == taken
    with pytest.raises(PortTaken) as found:
        require_free(changed)
    assert str(found.value) == (
        f"[{section}] {key}: {taken} is already in use; set another one there or in "
        f"RAGVIGIL_{section.upper()}__{key.upper()}"
    )


def test_an_address_of_another_machine_cannot_be_used(settings: Settings) -> None:
    web = settings.web.model_copy(update={"endpoint": "192.0.2.1:8088"})  # RFC 5737: nobody's
    with pytest.raises(PortTaken, match=r"\[web\] endpoint: 192\.0\.2\.1:8088 cannot be used: "):
        require_free(settings.model_copy(update={"web": web}))


def test_a_host_that_has_no_address_cannot_be_used(settings: Settings) -> None:
    web = settings.web.model_copy(update={"endpoint": "nowhere.invalid:8088"})
    with pytest.raises(PortTaken, match=r"\[web\] endpoint: nowhere\.invalid:8088 cannot be used"):
        require_free(settings.model_copy(update={"web": web}))
