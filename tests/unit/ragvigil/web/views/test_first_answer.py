"""The first screen names the addresses that this daemon really has."""

from __future__ import annotations

from typing import Any

from ragvigil.web.views.first_answer import FirstAnswer, first_answer


def status(*, spans: int = 0, **listens: Any) -> dict[str, Any]:
    usual = {"http": "127.0.0.1:5318", "grpc": "127.0.0.1:5317", "tls": False, "token": False}
    return {
        "listens": usual | listens,
        "spans": {"acknowledged": spans},
        "daemon": {"up_seconds": 240},
    }


def told(host: str = "localhost", **kept: Any) -> FirstAnswer:
    given = first_answer(status(**kept), host)
    assert given is not None
    return given


def test_the_addresses_are_those_of_the_settings() -> None:
    variables, collector, sidecar = told().ways
    assert told().listening == "127.0.0.1:5318 over HTTP, 127.0.0.1:5317 over gRPC"
    assert "export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:5318\n" in variables.code
    assert 'endpoint: "127.0.0.1:5317", tls: { insecure: true }' in collector.code
    assert "sidecar.yaml" in sidecar.code


def test_where_it_listens_on_every_address_senders_use_the_name_that_the_reader_used() -> None:
    every = told("rag.example", http="0.0.0.0:4318", grpc="[::]:4317", tls=True, token=True)
    variables, collector, _ = every.ways
    assert "ENDPOINT=https://rag.example:4318\n" in variables.code
    assert 'HEADERS="authorization=Bearer%20YOUR-TOKEN"' in variables.code
    assert 'endpoint: "rag.example:4317", headers:' in collector.code
    assert "insecure" not in collector.code
    v6 = told("2001:db8::1", http="0.0.0.0:4318").ways[0]
    assert "http://[2001:db8::1]:4318\n" in v6.code


def test_spans_without_an_answer_are_told() -> None:
    assert told().arrived == "Nothing received in 4 min."
    assert told(spans=1200).arrived == "1,200 spans received, none of them an answer yet."


def test_the_collector_takes_six_lines() -> None:
    assert len(told().ways[1].code.splitlines()) == 6
