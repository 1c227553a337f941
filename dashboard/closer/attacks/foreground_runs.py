"""Several releases under the same foreground-knowledge attack."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from anoncore import ReleaseError, attacks, utility
from anoncore.attacks import ForegroundKnowledge
from anoncore.attacks.foreground.attack import (
    FOREGROUND_BREACH,
    FOREGROUND_CONTROL,
    FOREGROUND_EXCESS,
    FOREGROUND_FLAGGED,
    FOREGROUND_PROBABILITY,
)
from anoncore.attacks.foreground.mining import Unreliable
from anoncore.base.texts import share_text
from anoncore.measures.criteria import N_QUERIES
from anoncore.utility.queries import QUERY_ERROR
from dashboard.charts.attacks import runs_compared
from dashboard.charts.palette import run_style
from dashboard.elements import parts
from dashboard.session import state
from dashboard.session.workspace import Run

MOST_RUNS = 6
ATTACK_NUMBERS = (FOREGROUND_BREACH, FOREGROUND_CONTROL, FOREGROUND_EXCESS, FOREGROUND_FLAGGED, FOREGROUND_PROBABILITY)


def render(run: Run, adversary: Adversary) -> None:
    """Draw the releases that can be attacked alike, the shown one first."""
    fit = [one for one in state.runs() if _fits(one, adversary.attribute)]
    runs = [run, *[one for one in reversed(fit) if one.id != run.id]][:MOST_RUNS]
    if len(runs) == 1:
        st.info(
            "This is the only release that publishes this attribute with groups. Add another column to the board, such "
            "as ForegroundSafe beside Anatomy, and both stand here under the same attack."
        )
    found = {
        one.id: parts.later(
            f"Attacking {one.label}",
            "attacks.foreground_knowledge",
            one,
            attacks.foreground_knowledge,
            *adversary.arguments,
        )
        for one in runs
    }
    shown = [one for one in runs if found[one.id] is not None]
    if not shown:
        return
    errors = {
        one.id: parts.later(f"Queries on {one.label}", "utility.query_error", one, utility.query_error, N_QUERIES)
        for one in shown
    }
    parts.chart(
        _figure(shown, found),
        key="foreground-runs",
        caption="The same adversary, the same r. Grey: what they have without the attack, when all possible worlds of "
        "a group are as likely.",
        alt="; ".join(f"{one.label}: {share_text(float(found[one.id].recall))} breached" for one in shown),
    )
    st.dataframe(
        _table(shown, found, errors),
        hide_index=True,
        key="foreground-runs-table",
        column_config={
            name: st.column_config.NumberColumn(name, help=help, format="percent")
            for name, help in {
                **{one.label: one.meaning_of({"r": "r"}) for one in ATTACK_NUMBERS},
                QUERY_ERROR.title: f"{QUERY_ERROR.meaning} It is what the protection costs.",
            }.items()
        },
        alt="The runs with the figures of the attack, their mean group size and query error.",
    )
    st.caption("A run that protects against the attack has few breached people at little more query error.")


def _fits(run: Run, attribute: str) -> bool:
    if attribute not in run.data.sensitive or attribute not in run.release.attributes:
        return False
    try:
        return run.release.partition.n_groups > 0
    except ReleaseError:
        return False


def _figure(runs: list[Run], found: dict[str, ForegroundKnowledge]) -> go.Figure:
    return runs_compared(
        [one.label for one in runs],
        [found[one.id] for one in runs],
        [run_style(one.color_index) for one in runs],
    )


def _table(runs: list[Run], found: dict[str, ForegroundKnowledge], errors: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Release": [one.label for one in runs],
            FOREGROUND_BREACH.label: [float(found[one.id].recall) for one in runs],
            FOREGROUND_CONTROL.label: [float(found[one.id].control) for one in runs],
            FOREGROUND_EXCESS.label: [float(found[one.id].excess) for one in runs],
            FOREGROUND_FLAGGED.label: [float(found[one.id].flagged) for one in runs],
            FOREGROUND_PROBABILITY.label: [float(found[one.id].mean_probability) for one in runs],
            "Mean group size": [one.data.n_rows / one.release.partition.n_groups for one in runs],
            QUERY_ERROR.title: [float(errors[one.id]) if errors[one.id] is not None else None for one in runs],  # type: ignore[arg-type]
        }
    )


@dataclass(frozen=True)
class Adversary:
    """What the attack is asked with."""

    attribute: str
    r: float
    epsilon: float | None
    sigma: float
    unreliable: Unreliable

    @property
    def arguments(self) -> tuple[str, float, float | None, float, str]:
        """As `attacks.foreground_knowledge` takes them."""
        return self.attribute, self.r, self.epsilon, self.sigma, self.unreliable
