"""The foreground-knowledge attack of somebody who knows facts, typed one a line, beside the attack without them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

import numpy as np
import streamlit as st

from anoncore import AnonymizationError, Microdata, Release, attacks
from anoncore.attacks import Fact, ForegroundKnowledge, ForegroundWithFacts
from anoncore.attacks.foreground.facts import in_quotes
from anoncore.attacks.foreground.mining import Unreliable
from anoncore.base.progress import Progress
from anoncore.base.texts import share_text
from anoncore.table.domain import Kind
from dashboard.charts.attacks import belief_histogram
from dashboard.charts.palette import run_style
from dashboard.closer.attacks.foreground_runs import Adversary
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped, reason
from dashboard.session.workspace import Run

MOST_FACTS = 30
"""Facts that are read of what is typed."""
MOST_LETTERS = 500
"""Letters of a line; to look for a fact in a longer one could take long."""
LINES_HEIGHT = 140


def render(run: Run, adversary: Adversary, found: ForegroundKnowledge) -> None:
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
    facts, refused = read_facts(run.data, adversary.attribute, (typed or "").splitlines())
    for sentence in refused:
        st.warning(escaped(sentence))
    if refused:
        return
    if not facts:
        st.caption(
            "Nothing is known from elsewhere so far. The grey lines are examples from this table; facts need not be "
            "true, for adversaries err."
        )
        return
    with_facts = parts.later(
        "Attacking with the facts", "attacks.foreground_with_facts", run, attacked, *adversary.arguments, facts
    )
    if with_facts is not None:
        _draw(run, found, with_facts)


def attacked(
    release: Release,
    attribute: str,
    r: float,
    epsilon: float | None,
    sigma: float,
    unreliable: Unreliable,
    facts: tuple[Fact, ...],
    progress: Progress,
) -> ForegroundWithFacts | None:
    """What changes in the attack by the facts."""
    return attacks.foreground_knowledge(
        release, attribute, r, epsilon, sigma, unreliable, progress=progress, facts=facts
    ).with_facts


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
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if len(facts) == MOST_FACTS:
            refused.append(f"Line {number}: at most {MOST_FACTS} facts are read; leave the others out.")
            break
        if len(line) > MOST_LETTERS:
            refused.append(f"Line {number}: a fact has at most {MOST_LETTERS} letters; say it in fewer.")
            continue
        try:
            fact = Fact.parse(line)
            fact.code(data, attribute)
            fact.people(data)
        except AnonymizationError as error:
            refused.append(f"Line {number}: {reason(error)}")
        else:
            facts.append(fact)
    return tuple(facts), refused


def _draw(run: Run, found: ForegroundKnowledge, told: ForegroundWithFacts) -> None:
    for note in told.notes[1:]:
        st.info(escaped(note))
    parts.tiles(
        [
            Tile(
                told.recall.label,
                share_text(float(told.recall)),
                f"{escaped(told.recall.meaning)} Here the adversary knows the facts too.",
                f"without: {share_text(float(found.recall))}",
            ),
            Tile(
                told.excess.label,
                share_text(float(told.excess)),
                escaped(f"{told.excess.meaning} {told.notes[0]}"),
                f"without: {share_text(float(found.excess))}",
            ),
            Tile(
                "By the facts alone",
                share_text(float(told.recall.baseline or 0)),
                "The same share of people by the facts and the groups alone: all possible worlds that the facts allow "
                "are equally likely.",
                f"groups alone: {share_text(float(found.recall.baseline or 0))}",
            ),
            Tile(
                "More given away",
                f"{told.n_more:,}",
                "People whose own value is believed above 1/r with the facts and is not without them.",
                f"no longer: {told.n_fewer:,}",
            ),
            Tile(
                told.mean_probability.label,
                share_text(float(told.mean_probability)),
                f"{escaped(told.mean_probability.meaning)} Here the adversary knows the facts too.",
                f"without: {share_text(float(found.mean_probability))}",
            ),
        ]
    )
    left, right = st.columns([3, 2], gap="medium")
    with left:
        protected = int((~np.isnan(told.own_probability)).sum())
        parts.chart(
            belief_histogram(
                told.own_probability, told.own_without_facts, found.r, run_style(run.color_index), "the facts"
            ),
            key="foreground-facts-people",
            caption=f"The {protected:,} people whose '{escaped(found.attribute)}' needs protection, by how strongly "
            "the adversary believes in their true value, with the attack in both cases.",
            alt=f"Histogram of p(t:x) of {protected:,} people without and with the facts; {told.n_more:,} more lie "
            f"above {1 / found.r:.0%}, {told.n_fewer:,} no longer do.",
        )
    with right:
        _most(told)


def _most(told: ForegroundWithFacts) -> None:
    """The people about whom the facts tell most."""
    frame = told.people()
    if frame.empty:
        st.caption("Nobody's own value is believed more strongly with the facts than without them.")
        return
    percent = {
        name: st.column_config.NumberColumn(name.capitalize(), help=help, format="percent")
        for name, help in {
            "without facts": "Belief in the person's own value by the attack alone.",
            "facts alone": "The same by the facts and the person's group alone.",
            "with facts": "The same by the attack and the facts together.",
        }.items()
    }
    st.dataframe(
        frame,
        hide_index=True,
        height=min(38 * (len(frame) + 1), 320),
        key="foreground-facts-most",
        column_config={
            "row": st.column_config.NumberColumn("Row", help="Row of the table; 1 is the first.", width=60),
            **percent,
        },
        alt=f"The {len(frame)} people about whose own value the facts tell most.",
    )
    st.caption("The people about whose own value the facts tell most.")
