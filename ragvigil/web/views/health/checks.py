"""What must hold for the daemon's numbers to be trusted: a row each, and all of it in a sentence.

Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragvigil.model.figures import listed, sentence, spelled
from ragvigil.web.views.health import daemon_checks, judge_checks
from ragvigil.web.views.health.kinds import RANKS, Check, Evidence, Verdict


def checks(evidence: Evidence) -> list[Check]:
    """Every check, those that need somebody first."""
    found = [
        daemon_checks.books(evidence.ledger),
        daemon_checks.intake(evidence),
        daemon_checks.delay(evidence),
        *judge_checks.judge(evidence),
        *judge_checks.trust(evidence.judges),
        *judge_checks.canary(evidence),
        daemon_checks.disk(evidence),
        daemon_checks.store(evidence),
        *daemon_checks.fields(evidence.doctor),
        *daemon_checks.jobs(evidence),
        *daemon_checks.left_out(evidence),
    ]
    return sorted(found, key=lambda check: RANKS.index(check.verdict))


def heading(found: Sequence[Check]) -> str:
    """Whether what the pages show can be trusted."""
    by_verdict = {verdict: [each for each in found if each.verdict is verdict] for verdict in RANKS}
    broken, worse = by_verdict[Verdict.BROKEN], by_verdict[Verdict.WORSE]
    muted = by_verdict[Verdict.MUTED]
    if broken:
        names = listed([check.name.lower() for check in broken], most=3)
        return f"Do not rely on what you see: {names} {'is' if len(broken) == 1 else 'are'} broken"
    if any(
        check.name == daemon_checks.INTAKE and check.verdict is Verdict.MISSING for check in found
    ):
        return "There is nothing to trust yet: no span has arrived in 24 hours"
    parts = []
    if worse:
        parts.append(f"{_things(len(worse))} {'needs' if len(worse) == 1 else 'need'} you")
    if muted:
        parts.append(f"{_rubrics(len(muted))} {'is' if len(muted) == 1 else 'are'} muted")
    return " ".join(["You can trust what you see.", *(f"{sentence(part)}." for part in parts)])


def table_sentence(found: Sequence[Check]) -> str:
    """How many checks stand how.

    >>> table_sentence([])
    'Nothing was checked'
    """
    numbers = [
        (sum(check.verdict in verdicts for check in found), words)
        for verdicts, words in (
            ((Verdict.BROKEN,), "broken"),
            ((Verdict.WORSE,), "worse"),
            ((Verdict.MUTED,), "muted"),
            ((Verdict.MISSING,), "lacking data"),
        )
    ]
    parts = [
        f"{spelled(number)} {'is' if number == 1 else 'are'} {words}"
        for number, words in numbers
        if number
    ]
    if not found:
        return "Nothing was checked"
    if not parts:
        return f"All {spelled(len(found))} checks hold"
    rest = sum(check.verdict is Verdict.HOLDS for check in found)
    parts += [f"{spelled(rest)} {'holds' if rest == 1 else 'hold'}"] if rest else []
    return sentence(f"of {spelled(len(found))} checks, {', '.join(parts)}")


def _things(number: int) -> str:
    return f"{spelled(number)} thing{'s' * (number != 1)}"


def _rubrics(number: int) -> str:
    return f"{spelled(number)} rubric{'s' * (number != 1)}"
