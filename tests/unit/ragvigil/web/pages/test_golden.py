"""The pages of golden cases over a real store and a real git repository."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from clustering.golden.case import parse
from ragvigil.app.cli.evaluation.golden_file import export_cases
from ragvigil.app.golden.job import GoldenJob
from ragvigil.app.sources.golden import Golden
from ragvigil.model.golden import CaseEvent, CaseRun, CaseState, CaseVerb, GoldenCase
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import golden
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import NOW, Quiet, keep, outcome
from tests.golden_sets import git, job_of, work_tree
from tests.page_readers import Reader, tokens_file

TRACE = f"{1:032x}"


@pytest.fixture
def job(store: Store, tmp_path: Path) -> GoldenJob:
    keep(store, [outcome(1, NOW - 60, value=0.2)])
    return job_of(store, work_tree(tmp_path / "set"))[0]


@pytest.fixture
def app(store: Store, job: GoldenJob, tmp_path: Path) -> ASGIApp:
    return served(store, job, tmp_path)


def served(store: Store, job: GoldenJob, folder: Path, **tags: str) -> ASGIApp:
    settings = WebSettings.model_validate({"tokens_file": tokens_file(folder, **tags)})
    return api(store, Quiet(), settings, keeping=Golden(job))


def stored(store: Store, case_id: str) -> GoldenCase:
    case = golden.get(store, case_id)
    assert case is not None
    return case


def typed(page: str) -> dict[str, str]:
    """What the form that edits a case would send, as a browser does: lines end with CR LF."""
    found = re.search(r'<form class="fields"[^>]*/edit">.*?</form>', page, re.DOTALL)
    assert found is not None
    form = found[0]
    fields = dict(re.findall(r'<input[^>]* name="([^"]+)"[^>]* value="([^"]*)"', form))
    texts = re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL)
    fields |= dict(texts)
    for name, options in re.findall(r'<select[^>]* name="([^"]+)">(.*?)</select>', form, re.DOTALL):
        fields[name] = re.findall(r'value="([^"]*)" selected', options)[0]
    del fields["form_token"]
    return {name: html.unescape(text).replace("\n", "\r\n") for name, text in fields.items()}


async def proposed(reader: Reader, job: GoldenJob) -> str:
    """A case that this person proposed from an answer, with a fact."""
    add = job.add(parse({"question": "Anything else?", "gold_answer": "No."}), "somebody")
    page = f"/golden/{add.case_id}"
    reply = await reader.send("/golden", {"trace_id": TRACE, "issue_id": "i1"}, of_page=page)
    assert reply.status_code == 303, reply.text
    case_id = re.fullmatch(r"/golden/(\w+)\?done=propose", reply.headers["location"])
    assert case_id is not None
    fields = {"fact-0": "Refunds take 90 days.", "importance-0": "vital", "revision": "1"}
    reply = await reader.send(f"/golden/{case_id[1]}/edit", fields, of_page=page)
    assert reply.status_code == 303, reply.text
    return case_id[1]


async def test_who_proposed_a_case_does_not_sign_it_and_somebody_else_does(
    store: Store, job: GoldenJob, app: ASGIApp, tmp_path: Path
) -> None:
    mara, okafor = Reader(app, "mara"), Reader(app, "okafor")
    case_id = await proposed(mara, job)
    page = await mara.page(f"/golden/{case_id}")
    assert "This case waits for somebody else's signature" in page
    assert "You proposed it: somebody else signs." in page
    assert "You proposed it" in await mara.page("/golden")
    seen = {"content_hash": stored(store, case_id).content_hash}
    refused = await mara.send(f"/golden/{case_id}/sign", seen, of_page=f"/golden/{case_id}")
    assert refused.status_code == 409
    # The address that a form is posted to is no page: a choice of time must not lead there.
    assert f'href="/golden/{case_id}?since=7d"' in refused.text
    assert "somebody else must sign it" in refused.text
    assert stored(store, case_id).state is CaseState.PROPOSED
    page = await okafor.page(f"/golden/{case_id}")
    assert "This case is ready for your signature" in page
    done = await okafor.send(f"/golden/{case_id}/sign", seen, of_page=f"/golden/{case_id}")
    assert (done.status_code, done.headers["location"]) == (303, f"/golden/{case_id}?done=sign")
    signed = stored(store, case_id)
    assert (signed.state, signed.proposed_by, signed.approved_by) == (
        CaseState.SIGNED, "mara", "okafor",
    )  # fmt: skip
    assert "Signed by okafor, and it still fails" in await mara.page(f"/golden/{case_id}")
    assert case_id in (tmp_path / "set/golden.jsonl").read_text()


async def test_an_answer_is_proposed_once(job: GoldenJob, app: ASGIApp) -> None:
    mara = Reader(app, "mara")
    case_id = await proposed(mara, job)
    page = f"/golden/{case_id}"
    again = await mara.send("/golden", {"trace_id": TRACE}, of_page=page)
    assert again.status_code == 409
    assert f"That is case {case_id} already, proposed." in again.text
    assert (await mara.send("/golden", {"trace_id": "x"}, of_page=page)).status_code == 422
    assert (await mara.send("/golden", {"trace_id": f"{9:032x}"}, of_page=page)).status_code == 404


async def test_a_triager_edits_and_does_not_sign(
    store: Store, job: GoldenJob, app: ASGIApp
) -> None:
    case_id = await proposed(Reader(app, "mara"), job)
    tess, rita = Reader(app, "tess"), Reader(app, "rita")
    page = f"/golden/{case_id}"
    assert "A triager edits. An approver signs." in await tess.page(page)
    seen = {"content_hash": stored(store, case_id).content_hash}
    assert (await tess.send(f"{page}/sign", seen, of_page=page)).status_code == 403
    shown = await rita.page(page)
    assert "A reader reads" in shown
    assert 'name="question"' not in shown


async def test_an_approver_of_other_tags_is_told_so(
    store: Store, job: GoldenJob, tmp_path: Path
) -> None:
    app = served(store, job, tmp_path, okafor="medical")
    case_id = await proposed(Reader(app, "mara"), job)
    okafor, page = Reader(app, "okafor"), f"/golden/{case_id}"
    assert "You sign medical, and it is none of these." in await okafor.page(page)
    seen = {"content_hash": stored(store, case_id).content_hash}
    refused = await okafor.send(f"{page}/sign", seen, of_page=page)
    assert refused.status_code == 403
    assert "is not yours to sign" in refused.text


async def test_a_case_that_changed_is_not_overwritten_and_nothing_typed_is_lost(
    store: Store, job: GoldenJob, app: ASGIApp
) -> None:
    mara, tess = Reader(app, "mara"), Reader(app, "tess")
    case_id = await proposed(mara, job)
    page = f"/golden/{case_id}"
    fields = typed((await tess.get(page)).text)
    seen = stored(store, case_id).content_hash
    await mara.send(f"{page}/edit", {**fields, "gold_answer": "Within a week."}, of_page=page)
    reply = await tess.send(f"{page}/edit", {**fields, "tags": "my own words"}, of_page=page)
    assert reply.status_code == 409
    shown = html.unescape(reply.text)
    assert "is at revision 3 by now: look at it first" in shown
    assert "nothing of it is saved" in shown
    assert typed(reply.text)["tags"] == "my own words"
    assert stored(store, case_id).tags == ()
    okafor = Reader(app, "okafor")
    stale = await okafor.send(f"{page}/sign", {"content_hash": seen}, of_page=page)
    assert stale.status_code == 409
    assert "was changed since you saw it" in stale.text


HARD = GoldenCase(
    case_id="hard",
    question="Was kostet\ndie Rücksendung – 日本 👍 <b>&amp;</b>?",
    gold_chunk_ids=("a, b", "ü#1"),
    gold_texts=("first\n\nsecond", "  led by spaces"),
    gold_answer="\nLine one\nline two\r\nline three \u202e",
    expected_facts=parse(
        {"expected_facts": ["one\ntwo", {"fact": "\u00bdthird\u2028", "importance": "okay"}]}
    ).expected_facts,
    tags=("edge, case", "ключ"),
    failure_mode="no_answer",
    service='help "desk"',
    environment="prod",
    route="/a?b=<c>",
    issue_id="i9",
)


async def test_words_around_a_hidden_character_are_edited(
    store: Store, job: GoldenJob, app: ASGIApp
) -> None:
    case = job.add(parse({"question": "a \u202e b", "gold_answer": "x"}), "somebody")
    mara, page = Reader(app, "mara"), f"/golden/{case.case_id}"
    fields = typed((await mara.get(page)).text)
    assert fields["question"] == r"a \u202e b"
    await mara.send(f"{page}/edit", fields | {"question": r"c \u202e b"}, of_page=page)
    assert stored(store, case.case_id).question == "c \u202e b"


async def test_a_form_that_nobody_touched_changes_nothing(
    store: Store, job: GoldenJob, app: ASGIApp
) -> None:
    case = job.add(HARD, "somebody")
    mara, page = Reader(app, "mara"), f"/golden/{case.case_id}"
    fields = typed((await mara.get(page)).text)
    reply = await mara.send(f"{page}/edit", fields, of_page=page)
    assert reply.status_code == 409
    assert "nothing of the case was changed" in reply.text.lower()
    assert stored(store, case.case_id) == case


@pytest.mark.parametrize(
    ("field", "text", "key", "value"),
    [
        ("question", "Neu:\r\n日本?", "question", "Neu:\n日本?"),
        ("gold_answer", "a\r\n\r\nb", "gold_answer", "a\n\nb"),
        ("gold_answer", "", "gold_answer", ""),
        ("gold_chunk_ids", "x, y\r\n\r\n z ", "gold_chunk_ids", ("x, y", "z")),
        ("tags", "", "tags", ()),
        ("tags", "ä\r\nb", "tags", ("ä", "b")),
        ("text-0", "", "gold_texts", ("  led by spaces",)),
        ("text-2", "new\r\ntext", "gold_texts", (*HARD.gold_texts, "new\ntext")),
        ("query_type", "adversarial", "query_type", "adversarial"),
        ("failure_mode", "", "failure_mode", ""),
        ("service", "s\u00e9", "service", "sé"),
        ("environment", "", "environment", ""),
        ("route", "/x", "route", "/x"),
        ("issue_id", "", "issue_id", ""),
    ],
)  # fmt: skip
async def test_each_field_of_the_form_changes_its_own_and_nothing_else(
    store: Store, job: GoldenJob, app: ASGIApp, field: str, text: str, key: str, value: object
) -> None:
    case = job.add(HARD, "somebody")
    mara, page = Reader(app, "mara"), f"/golden/{case.case_id}"
    fields = typed((await mara.get(page)).text) | {field: text}
    reply = await mara.send(f"{page}/edit", fields, of_page=page)
    assert reply.status_code == 303, reply.text
    after = stored(store, case.case_id)
    assert getattr(after, key) == value
    for other in (
        "question", "gold_chunk_ids", "gold_texts", "gold_answer", "expected_facts", "tags",
        "query_type", "failure_mode", "service", "environment", "route", "issue_id",
    ):  # fmt: skip
        if other != key:
            assert getattr(after, other) == getattr(case, other), other


async def test_facts_are_added_reworded_and_taken_out(
    store: Store, job: GoldenJob, app: ASGIApp
) -> None:
    case = job.add(HARD, "somebody")
    mara, page = Reader(app, "mara"), f"/golden/{case.case_id}"
    fields = typed((await mara.get(page)).text)
    fields |= {"fact-0": "", "fact-2": "new\r\nfact", "importance-2": "okay"}
    await mara.send(f"{page}/edit", fields, of_page=page)
    facts = [(fact.text, fact.is_vital) for fact in stored(store, case.case_id).expected_facts]
    assert facts == [(HARD.expected_facts[1].text, False), ("new\nfact", False)]


async def test_warnings_are_shown_and_must_be_seen(job: GoldenJob, app: ASGIApp) -> None:
    asked = ("How long do refunds take?", "How long do refunds take now?")
    first, twin = (job.add(parse({"question": each, "gold_answer": "A"}), "x") for each in asked)
    mara, page = Reader(app, "mara"), f"/golden/{first.case_id}"
    shown = await mara.page(page)
    assert "Look at 1 warning, then sign this case" in shown
    assert f"Asks nearly what {twin.case_id} asks: How long do refunds take now?" in shown
    seen = {"content_hash": first.content_hash}
    refused = await mara.send(f"{page}/sign", seen, of_page=page)
    assert refused.status_code == 409
    assert "to be signed despite warnings" in refused.text.lower()
    done = await mara.send(f"{page}/sign", {**seen, "despite_warnings": "yes"}, of_page=page)
    assert done.status_code == 303


async def test_a_change_of_a_signed_case_is_shown_against_it(job: GoldenJob, app: ASGIApp) -> None:
    case = job.add(parse({"question": "Which burrs fit?", "gold_answer": "B-40."}), "tess")
    job.sign(case.case_id, "mara", case.content_hash)
    job.edit(case.case_id, {"gold_answer": "B-40 and B-42."}, "tess")
    shown = await Reader(app, "mara").page(f"/golden/{case.case_id}")
    assert "What this proposal changes of the signed version" in shown
    assert "<del>B-40.</del>" in shown
    assert "tess edited it: good answer" in shown


async def test_a_proposal_is_declined_with_a_reason_and_run(
    store: Store, job: GoldenJob, app: ASGIApp
) -> None:
    case_id = await proposed(Reader(app, "mara"), job)
    tess, page = Reader(app, "tess"), f"/golden/{case_id}"
    assert (await tess.send(f"{page}/run", {}, of_page=page)).status_code == 303
    assert "its stored trace, scored again" in await tess.page(page)
    declined = await tess.send(f"{page}/reject", {"text": "asked <twice>"}, of_page=page)
    assert declined.status_code == 303
    assert stored(store, case_id).state is CaseState.REJECTED
    shown = (await tess.get(page)).text
    assert "This case was declined" in shown
    assert "asked &lt;twice&gt;" in shown


async def test_the_page_of_the_set_says_what_is_missing_and_what_is_broken(
    job: GoldenJob, app: ASGIApp, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mara = Reader(app, "mara")
    empty = await mara.page("/golden")
    assert "No case waits. The set is empty." in empty
    assert "[golden]\nrepository = " in empty
    for question in ("Which burrs fit?", "What does a crate weigh?"):
        case = job.add(
            parse({"question": question, "gold_answer": "x", "query_type": "canonical"}), "tess"
        )
        job.sign(case.case_id, "okafor", case.content_hash)
    await proposed(Reader(app, "tess"), job)
    shown = await mara.page("/golden")
    assert "Two cases wait for your signature. The set has 2 of the 50 cases" in shown
    assert "Missing for the mix: 18 canonical questions, 15 adversarial questions and 15 real" in (
        shown
    )
    lines = (await mara.get("/golden.jsonl")).text
    export_cases(json.loads(Golden(job).golden_set().model_dump_json()), "jsonl")
    assert lines == capsys.readouterr().out
    assert len(lines.splitlines()) == 2
    path = tmp_path / "set/golden.jsonl"
    path.write_text(path.read_text().replace("burrs", "knives"))
    git(tmp_path / "set", "commit", "-qam", "Make it pass")
    shown = await mara.page("/golden")
    assert "1 case of the set's file is not as signed, and counts for nothing." in shown
    assert "was edited after it was signed" in shown
    assert len((await mara.get("/golden.jsonl")).text.splitlines()) == 1
    path.unlink()
    shown = await mara.page("/golden")
    assert "The set cannot be read or signed into" in shown


async def test_cases_are_filtered(job: GoldenJob, app: ASGIApp) -> None:
    for question, kind, tag in (("Why?", "canonical", "easy"), ("How?", "adversarial", "edge")):
        job.add(parse({"question": question, "query_type": kind, "tags": [tag]}), "x")
    rita = Reader(app, "rita")

    async def rows(query: str) -> list[str]:
        table = (await rita.page(f"/golden?{query}")).partition('id="cases"')[2]
        return re.findall(r'<th scope="row"><a[^>]*>([^<]*)</a>', table)

    assert await rows("kind=canonical") == ["Why?"]
    assert await rows("tag=edge") == ["How?"]
    assert await rows("state=signed") == []
    assert await rows("service=elsewhere") == []
    assert sorted(await rows("state=proposed")) == ["How?", "Why?"]
    page = await rita.page("/golden?kind=canonical&tag=easy")
    assert 'href="/golden?since=7d&kind=canonical&tag=easy"' in page


async def test_a_daemon_without_a_set_says_so(store: Store, tmp_path: Path) -> None:
    settings = WebSettings.model_validate({"tokens_file": tokens_file(tmp_path)})
    shown = await Reader(api(store, Quiet(), settings), "rita").page("/golden")
    assert "No golden set is kept here" in shown


async def test_the_page_says_which_cases_that_passed_fail_again(
    store: Store, job: GoldenJob, app: ASGIApp
) -> None:
    now = NOW * 10**9
    names = ("steady", "again")
    kept = [
        GoldenCase(
            case_id=name, question=f"Is it {name}?", state=CaseState.PASSING, approved_by="bob",
            approved_unix_nano=now - 30 * 86_400 * 10**9,
        )
        for name in names
    ]  # fmt: skip
    runs = [
        CaseRun(
            case_id=name, time_unix_nano=now - (9 - place) * 10**9, against="target",
            is_pass=name == "steady" or place < 2, why="",
        )
        for name in names for place in range(8)
    ]  # fmt: skip
    golden.write(store, now, cases=kept, runs=runs)
    assert job.passing.standings() == {"steady": "steady", "again": "fails_again"}
    page = await Reader(app, "mara").page("/golden")
    text = html.unescape(" ".join(re.sub(r"<[^>]+>", " ", page).split()))
    assert "One case that passed fails again" in text
    assert "2 cases 1 still passes, 1 fails again" in text
    assert "How CI sends one" in text
    only = await Reader(app, "mara").page("/golden?standing=fails_again")
    assert "Is it again?" in only
    assert "Is it steady?" not in only


@pytest.mark.parametrize("verb", CaseVerb)
async def test_whatever_was_done_to_a_case_is_told(
    store: Store, job: GoldenJob, app: ASGIApp, verb: CaseVerb
) -> None:
    case_id = job.add(parse({"question": "Why?", "gold_answer": "So."}), "x").case_id
    event = CaseEvent(case_id=case_id, time_unix_nano=NOW * 10**9, verb=verb, revision=7)
    golden.write(store, NOW * 10**9, events=[event])
    told = (await Reader(app, "rita").page(f"/golden/{case_id}")).partition("What was done")[2]
    (line,) = [each for each in told.split("<li>") if "version 7" in each]
    words = re.sub(r"<[^>]+>", " ", line)
    is_of_case = verb in (CaseVerb.FOUND, CaseVerb.PASSED, CaseVerb.FAILED)
    assert ("the case" if is_of_case else "ragvigil") in words
