"""Whether spans arrive, are kept and are accounted for, and what runs beside that. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ragvigil.model.figures import count, counted, listed, sentence, size, spelled
from ragvigil.web.views.doctor import DoctorForm
from ragvigil.web.views.health.coverage import field_name
from ragvigil.web.views.health.kinds import Check, Evidence, Verdict
from ragvigil.web.views.ledger import SpanLedger

INTAKE = "Intake"


def difference(ledger: SpanLedger) -> int:
    """Spans that were acknowledged and are nowhere; below 0, such as were counted twice."""
    there = ledger.stored + ledger.duplicate + ledger.quarantined + ledger.lost + ledger.not_kept
    return ledger.acknowledged - there - ledger.in_spool


def books(ledger: SpanLedger) -> Check:
    """Whether every acknowledged span is somewhere."""
    missing = difference(ledger)
    if missing:
        what = "are nowhere" if missing > 0 else "were counted twice"
        words = f"{counted(abs(missing), 'span')} {what}. This is a fault of ragvigil: report it."
        return Check(
            name="Books", verdict=Verdict.BROKEN, words=words, fix="ragvigil status --json"
        )
    if ledger.lost:
        words = (
            f"{counted(ledger.lost, 'span')} of {count(ledger.acknowledged)} were lost with "
            "damaged files, and their answers with them."
        )
        return Check(name="Books", verdict=Verdict.WORSE, words=words)
    if ledger.quarantined:
        words = (
            f"The database refused {counted(ledger.quarantined, 'span')}; the reasons stand below."
        )
        return Check(name="Books", verdict=Verdict.WORSE, words=words)
    words = "Every span that was acknowledged is accounted for."
    return Check(name="Books", verdict=Verdict.HOLDS, words=words)


def intake(evidence: Evidence) -> Check:
    sources = evidence.doctor.sources
    spans = sum(source.spans for source in sources)
    kept = evidence.doctor.spans_kept
    if not spans and kept != "all" and evidence.ledger.acknowledged:
        words = (
            f"{counted(evidence.ledger.acknowledged, 'span')} came; the setting [store] spans = "
            f'"{kept}" keeps none of the last 24 hours to say more of.'
        )
        return Check(name=INTAKE, verdict=Verdict.HOLDS, words=words)
    if not spans:
        listens = evidence.section("listens")
        http = listens.get("http", "127.0.0.1:4318")
        return Check(
            name=INTAKE,
            verdict=Verdict.MISSING,
            words="No span came in 24 hours. Point your service here.",
            fix=f"export OTEL_EXPORTER_OTLP_ENDPOINT=http://{http}",
        )
    answers = sum(source.answers for source in sources)
    services = listed([source.service or "(no name)" for source in sources], most=3)
    words = f"{counted(spans, 'span')} and {counted(answers, 'answer')} in 24 hours, of {services}."
    if not answers:
        fix = next((source.fix for source in sources if source.fix), "ragvigil doctor")
        missing = next((source.missing for source in sources if source.missing), "see below")
        words = f"{counted(spans, 'span')} in 24 hours, no answer among them: {missing}."
        return Check(name=INTAKE, verdict=Verdict.WORSE, words=words, fix=fix)
    return Check(name=INTAKE, verdict=Verdict.HOLDS, words=words)


def delay(evidence: Evidence) -> Check:
    behind = str(evidence.section("daemon").get("behind") or "")
    if behind:
        return Check(name="Delay", verdict=Verdict.WORSE, words=f"Scores come late: {behind}.")
    waiting = evidence.ledger.in_spool
    rest = f"; {counted(waiting, 'span')} of open traces wait for the rest" if waiting else ""
    words = f"Scores follow within seconds{rest}."
    return Check(name="Delay", verdict=Verdict.HOLDS, words=words)


def disk(evidence: Evidence) -> Check:
    disk, spool = evidence.section("disk"), evidence.section("spool").get("bytes")
    free, reserve = disk.get("free_bytes"), disk.get("reserve_bytes")
    words = (
        f"{size(free)} are free, {size(reserve)} of them in reserve; the spool has {size(spool)}."
    )
    if disk.get("refuses_spans"):
        words = f"Spans are refused: {size(free)} are free, and {size(reserve)} are needed."
        return Check(
            name="Disk",
            verdict=Verdict.BROKEN,
            words=words,
            fix="[store]\nmax_bytes = 20_000_000_000   # drops the oldest days",
        )
    return Check(name="Disk", verdict=Verdict.HOLDS, words=words)


def store(evidence: Evidence) -> Check:
    store = evidence.section("store")
    set_aside = store.get("parts_set_aside") or {}
    if store.get("stopped"):
        words = f"Nothing is written: {store['stopped']}."
        return Check(name="Store", verdict=Verdict.BROKEN, words=words)
    if store.get("trouble") or store.get("is_ready") is False:
        why = store.get("trouble") or "it starts"
        words = f"The database does not answer: {why}. Spans wait on disk."
        return Check(name="Store", verdict=Verdict.WORSE, words=words)
    if set_aside:
        tables = listed([f"{table} ({number})" for table, number in set_aside.items()])
        words = (
            f"Damaged parts were set aside: {tables}. What they held is missing from the charts."
        )
        return Check(name="Store", verdict=Verdict.WORSE, words=words)
    return Check(name="Store", verdict=Verdict.HOLDS, words="The database answers.")


def fields(doctor: DoctorForm) -> Iterator[Check]:
    """A check a service; what a missing field switches off stands under its fields."""
    for service in doctor.services:
        costly = [gap for gap in service.findings if gap.rubrics_off]
        name = service.service or "(no name)"
        if not costly:
            words = f"{name} sends what its rubrics need."
            yield Check(name=f"Fields of {name}", verdict=Verdict.HOLDS, words=words)
            continue
        off = sorted({rubric.replace("_", " ") for gap in costly for rubric in gap.rubrics_off})
        names = list(dict.fromkeys(field_name(gap.field) for gap in costly))
        words = f"Without {listed(names, most=4)}, nothing scores {listed(off, most=4)}."
        yield Check(
            name=f"Fields of {name}",
            verdict=Verdict.MISSING,
            words=words,
            fix=costly[0].fix,
            link="#fields",
            link_words="All of its fields",
        )


def jobs(evidence: Evidence) -> Iterator[Check]:
    if evidence.report is None:
        return
    failed = [job.name.replace("_", " ") for job in evidence.report.jobs if job.has_failed]
    if failed:
        words = f"The last run of {listed(failed)} failed; the daemon's log says why."
        yield Check(name="Jobs", verdict=Verdict.WORSE, words=words)
    else:
        words = f"{sentence(spelled(len(evidence.report.jobs)))} jobs run, and none failed."
        yield Check(name="Jobs", verdict=Verdict.HOLDS, words=words)


def left_out(evidence: Evidence) -> Iterator[Check]:
    """Plug-ins and extras that are missing, and settings that surprise."""
    for plugin in evidence.section("plugins").get("left_out") or ():
        yield Check(name="Plug-in", verdict=Verdict.WORSE, words=sentence(f"{plugin}."))
    for warning in evidence.report.warnings if evidence.report else ():
        before, _, fix = warning.explanation.partition("pip install ")
        words = before.rstrip(": ") if fix else warning.explanation
        yield Check(
            name=f"Setting {warning.key}",
            verdict=Verdict.MISSING if fix else Verdict.WORSE,
            words=f"{sentence(words)}.",
            fix=f"pip install {fix}" if fix else "",
        )
