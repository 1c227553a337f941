"""What is left out of a release: columns, and rows with how these differ from all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from anoncore import Microdata, Release
from anoncore.algorithms import Suppression
from anoncore.base.texts import share_text
from anoncore.kernels.arrays import Floats
from dashboard.charts.layout import Axis
from dashboard.charts.palette import BLUE
from dashboard.charts.utility import distribution
from dashboard.elements import parts
from dashboard.markdown import escaped
from dashboard.session.workspace import Run

MOST_BINS = 12
MOST_NAMED = 3
"""Attributes of which the largest difference is said in words."""


@dataclass(frozen=True, eq=False)
class Difference:
    """How one attribute differs between the rows that are left out and all rows.

    `left_out` and `everybody` are shares by bin of `axis`; `distance` is the share of the rows left out that would have
    to have another value for both to be alike; `bin` is the one that is most too frequent.
    """

    axis: Axis
    left_out: Floats
    everybody: Floats

    @property
    def distance(self) -> float:
        return float(np.abs(self.left_out - self.everybody).sum()) / 2

    @property
    def bin(self) -> int:
        return int(np.argmax(self.left_out - self.everybody))

    @property
    def words(self) -> str:
        """The value that is most too frequent, and how frequent it is."""
        place = self.bin
        value = escaped(self.axis.bin_texts[place])
        return (
            f"{self.left_out[place]:.0%} have '{escaped(self.axis.name)}' {value} "
            f"(of all rows {self.everybody[place]:.0%})"
        )


def differences_of(release: Release) -> tuple[Difference, ...]:
    """How each published attribute differs, the largest difference first; nothing where no row is left out."""
    if release.is_synthetic:
        return ()
    data, left_out = release.data, release.suppressed_rows
    if not left_out.any():
        return ()
    found = []
    for name in release.attributes:
        axis, codes = Axis.of(data.domain[name], MOST_BINS), data.codes[name]
        found.append(Difference(axis, axis.counts(codes[left_out]) / left_out.sum(), axis.counts(codes) / data.n_rows))
    return tuple(sorted(found, key=lambda one: -round(one.distance, 9)))


def columns_text(data: Microdata) -> str:
    """Which columns no release of the table has, and why, in a sentence or two."""
    identifiers, undecided = (", ".join(map(escaped, names)) for names in (data.identifiers, data.left_out))
    told = [f"Left out as identifiers: {identifiers}."] if identifiers else []
    told += [f"Left out because nobody decided on them: {undecided}."] if undecided else []
    return " ".join(told) or "Every column has a role and none is an identifier, so none is left out."


def draw(run: Run) -> None:
    """Who is left out of a run, where it leaves out anybody."""
    found: tuple[Difference, ...] = parts.measured(run, differences_of)
    if not found:
        if isinstance(run.algorithm, Suppression):
            st.caption("No row is left out: that would not have lowered the information loss.")
        return
    n_rows = int(run.release.suppressed_rows.sum())
    st.subheader("Who is left out")
    named = "; ".join(one.words for one in found[:MOST_NAMED])
    st.markdown(
        f"{n_rows:,} of {run.data.n_rows:,} rows ({share_text(n_rows / run.data.n_rows)}) are left out: whatever "
        f"others may know of them is published as any value. They differ from all rows most in this: {named}."
    )
    names = [one.axis.name for one in found]
    name = parts.choice("Attribute of those left out", names, "left-out-attribute", "The largest difference is first.")
    shown = found[names.index(name)]
    parts.chart(
        distribution(shown.axis, shown.everybody, shown.left_out, BLUE, ("all rows", "left out")),
        "left-out-distribution",
        f"'{escaped(name)}' among all rows and among those left out. {shown.distance:.0%} of those left "
        "out would need another value for both to be alike.",
        f"Bar chart of the shares of {name} among all rows and among those left out.",
    )
