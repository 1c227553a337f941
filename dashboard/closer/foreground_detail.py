"""Inside the foreground-knowledge attack: one group and its worlds, what known facts add, releases side by side."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, comb, floor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from anoncore import AnonymizationError, Microdata, Release, attacks, utility
from anoncore.attacks import Fact, ForegroundKnowledge, ForegroundWithFacts, GroupView
from anoncore.attacks.foreground.attack import (
    FOREGROUND_BREACH,
    FOREGROUND_CONTROL,
    FOREGROUND_EXCESS,
    FOREGROUND_FLAGGED,
    FOREGROUND_PROBABILITY,
)
from anoncore.attacks.foreground.facts import in_quotes
from anoncore.attacks.foreground.mining import Unreliable
from anoncore.base.progress import Progress
from anoncore.base.texts import share_text
from anoncore.measures.criteria import N_QUERIES
from anoncore.table.domain import Kind
from anoncore.utility.queries import QUERY_ERROR
from dashboard.charts.attacks import MOST_PEOPLE, group_people, runs_compared, truth_histogram
from dashboard.elements import parts
from dashboard.elements.parts import Tile, number, percent
from dashboard.markdown import escaped, reason
from dashboard.session import state
from dashboard.session.workspace import Run
from dashboard.tasks import redrawing

MOST_LISTED_GROUPS = 200
MOST_LISTED_WORLDS = 300
LIST_HEIGHT = 330
MOST_FACTS = 30
"""Facts that are read of what is typed."""
MOST_LETTERS = 500
"""Letters of a line; to look for a fact in a longer one could take long."""
LINES_HEIGHT = 140
MOST_RUNS = 6
ATTACK_NUMBERS = {
    FOREGROUND_BREACH: "recall",
    FOREGROUND_CONTROL: "control",
    FOREGROUND_EXCESS: "excess",
    FOREGROUND_FLAGGED: "flagged",
    FOREGROUND_PROBABILITY: "mean_probability",
}
"""The figures of releases side by side, and the fields of the result that have them."""


class Adversary(NamedTuple):
    """What the attack is asked with, as `attacks.foreground_knowledge` takes it."""

    attribute: str
    r: float
    epsilon: float | None
    sigma: float
    unreliable: Unreliable


@redrawing.part()
def group(run: Run, found: ForegroundKnowledge) -> None:
    """Draw the groups that tell most, and the chosen one."""
    left, right = parts.beside(5, 6)
    with left:
        chosen = _choose(run, found)
        value = parts.choice(
            "Sensitive value",
            [None, *found.values],
            f"foreground-group-value-{found.attribute}",
            "The value whose possible worlds are weighed.",
            names=lambda one: "the one that is believed most" if one is None else one,
        )
    view = found.group(run.release, chosen, value=value)
    with right:
        _person_chart(run, found, view)
    _worlds(view)


def _choose(run: Run, found: ForegroundKnowledge) -> int:
    """A list of the groups with the most believed person; returns the chosen group."""
    frame = ranked_groups(run, found)
    chosen = parts.row_choice(
        frame,
        frame["group"].to_numpy(),
        f"foreground-groups-{run.id}-{found.attribute}-{found.r:g}-{found.minimum_rows:g}",
        {
            "group": number("Number of the group; it is not published.", width=55, label="No."),
            "rows": number("People in the group.", width=55, label="Rows"),
            "breached": number("People with p(t:x) above 1/r.", width=70, label="Breached"),
            "highest": number("Of any person in it.", "percent", 75, "Highest p"),
            "without": number("The same if all possible worlds were as likely.", "percent", 75, "Guess"),
        },
        LIST_HEIGHT,
        "The groups that tell most, with their most believed person.",
    )
    st.caption(f"{len(frame):,} of {run.release.partition.n_groups:,} groups, those that tell most first. Click one.")
    return chosen


def ranked_groups(run: Run, found: ForegroundKnowledge) -> pd.DataFrame:
    """The groups with the most believed person first: rows, breached people, highest p(t:x) with and without."""
    partition = run.release.partition
    group = partition.group
    highest, without = np.zeros(partition.n_groups), np.zeros(partition.n_groups)
    np.maximum.at(highest, group, found.breach_probability)
    np.maximum.at(without, group, found.without_attack)
    breached = np.bincount(group, weights=found.breached, minlength=partition.n_groups).astype(np.int64)
    order: npt.NDArray[np.int64] = np.lexsort((-breached, -(highest - without), -highest.round(3)))
    order = order[:MOST_LISTED_GROUPS]
    return pd.DataFrame(
        {
            "group": order,
            "rows": partition.sizes[order],
            "breached": breached[order],
            "highest": highest[order],
            "without": without[order],
        }
    )


def _person_chart(run: Run, found: ForegroundKnowledge, view: GroupView) -> None:
    size = len(view.rows)
    learned = escaped(", ".join(view.attributes)) if view.attributes else "no attribute set"
    st.markdown(
        f"**Group {view.group}**: {view.n} of {size} people have '{escaped(view.value)}'. Their "
        f"signatures are the values of {learned}."
    )
    cut = f" The first {MOST_PEOPLE} are shown." if size > MOST_PEOPLE else ""
    parts.chart(
        group_people(view, found.r, run.style),
        "foreground-group",
        f"Dotted: {view.without_attack:.0%}, what everybody has if all possible worlds are as likely. Dashed: "
        f"1/r = {1 / found.r:.0%}. A star marks who really has it; (rare) is a signature with too few rows to learn "
        f"from.{cut}",
        f"Bars of p(t:x) of {size} people, up to {view.probability.max():.0%}; without the attack "
        f"{view.without_attack:.0%}.",
    )


def _worlds(view: GroupView) -> None:
    """The table of possible worlds with their weights."""
    st.markdown("**Possible worlds**")
    count = comb(len(view.rows), view.n)
    if count > MOST_LISTED_WORLDS:
        st.caption(
            f"This group has {count:,} possible worlds ({view.n} of {len(view.rows)} people have the value); up to "
            f"{MOST_LISTED_WORLDS:,} are listed. The probabilities above are exact all the same: they are coefficients "
            "of a product of one small polynomial per person, and need no list."
        )
        return
    product = "Product over the people: p(s:x) of those with the value, 1 - p(s:x) of the others."
    columns = {
        "weight": number(product, "%.3g", label="Weight"),
        "share": number("Weight as a share of all.", "percent", label="Probability"),
    }
    alt = f"The {count} possible worlds with their weights."
    parts.table(worlds_table(view), "foreground-worlds", alt, columns=columns)
    st.caption(
        f"Each line is one way in which {view.n} of the {len(view.rows)} people have '{escaped(view.value)}' "
        "(x). p(t:x) of a person is the sum of the probabilities of the worlds in which that person has it. People "
        "have the numbers of the chart above."
    )


def worlds_table(view: GroupView) -> pd.DataFrame:
    """One line per possible world, the likeliest first: who has the value, its weight and its probability."""
    worlds = attacks.possible_worlds(view.f, view.n)
    order = np.argsort(-worlds.share, kind="stable")
    people = np.argsort(-view.probability, kind="stable")
    marks = np.where(worlds.has_value[np.ix_(order, people)], "x", "·")
    frame = pd.DataFrame(marks, columns=[f"person {place + 1}" for place in range(len(people))])
    frame["weight"], frame["share"] = worlds.weight[order], worlds.share[order]
    return frame


def facts(run: Run, adversary: Adversary, found: ForegroundKnowledge) -> None:
    """Draw the list of facts, and what changes with them."""
    typed = st.text_area(
        "What the adversary knows from elsewhere, one fact a line",
        key=f"foreground-facts-{adversary.attribute}",
        persist_state="session",
        height=LINES_HEIGHT,
        max_chars=MOST_FACTS * MOST_LETTERS,
        placeholder="\n".join(examples(run.data, adversary.attribute)),
        help="Of one person: `row 12 has …` or `row 12 has not …`, where 1 is the first row of the table as loaded. Of "
        "people of a kind: `nobody`, `everybody`, `at least 10%`, `at most 10%` or `exactly 10%`, then `where`, "
        "comparisons of quasi-identifiers joined by `and`, then `has` and a value. Press Ctrl+Enter to apply.",
    )
    known, refused = read_facts(run.data, adversary.attribute, (typed or "").splitlines())
    parts.notes(refused, st.warning)
    if refused:
        return
    if not known:
        st.caption(
            "Nothing is known from elsewhere so far. The grey lines are examples from this table; facts need not be "
            "true, for adversaries err."
        )
        return
    with_facts = parts.later("Attacking with the facts", run, _attacked, adversary, known)
    if with_facts is not None:
        _with_facts(run, found, with_facts)


def _attacked(
    release: Release, adversary: Adversary, facts: tuple[Fact, ...], progress: Progress
) -> ForegroundWithFacts | None:
    """What changes in the attack by the facts."""
    return attacks.foreground_knowledge(release, *adversary, progress=progress, facts=facts).with_facts


def examples(data: Microdata, attribute: str) -> list[str]:
    """Facts as they may be typed, which are true of this table."""
    secrets = data.codes[attribute]
    # The commonest value, so that there is something to say of most kinds of people.
    commonest = int(np.bincount(secrets).argmax())
    secret = in_quotes(data.domain[attribute].text(commonest))
    lines = [f"row {row + 1} has not {secret}" for row in np.flatnonzero(secrets != commonest)[:1]]
    known = [name for name in data.quasi_identifiers if name != attribute]
    for name, bound in ((known[0], "at least"), (known[-1], "at most")):
        where = _comparison(data, name)
        people = Fact(secret, where=where).people(data)
        share = 100 * float((secrets[people] == commonest).mean())
        percent = floor(share) if bound == "at least" else ceil(share)
        lines.append(f"{bound} {percent}% where {where} has {secret}")
    return lines


def _comparison(data: Microdata, name: str) -> str:
    domain = data.domain[name]
    middle = domain.text((len(domain.values) - 1) // 2)
    return f"{in_quotes(name)} {'=' if domain.kind is Kind.NOMINAL else '<='} {in_quotes(middle)}"


def read_facts(data: Microdata, attribute: str, lines: Sequence[str]) -> tuple[tuple[Fact, ...], list[str]]:
    """The facts that lines say, empty ones left out; and of each line that says none a sentence that names it."""
    facts: list[Fact] = []
    refused: list[str] = []
    for place, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if len(facts) == MOST_FACTS:
            refused.append(f"Line {place}: at most {MOST_FACTS} facts are read; leave the others out.")
            break
        if len(line) > MOST_LETTERS:
            refused.append(f"Line {place}: a fact has at most {MOST_LETTERS} letters; say it in fewer.")
            continue
        try:
            fact = Fact.parse(line)
            fact.code(data, attribute)
            fact.people(data)
        except AnonymizationError as error:
            refused.append(f"Line {place}: {reason(error)}")
        else:
            facts.append(fact)
    return tuple(facts), refused


def _with_facts(run: Run, found: ForegroundKnowledge, told: ForegroundWithFacts) -> None:
    parts.notes(told.notes[1:])
    too = "Here the adversary knows the facts too."
    worlds = (
        "The same share of people by the facts and the groups alone: all possible worlds that the facts allow are "
        "equally likely."
    )
    more = "People whose own value is believed above 1/r with the facts and is not without them."
    alone = f"groups alone: {share_text(float(found.recall.baseline or 0))}"
    parts.tiles(
        [
            Tile.of(told.recall, more=too, note=f"without: {share_text(found.recall)}"),
            Tile.of(told.excess, more=escaped(told.notes[0]), note=f"without: {share_text(found.excess)}"),
            Tile("By the facts alone", share_text(float(told.recall.baseline or 0)), worlds, alone),
            Tile("More given away", f"{told.n_more:,}", more, f"no longer: {told.n_fewer:,}"),
            Tile.of(told.mean_probability, more=too, note=f"without: {share_text(found.mean_probability)}"),
        ]
    )
    left, right = parts.beside(3, 2)
    with left:
        protected, style = int((~np.isnan(told.own_probability)).sum()), run.style
        parts.chart(
            truth_histogram(told.own_probability, told.own_without_facts, found.r, style, "the facts"),
            "foreground-facts-people",
            f"The {protected:,} people whose '{escaped(found.attribute)}' needs protection, by how strongly "
            "the adversary believes in their true value, with the attack in both cases.",
            f"Histogram of p(t:x) of {protected:,} people without and with the facts; {told.n_more:,} more lie "
            f"above {1 / found.r:.0%}, {told.n_fewer:,} no longer do.",
        )
    with right:
        frame = told.people()
        if frame.empty:
            st.caption("Nobody's own value is believed more strongly with the facts than without them.")
            return
        columns = {
            "row": number("Row of the table; 1 is the first.", width=60, label="Row"),
            "without facts": percent("Belief in the person's own value by the attack alone.", None),
            "facts alone": percent("The same by the facts and the person's group alone.", None),
            "with facts": percent("The same by the attack and the facts together.", None),
        }
        alt = f"The {len(frame)} people about whose own value the facts tell most."
        parts.table(frame, "foreground-facts-most", alt, min(38 * (len(frame) + 1), 320), columns)
        st.caption("The people about whose own value the facts tell most.")


def side_by_side(run: Run, adversary: Adversary) -> None:
    """Draw the releases that can be attacked alike, the shown one first."""
    fit = [one for one in state.runs() if _fits(one, adversary.attribute)]
    runs = [run, *[one for one in reversed(fit) if one.id != run.id]][:MOST_RUNS]
    if len(runs) == 1:
        st.info(
            "This is the only release that publishes this attribute with groups. Add another column to the board, such "
            "as ForegroundSafe beside Anatomy, and both stand here under the same attack."
        )
    found = {one: parts.later(f"Attacking {one.label}", one, attacks.foreground_knowledge, *adversary) for one in runs}
    found = {one: attack for one, attack in found.items() if attack is not None}
    if not found:
        return
    errors = [parts.later(f"Queries on {one.label}", one, utility.query_error, N_QUERIES) for one in found]
    parts.chart(
        runs_compared({one.label: (attack, one.style) for one, attack in found.items()}),
        "foreground-runs",
        "The same adversary, the same r. Grey: what they have without the attack, when all possible worlds of "
        "a group are as likely.",
        "; ".join(f"{one.label}: {share_text(float(attack.recall))} breached" for one, attack in found.items()),
    )
    figures = {
        title.label: [float(getattr(attack, field)) for attack in found.values()]
        for title, field in ATTACK_NUMBERS.items()
    }
    frame = pd.DataFrame(
        {
            "Release": [one.label for one in found],
            **figures,
            "Mean group size": [one.data.n_rows / one.release.partition.n_groups for one in found],
            QUERY_ERROR.title: [None if error is None else float(error) for error in errors],
        }
    )
    columns = {title.label: percent(title.meaning_of({"r": "r"}), None) for title in ATTACK_NUMBERS}
    columns[QUERY_ERROR.title] = percent(f"{QUERY_ERROR.meaning} It is what the protection costs.", None)
    alt = "The runs with the figures of the attack, their mean group size and query error."
    parts.table(frame, "foreground-runs-table", alt, columns=columns)
    st.caption("A run that protects against the attack has few breached people at little more query error.")


def _fits(run: Run, attribute: str) -> bool:
    return (
        attribute in run.data.sensitive
        and attribute in run.release.attributes
        and run.release.is_shared
        and not run.release.is_synthetic
    )
