"""The log of acts, and who asks, as the API shows them."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from ragvigil.store.watch.acts import Act
from ragvigil.web.identity import Role, Way
from ragvigil.web.views.values import view


class PersonForm(BaseModel):
    """Whoever sent the request."""

    name: str = Field(description="the name that this person's acts have")
    role: Role
    tags: list[str] = Field(description="bound what an approver may sign; empty is no bound")
    way: Way = Field(description="how the request showed it")


class ActForm(BaseModel):
    """What somebody did."""

    time: datetime
    person: str
    role: str = Field(description="the role that the person had")
    verb: str
    thing: str = Field(description="a path such as `issues/ID`")
    place: str = Field(description="`page` or `api`")


class ActsForm(BaseModel):
    """Acts that match, the newest first."""

    acts: list[ActForm]
    next: str | None = Field(description="the cursor of the next page; null on the last")


def act_form(act: Act) -> ActForm:
    """An act as the API shows it."""
    return view(ActForm, act)
