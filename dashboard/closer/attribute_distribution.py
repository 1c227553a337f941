"""The values of one attribute before and after, as the pages Before and after and Utility show them."""

from __future__ import annotations

from typing import Any

import numpy as np

from anoncore import Release
from anoncore.base.texts import share_text
from dashboard.charts.layout import Axis
from dashboard.charts.palette import run_style
from dashboard.charts.utility import distribution, published_shares
from dashboard.elements import parts
from dashboard.session import compute
from dashboard.session.state import Run

MOST_BINS = 40


def draw(run: Run, page: str) -> None:
    """Draw the choice of an attribute and its two distributions; `page` begins the keys of what is drawn."""
    names = list(run.release.attributes)
    usual = next((name for name in run.data.quasi_identifiers if name in names), names[0])
    name = parts.choice("Attribute", names, f"{page}-attribute", "Whose values are compared.", index=names.index(usual))
    axis = Axis.of(run.data.domain[name], MOST_BINS)
    original = axis.counts(run.data.codes[name]) / run.data.n_rows
    released = compute.cached("dashboard.published_shares", run, _released_shares, name)
    moved = float(np.abs(original - released).sum()) / 2
    if run.release.is_synthetic:
        told = f"in the original table, and in the synthetic one. {share_text(moved)} of the rows lie in another bar."
    else:
        told = (
            "before, and after as a reader of the release would estimate it, who takes every value of a region for "
            f"equally likely. {share_text(moved)} of the rows land on another bar."
        )
    parts.chart(
        distribution(axis, original, released, run_style(run.color_index)),
        key=f"{page}-distribution",
        caption=f"'{parts.escaped(name)}' {told}",
        alt=f"Bar chart of the shares of {name} before and after; {share_text(moved)} of the rows move.",
    )


def _released_shares(release: Release, name: str) -> Any:
    return published_shares(release.recoding(name), Axis.of(release.data.domain[name], MOST_BINS))
