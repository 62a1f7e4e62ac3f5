"""The spans that OpenInference's instrumentor makes of a DSPy program, written from its source.

Sources: openinference-instrumentation-dspy 0.1.48 (what is put on a span) and the adapters of DSPy
3.1 (what a prompt looks like).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from collector.claims.program_calls import SCOPE
from ragvigil.model.span import AttributeValue, Event, Span, StatusCode
from tests.traces import span

Fields = Mapping[str, object]


def listed(passages: Sequence[str]) -> str:
    """A list in a field of texts, as DSPy writes it."""
    if not passages:
        return "N/A"
    if len(passages) == 1:
        return _blob(passages[0])
    return "\n".join(f"[{number}] {_blob(text)}" for number, text in enumerate(passages, start=1))


def _blob(text: str) -> str:
    if not any(sign in text for sign in "\n«»"):
        return f"«{text}»"
    indented = text.replace("\n", "\n    ")
    return f"«««\n    {indented}\n»»»"


def _written(value: object, typed: bool) -> str:
    if isinstance(value, list) and not typed:
        return listed(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else str(value)


class Adapter:
    """Formats prompts and replies: `name` is ChatAdapter, JSONAdapter or XMLAdapter.

    A `typed` list of texts is written as JSON, any other with numbers and quotes.
    """

    def __init__(self, name: str = "ChatAdapter", *, typed: bool = False):
        self.name, self.typed = name, typed

    def user(self, inputs: Fields, outputs: Iterable[str]) -> str:
        """The message that asks for `outputs`."""
        required = ", then ".join(f"`[[ ## {name} ## ]]`" for name in outputs)
        end = f"Respond with the corresponding output fields, starting with the field {required}, and then ending with the marker for `[[ ## completed ## ]]`."  # noqa: E501
        return self._fields(inputs) + "\n\n" + end

    def _fields(self, fields: Fields) -> str:
        opening, closing = (
            ("<{}>", "\n</{}>") if self.name == "XMLAdapter" else ("[[ ## {} ## ]]", "")
        )
        return "\n\n".join(
            f"{opening.format(name)}\n{_written(value, self.typed)}{closing.format(name)}"
            for name, value in fields.items()
        )

    def reply(self, outputs: Fields) -> str:
        """What the model answers."""
        if self.name == "JSONAdapter":
            return json.dumps(outputs, indent=2, ensure_ascii=False)
        end = "" if self.name == "XMLAdapter" else "\n\n[[ ## completed ## ]]\n"
        return self._fields(outputs) + end

    def system(self, inputs: Iterable[str], outputs: Iterable[str]) -> str:
        """The system message: fields, their structure, and the task."""
        names = [*inputs, *outputs]
        described = [f"{n}. `{name}` (str): may contain relevant facts about the {name}"
                     for n, name in enumerate(names, start=1)]  # fmt: skip
        structure = self._fields({name: f"{{{name}}}" for name in names})
        return (
            "Your input fields are:\n" + "\n".join(described) + "\n"
            "All interactions will be structured in the following way, with the appropriate values "
            f"filled in.\n\n{structure}\n\n[[ ## completed ## ]]\nIn adhering to this structure, "
            "your objective is: \n        Answer questions with the given context and cite it."
        )  # fmt: skip


class Program:
    """Collects the spans of a program; each call of a predictor is a chain of spans."""

    def __init__(self, adapter: Adapter | None = None):
        self.adapter = adapter or Adapter()
        self.spans: list[Span] = []
        self._numbers = count()

    def chain(self, name: str, inputs: Fields, outputs: object, parent: str = "",
              at: tuple[float, float] = (0, 9), failed: bool = False) -> str:  # fmt: skip
        """A module's span; returns its id."""
        attributes: dict[str, AttributeValue] = {
            "openinference.span.kind": "CHAIN",
            "input.mime_type": "application/json",
            "input.value": json.dumps(inputs),
        }
        if outputs is not None:
            attributes["output.value"] = json.dumps(outputs)
        return self._add(name, attributes, parent, at, failed)

    def _add(self, name: str, attributes: dict[str, AttributeValue], parent: str,
             at: tuple[float, float], failed: bool = False) -> str:  # fmt: skip
        own = f"{name}-{next(self._numbers)}"
        status = StatusCode.ERROR if failed else StatusCode.OK
        kind = {"exception.type": "AdapterParseError"}
        raised = Event(name="exception", time_unix_nano=0, attributes=kind)
        events = (raised,) if failed else ()
        self.spans.append(span(name, attributes, parent=parent, at=at, span_id=own, scope=SCOPE,
                               status=status, events=events))  # fmt: skip
        return own

    def predict(self, inputs: Fields, outputs: Fields | None, parent: str = "", *,
                at: float = 1, thought: bool = False, demos: Sequence[tuple[Fields, Fields]] = (),
                reply: str | None = None, run: str = "") -> None:  # fmt: skip
        """A predictor's call: its module spans, the adapter's and the model's.

        `outputs` None is a call that failed; `run` is "a" for an asynchronous one.
        """
        span_at = (at, at + 0.5)
        failed = outputs is None
        if thought:
            parent = self.chain(
                f"ChainOfThought.{run}forward", inputs, outputs, parent, span_at, failed
            )
        parent = self.chain(f"Predict.{run}forward", inputs, outputs, parent, span_at, failed)
        parent = self.chain(
            f"Predict(StringSignature).{run}forward", inputs, outputs, parent, span_at, failed
        )
        call = "acall" if run else "__call__"
        arguments = {
            "lm": "<dspy.clients.lm.LM object>",
            "lm_kwargs": {},
            "demos": [a for a, _ in demos],
            "inputs": inputs,
        }
        parent = self.chain(
            f"{self.adapter.name}.{call}",
            arguments,
            [outputs] if outputs else None,
            parent,
            span_at,
            failed,
        )
        self._model(inputs, outputs, parent, span_at, demos, reply, call)

    def _model(self, inputs: Fields, outputs: Fields | None, parent: str, at: tuple[float, float],
               demos: Sequence[tuple[Fields, Fields]], reply: str | None,
               call: str) -> None:  # fmt: skip
        expected = list(outputs or {"answer": ""})
        messages = [("system", self.adapter.system(inputs, expected))]
        for asked, answered in demos:
            messages.append(("user", self.adapter.user(asked, ())))
            messages.append(("assistant", self.adapter.reply(answered)))
        messages.append(("user", self.adapter.user(inputs, expected)))
        attributes: dict[str, AttributeValue] = {
            "openinference.span.kind": "LLM", "llm.model_name": "gpt-4o-mini",
            "input.value": json.dumps({"prompt": None, "messages": messages, "kwargs": {}}),
        }  # fmt: skip
        for number, (role, content) in enumerate(messages):
            attributes[f"llm.input_messages.{number}.message.role"] = role
            attributes[f"llm.input_messages.{number}.message.content"] = content
        text = reply if reply is not None else self.adapter.reply(outputs) if outputs else None
        if text is not None:
            attributes["output.value"] = json.dumps([text])
            attributes["llm.output_messages.0.message.role"] = "assistant"
            attributes["llm.output_messages.0.message.content"] = text
        self._add(f"LM.{call}", attributes, parent, at, failed=text is None)

    def tool(
        self, name: str, arguments: Fields, output: object, parent: str, at: float = 0.5
    ) -> None:
        """A call of a tool."""
        attributes: dict[str, AttributeValue] = {
            "openinference.span.kind": "TOOL", "input.value": json.dumps({"kwargs": arguments}),
            "output.value": json.dumps(output),
        }  # fmt: skip
        self._add(f"{name}.__call__", attributes, parent, (at, at + 0.2))
