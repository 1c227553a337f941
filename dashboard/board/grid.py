"""The table on the board: facts of all releases as cells of one scale per row, and what draws it on the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import streamlit as st

from anoncore.attacks.foreground.attack import TOO_SMALL
from anoncore.base.number import Number
from anoncore.base.texts import share_text
from anoncore.kernels.rounding import ACCUMULATED
from anoncore.measures.answer import and_list
from anoncore.measures.criteria import CRITERIA, FAMILIES
from anoncore.measures.promise_marks import BUCKET, HOLDING, Mark, upwards
from dashboard.board.facts import DRAWS, NUMBER, SIZE_EDGES, STRONGEST, Facts, Judged
from dashboard.board.over import Over
from dashboard.board.trials import Trial
from dashboard.charts.palette import SHAPES, run_style

HERE = Path(__file__).resolve().parent
KEY = "board-grid"
MOST_TICKS = 5
MOST_NAMED = 3
WEIGHED = ("distance", "lost")
"""The rows whose lines over k mark the k at which distance and loss together are least."""
LOPSIDED = 1.5
"""How many times farther to one side an interval may reach and still be told as a number with a margin."""
SHARE_ENDS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Where the scale of shares of people may end: the first that has room for all columns, so that small ones differ."""
ROWS: Mapping[str, tuple[str, str, str]] = {
    "promise": ("Promise", "what you ask for", "What you ask for, and whether this release keeps it."),
    "hides": (
        "Hides among",
        "{people} by size of group",
        "Bars: {people} by the size of their group; dashed: your k. Larger groups are safer.",
    ),
    "distance": (
        "Distance",
        "of groups from the table",
        "How far the secrets of a group are from those of the whole table (earth mover's distance): 0 is alike, 1 as "
        "far as can be; dashed: your t. Less is safer.",
    ),
    "given": (
        "Given away",
        "true secret believed above 1/{r} by all groups together; line: by chance",
        "{People} whose true secret a reader comes to believe with more than 1/{r}, who learns from all groups "
        "together; l looks at one group alone. Bar: what lies above chance, the same attack on shuffled secrets. Less "
        "is safer.",
    ),
    "lost": (
        "Lost",
        "pairs of values read wrongly",
        "Share of the table's pairs of values, such as age with job, that a reader gets wrong. Less is better.",
    ),
    "predictable": (
        "Still useful",
        "for predicting {target}",
        "Score (F-measure) of a model that learns from the release and predicts {target}; lines: guessing, original "
        "table. More is better.",
    ),
}
"""The questions of the board in their order, with what they mean, shortly and at length: what protects, what an
adversary gets, what it costs. `{people}` is what the rows of the table may be called.
"""
OPENS = {
    "promise": "Opens the page Privacy.",
    "hides": "Opens the page Classes.",
    "distance": "Opens the page Closeness.",
    "given": "Opens the page Attack.",
    "lost": "Opens the page Utility.",
    "predictable": "Opens the page Utility.",
}
NO_GROUPS = "It is asked of groups of people, and the rows of this table are nobody's."
DRAWN = "other random draws may differ"
ABOVE = "; more than the original table, as coarser values keep a tree from learning noise"
CHANGE = "change the method or its own parameters"
EXPLAIN = "see how this release was read"
Cell = dict[str, Any]


@dataclass(frozen=True)
class Shown:
    """Everything that the board knows of one column.

    `marks` are those of the promises, `judged` the verdict, `quick` the facts that are there at once, `slow` what takes
    longer, by the name of its row. `status` is "ready", "pending" or "failed"; `problem` says why. `is_opened`: it was
    made elsewhere and only read. `doing` is what its method is at, where that takes long.
    """

    id: str
    title: str
    color: int
    own: str
    status: str
    problem: str = ""
    marks: tuple[Mark, ...] = ()
    quick: Facts | None = None
    slow: Mapping[str, SlowFacts] | None = None
    is_opened: bool = False
    doing: str = ""
    judged: Judged | None = None

    @property
    def keeps(self) -> bool:
        """Whether all that is asked is seen to hold, whatever of the release others may know."""
        return keeps(self.marks, self.judged)


@dataclass(frozen=True)
class SlowFacts:
    """A slow number as far as it is known: an estimate, the exact one, or why there is none."""

    estimate: Facts | None = None
    exact: Facts | None = None
    problem: str = ""

    @property
    def facts(self) -> Facts | None:
        """The exact number, else its estimate."""
        return self.exact or self.estimate


