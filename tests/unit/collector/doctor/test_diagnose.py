"""What is missing, how often, from whom, what it switches off: from counts of like records."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from collector.doctor.diagnose import Gap, RecordGroup, diagnose
from ragvigil.app.cli.output.reports import print_doctor

LANGCHAIN = "openinference.instrumentation.langchain"
OPENAI = "openinference.instrumentation.openai"
NEEDS = {
    "refusal": ("answer",),
    "chunk_utilization": ("answer", "context", "document_texts"),
}


def like(
    records: int,
    *scopes: str,
    cut: tuple[str, ...] = (),
    has_llm_span: bool = True,
    **absent: str,
) -> RecordGroup:
    return RecordGroup(
        service="shop",
        instrumentors=scopes or (LANGCHAIN,),
        has_llm_span=has_llm_span,
        absent=absent,
        truncated=cut,
        records=records,
    )


def findings(*kinds: RecordGroup) -> tuple[Gap, ...]:
    (entry,) = diagnose(kinds, NEEDS)
    return entry.findings


def printed(capsys: pytest.CaptureFixture[str], *kinds: RecordGroup) -> str:
    """What a person reads of these records."""
    services = [asdict(each) for each in diagnose(kinds, NEEDS)]
    source = {"service": "shop", "spans": 9, "kinds": ["llm"], "scopes": {LANGCHAIN: 9}}
    print_doctor({"services": services, "sources": [source]}, as_json=False)
    return capsys.readouterr().out


def test_a_finding_names_its_share_and_the_rubrics_that_it_switches_off() -> None:
    (finding,) = findings(like(3), like(1, answer="hidden"))
    assert (finding.field, finding.reason, finding.records) == ("answer", "hidden", 1)
    assert finding.share == 0.25
    assert finding.rubrics_off == ("chunk_utilization", "refusal")
    assert "OPENINFERENCE_HIDE_OUTPUTS=false" in finding.fix


def test_one_field_absent_for_two_reasons_is_two_findings_the_commoner_first() -> None:
    findings_ = findings(like(1, usage="hidden"), like(2, usage="not_sent"))
    assert [(finding.reason, finding.records) for finding in findings_] == [
        ("not_sent", 2),
        ("hidden", 1),
    ]


def test_a_step_that_the_service_does_not_have_is_no_finding() -> None:
    assert findings(like(4, reranked="not_run")) == ()


def test_a_step_that_failed_is_named_though_no_setting_mends_it() -> None:
    (finding,) = findings(like(4, answer="errored"))
    assert finding.reason == "errored"
    assert "nothing to switch on" in finding.fix


def test_a_step_that_is_never_run_has_no_share() -> None:
    (entry,) = diagnose([like(4, reranked="not_run"), like(1, usage="not_sent")], NEEDS)
    assert entry.present["reranked"] == 1.0
    (entry,) = diagnose([like(4, reranked="not_run")], NEEDS)
    assert entry.present["reranked"] is None


def test_documents_are_asked_of_the_scope_that_retrieved_and_the_answer_of_the_model() -> None:
    findings_ = findings(like(2, OPENAI, "shop.search", document_ids="not_sent", answer="hidden"))
    assert {finding.field: finding.scope for finding in findings_} == {
        "document_ids": "shop.search",
        "answer": OPENAI,
    }


def test_a_missing_list_takes_its_texts_and_ids_along_under_one_line() -> None:
    lost: dict[str, Any] = dict.fromkeys(
        ("retrieved", "document_texts", "document_ids"), "not_sent"
    )
    assert len({finding.fix for finding in findings(like(2, **lost))}) == 1


def test_texts_of_chunks_outside_the_prompt_have_the_line_of_texts() -> None:
    needs = NEEDS | {"context_entity_recall": ("retrieved", "document_texts", "retrieved_texts")}
    (entry,) = diagnose([like(2, retrieved_texts="not_sent")], needs)
    (finding,) = entry.findings
    assert finding.fix == "set retrieval.documents.N.document.content on the RETRIEVER span"
    assert finding.rubrics_off == ("context_entity_recall",)


@pytest.mark.parametrize(
    ("dropped", "variable"),
    [
        ("attributes", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"),
        ("events", "OTEL_SPAN_EVENT_COUNT_LIMIT"),
    ],
)
def test_what_a_limit_of_the_sdk_dropped_is_found_though_no_field_is_absent(
    dropped: str, variable: str
) -> None:
    (finding,) = findings(like(5), like(5, cut=(dropped,)))
    assert (finding.field, finding.reason, finding.share) == (dropped, "truncated", 0.5)
    assert finding.fix.startswith(f"export {variable}=")


def test_a_list_cut_short_is_found_though_the_prompt_makes_up_for_it() -> None:
    (cut,) = findings(like(2, cut=("retrieved",)))
    assert (cut.field, cut.reason) == ("retrieved", "truncated")
    assert "VALUE_LENGTH_LIMIT" in cut.fix
    assert len({finding.fix for finding in findings(like(2, cut=("retrieved", "attributes")))}) == 1


def test_an_answer_cut_by_the_model_is_no_finding() -> None:
    assert findings(like(2, cut=("answer",))) == ()


def test_a_field_cut_by_a_counted_limit_gets_that_limits_line_else_the_length_limits() -> None:
    by_count, _ = findings(like(1, cut=("attributes",), context="truncated"))
    assert by_count.fix.startswith("export OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=")
    (by_length,) = findings(like(1, context="truncated"))
    assert by_length.fix.startswith("unset OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT")


def test_services_and_instrumentors_are_told_apart() -> None:
    entries = diagnose([like(1), like(1, OPENAI), like(2)], NEEDS)
    assert [(entry.scope, entry.records) for entry in entries] == [
        (LANGCHAIN, 3),
        (OPENAI, 1),
    ]


def test_records_of_nameless_scopes_are_diagnosed_too() -> None:
    nameless = RecordGroup(
        service="", instrumentors=(), has_llm_span=True, absent={"query": "not_sent"}
    )
    (entry,) = diagnose([nameless], NEEDS)
    assert entry.instrumentor == "unnamed"
    assert [finding.fix for finding in entry.findings] == [
        'span.set_attribute("ragvigil.query", question)'
    ]


def test_an_absent_answer_is_blamed_on_the_clients_instrumentation_only_where_it_is_missing() -> (
    None
):
    (_, answer) = findings(like(1, OPENAI, answer="not_sent", citations="not_sent"))
    assert "OPENINFERENCE_HIDE_OUTPUTS=false" in answer.fix
    assert "instrument" not in answer.fix
    (_, answer) = findings(
        like(1, LANGCHAIN, has_llm_span=False, answer="not_sent", citations="not_sent")
    )
    assert answer.fix.startswith("OpenAIInstrumentor().instrument()")


def test_a_person_reads_each_line_once_and_whole(capsys: pytest.CaptureFixture[str]) -> None:
    lost: dict[str, Any] = dict.fromkeys(("query", "context", "answer"), "hidden")
    out = printed(capsys, like(4, **lost))
    lines = [line for line in out.splitlines() if "OPENINFERENCE_HIDE_INPUTS" in line]
    assert all("OPENINFERENCE_HIDE_OUTPUT_TEXT=false" in line for line in lines)
    assert "✗ context, answer: hidden in 100 %" in out
    assert "chunk_utilization, refusal" in out
    assert "in full  retrieved," in out
    assert "never    query, context, answer" in out


def test_a_field_that_no_rubric_needs_is_not_marked_as_a_fault_and_comes_last(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = printed(capsys, like(4, usage="not_sent"), like(1, usage="not_sent", answer="hidden"))
    assert "· usage: not sent in 100 % of answers" in out
    assert "off   nothing: no rubric needs it" in out
    assert out.count("✗") == 1
    assert out.index("✗ answer: hidden in 20 %") < out.index("· usage")


def test_shares_that_are_neither_all_nor_none_are_given(
    capsys: pytest.CaptureFixture[str],
) -> None:
    kinds = [like(998), like(1, usage="not_sent"), like(1, answer="errored")]
    assert "in part  answer 99.9 %, usage 99.9 %" in printed(capsys, *kinds)


def test_a_service_that_lacks_nothing_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert "nothing is missing" in printed(capsys, like(4))


def test_scripts_read_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    print_doctor({"services": [], "sources": []}, as_json=True)
    assert capsys.readouterr().out == '{"services": [], "sources": []}\n'
