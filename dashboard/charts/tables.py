"""Figures about the table as loaded: how the values of a column are distributed, what a hierarchy joins."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from anoncore import Domain
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.summary import ColumnSummary
from dashboard.charts.layout import distinct_labels, figure
from dashboard.charts.palette import ORIGINAL

MOST_TICKS = 7


def distribution(summary: ColumnSummary) -> go.Figure:
    """Rows per range of numbers or per value of a column, and how many are missing."""
    labels = distinct_labels(summary.bin_texts)
    counts = list(summary.bin_counts)
    if summary.n_missing:
        labels.append("(missing)")
        counts.append(summary.n_missing)
    shares = np.array(counts) / max(summary.n_rows, 1)
    bars = go.Bar(
        x=np.arange(len(labels)),
        y=np.array(counts),
        customdata=np.column_stack([np.array(labels, dtype=object), shares]),
        hovertemplate="%{customdata[0]}: %{y:,} rows (%{customdata[1]:.1%})<extra></extra>",
        marker={"color": ORIGINAL},
    )
    chart = figure(bars, x=summary.name.replace("<", "&lt;"), y="rows")
    step = -(-len(labels) // MOST_TICKS)
    chart.update_xaxes(tickmode="array", tickvals=np.arange(0, len(labels), step), ticktext=labels[::step])
    return chart


def hierarchy_levels(hierarchy: Hierarchy, domain: Domain) -> pd.DataFrame:
    """What a publisher chooses between: each level, how many groups it has, and what they are called."""
    paths = [hierarchy.path_of(value) or () for value in domain.values]
    rows = [
        {
            "Level": 0,
            "Groups": len(domain.values),
            "Called": _listed([domain.text(i) for i in range(len(domain.values))]),
        }
    ]
    for level in range(hierarchy.height):
        groups = list(dict.fromkeys(path[level] for path in paths))
        rows.append({"Level": level + 1, "Groups": len(groups), "Called": _listed(groups)})
    return pd.DataFrame(rows)


def _listed(texts: list[str], most: int = 12) -> str:
    shown = ", ".join(texts[:most])
    return shown if len(texts) <= most else f"{shown} and {len(texts) - most:,} more"
