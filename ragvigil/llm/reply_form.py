"""Chooses the form in which a reply is asked for, by what the server has refused so far.

Not every server of OpenAI's protocol knows the strict schema: some refuse it, some know JSON
without a schema, some only text. Whatever form was asked for, the reply is read by the same strict
rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

ENOUGH = 3
"""Failures in a row after which a form is dropped; `ReplyForms` says when one is enough."""
FIRST_REST = 100
"""A dropped form is tried again after this many replies in other forms.

Each time that it is dropped again, the number doubles; once it works, the number starts anew.
"""
FORM_WORDS = re.compile(
    r"response_format|json_schema|json_object|structured[ _]outputs?|output_config|output_format"
    r"|guided_\w+|grammar|tool_choice",
    re.IGNORECASE,
)
"""Words for the form in the refusals of OpenAI, Anthropic, vLLM, llama.cpp, LM Studio, DeepSeek."""


class ReplyForm(StrEnum):
    """From the strictest to the loosest.

    `json_schema` is the provider's strict schema, or a tool that must be called; the other two
    write the schema into the prompt.
    """

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    TEXT = "text"


FORMS_OF = {"openai": tuple(ReplyForm)}
"""The forms of a provider's protocol, where they differ from COMMON."""
COMMON = (ReplyForm.JSON_SCHEMA, ReplyForm.TEXT)


def forms_of(provider: str) -> tuple[ReplyForm, ...]:
    """The forms that a provider's protocol has, strictest first."""
    return FORMS_OF.get(provider, COMMON)


def names_the_form(error: str, prompt: str) -> bool:
    """Whether an error names the form of the reply, in words that are not in the prompt.

    Servers repeat prompts in errors, and prompts hold text of strangers.

    >>> names_the_form("response_format.type must be 'text'", prompt="Is it so?")
    True
    >>> names_the_form("cannot read: what is a grammar?", prompt="what is a grammar?")
    False
    """
    lowered = prompt.lower()
    return any(word.lower() not in lowered for word in FORM_WORDS.findall(error))


class ReplyForms:
    """Chooses among `forms` (strictest first) by the outcome of earlier attempts.

    A form that never worked is dropped at the first refusal that names it, or after ENOUGH
    failures in a row without a reason. A form that has worked is dropped only after ENOUGH
    refusals in a row that name it. Where this would drop the last form, the server is out of
    order rather than choosy, and all forms are tried again.

    >>> forms = ReplyForms([ReplyForm.JSON_SCHEMA, ReplyForm.TEXT])
    >>> forms.failed(ReplyForm.JSON_SCHEMA, is_named=True)
    >>> forms.first.value
    'text'
    """

    def __init__(self, forms: Sequence[ReplyForm]) -> None:
        self._forms = tuple(forms)
        self._failures = dict.fromkeys(self._forms, 0)
        self._worked: set[ReplyForm] = set()
        # Replies for which the next drop of a form will last.
        self._rest = dict.fromkeys(self._forms, FIRST_REST)
        # The dropped forms, each with the replies left until it is tried again.
        self._dropped: dict[ReplyForm, int] = {}

    @property
    def first(self) -> ReplyForm:
        """The form to begin with: the strictest that is not dropped."""
        return next(form for form in self._forms if form not in self._dropped)

    def looser(self, form: ReplyForm) -> ReplyForm | None:
        """The next looser form; None after the last."""
        looser = self._forms[self._forms.index(form) + 1 :]
        return looser[0] if looser else None

    def worked(self, form: ReplyForm) -> None:
        """Takes up a form that gave a reply; each dropped form is a reply nearer to its trial."""
        self._failures[form] = 0
        self._rest[form] = FIRST_REST
        self._worked.add(form)
        self._dropped.pop(form, None)
        self._dropped = {dropped: rest - 1 for dropped, rest in self._dropped.items() if rest > 1}

    def failed(self, form: ReplyForm, *, is_named: bool) -> None:
        """Counts a refusal that names the form (`is_named`), or a failure that may be due to it.

        The latter is not counted against a form that has worked.
        """
        has_worked = form in self._worked
        if has_worked and not is_named:
            return
        self._failures[form] += 1
        needed = ENOUGH if has_worked or not is_named else 1
        if form in self._dropped or self._failures[form] < needed:
            return
        self._dropped[form] = self._rest[form]
        self._rest[form] *= 2
        if len(self._dropped) == len(self._forms):
            self._dropped.clear()
            self._failures = dict.fromkeys(self._forms, 0)
            self._rest = dict.fromkeys(self._forms, FIRST_REST)
