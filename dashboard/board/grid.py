"""The table on the board: the cells of all releases on one scale per row, and what draws it on the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from anoncore.base.number import Number
from anoncore.measures.answer import Answer
from anoncore.measures.criteria import CRITERIA, FAMILIES
from dashboard.board.facts import NUMBER, SIZE_EDGES, STRONGEST, Facts
from dashboard.board.over import Over
from dashboard.board.trials import Trial
from dashboard.board.wording import PAGES, ROWS, Asked, Cell, Shown, attacks_on, badge, by_policy, cell_of, keeps
from dashboard.charts.palette import SHAPES, run_style
from dashboard.session import state
from dashboard.session.wishes import Wishes
from dashboard.session.workspace import Run

HERE = Path(__file__).resolve().parent
KEY = "board-grid"
MOST_TICKS = 5
WEIGHED = ("distance", "lost")
"""The rows whose lines over k mark the k at which distance and loss together are least."""
SHARE_ENDS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Where the scale of shares of people may end: the first that has room for all columns, so that small ones differ."""
CHANGE = "change the method or its own parameters"
EXPLAIN = "see how this release was read"
NO_ANSWER = Answer("")


_component = st.components.v2.component(
    "anoncore_board",
    html='<div class="place" tabindex="0" role="region" aria-label="Releases side by side"></div>',
    css=(HERE / "grid.css").read_text(encoding="utf-8"),
    js=(HERE / "grid.js").read_text(encoding="utf-8"),
)


def draw(model: Cell, on_event: Callable[[], None]) -> None:
    """Put the table on the page; `on_event` is called after a click, which `event` tells."""
    _component(key=KEY, data=model, on_event_change=on_event)


def event() -> Cell:
    """What was clicked last: {"type": "open", "row", "column"}, or "edit", "remove" with a column, or "add"."""
    held = st.session_state.get(KEY)
    clicked = getattr(held, "event", None) if held is not None else None
    return dict(clicked) if clicked else {}


def keep_given(cell_of_column: Mapping[str, Mapping[str, Any]]) -> None:
    """Remember, by their columns, the cells of the row *Given away* whose number is of another attack than foreground
    knowledge, in case somebody clicks on one.
    """
    state.workspace().given = {column: cell for column, cell in cell_of_column.items() if "by" in cell}


def keep_clicked(row: str, column: str, wishes: Wishes) -> None:
    """Remember what such a cell said when it was clicked: before its page opens, the board is drawn anew, and its
    numbers may be on their way again.
    """
    if row == "given":
        here = state.workspace()
        here.given_clicked = (wishes, column, here.given.get(column))


def given_by_another(run: Run, wishes: Wishes | None) -> Mapping[str, Any] | None:
    """The cell of the row *Given away* that was clicked, for the page of its release, while the same is asked.

    None where its number is of foreground knowledge, with which that page begins by itself.
    """
    clicked_wishes, column, cell = state.workspace().given_clicked
    return cell if (clicked_wishes, column) == (wishes, run.column) else None


def model(
    columns: Sequence[Shown], asked: Asked, can_add: bool, over: Over | None = None, best: Answer = NO_ANSWER
) -> Cell:
    """The table as the browser draws it; `over` shows every cell over the values of one level, and `best` is the answer
    above it, whose column is marked where it is to be published.
    """
    rows = [
        _row(name, columns, asked)
        for name in ROWS
        if name not in asked.hidden and (asked.secret is not None or name not in ("distance", "given"))
    ]
    rows += [_number_row(CRITERIA[name], columns) for name in asked.numbers]
    if over is not None:
        rows = [_over(row, columns, over) for row in rows]
    return {
        "caption": "Releases side by side: a column per release, a row per question",
        "people": asked.people,
        "columns": [_head(column, best, asked) for column in columns],
        "rows": rows,
        "canAdd": can_add,
    }


def _over(row: Cell, columns: Sequence[Shown], over: Over) -> Cell:
    """A row over the values of a level: in every cell the line of its number, all on one scale."""
    name, values = row["id"], over.values
    lines = {column.id: [_at(name, over.at(column.id, value)) for value in values] for column in columns}
    known = [y for line in lines.values() for y in line if y is not None]
    axis = {
        "over": over.axis,
        "values": list(values),
        "texts": [over.text(value) for value in values],
        "now": values.index(over.now) if over.now in values else None,
        "most": max([*known, 1e-9]),
        "log": name == "hides",
        "low": over.text(values[0]),
        "high": over.text(values[-1]),
    }
    cells = [
        _over_cell(name, column, cell, lines[column.id], over)
        for column, cell in zip(columns, row["cells"], strict=True)
    ]
    return {**row, "kind": "over", "axis": axis, "cells": cells, "help": f"over {over.title}"}


