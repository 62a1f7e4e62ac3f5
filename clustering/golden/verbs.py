"""Applies people's verbs to a case: propose, edit, sign, reject; each returns the new case. Pure.

A signed case that is edited becomes a proposal of the next revision; the set keeps the signed
revision until the new one is signed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from clustering.golden.case import LISTS, SOURCES, TEXTS, BadCase, as_json, parse
from clustering.golden.content import content_hash
from ragvigil.model.golden import CaseState, GoldenCase
from ragvigil.model.identity import identity
from ragvigil.model.text import is_same_name, one_line

EDITED = {*TEXTS, *LISTS, *SOURCES, "query_type", "expected_facts"} - {
    "case_id", "edited_by", "trace_id", "record_id"
}  # fmt: skip
"""Keys that an edit may change; the trace and record a case came from stay."""
CASE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
IN_SET = frozenset({CaseState.SIGNED, CaseState.PASSING})


class Refused(ValueError):
    """The verb does not fit the case's state; `str(error)` says why, and the way out."""


class OwnCase(Refused):
    """Who would sign the case proposed or edited it."""


class OutsideTags(Refused):
    """The case is none of those that its approver may sign."""


def propose(case: GoldenCase, actor: str, now: int) -> GoldenCase:
    """A new proposal of `actor`; `now` is in nanoseconds. A case without an id gets one.

    Raises Refused without an actor, BadCase if the id is not allowed.
    """
    name = _actor_name(actor, "proposes")
    if case.case_id and CASE_ID.fullmatch(case.case_id) is None:
        raise BadCase(
            f"case_id: {case.case_id!r} is not made of at most 64 letters, digits and -_."
        )
    source = (case.trace_id, case.record_id) if case.trace_id else (case.question,)
    return _hashed(
        replace(
            case,
            case_id=case.case_id or identity("golden", *source),
            state=CaseState.PROPOSED,
            proposed_by=name,
            proposed_unix_nano=now,
            edited_by=(),
            approved_by="",
            approved_unix_nano=0,
            revision=case.revision + 1,
        )
    )


def edit(case: GoldenCase, changes: Mapping[str, Any], actor: str, now: int) -> GoldenCase:
    """The next revision of a case; `changes` maps keys of its line to new values.

    Raises Refused if the case was rejected or nothing changes, BadCase if a value is wrong.
    """
    author = _actor_name(actor, "edits")
    if case.state is CaseState.REJECTED:
        raise Refused(f"{case.case_id} was rejected; propose its trace again")
    unknown = sorted(set(changes) - EDITED)
    if unknown:
        raise BadCase(f"{unknown[0]}: cannot be edited; {', '.join(sorted(EDITED))} can")
    # The tags alone: the old first one, which the line calls its slice, must not come back.
    line = {key: value for key, value in as_json(case).items() if key != "slice"}
    after = parse({**line, **changes})
    if content_hash(after) == content_hash(case):
        raise Refused(f"nothing of {case.case_id} changes")
    if case.state in IN_SET:
        return propose(after, author, now)
    authors = () if is_same_name(author, case.proposed_by) else (author,)
    others = [name for name in case.edited_by if not is_same_name(name, author)]
    return _hashed(
        replace(after, edited_by=(*others, *authors), revision=case.revision + 1, state=case.state)
    )


def sign(case: GoldenCase, actor: str, seen_hash: str, now: int, *, two_people: bool) -> GoldenCase:
    """The case signed by `actor`, who saw the content with the hash `seen_hash`.

    Raises Refused if the case is not a proposal or has changed since, OwnCase if `actor` wrote it.
    """
    signer = _actor_name(actor, "signs")
    if case.state is not CaseState.PROPOSED:
        by = f" by {case.approved_by}" if case.approved_by else ""
        raise Refused(f"{case.case_id} is {case.state}{by}: only a proposed case is signed")
    if content_hash(case) != case.content_hash:
        raise Refused(f"{case.case_id} has another content than its hash says; edit it again")
    if seen_hash != case.content_hash:
        raise Refused(
            f"{case.case_id} was changed since you saw it: look at revision {case.revision} first"
        )
    authors = [
        author for author in (case.proposed_by, *case.edited_by) if is_same_name(author, signer)
    ]
    if two_people and authors:
        raise OwnCase(
            f"{signer} wrote {case.case_id}: somebody else must sign it ([golden] two_people); "
            "give each person a token of their own ([web] tokens_file)"
        )
    return replace(case, state=CaseState.SIGNED, approved_by=signer, approved_unix_nano=now)


def reject(case: GoldenCase, actor: str, *, is_in_file: bool) -> GoldenCase:
    """Rejects a proposal, or a signed case whose line people took out of the set's file.

    Raises Refused otherwise.
    """
    _actor_name(actor, "rejects")
    if case.state is CaseState.REJECTED:
        raise Refused(f"{case.case_id} is rejected already")
    if case.state in IN_SET and is_in_file:
        raise Refused(f"{case.case_id} is in the set: take its line out in a commit first")
    return replace(case, state=CaseState.REJECTED)


def require_within(case: GoldenCase, tags: Collection[str]) -> None:
    """Raises OutsideTags for a case that has none of these tags; no tags at all is no bound.

    `route:/ask` and `service:desk` stand for the case's route and service.
    """
    if tags and not {*case.tags, f"route:{case.route}", f"service:{case.service}"} & {*tags}:
        yours = ", ".join(sorted(tags))
        raise OutsideTags(f"{case.case_id} is not yours to sign: you sign {yours}")


def _actor_name(actor: str, does: str) -> str:
    """The actor's name on one line, as it goes into a commit. Raises Refused without one."""
    name = one_line(actor)
    if not name:
        raise Refused(f"who {does} it? a name is needed")
    return name


def _hashed(case: GoldenCase) -> GoldenCase:
    return replace(case, content_hash=content_hash(case))
