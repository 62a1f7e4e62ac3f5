"""Labels from files: what is read, what is refused by its line, what reaches the daemon."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as given_settings
from hypothesis import strategies as st

from ragvigil.app.cli.grading.labels_file import export_labels, import_labels
from ragvigil.app.client.api import Unreachable, get
from ragvigil.app.settings import Settings
from ragvigil.app.sources.judges import judge_source
from ragvigil.store.engine.store import Store
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import Quiet
from tests.judged import ids, keep_judged, verdict
from tests.served_api import port_of

TOKENS = {"triager_token": "tr1ager", "reader_token": "r3ader"}


@pytest.fixture(scope="module")
def daemon(opened_store: Store) -> Iterator[Settings]:
    """The API on a port of its own; the settings that lead there."""
    judging = judge_source(
        opened_store, lambda: ("groundedness", "refusal"), {"groundedness": 0.8}, time.time
    )
    app = api(opened_store, Quiet(), WebSettings.model_validate(TOKENS), judging=judging)
    with port_of(app) as port:
        yield Settings.model_validate({"web": {"endpoint": f"127.0.0.1:{port}", **TOKENS}})


def line(number: int, value: object, **more: object) -> dict[str, object]:
    trace_id, record_id = ids(number)
    return {
        "rubric": "groundedness",
        "trace_id": trace_id,
        "record_id": record_id,
        "value": value,
        **more,
    }


def jsonl(folder: Path, *lines: object) -> Path:
    path = folder / "labels.jsonl"
    texts = [row if isinstance(row, str) else json.dumps(row) for row in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def stored(daemon: Settings) -> list[dict[str, object]]:
    found: list[dict[str, object]] = get(daemon, "labels", limit=1000)["labels"]
    return found


def test_good_lines_are_taken_and_bad_ones_named(
    store: Store, daemon: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep_judged(store, {1: [verdict(0.9)]})
    path = jsonl(
        tmp_path,
        line(1, "pass", comment="fine"),
        "{",
        "[1]",
        "",
        line(2, 1.5),
        line(3, 0.5, rubric="eloquence"),
        line(4, None),
        line(5, 0.25, labeller="bob"),
        line(6, float("nan")),
        line(7, 1, comment="\ud800"),
        line(8, 0.75, labeller="Triager"),
    )
    assert import_labels(path, daemon, as_json=False) == 1
    said = capsys.readouterr()
    assert said.out == "2 labels stored, 1 of answers that are not stored (yet); 8 lines refused\n"
    refusals = {line.partition(":")[0]: line.partition(": ")[2] for line in said.err.splitlines()}
    assert sorted(refusals) == [f"line {number}" for number in (10, 2, 3, 5, 6, 7, 8, 9)]
    assert refusals["line 5"] == "value: Input should be less than or equal to 1"
    assert "there is no rubric eloquence" in refusals["line 6"]
    assert "a label in words is needed" in refusals["line 7"]
    assert refusals["line 8"].startswith("is a label of somebody else, and you are triager")
    found = {label["value"]: label for label in stored(daemon)}
    assert {(value, label["labeller"]) for value, label in found.items()} == {
        (1.0, "triager"),
        (0.75, "triager"),
    }
    assert found[1.0]["source"] == "file"


@pytest.mark.slow
@pytest.mark.usefixtures("store")
def test_the_same_file_again_changes_nothing_but_a_changed_line_does(
    daemon: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = jsonl(tmp_path, *(line(number, number % 2) for number in range(450)))
    for _ in range(2):
        assert import_labels(path, daemon, as_json=True) == 0
        said = json.loads(capsys.readouterr().out)
        assert said == {"accepted": 450, "matched": 0, "refused": []}
    assert len(stored(daemon)) == 450
    assert import_labels(jsonl(tmp_path, line(3, 0.0)), daemon, as_json=True) == 0
    assert len(stored(daemon)) == 450
    assert {label["value"] for label in stored(daemon) if label["trace_id"] == ids(3)[0]} == {0.0}


@pytest.mark.usefixtures("store")
def test_a_csv_from_a_spreadsheet_is_read(
    daemon: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "labels.CSV"
    rows = [
        "rubric,trace_id,record_id,value,label,comment",
        f'groundedness,{ids(1)[0]},,fail,,"two lines,\r\nand ""quotes"""',
        f"refusal,{ids(2)[0]},,,refused,",
        f"groundedness,{ids(3)[0]},,much,,",
        f"groundedness,{ids(4)[0]},,1,,a,b",
        f"groundedness,{ids(5)[0]},{ids(5)[1]},0.75,,\u00fc",
    ]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(rows).encode())
    assert import_labels(path, daemon, as_json=False) == 1
    said = capsys.readouterr()
    assert "line 5: value: Input should be a valid number" in said.err
    assert "line 6: has more cells than the heading" in said.err
    found = {label["trace_id"]: label for label in stored(daemon)}
    assert len(found) == 3
    assert found[ids(1)[0]]["comment"] == 'two lines,\r\nand "quotes"'
    assert (found[ids(2)[0]]["value"], found[ids(2)[0]]["label"]) == (None, "refused")
    assert found[ids(5)[0]]["value"] == 0.75


