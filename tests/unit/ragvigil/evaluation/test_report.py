"""What a run showed: means by slice, the page, the command."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ragvigil.app.cli.main import app
from ragvigil.evaluation import result as results
from ragvigil.evaluation.report.document import as_document
from ragvigil.evaluation.report.page import as_page
from ragvigil.evaluation.result_file import Header, Results, read_results
from ragvigil.evaluation.summary import ALL, mean_of, parts, retriever_or_reranker
from tests import evaluated_desk as desk

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'{{ 7*7 }}"


class Attributes(HTMLParser):
    """Collects the names of attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        self.names |= {name for name, _ in attrs}


def made(name: str, value: float, group: str = "", **more: object) -> results.Result:
    return results.Result(case_id=name, group=group, values={"recall@50": value}, **more)  # type: ignore[arg-type]


def test_duplicates_are_one_question() -> None:
    (whole,) = parts([made("a", 1.0, "g"), made("b", 0.0, "g"), made("c", 1.0)])
    assert (whole.slice, whole.cases) == (ALL, 3)
    assert (whole.means["recall@50"].n, whole.means["recall@50"].mean) == (2, 0.75)


def test_intervals_stay_within_what_a_share_can_be() -> None:
    mean = mean_of([1.0, 1.0, 0.9])
    assert mean.low is not None
    assert 0 < mean.low < mean.mean < 1 == mean.high
    assert (mean_of([0.5]).low, mean_of([0.5]).shows) == (None, None)
    all_right = mean_of([1.0] * 40)
    assert all_right.shows is not None
    assert 0 < all_right.shows < 0.3


def test_slices_of_a_case_with_two_tags_hold_it_twice() -> None:
    found = parts([made("a", 1.0, slices={"tag": ("y", "x")}), made("b", 1.0)])
    assert [part.slice for part in found] == [ALL, ("tag", "x"), ("tag", "y")]
    (whole,) = parts([made("a", 1.0, slices={"tag": ("x",)})])
    assert whole.slice == ALL, "a slice of everything is left out"


@pytest.mark.parametrize(
    ("deep", "short", "says"),
    [(0.4, 0.4, "the retriever does not find"), (0.95, 0.5, "ranked too low"), (0.95, 0.9, "")],
)
def test_recall_tells_the_retriever_from_the_reranker(deep: float, short: float, says: str) -> None:
    means = {"recall@50": mean_of([deep] * 30), "recall@5": mean_of([short] * 30)}
    assert says in retriever_or_reranker(means)
    assert bool(retriever_or_reranker(means)) == bool(says)
    few = {"recall@50": mean_of([deep] * 3), "recall@5": mean_of([short] * 3)}
    assert retriever_or_reranker(few) == ""


def test_the_page_runs_and_loads_nothing() -> None:
    hostile = results.Result(
        case_id=HOSTILE,
        slices={HOSTILE: (HOSTILE,)},
        reading=results.Reading.NOT_USED,
        why=HOSTILE,
        answer=HOSTILE,
        values={"recall@5": 0.5, "groundedness": 1.0}
        | {f"recall@{k}": 0.5 for k in (1, 3, 10, 50)},
    )
    header = Header(set_name=HOSTILE, set_hash="h", target=HOSTILE)
    page = as_page(as_document(Results(header=header, results=(hostile,)), {}))
    assert "<script" not in page
    assert "<img" not in page
    assert page.count("{{ 7*7 }}") > 1
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    assert f"sha256-{b64encode(sha256(style[1].encode()).digest()).decode()}" in page
    attributes = Attributes()
    attributes.feed(page)
    assert not attributes.names & {"src", "href", "style"}
    assert not any(name.startswith("on") for name in attributes.names)


def evaluate(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["evaluate", *map(str, arguments)])


def test_the_command_writes_what_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    set_, replies = desk.write_cases(tmp_path / "set.jsonl"), tmp_path / "answers.jsonl"
    desk.write_replies(replies)
    done = evaluate(set_, "--target", replies, "--out", "new.jsonl", "--csv", "r.csv",
                    "--html", "r.html", "--json")  # fmt: skip
    assert done.exit_code == 1, "a case that must pass fails"
    document = json.loads(done.stdout)
    assert (document["cases"], document["failed"]) == (3, 1)
    assert document["failures"][0]["reading"] == "contradicted"
    assert len(read_results(tmp_path / "new.jsonl").results) == 3
    heading, *rows = (tmp_path / "r.csv").read_text().splitlines()
    assert heading == "query_id,query,query_run,passage_id,passage,generated_answer"
    assert len(rows) == 5
    again = json.loads(evaluate("set.jsonl", "--target", "r.csv", "--json").stdout)
    assert again["parts"] == document["parts"], "the CSV holds all that was answered"


def test_the_command_refuses_in_one_sentence(tmp_path: Path) -> None:
    set_ = desk.write_cases(tmp_path / "set.jsonl")
    for arguments, sentence in (
        ((tmp_path / "none.jsonl", "--target", "x:y"), "cannot be read"),
        ((set_,), "nothing to ask: give --target, or set [golden.target] url"),
        ((set_, "--target", "ftp://x"), "is neither a URL, module:function, nor a file"),
    ):
        done = evaluate(*arguments)
        assert (done.exit_code, done.stdout) == (2, "")
        assert sentence in done.stderr
