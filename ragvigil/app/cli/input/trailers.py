"""The issues that commits say they fix: the trailer `Ragvigil-Fixes: ID` of their messages."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence

from ragvigil.app.cli.input.options import stop

TRAILER = "Ragvigil-Fixes"
ID = re.compile(r"[0-9a-f]{3,16}")
SECONDS = 30.0


def fixes(commits: str, named: Sequence[str] = ()) -> list[str]:
    """The ids named by hand, and those in the trailers of a range of commits, each once.

    A range is what `git log` takes, as in `v2.4.0..HEAD`, in the repository of the current folder;
    '' is none. Exits with 2 where git cannot read it, or where a trailer holds no id.
    """
    written = _trailers(commits) if commits else ""
    ids = [each.lower() for each in (*named, *re.split(r"[\s,]+", written)) if each]
    for each in ids:
        if not ID.fullmatch(each):
            stop(f"{TRAILER}: {each!r} is not the id of an issue, or its first letters")
    return list(dict.fromkeys(ids))


def _trailers(commits: str) -> str:
    command = ["git", "log", f"--format=%(trailers:key={TRAILER},valueonly)", commits, "--"]
    if commits.startswith("-"):
        stop(f"{commits}: is no range of commits")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    except FileNotFoundError:
        stop("git is not installed: name the issues with --fixes")
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        said = str(getattr(error, "stderr", "") or error).strip().splitlines()
        stop(f"{commits}: git cannot read it: {said[-1] if said else error}")
    return done.stdout
