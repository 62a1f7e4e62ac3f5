"""How a reply's form is asked for, and which way a server understands.

Not every server that speaks OpenAI's protocol knows the strict schema: some refuse it, some know
JSON without a schema, some only text. Which one a server is, its refusals tell. However a reply
was asked for, it is read by the same strict rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

ENOUGH = 3
"""Failures in a row after which a form is left, where one does not tell enough."""
FIRST_REST = 100
"""Replies in a looser form until a form that was left is tried again; doubled at each failure."""
FORM_WORDS = re.compile(
    r"response_format|json_schema|json_object|structured[ _]outputs?|output_config|output_format"
    r"|guided_\w+|grammar|tool_choice",
    re.IGNORECASE,
)
"""What OpenAI, Anthropic, vLLM, llama.cpp, LM Studio and DeepSeek name when they refuse a form."""


class ReplyForm(StrEnum):
    """From the strictest to the loosest; the last two carry the schema in the prompt.

    `json_schema` is the provider's strict schema, or a tool that must be called.
    """

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    TEXT = "text"


FORMS_OF = {"openai": tuple(ReplyForm)}
"""By provider, the forms that it has."""
COMMON = (ReplyForm.JSON_SCHEMA, ReplyForm.TEXT)


def forms_of(provider: str) -> tuple[ReplyForm, ...]:
    """The forms that a provider's protocol has, strictest first."""
    return FORMS_OF.get(provider, COMMON)


def names_the_form(error: str, prompt: str) -> bool:
    """Whether an error speaks of the form of the reply, in words that the prompt does not hold.

    Servers repeat prompts in errors, and prompts hold what strangers wrote.

    >>> names_the_form("response_format.type must be 'text'", prompt="Is it so?")
    True
    >>> names_the_form("cannot read: what is a grammar?", prompt="what is a grammar?")
    False
    """
    held = prompt.lower()
    return any(word.lower() not in held for word in FORM_WORDS.findall(error))


class ReplyForms:
    """Chooses among `forms` (strictest first) by what became of earlier attempts.

    A form that never worked is left at the first refusal that names it, and after ENOUGH failures
    in a row without a reason; one that has worked, after ENOUGH refusals in a row that name it.
    Forms that all fail are all taken up again: that is an outage.

    >>> forms = ReplyForms([ReplyForm.JSON_SCHEMA, ReplyForm.TEXT])
    >>> forms.failed(ReplyForm.JSON_SCHEMA, is_named=True)
    >>> forms.first.value
    'text'
    """

    def __init__(self, forms: Sequence[ReplyForm]) -> None:
        self._forms = tuple(forms)
        self._failures = dict.fromkeys(self._forms, 0)
        self._known: set[ReplyForm] = set()
        self._rest = dict.fromkeys(self._forms, FIRST_REST)
        self._left: dict[ReplyForm, int] = {}

    @property
    def first(self) -> ReplyForm:
        """The form to begin with: the strictest that is not left."""
        return next(form for form in self._forms if form not in self._left)

    def looser(self, form: ReplyForm) -> ReplyForm | None:
        """The next looser form; None behind the last."""
        behind = self._forms[self._forms.index(form) + 1 :]
        return behind[0] if behind else None

    def worked(self, form: ReplyForm) -> None:
        """A reply came; forms that were left come nearer to their next trial."""
        self._failures[form] = 0
        self._rest[form] = FIRST_REST
        self._known.add(form)
        self._left.pop(form, None)
        self._left = {left: rest - 1 for left, rest in self._left.items() if rest > 1}

    def failed(self, form: ReplyForm, *, is_named: bool) -> None:
        """The server refused the form (`is_named`), or failed in a way that may be due to it."""
        is_known = form in self._known
        if is_known and not is_named:
            return
        self._failures[form] += 1
        enough = ENOUGH if is_known or not is_named else 1
        if form in self._left or self._failures[form] < enough:
            return
        self._left[form] = self._rest[form]
        self._rest[form] *= 2
        if len(self._left) == len(self._forms):
            self._left.clear()
            self._failures = dict.fromkeys(self._forms, 0)
            self._rest = dict.fromkeys(self._forms, FIRST_REST)