def _over_cell(name: str, column: Shown, cell: Cell, line: Sequence[float | None], over: Over) -> Cell:
    if cell["state"] in ("failed", "pending") and all(y is None for y in line):
        return cell
    points = [(value, over.at(column.id, value)) for value in over.values]
    n_tried = sum((column.id, value) in over.trials for value in over.values)
    if not n_tried:
        return {**cell, "drawn": False}
    is_whole = n_tried == len(over.values)
    if name == "promise":
        holding = [over.text(value) for value, trial in points if trial and keeps(trial.marks, trial.judged)]
        is_everywhere = is_whole and len(holding) == n_tried > 1
        where = f"each of {n_tried} values" if is_everywhere else ", ".join(holding) or "none"
        sub = f"all is kept at {over.title}: {where}{'' if is_whole else ' so far'}"
        return {"state": "exact", "text": "", "sub": sub, "drawn": False}
    numbers = "; ".join(
        f"{over.text(value)}: {y:.3g}" for (value, _), y in zip(points, line, strict=True) if y is not None
    )
    at = "" if over.now is None else f"now, at {over.title} = {over.text(over.now)}; "
    draws = "; every point is a draw of its own" if over.is_drawn_anew(column.id) else ""
    sub = f"{at}click a point to choose it{draws}" if numbers else cell.get("sub", "not measured over this")
    alt = f"{over.title} {numbers}"
    drawn = {"state": "exact", "text": cell.get("text", ""), "line": list(line), "drawn": bool(numbers), "alt": alt}
    # Lines over a level are of the attack with foreground knowledge: a number of another one says so. What readers
    # believe by chance is no danger of the release, and stays beside what they believe.
    beside = [f"by {cell['by']}"] if "by" in cell and numbers else []
    beside += [cell["beside"]] if "beside" in cell else []
    drawn |= {"beside": "; ".join(beside)} if beside else {}
    choice = over.choice(column.id) if name in WEIGHED and numbers else None
    if choice is None:
        return {**drawn, "sub": sub}
    ends = {int(choice.k[0]): ", the smallest tried", int(choice.k[-1]): ", the largest tried"}
    end = ends.get(choice.best, "") if is_whole else " so far"
    least = f"ring: distance and loss together are least at k = {choice.best:,}{end}"
    return {
        **drawn,
        "sub": f"{least}; {at.removesuffix('; ')}{draws}" if at else f"{least}{draws}",
        "ring": over.values.index(choice.best),
        "alt": f"{alt}; {least}",
    }


def _at(name: str, trial: Trial | None) -> float | None:
    """The number of a row at one value of a level, None where there is none."""
    if trial is None:
        return None
    lost = trial.quick["lost"]
    number = {
        "hides": trial.quick.get("smallest"),
        "distance": trial.quick["distance"].get("largest"),
        "lost": lost.get("value", lost.get("at_most")),
        **{row: facts.get("value") for row, facts in trial.slow.items()},
    }.get(name)
    return None if number is None else float(number)


def _head(column: Shown, best: Answer, asked: Asked) -> Cell:
    style = run_style(column.color)
    words, tone = badge(column, best, asked)
    verdict = "" if column.judged is None or column.status != "ready" else column.judged.headline
    rules = by_policy(column, asked.policy)
    return {
        "id": column.id,
        "title": column.title,
        "color": style.color,
        "outline": style.outline,
        "corners": SHAPES.get(style.symbol),
        "own": column.own,
        "badge": words,
        "tone": tone,
        "verdict": verdict,
        "isBest": best.tone == "good" and best.column == column.id,
        "policy": None if rules is None else vars(rules),
        "edit": EXPLAIN if column.is_opened else CHANGE,
    }


def _row(name: str, columns: Sequence[Shown], asked: Asked) -> Cell:
    label, *texts = ROWS[name]
    words = {"people": asked.people, "People": asked.people.capitalize(), "r": asked.r}
    words |= {"target": "an attribute" if asked.target is None else asked.target}
    words |= {"attacked": asked.attacked, "Attacked": asked.attacked.capitalize()}
    words |= {"alone": " (l limits one group alone)" if "l" in asked.levels else ""}
    help, meaning = (text.format(**words) for text in texts)
    kinds = {"hides": "sizes", "distance": "curve", "lost": "bars", "predictable": "scale", "given": "scale"}
    known = [column.quick for column in columns if column.status == "ready" and column.quick is not None]
    return {
        "id": name,
        "label": label,
        "help": help,
        "meaning": meaning,
        "kind": kinds.get(name, ""),
        "opens": f"Opens the page {PAGES[name].capitalize()}.",
        "isPage": True,
        "axis": _axis(name, columns, known, asked),
        "cells": [cell_of(name, column, asked, attacks_on(columns)) for column in columns],
    }


