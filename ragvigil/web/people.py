"""The file of tokens: a line gives a role, a token, whose it is, and what an approver may sign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ragvigil.model.text import is_same_name, one_line
from ragvigil.model.token import lines_of, require_token
from ragvigil.web.identity import Person, Role

FORM = "`role token [name] [tags=a,b]`"
MOST_NAME = 64
"""Characters of a name; it goes into commits, lists and the log of acts."""


def people_in(path: Path, written: Mapping[str, Person]) -> dict[str, Person]:
    """Whose every token is: those of `written`, which are settings of their own, and the file's.

    Raises ValueError if the file has no token, or a line that is wrong or gives a token to a second
    person. It names the line by its number, never by its text, which may be a token.
    """
    people = dict(written)
    number = 0
    for number, line in lines_of(path):
        token, person = _token_and_person(line, f"{path}:{number}")
        for other in people.values():
            if other.name != person.name and is_same_name(other.name, person.name):
                raise ValueError(f"{path}:{number}: {person.name} is {other.name} in another line")
        known = people.setdefault(token, person)
        if known.role is not person.role:
            raise ValueError(f"{path}:{number}: is the token of the role {known.role} too")
        if known != person:
            raise ValueError(f"{path}:{number}: is the token of {known.name} too")
    if not number:
        raise ValueError(f"{path} holds no token; write one {FORM} a line")
    return people


def require_name(name: str) -> str:
    """Returns a person's name on one line.

    Raises ValueError, for a name that is empty, too long, or has characters that nobody sees.
    """
    shown = " ".join(name.split())
    if not shown or len(shown) > MOST_NAME or one_line(shown) != shown or not shown.isprintable():
        raise ValueError(f"a name has 1 to {MOST_NAME} characters that can be seen")
    return shown


def person_of(words: Sequence[str], name: str = "") -> Person:
    """The person of `role [tags=a,b]`, or of `role [name] [tags=a,b]` where `name` is empty.

    A person without a name is called by the role. Raises ValueError, which shows no word.
    """
    try:
        role = Role(words[0])
    except (IndexError, ValueError) as error:
        raise ValueError(f"names no role; roles: {', '.join(Role)}") from error
    named, tags = list(words[1:]), frozenset[str]()
    if named and named[-1].startswith("tags="):
        tags = frozenset(filter(None, named.pop().removeprefix("tags=").split(",")))
        if not tags or role is not Role.APPROVER:
            raise ValueError("tags= lists what an approver may sign: tags=medical,route:/ask")
    if any("=" in word for word in named) or (name and named):
        raise ValueError("has more than a role, a name and tags= at the end, without spaces in it")
    return Person(name=require_name(name or " ".join(named) or str(role)), role=role, tags=tags)


def _token_and_person(line: str, where: str) -> tuple[str, Person]:
    role, token, *more = (*line.split(), "")[: max(2, len(line.split()))]
    if not token or role not in list(Role):
        raise ValueError(f"{where}: is not a line of the form {FORM}; roles: {', '.join(Role)}")
    try:
        return require_token(token), person_of([role, *more])
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
