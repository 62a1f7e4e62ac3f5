"""What a rubric asks, with names in the place of texts: nobody is asked."""

from __future__ import annotations

from scorers.judge.material import Item
from scorers.judge.prompt import Section, render
from scorers.judge_table import About, Judging, Shown

DELIMITER = "<a random word>"
ITEMS = {
    About.CHUNKS: (("c1", ""), ("c2", "")),
    About.CLAIMS: (("s1", "claim"), ("s2", "claim")),
    About.CITATIONS: (("r1", "citation"), ("r2", "citation")),
    About.NUGGETS: (),
    About.ANSWER: (("answer", ""),),
}


def skeleton(judging: Judging) -> str:
    """The prompt of a rubric for a record of two chunks."""
    shows = judging.shows
    values = {
        "question": Shown.QUESTION in shows,
        "answer": Shown.ANSWER in shows,
        "reference 1": Shown.REFERENCE in shows and judging.about is not About.NUGGETS,
        "passage c1": not {Shown.CONTEXT, Shown.RETRIEVED}.isdisjoint(shows),
        "passage c2": not {Shown.CONTEXT, Shown.RETRIEVED}.isdisjoint(shows),
    }
    names = [name for name, is_shown in values.items() if is_shown]
    names += [f"{kind} {name}" for name, kind in ITEMS[judging.about] if kind]
    sections = [Section(name, f'"<the text of {name}>"') for name in names]
    items = [Item(name=name) for name, _ in ITEMS[judging.about]]
    return render(judging, items, sections, DELIMITER)