@dataclass(frozen=True)
class Asked:
    """What of the wishes the table draws: the levels, the adversary's limit, the attributes, the folded rows, and
    the criteria that have rows besides (`numbers`).

    `people` is what the rows of the table may be called: "people", or "rows" while nobody said whose they are.
    """

    levels: Mapping[str, float]
    r: int
    secret: str | None
    target: str | None
    hidden: tuple[str, ...] = ()
    people: str = "people"
    numbers: tuple[str, ...] = ()

    @property
    def person(self) -> str:
        """The word for one of them."""
        return "person" if self.people == "people" else "row"


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


def model(columns: Sequence[Shown], asked: Asked, can_add: bool, over: Over | None = None) -> Cell:
    """The table as the browser draws it; `over` shows every cell over the values of one level."""
    ready = [column for column in columns if column.status == "ready"]
    best = cheapest(ready)
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
        "columns": [_head(column, best) for column in columns],
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
    if not any((column.id, value) in over.trials for value in over.values):
        return {**cell, "drawn": False}
    if name == "promise":
        holding = [over.text(value) for value, trial in points if trial and keeps(trial.marks, trial.judged)]
        tried = sum((column.id, value) in over.trials for value in over.values)
        where = f"each of {tried} values" if len(holding) == tried else f"{', '.join(holding)}" if holding else "none"
        sub = f"all is kept at {over.title}: {where}"
        return {"state": "exact", "text": "", "sub": sub, "drawn": False}
    numbers = "; ".join(
        f"{over.text(value)}: {y:.3g}" for (value, _), y in zip(points, line, strict=True) if y is not None
    )
    present = cell.get("text", "")
    at = "" if over.now is None else f"now, at {over.title} = {over.text(over.now)}; "
    # What readers believe by chance is no danger of the release, so that it stays beside what they believe.
    chance = f"{cell['sub'].split(';')[0]}; " if name == "given" and "sub" in cell else ""
    sub = f"{chance}{at}click a point to choose it" if numbers else cell.get("sub", "not measured over this")
    alt = f"{over.title} {numbers}"
    drawn = {"state": "exact", "text": present, "line": list(line), "drawn": bool(numbers), "alt": alt}
    choice = over.choice(column.id) if name in WEIGHED and numbers else None
    if choice is None:
        return {**drawn, "sub": sub}
    end = {int(choice.k[0]): ", the smallest tried", int(choice.k[-1]): ", the largest tried"}.get(choice.best, "")
    least = f"ring: distance and loss together are least at k = {choice.best:,}{end}"
    return {
        **drawn,
        "sub": f"{least}; {sub}",
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


def cheapest(columns: Sequence[Shown]) -> str | None:
    """The column that loses least of those that keep all that is asked, where there are two to choose from."""
    keeping = [column for column in columns if column.marks and column.keeps]
    lost = [(column.quick["lost"], column.id) for column in keeping if column.quick]
    if any("at_most" in facts for facts, _ in lost):
        # It may lose less than all others.
        return None
    priced = [(facts["value"], id) for facts, id in lost if "value" in facts]
    return min(priced)[1] if priced else None


def _head(column: Shown, best: str | None) -> Cell:
    style = run_style(column.color)
    badge, tone = _badge(column, best)
    verdict = "" if column.judged is None or column.status != "ready" else column.judged.headline
    return {
        "id": column.id,
        "title": column.title,
        "color": style.color,
        "outline": style.outline,
        "corners": SHAPES.get(style.symbol),
        "own": column.own,
        "badge": badge,
        "tone": tone,
        "verdict": verdict,
        "edit": EXPLAIN if column.is_opened else CHANGE,
    }


def _badge(column: Shown, best: str | None) -> tuple[str, str]:
    """One line on the whole column; green only where all that is asked holds."""
    if column.status == "failed":
        return "No release", "bad"
    if column.status == "pending":
        return "Being read …" if column.is_opened else "Being made …", "plain"
    return first_line(column.marks, column.judged, column.is_opened, column.id == best)


def keeps(marks: Sequence[Mark], judged: Judged | None) -> bool:
    """Whether all that is asked is seen to hold, and no published column breaks it."""
    return all(mark.state in HOLDING for mark in marks) and (judged is None or not judged.breaking)


def first_line(
    marks: Sequence[Mark], judged: Judged | None, is_opened: bool, is_cheapest: bool = False
) -> tuple[str, str]:
    """The verdict on a release in a few words, and their tone: green only where all is good.

    `is_cheapest`: of several that keep all that is asked it loses least.
    """
    missed = [mark.symbol for mark in marks if mark.state == "missed"]
    unknown = [mark.symbol for mark in marks if mark.state == "unknown"]
    if missed:
        words, tone = f"Misses {and_list(missed)}", "bad"
    elif unknown:
        words, tone = f"Cannot be told: {and_list(unknown)}", "plain"
    elif not marks:
        words, tone = "Nothing was asked", "plain"
    elif is_opened:
        words, tone = "All that is asked holds", "good"
    elif any(mark.state == "met" for mark in marks):
        words, tone = "All holds, not all promised", "good"
    else:
        words, tone = "Keeps all that is asked", "good"
    if is_cheapest:
        words = f"{words}; loses least of those that do"
    if judged is None:
        return words, tone
    if judged.breaking:
        return f"{words}{' over what is known' if tone == 'good' else ''}; {judged.breaking}", "bad"
    if judged.not_asked and tone != "bad":
        return f"{words}, but fails badly: {', '.join(judged.not_asked)}", "warn"
    return words, tone


def _row(name: str, columns: Sequence[Shown], asked: Asked) -> Cell:
    label, *texts = ROWS[name]
    words = {"people": asked.people, "People": asked.people.capitalize(), "r": asked.r, "target": asked.target}
    help, meaning = (text.format(**words) for text in texts)
    kinds = {"hides": "sizes", "distance": "curve", "lost": "bars", "predictable": "scale", "given": "scale"}
    known = [column.quick for column in columns if column.status == "ready" and column.quick is not None]
    return {
        "id": name,
        "label": label,
        "help": help,
        "meaning": meaning,
        "kind": kinds.get(name, ""),
        "opens": OPENS[name],
        "axis": _axis(name, columns, known, asked),
        "cells": [_cell(name, column, asked) for column in columns],
    }


def _number_row(criterion: Number, columns: Sequence[Shown]) -> Cell:
    """A row for any criterion, beside the same number of the original table."""
    name = f"{NUMBER}{criterion.name}"
    known = [facts for column in columns if (facts := _slow(column, name).facts)]
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
    slow = _slow(column, name)
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
        return {"most": max([*means, 0.01]), "text": "by attribute, worst first"}
    if name == "given":
        shares = [share for column in columns for share in _shares(column)]
        most = next(end for end in SHARE_ENDS if end >= max(shares, default=1.0))
        return {"most": most, "low": "0", "high": f"{most:.0%}"}
    predictions = [number for column in columns for number in _predictions(column)]
    most = max([*predictions, 0.1])
    # A tenth of room to the right, and a round end.
    most = min(-(-most * 11 // 1) / 10, 1.0)
    return {"most": most, "low": "0", "high": f"{most:g}"}


def _slow(column: Shown, name: str) -> SlowFacts:
    """What is known of a slow number of a column."""
    return (column.slow or {}).get(name, SlowFacts())


def _shares(column: Shown) -> list[float]:
    """The shares of people given away that a column shows, with the upper end of an estimate's interval."""
    facts = _slow(column, "given").facts
    return [] if facts is None or not facts["learned"] else [facts["value"], facts["control"], facts.get("high", 0.0)]


def _predictions(column: Shown) -> list[float]:
    """The F-measures that a column shows."""
    facts = _slow(column, "predictable").facts
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


def _cell(name: str, column: Shown, asked: Asked) -> Cell:
    """One cell: what it says and what it draws."""
    if column.status == "failed":
        return {"state": "failed", "why": column.problem if name == "promise" else ""}
    if column.status == "pending" or column.quick is None:
        waiting = "being read …" if column.is_opened else f"{column.doing or 'being made'} …"
        return {"state": "pending", "why": waiting if name == "promise" else " "}
    if name == "promise":
        return _promise_cell(column, column.quick, asked)
    if name == "hides":
        return _sizes_cell(column.quick, asked)
    if name == "distance":
        return _distance_cell(column.quick["distance"])
    if name == "lost":
        return _lost_cell(column.quick["lost"])
    slow = _slow(column, name)
    cell = _given_cell(slow, _slow(column, STRONGEST).facts) if name == "given" else _predicted_cell(slow)
    if not column.quick["is_drawn"] or slow.exact is None or "value" not in cell:
        return cell
    return {**cell, "sub": f"{_of_draws(name, column, cell['value'])}; {cell['sub']}"}


def _of_draws(name: str, column: Shown, value: float) -> str:
    """Between which numbers the draws of a method that draws at random lie, as far as others were made."""
    between = (_slow(column, DRAWS).facts or {}).get(name)
    if between is None:
        return DRAWN
    low, high = min(value, between[0]), max(value, between[1])
    text = share_text if name == "given" else "{:.2f}".format
    between = text(low) if text(low) == text(high) else f"{text(low)} to {text(high)}"
    return f"five draws: about {between}"


def _promise_cell(column: Shown, quick: Facts, asked: Asked) -> Cell:
    told = [
        {"symbol": "promised:", "state": "promised", "words": one["words"], "sentence": one["sentence"]}
        for one in quick.get("promised", ())
    ]
    told += [
        {"symbol": mark.symbol, "state": mark.state, "words": _words(mark, asked), "sentence": mark.sentence}
        for mark in column.marks
    ]
    cell = {"state": "exact", "promises": told, "text": "" if told else "nothing asked"}
    return {**cell, "sub": NO_GROUPS} if "hides" in quick and column.marks else cell


def _words(mark: Mark, asked: Asked) -> str:
    """How one thing that was asked fares, in a few words."""
    if mark.state == "unknown":
        return "cannot be told"
    if not mark.reached:
        return f"is not reached by any number, you ask for {mark.asked}"
    ending = {
        "kept": "promised",
        "met": "holds here, not promised",
        "measured": "holds, as measured",
        "missed": f"you ask for {mark.asked}",
    }[mark.state]
    return f"is {mark.reached}{f' for each {asked.person}' if mark.of_people else ''}, {ending}"


def _sizes_cell(quick: Facts, asked: Asked) -> Cell:
    if "hides" in quick:
        return {"state": "failed", "why": quick["hides"]["why"]}
    word = quick["word"]
    words = {"equivalence class": "classes"}.get(word, word + ("es" if word.endswith("s") else "s"))
    # A bucket hides which of its secrets is a person's, and not which row.
    whom = "secrets" if word == BUCKET else asked.people
    text = f"{quick['smallest']:,} or more {whom}"
    sub = f"half among {quick['median']:,} or more; {quick['groups']:,} {words}"
    return {"state": "exact", "text": text, "sub": sub, "bars": quick["sizes"], "alt": f"{text}; {sub}"}


def _distance_cell(distance: Facts) -> Cell:
    if "why" in distance:
        return {"state": "failed", "why": distance["why"]}
    text, sub = upwards(distance["largest"]), f"at most; {distance['mean']:.2f} on average"
    return {"state": "exact", "text": text, "sub": sub, "curve": distance["curve"], "alt": f"EMD {text} {sub}"}


def _lost_cell(lost: Facts) -> Cell:
    if "why" in lost:
        return {"state": "failed", "why": lost["why"]}
    order = sorted(range(len(lost["means"])), key=lambda place: -lost["means"][place])
    worst = [f"{lost['names'][place]} {share_text(lost['means'][place])}" for place in order[:MOST_NAMED]]
    sub = f"worst: {lost['names'][order[0]]}" if lost["means"][order[0]] > 0 else "nothing is lost"
    if "information" in lost:
        sub = f"{sub}; information loss {share_text(lost['information'])}"
    is_bound = "at_most" in lost
    text = f"at most {share_text(lost['at_most'])}" if is_bound else share_text(lost["value"])
    return {
        "state": "bound" if is_bound else "exact",
        "text": text,
        "sub": _bounded(sub, lost["uncounted"]) if is_bound else sub,
        "bars": [lost["means"][place] for place in order],
        "names": [lost["names"][place] for place in order],
        "alt": f"{text} lost; most in {', '.join(worst)}",
    }


def _bounded(worst: str, uncounted: Sequence[str]) -> str:
    """What is said under the most that can be lost."""
    told = f"{worst}; the original is not here, and it may be less"
    if not uncounted:
        return told
    more = f" and {len(uncounted) - MOST_NAMED} more" if len(uncounted) > MOST_NAMED else ""
    named = f"{', '.join(uncounted[:MOST_NAMED])}{more}"
    return f"{told}; cells of {named} that may allow any number of values count as lost"


def _given_cell(slow: SlowFacts, strongest: Facts | None) -> Cell:
    facts, best = slow.facts, _strongest(strongest)
    if facts is None:
        why = slow.problem or "being attacked …"
        return {"state": "failed" if slow.problem else "pending", "why": f"{why}{best and f' {best}.'}"}
    if not facts["learned"]:
        return {"state": "failed", "why": f"Not measured: {TOO_SMALL}.{best and f' {best}.'}"}
    chance = f"by chance {share_text(facts['control'])}"
    told = [chance, *([f"{best[0].lower()}{best[1:]}"] if best else [])]
    n_sets, n_all = facts.get("sets", (0, 0))
    if n_sets < n_all:
        told.append(f"from {n_sets:,} of {n_all:,} attribute sets")
    at_first = [chance]
    if facts.get("too_costly"):
        at_first.append(f"epsilon from {min(facts['too_costly']):g} on takes too long here and was not tried")
        told += at_first[1:]
    number = _number(slow, facts, share_text, 100, "%")
    if n_sets < n_all or facts.get("too_costly"):
        # A stronger attack was left out, so that the number is no measure of safety.
        others = strongest and not strongest["is_foreground"]
        by = "by foreground knowledge" if others else "by what was tried"
        words = f"{{}} {by}" if number["text"] == share_text(0.0) else "at least {}"
        number |= {name: words.format(number[name]) for name in ("text", "alt")}
    return {
        **number,
        "sub": _told(slow, "; ".join(told), "; ".join(at_first)),
        "marks": [[facts["control"], f"{chance}: the same attack on shuffled secrets"]],
        "from": facts["control"],
        "value": facts["value"],
    }


def _strongest(facts: Facts | None) -> str:
    """Which of all attacks that apply is the strongest, and what it gets; empty where that is not known."""
    if not facts:
        return ""
    of = f"of {facts['tried']}" if facts["tried"] > 1 else "and only attack that applies"
    if facts["is_foreground"]:
        return f"This is the strongest {of}{' attacks' if facts['tried'] > 1 else ''}"
    about = "about " if facts.get("is_estimate") else ""
    chance = share_text(facts["control"])
    return f"Strongest {of}: {facts['title']} {about}{share_text(facts['value'])}, by chance {about}{chance}"


def _predicted_cell(slow: SlowFacts) -> Cell:
    facts = slow.facts
    if facts is None:
        return {"state": "failed" if slow.problem else "pending", "why": slow.problem or "being learned …"}
    marks = [
        [facts["guess"], f"guessing: {facts['guess']:.2f}"],
        [facts["original"], f"original: {facts['original']:.2f}"],
    ]
    told = f"original table {facts['original']:.2f}, guessing {facts['guess']:.2f}"
    if round(facts["value"], 2) > round(facts["original"], 2):
        told += ABOVE
    return {
        **_number(slow, facts, lambda value: f"{value:.2f}", 1, ""),
        "sub": _told(slow, told),
        "marks": marks,
        "value": facts["value"],
    }


def _number(slow: SlowFacts, facts: Facts, text: Callable[[float], str], times: int, unit: str) -> Cell:
    """A number with the interval of its estimate, where it is one; `times` makes it a number of its unit."""
    said = text(facts["value"])
    if slow.exact is not None or "low" not in facts:
        return {"state": "exact", "text": said, "alt": said, "interval": None}
    low, high = facts["low"], facts["high"]
    about = _about(times * facts["value"], times * low, times * high, unit)
    return {
        "state": "estimate",
        "text": about,
        "alt": f"about {said}, with 95% confidence between {text(low)} and {text(high)}, estimated {facts['how']}",
        "interval": [low, high],
    }


def _about(value: float, low: float, high: float, unit: str) -> str:
    """An estimate in as many digits as its interval allows; the two ends of one that is far from even."""
    below, above = value - low, high - value
    margin = max(below, above)
    digits = (0 if margin >= 1 else 1) if unit else (2 if margin >= 0.01 else 3)
    step = 10.0**-digits
    if margin > LOPSIDED * min(below, above) + step:
        return f"{low:.{digits}f} to {high:.{digits}f}{unit}"
    return f"≈ {value:.{digits}f}{unit} ± {ceil(margin / step - ACCUMULATED) * step:.{digits}f}"


def _told(slow: SlowFacts, exactly: str, first: str = "") -> str:
    """What is said under a slow number: how it was estimated, after what is said `first`, or what it is to be compared
    with.
    """
    if slow.exact is None and slow.estimate is not None and "how" in slow.estimate:
        return f"{first}{'; ' if first else ''}estimate {slow.estimate['how']}; the exact number follows"
    return exactly
