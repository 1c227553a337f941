"""Several releases side by side as a figure: how many values each leaves possible, and all of them together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from anoncore.kernels.arrays import Int64
from dashboard.charts.layout import figure, marker
from dashboard.charts.palette import GREEN, ORIGINAL, PURPLE, VERMILLION, RunStyle


def values_left(names: Sequence[str], alone: Int64, together: Int64, styles: Sequence[RunStyle], l: float) -> go.Figure:
    """Shares of the people by their number of possible values, a bar per release and one for all together.

    `alone` int64 (n_releases, n): possible values of each person in each release; `together` int64 (n,).
    The bars of all together have a colour that no release has.
    """
    most = int(max(alone.max(), together.max()))
    counts = np.arange(0 if (together == 0).any() else 1, most + 1)
    bars = [_bars(counts, one, name, marker(style)) for name, one, style in zip(names, alone, styles, strict=True)]
    taken = {style.color for style in styles}
    color = next(one for one in (VERMILLION, GREEN, PURPLE) if one not in taken)
    bars.append(_bars(counts, together, "together", {"color": color}))
    result = figure(*bars, x="possible values", y="people", height=330, legend=True)
    result.update_layout(barmode="group")
    result.update_xaxes(dtick=1 if most <= 20 else None)
    result.update_yaxes(tickformat=".0%", rangemode="tozero")
    if counts[0] < l <= most + 0.5:
        result.add_vline(x=l - 0.5, line={"color": ORIGINAL, "dash": "dot", "width": 2})
    return result


def _bars(counts: Int64, possible: Int64, name: str, look: dict[str, object]) -> go.Bar:
    shares = np.array([(possible == count).mean() for count in counts])
    return go.Bar(
        x=counts,
        y=shares,
        name=name,
        marker=look,
        hovertemplate="%{y:.1%} of the people have %{x} possible values<extra>%{fullData.name}</extra>",
    )