def _number_row(criterion: Number, columns: Sequence[Shown]) -> Cell:
    """A row for any criterion, beside the same number of the original table."""
    name = f"{NUMBER}{criterion.name}"
    known = [facts for column in columns if (facts := column.slow_of(name).facts)]
    values = [value for facts in known for value in (facts["value"], facts.get("original")) if value is not None]
    is_share = criterion.form == "share"
    most = max([*values, 0.01 if is_share else 1e-9])
    better = "More is better." if criterion.higher_is_better else "Less is better."
    return {
        "id": name,
        "label": criterion.title,
        "help": FAMILIES[criterion.family].lower(),
        "meaning": f"{criterion.meaning} {better}",
        "kind": "scale",
        "opens": "Says what this number is.",
        "axis": {"most": most, "low": "0", "high": criterion.text(most)},
        "cells": [_number_cell(criterion, column, name) for column in columns],
    }


def _number_cell(criterion: Number, column: Shown, name: str) -> Cell:
    slow = column.slow_of(name)
    if column.status == "failed" or slow.problem:
        return {"state": "failed", "why": slow.problem}
    if slow.facts is None:
        return {"state": "pending", "why": "being measured …"}
    value, original = slow.facts["value"], slow.facts.get("original")
    text = criterion.text(value)
    beside = "" if original is None else f"original table {criterion.text(original)}"
    marks = [] if original is None else [[original, beside]]
    return {
        "state": "exact",
        "text": text,
        "alt": text,
        "sub": beside,
        "marks": marks,
        "value": value,
        "interval": None,
    }


def _axis(name: str, columns: Sequence[Shown], known: Sequence[Facts], asked: Asked) -> Cell:
    """The scale of a row, the same in all its cells."""
    if name == "hides":
        return _size_axis(known, asked)
    if name == "distance":
        largest = [facts["distance"]["largest"] for facts in known if "largest" in facts["distance"]]
        most = max([*largest, asked.levels.get("t", 0.0), 0.05])
        return {"most": most, "line": asked.levels.get("t")}
    if name == "lost":
        means = [mean for facts in known for mean in facts["lost"].get("means", ())]
        return {"most": max([*means, 0.01])}
    if name == "given":
        shares = [share for column in columns for share in _shares(column)]
        most = next(end for end in SHARE_ENDS if end >= max(shares, default=1.0))
        return {"most": most, "low": "0", "high": f"{most:.0%}"}
    predictions = [number for column in columns for number in _predictions(column)]
    most = max([*predictions, 0.1])
    # A tenth of room to the right, and a round end.
    most = min(-(-most * 11 // 1) / 10, 1.0)
    return {"most": most, "low": "0", "high": f"{most:g}"}


def _shares(column: Shown) -> list[float]:
    """The shares of people given away that a column shows, with the upper end of an estimate's interval."""
    facts, strongest = column.slow_of("given").facts, column.slow_of(STRONGEST).facts
    shown = [] if not strongest else [strongest["value"], strongest["control"]]
    learned = facts is not None and facts["learned"]
    return [*shown, facts["value"], facts["control"], facts.get("high", 0.0)] if facts and learned else shown


def _predictions(column: Shown) -> list[float]:
    """The F-measures that a column shows."""
    facts = column.slow_of("predictable").facts
    return [] if facts is None else [facts[name] for name in ("value", "original", "guess")]


def _size_axis(known: Sequence[Facts], asked: Asked) -> Cell:
    filled = [place for one in known for place, share in enumerate(one.get("sizes", ())) if share > 0]
    first, last = min(filled, default=0), max(filled, default=0)
    k = asked.levels.get("k")
    line = None
    if k is not None:
        place = max(index for index, edge in enumerate(SIZE_EDGES) if edge <= k)
        line = place + (k - SIZE_EDGES[place]) / (SIZE_EDGES[place + 1] - SIZE_EDGES[place])
        first, last = min(first, place), max(last, place)
    bins = [_bin(place) for place in range(first, last + 1)]
    step = max(-(-len(bins) // MOST_TICKS), 1)
    ticks = [[place, _short(SIZE_EDGES[place])] for place in range(first, last + 1, step)]
    return {"first": first, "bins": bins, "ticks": ticks, "line": line}


def _bin(place: int) -> str:
    low = SIZE_EDGES[place]
    if place + 1 == len(SIZE_EDGES):
        return f"groups of {low:,} or more"
    high = SIZE_EDGES[place + 1] - 1
    return f"groups of {low:,}" if low == high else f"groups of {low:,} to {high:,}"


def _short(number: int) -> str:
    return f"{number // 1_000_000}M" if number >= 1_000_000 else f"{number // 1000}k" if number >= 1000 else str(number)
