"""The tab deFinetti: what a model says of people's secrets that learns from all groups of a release at once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import attacks
from anoncore.attacks import DeFinetti
from anoncore.base.texts import share_text
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from dashboard.charts.attacks import belief_histogram
from dashboard.charts.palette import run_style
from dashboard.closer.attacks.attacked import attacked, board_r
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session.workspace import Run

MOST_PEOPLE = 100
LIST_HEIGHT = 310


def render(run: Run) -> None:
    """Draw the tab."""
    attribute = attacked(run, "definetti", "deFinetti's attack guesses who of a group has which of its secrets")
    if attribute is None:
        return
    st.markdown(
        "People who are alike tend to have the same secret. The adversary knows everybody's quasi-identifiers and "
        "group, begins with any assignment of each group's secrets to its people, and improves it: a model learns from "
        "all groups how the secret goes with what is known, and people of one group swap secrets where the model finds "
        "that likely."
    )
    measured = parts.later(
        "Assigning secrets to people", "attacks.definetti", run, attacks.definetti, attribute, board_r(run)
    )
    if isinstance(measured, DeFinetti):
        _draw(run, measured)


def _draw(run: Run, measured: DeFinetti) -> None:
    for note in measured.notes:
        st.info(escaped(note))
    low, high = measured.control_interval
    parts.tiles(
        [
            Tile(
                measured.recall.label,
                share_text(measured.recall),
                f"{escaped(measured.recall.meaning)} With every possible world equally likely: "
                f"{share_text(measured.recall.baseline or 0)}.",
                f"by chance: {share_text(measured.control)}",
            ),
            Tile(
                measured.excess.label,
                share_text(measured.excess),
                f"{escaped(measured.excess.meaning)} By chance: {low:.1%} to {high:.1%} in 95% of all cases.",
                "shuffled: 0%",
            ),
            Tile(
                measured.right.label,
                share_text(measured.right),
                f"{escaped(measured.right.meaning)} On shuffled secrets: {share_text(measured.right_by_chance)}.",
                f"guessing: {share_text(measured.right.baseline or 0)}",
            ),
        ]
    )
    left, right = st.columns(2, gap="medium")
    with left:
        breached = int(lies_above(np.nan_to_num(measured.own_belief), 1 / measured.r, ACCUMULATED).sum())
        parts.chart(
            belief_histogram(measured.own_belief, measured.without_attack, measured.r, run_style(run.color_index)),
            key="definetti-people",
            caption="People by how strongly the adversary believes in their true value. Right of 1/r stand the "
            f"{breached:,} who are given away; without the attack every assignment of a group is as likely.",
            alt=f"Histogram of the belief in each person's own value; {breached:,} lie above {1 / measured.r:.0%}.",
        )
    with right:
        _people(run, measured)


def _people(run: Run, measured: DeFinetti) -> None:
    """The people about whom the attack tells most that a group alone does not."""
    gain = np.nan_to_num(measured.own_belief - measured.without_attack)
    order = np.argsort(-gain, kind="stable")[:MOST_PEOPLE]
    domain = run.data.domain[measured.attribute]
    frame = pd.DataFrame(
        {
            "Row": order + 1,
            "Truth": [domain.text(int(code)) for code in run.data.codes[measured.attribute][order]],
            "Without": measured.without_attack[order],
            "With": measured.own_belief[order],
        }
    )
    st.markdown(f"**The {len(frame):,} people about whom the attack tells most**")
    st.dataframe(
        frame,
        hide_index=True,
        height=LIST_HEIGHT if len(frame) > 8 else "auto",
        key="definetti-list",
        column_config={
            "Row": st.column_config.NumberColumn(width=50),
            "Without": st.column_config.NumberColumn(
                format="percent", width=75, help="Belief in the true value if every assignment is equally likely."
            ),
            "With": st.column_config.NumberColumn(
                format="percent", width=75, help="Belief in the true value after the attack."
            ),
        },
        alt=f"The {len(frame):,} people about whom the attack tells most.",
    )
