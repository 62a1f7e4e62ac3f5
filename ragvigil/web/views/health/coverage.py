"""Which fields the answers of each service carry. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ragvigil.model.figures import share, spelled
from ragvigil.web.views.doctor import DiagnosisForm, DoctorForm

NAMES = {
    "query": "question",
    "retrieved": "retrieved chunks",
    "reranked": "reranked chunks",
    "document_texts": "chunk texts",
    "retrieved_texts": "texts of chunks outside the prompt",
    "usage": "token counts",
}
"""Fields whose names say less than these words; others are named as they are."""


def field_name(field: str) -> str:
    """A field of an answer as pages name it."""
    return NAMES.get(field, field.replace("_", " "))


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Fields of a service's answers: name, share in words, and whether all have it."""

    diagnosis: DiagnosisForm
    fields: tuple[tuple[str, str, bool], ...]

    @property
    def sentence(self) -> str:
        """How many fields arrive."""
        name = self.diagnosis.service or "A service without a name"
        whole = sum(is_whole for _, _, is_whole in self.fields)
        if whole == len(self.fields):
            return f"{name} sends all {spelled(whole)} fields"
        return f"{name} sends {spelled(whole)} of {spelled(len(self.fields))} fields in full"


def coverage(doctor: DoctorForm) -> list[Coverage]:
    """Fields by service and instrumentor, those that arrive first; what never ran is left out."""
    return [
        Coverage(
            diagnosis=diagnosis,
            fields=tuple(
                (field_name(name), share(part), part == 1)
                for name, part in sorted(diagnosis.present.items(), key=_by_share)
                if part is not None
            ),
        )
        for diagnosis in doctor.services
    ]


def _by_share(item: tuple[str, float | None]) -> float:
    return -(item[1] or 0.0)
