"""A case about refunds, the chunk that answers it, and chunks that are like it and do not."""

from __future__ import annotations

from ragvigil.evaluation.case import Case
from scorers.golden import Gold

REFUND = Gold(
    chunk_id="refund-02",
    text="Refunds are paid to the card that was charged. The bank shows them after 5 days, "
    "and the shop pays no interest.",
)
OTHERS = tuple(
    Gold(chunk_id=f"other-{place}", text=text)
    for place, text in enumerate(
        (
            "A refund needs the order number and the reason of the return.",
            "How long a parcel takes depends on the country; days off are not counted.",
            "The refund of a gift goes to whoever paid for it.",
            "A voucher is a kind of refund that takes no bank at all.",
            "Orders can be changed for an hour.",
            "Long lists of items are packed into several parcels.",
            "Refund requests are answered by people, not machines.",
            "A lost card does not matter for a refund.",
        )
    )
)
CASE = Case(
    case_id="c1",
    question="How long does a refund to a card take?",
    gold=(REFUND,),
    answer="It takes 5 days.",
    slices={"tag": ("easy",)},
    must_pass=True,
)
