"""How often attacks succeed on people in a table and on people who are not in it, as a figure."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.layout import figure, marker
from dashboard.charts.palette import ORIGINAL, RunStyle

IN_TABLE, NOT_IN_TABLE = "in the table", "not in the table"


def success_bars(adversaries: pd.DataFrame, guess: float, style: RunStyle) -> go.Figure:
    """Success of each adversary with its interval; a dotted line is what guessing gets."""
    bars = [_bars(adversaries, "members", IN_TABLE, marker(style))]
    if adversaries["control"].notna().any():
        bars.append(_bars(adversaries, "control", NOT_IN_TABLE, {"color": ORIGINAL}))
    result = figure(*bars, x="", y="right guesses", height=340, legend=True)
    result.update_layout(barmode="group")
    result.update_yaxes(tickformat=".0%", rangemode="tozero")
    result.add_hline(y=guess, line={"color": ORIGINAL, "dash": "dot", "width": 2})
    return result


def _bars(adversaries: pd.DataFrame, side: str, name: str, look: dict[str, object]) -> go.Bar:
    values = adversaries[side]
    return go.Bar(
        x=list(adversaries.index),
        y=values.to_numpy(),
        name=name,
        marker=look,
        error_y={
            "type": "data",
            "array": (adversaries[f"{side}_high"] - values).to_numpy(),
            "arrayminus": (values - adversaries[f"{side}_low"]).to_numpy(),
            "color": ORIGINAL,
        },
        hovertemplate="%{x}: %{y:.1%}<extra>%{fullData.name}</extra>",
    )