@pytest.mark.usefixtures("store")
def test_long_comments_are_sent_in_smaller_pieces(daemon: Settings, tmp_path: Path) -> None:
    path = jsonl(tmp_path, *(line(number, 1, comment="x" * 9_000) for number in range(60)))
    assert import_labels(path, daemon, as_json=False) == 0
    assert len(stored(daemon)) == 60


@pytest.mark.parametrize("name", ["missing.jsonl", "missing.csv"])
def test_a_file_that_is_not_there_is_one_sentence(
    daemon: Settings, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert import_labels(tmp_path / name, daemon, as_json=False) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err


def test_a_csv_in_another_encoding_is_refused(
    daemon: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes("rubric,comment\ngroundedness,f\u00fcr\n".encode("latin-1"))
    assert import_labels(path, daemon, as_json=False) == 2
    assert "is not UTF-8" in capsys.readouterr().err


def test_without_a_daemon_or_token_the_way_out_is_said(daemon: Settings, tmp_path: Path) -> None:
    path = jsonl(tmp_path, line(1, 1))
    nobody = Settings.model_validate({"web": {"endpoint": "127.0.0.1:9"}})
    with pytest.raises(Unreachable, match="start one with `ragvigil run`"):
        import_labels(path, nobody, as_json=False)
    weak = {"endpoint": daemon.web.endpoint, "reader_token": "r3ader"}
    with pytest.raises(Unreachable, match=": a token is needed: "):
        import_labels(path, Settings.model_validate({"web": weak}), as_json=False)


@given(st.lists(st.binary(max_size=60), max_size=8), st.sampled_from([".jsonl", ".csv"]))
@given_settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_garbage_is_refused_line_by_line_and_never_raises(
    daemon: Settings, tmp_path: Path, lines: list[bytes], suffix: str
) -> None:
    path = tmp_path / f"garbage{suffix}"
    path.write_bytes(b"\n".join(lines))
    assert import_labels(path, daemon, as_json=True) in (0, 1, 2)


def test_labels_leave_and_come_back_as_they_were(
    daemon: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str], store: Store
) -> None:
    keep_judged(store, {1: [verdict(0.9)]})
    hostile = ["=1+1", "'=1", "@a", "-2", 'a, "b"\nc', "ä 日本"]
    lines = [line(n, 0.5, comment=text) for n, text in enumerate(hostile, start=1)]
    import_labels(jsonl(tmp_path, *lines), daemon, as_json=True)
    before = stored(daemon)
    for form in ("csv", "jsonl"):
        capsys.readouterr()
        export_labels(get(daemon, "labels", limit=1000), form)
        path = tmp_path / f"again.{form}"
        path.write_bytes(capsys.readouterr().out.encode())
        store.change("TRUNCATE TABLE labels")
        assert import_labels(path, daemon, as_json=True) == 0
        assert stored(daemon) == before
