"""The report by code on an issue."""

from __future__ import annotations

from dataclasses import replace

from clustering.rca.reader import Change
from clustering.rca.report import LINE, facts_of, likely_cause, lines, time_text
from ragvigil.model.incident import Incident
from ragvigil.model.issue import ComparedRecord
from ragvigil.model.notice import ChangeKind
from tests.issues import NANOS, NOW, failure
from tests.root_causes import ISSUE, MEMBERS, Shelf
from tests.unit.clustering.issues.test_incident_issues import incident_of
from tests.unit.ragvigil.model.wording.test_suspects import noticed

MINUTE = 60 * NANOS


def test_the_report_names_layer_suspect_time_change_words_and_traces() -> None:
    report = lines(ISSUE, facts_of(ISSUE, Shelf(), ("another number of days",)))
    assert (
        report[0] == "Layer: generation (groundedness contradicted); 40 members on /refunds, /fees"
    )
    assert report[2].startswith("Worst hour: 40 of 90 requests, from ")
    assert report[4] == "  index_epoch = v7: 40 of 40 members, 0 of 200 passing"
    assert report[5] == "Change 10 min before the first: index_epoch v6 -> v7"
    assert report[6] == "Words of its own: another number of days"
    assert report[7] == f"Look at {MEMBERS[0].trace_id} (/refunds): {MEMBERS[0].reason}"
    assert report[8].startswith(f"Look at {MEMBERS[1].trace_id} (/fees)")


def test_it_stays_short_whatever_strangers_write() -> None:
    class Loud(Shelf):
        def members(self):  # type: ignore[no-untyped-def]
            long = "x" * 9000 + "\x1b[31m\nLayer: the moon"
            return [failure(n, route=f"/{n}{'r' * 500}", reason=long) for n in range(50)]

        def changes(self):  # type: ignore[no-untyped-def]
            at = ISSUE.first_unix_nano
            return [Change(time_unix_nano=at - n, kind="k", text="v" * 9000) for n in range(50)]

        def failing(self):  # type: ignore[no-untyped-def]
            return [_with_many(record) for record in super().failing()]

        def incident(self):  # type: ignore[no-untyped-def]
            changes = [
                noticed(ChangeKind.PROMPT, f"{n}", "v" * 9, route=f"/{n}" * 99) for n in range(9)
            ]
            return replace(incident_of("refusal:refused"), suspects=tuple(changes))

    report = lines(ISSUE, facts_of(ISSUE, Loud(), ["word " * 100] * 50))
    assert len(report) <= 17
    assert max(map(len, report)) <= LINE + 3
    assert not any("\x1b" in line or "\n" in line for line in report)


def _with_many(record: ComparedRecord) -> ComparedRecord:
    many = {f"dimension {n}": "v" * 500 for n in range(20)}
    return ComparedRecord(
        trace_id=record.trace_id,
        record_id=record.record_id,
        time_unix_nano=record.time_unix_nano,
        route=record.route,
        dimensions={**record.dimensions, **many},
    )


class Told(Shelf):
    """The answers of an incident that suspects a change of the prompt on both routes."""

    def incident(self) -> Incident:
        changes = [
            noticed(ChangeKind.PROMPT, "v3", "v6", route=route, since=(NOW - ago) * NANOS)
            for route, ago in (("/fees", 3600), ("/refunds", 7200))
        ]
        return replace(incident_of("refusal:refused"), suspects=tuple(changes))


def test_it_says_what_the_incident_knows() -> None:
    facts = facts_of(ISSUE, Told(), ())
    report = lines(ISSUE, facts)
    since = time_text((NOW - 7200) * NANOS)
    prompt = f"the prompt changed (v3 → v6), first seen {since} on /fees, /refunds"
    assert report[5].startswith("Incident since ")
    assert report[5].endswith(": answers refuse")
    assert report[6] == f"Suspected change: {prompt}"
    assert likely_cause(facts) == f"Most likely {prompt}."
    assert likely_cause(facts_of(ISSUE, Shelf(), ())) == ""


def test_what_is_not_known_is_said_and_never_zero() -> None:
    class Bare(Shelf):
        def passing(self):  # type: ignore[no-untyped-def]
            return []

        def changes(self):  # type: ignore[no-untyped-def]
            late = Change(time_unix_nano=NOW * NANOS, kind="deploy", text="v9")
            return [late]

        def hours(self):  # type: ignore[no-untyped-def]
            return []

    text = "\n".join(lines(ISSUE, facts_of(ISSUE, Bare(), ())))
    assert "No passing record of its routes is known to compare with." in text
    assert "No change of the service is known shortly before its first member." in text
    assert "Worst hour: 40, from" in text
    assert "0 requests" not in text
    assert "Words" not in text


def test_where_nothing_differs_it_says_what_was_compared() -> None:
    class Alike(Shelf):
        def passing(self):  # type: ignore[no-untyped-def]
            return self.failing()

    report = lines(ISSUE, facts_of(ISSUE, Alike(), ()))
    assert "No dimension tells its 40 members from 40 passing records." in report
