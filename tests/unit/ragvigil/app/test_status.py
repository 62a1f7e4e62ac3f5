"""What the daemon says of itself: every section, from the parts that know."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from collector.spool.reserve import Space
from ragvigil.app.status import Status
from ragvigil.model.span import SpanKind
from ragvigil.store.engine.store import Store
from ragvigil.web.views.doctor import DoctorForm
from tests.pipelines import Core, answer, request, retriever, span

QUIET = 3.0


@pytest.fixture
async def core(tmp_path: Path, store: Store) -> AsyncIterator[Core]:
    born = await Core.born(tmp_path, store)
    yield born
    await born.spool.close()


@pytest.fixture
def status(core: Core) -> Status:
    return Status(
        store=core.store,
        pipeline=core.pipeline,
        balance=core.balance,
        sections=core.parts.sections,
        needs=core.parts.runner.needs,
        space=lambda: Space(free=500, total=1000),
    )


async def test_it_is_not_ready_until_it_is_told_so(status: Status) -> None:
    assert json.loads(status.short()) == {"ready": False, "behind": "", "remarks": []}
    status.is_ready = True
    assert json.loads(status.short()) == {"ready": True, "behind": "", "remarks": []}


async def test_every_section_is_json_and_agrees_with_the_ledger(core: Core, status: Status) -> None:
    await core.send(1, answer())
    await core.send(2, [span for span in answer() if span.parent_span_id])
    core.pass_time(QUIET)
    sections = json.loads(json.dumps(status.status()))
    names = {"daemon", "spans", "traces", "judge", "local", "issues", "export", "plugins"}
    assert set(sections) == names | {"spool", "store", "disk", "layer_health"}
    assert sections["daemon"]["open_traces"] == 1
    assert sections["spans"] == status.ledger()["spans"]
    assert sections["spans"]["acknowledged"] == 5
    assert sections["traces"] == status.ledger()["records"]
    assert sections["traces"]["scored"] == 1
    assert sections["judge"] == {"on": False, "reason": "no judge is configured: [judge] model"}
    assert sections["plugins"] == {"left_out": []}
    assert sections["spool"]["bytes"] > 0
    assert sections["disk"] == {"free_bytes": 500, "reserve_bytes": 500, "refuses_spans": False}


async def test_the_doctor_names_what_the_records_lack_and_what_that_switches_off(
    core: Core, status: Status
) -> None:
    assert status.doctor() == DoctorForm(services=[], sources=[])
    await core.send(1, answer())
    core.pass_time(QUIET)
    (service,) = status.doctor().services
    assert (service.service, service.records) == ("shop", 1)
    assert service.present["answer"] == 1
    assert "usage" in {gap.field for gap in service.findings}


async def test_the_doctor_lists_every_service_that_sent_spans(core: Core, status: Status) -> None:
    await core.send(1, answer())
    chain = [span("root", {"openinference.span.kind": "CHAIN"}), retriever()]
    web = [span("root", kind=SpanKind.SERVER)]
    for number, service, spans in ((2, "desk", chain), (3, "unknown_service:python", web)):
        body = request(number, spans)
        body.resource_spans[0].resource.attributes[0].value.string_value = service
        await core.raw(body.SerializeToString(), len(spans))
    core.pass_time(QUIET)
    nameless, desk, shop = status.doctor().sources
    assert (shop.service, shop.answers, shop.missing) == ("shop", 1, "")
    assert "llm" in shop.kinds
    assert (desk.service, desk.answers, desk.spans) == ("desk", 0, 2)
    assert desk.kinds == ["chain", "retriever"]
    assert desk.missing.startswith("no answer: a retriever, but neither")
    assert "ragvigil.answer" in desk.fix
    assert (nameless.service, nameless.kinds) == ("", ["server"])
    assert nameless.missing == "no span of a retriever or of a model"
    assert nameless.fix.startswith("LangChainInstrumentor().instrument()")
