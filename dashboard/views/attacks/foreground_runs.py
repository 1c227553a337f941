"""Several releases under the same foreground-knowledge attack."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from anoncore import ReleaseError, attacks, utility
from anoncore.attacks import ForegroundKnowledge
from dashboard import state
from dashboard.charts.foreground import runs_compared
from dashboard.palette import run_style
from dashboard.state import Run
from dashboard.views import parts
from dashboard.views.attacks.foreground_adversary import Adversary
from dashboard.views.utility import N_QUERIES

MOST_RUNS = 6


def render(run: Run, adversary: Adversary) -> None:
    """Draw the runs that can be attacked alike, the shown one first."""
    fit = [one for one in state.runs() if _fits(one, adversary.attribute)]
    runs = [run, *[one for one in reversed(fit) if one.id != run.id]][:MOST_RUNS]
    if len(runs) == 1:
        st.info(
            "This is the only run that publishes this attribute with groups. Make another on the page Anonymize, for "
            "example Anatomy and ForegroundSafe with the same l, and both stand here under the same attack."
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
        alt="; ".join(f"{one.label}: {float(found[one.id].recall):.1%} breached" for one in shown),
    )
    st.dataframe(
        _table(shown, found, errors),
        hide_index=True,
        key="foreground-runs-table",
        column_config={
            name: st.column_config.NumberColumn(name, help=help, format="percent")
            for name, help in {
                "Breached": "Share of people with a protected value whose p(t:x) exceeds 1/r.",
                "Falsely flagged": "Share of people with p(t:x) above 1/r for a value that they lack.",
                "Mean p(t:x)": "Of the true protected value.",
                "Query error": "Mean relative error of 10,000 random counting queries: what the protection costs.",
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
            "Run": [one.label for one in runs],
            "Breached": [float(found[one.id].recall) for one in runs],
            "Falsely flagged": [float(found[one.id].flagged) for one in runs],
            "Mean p(t:x)": [float(found[one.id].mean_probability) for one in runs],
            "Mean group size": [one.data.n_rows / one.release.partition.n_groups for one in runs],
            "Query error": [float(errors[one.id]) if errors[one.id] is not None else None for one in runs],  # type: ignore[arg-type]
        }
    )
