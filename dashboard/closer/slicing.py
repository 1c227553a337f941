"""How slicing made its release: the columns and what they were made from, the buckets, and the diversity reached."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from anoncore import Release, attacks, privacy, utility
from anoncore.algorithms import RandomBuckets, Slicing
from anoncore.algorithms.attribute_proposal import AttributeProposal
from anoncore.algorithms.slicing.slicing import Diversity, achieved_diversity
from dashboard.charts.groups import size_histogram
from dashboard.charts.maps import association_map, strongest_pair
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped, few
from dashboard.session.workspace import Run

MOST_NAMES = 30
READINGS: dict[Diversity, str] = {
    "posterior": "1 / the largest p(t,s) of anyone",
    "distinct": "fewest possible values of anyone",
}


def slicing(run: Run) -> None:
    """Draw the columns and what they were made from, the buckets, and the diversity reached."""
    algorithm = run.algorithm
    if not isinstance(algorithm, Slicing | RandomBuckets):
        return
    columns = [part.attributes for part in run.release.fragments]
    # None for columns by hand and for a sensitive column of given size.
    by_hand = algorithm.attribute_columns is not None
    _figures(run, algorithm)
    proposed = None if by_hand else parts.soon("The columns are clustered again", run, proposal)
    medoids = (None,) * len(columns) if proposed is None else proposed.centres
    left, right = parts.beside()
    with left:
        st.subheader("Columns")
        _columns(algorithm, columns, medoids)
        _association(run, algorithm, columns, medoids)
    with right:
        st.subheader("Groups")
        _buckets(run, algorithm)


def proposal(release: Release) -> AttributeProposal:
    """The columns of the clustering for the release's table."""
    assert isinstance(release.algorithm, Slicing | RandomBuckets)
    found = release.algorithm.proposed_groups(release.data)
    assert found is not None
    return found


def _figures(run: Run, algorithm: Slicing | RandomBuckets) -> None:
    sizes = run.release.partition.sizes
    permuted = "Groups of rows within which the columns are permuted."
    row = [
        Tile("Columns", f"{len(run.release.fragments)}", "Sets of attributes, each permuted on its own in a group."),
        Tile("Groups", f"{len(sizes):,}", permuted, f"{sizes.min():,} to {sizes.max():,} rows"),
    ]
    for name in run.data.sensitive:
        of = f", {escaped(name)}" if len(run.data.sensitive) > 1 else ""
        for reading, meaning in READINGS.items():
            reached = _reached(run, name, reading)
            if reached is None:
                continue
            asked: tuple[str, bool | None] = ("not asked for", None)
            if isinstance(algorithm, Slicing) and algorithm.diversity == reading:
                asked = f"asked: at least {algorithm.levels_of(run.data)[name]:g}", True
            told = f"{meaning[0].upper()}{meaning[1:]}, for '{escaped(name)}'."
            row.append(Tile(f"Reached l, {reading}{of}", f"{reached:.4g}", told, *asked))
    parts.tiles(row)
    for one in parts.measured(run, privacy.personal_guarantees):
        (st.success if one.holds else st.error)(escaped(one.sentence))
    if isinstance(algorithm, RandomBuckets):
        st.info("Groups of one size promise nothing about sensitive values: they hide who is in the table.")


def _reached(run: Run, name: str, reading: Diversity) -> float | None:
    """The l that is reached; None while the values of a large table are counted."""
    if reading == "posterior":
        # The board has measured the same beliefs.
        return 1 / float(parts.measured(run, attacks.attribute_disclosure, name).largest)
    return parts.soon("The values of everybody are counted", run, achieved_diversity, name, reading, takes_long=True)


def _columns(
    algorithm: Slicing | RandomBuckets, columns: Sequence[tuple[str, ...]], medoids: Sequence[str | None]
) -> None:
    for number, (column, medoid) in enumerate(zip(columns, medoids, strict=True), start=1):
        around = f" (around {escaped(medoid)})" if medoid else ""
        st.markdown(f"**Column {number}**: {few([escaped(name) for name in column], MOST_NAMES)}{around}")
    if algorithm.attribute_columns is not None:
        st.caption("The columns were given by hand.")
    elif algorithm.sensitive_column_size is not None:
        others = algorithm.sensitive_column_size - 1
        beside = f" and the {others} closest to it" if others else " alone"
        st.caption(f"The last column has the sensitive attribute{beside}; the others are clustered (k-medoids).")
    else:
        st.caption("All attributes were clustered by phi squared (k-medoids).")


def _buckets(run: Run, algorithm: Slicing | RandomBuckets) -> None:
    sizes = run.release.partition.sizes
    if isinstance(algorithm, Slicing):
        what = "each widest attribute in turn" if algorithm.retry_splits else "the widest attribute"
        how = f"Groups were split at the median of {what} as long as the whole table stayed l-diverse."
    elif algorithm.grouping == "random":
        how = f"Rows were dealt at random into groups of {algorithm.size:,}."
    else:
        how = f"Rows of equal column values were spread over groups of {algorithm.size:,}."
    parts.chart(
        size_histogram(sizes, run.style),
        "slicing-sizes",
        f"How many groups have how many rows. {how}",
        f"Histogram of {len(sizes):,} groups of {sizes.min():,} to {sizes.max():,} rows.",
    )


def _association(
    run: Run, algorithm: Slicing | RandomBuckets, columns: Sequence[tuple[str, ...]], medoids: Sequence[str | None]
) -> None:
    association = parts.soon("Counting associations", run, _original_association, algorithm.intervals)
    if association is None:
        return
    bold = " Bold: the medoids." if any(medoids) else ""
    parts.chart(
        association_map(association, columns, "phi squared", "column", medoids),
        "slicing-association",
        "Phi squared of every pair of attributes in the original table, from 0 (independent) to 1 (one value "
        "tells the other). Framed: the columns, inside which everything stays exact; what lies outside the frames is "
        f"weakened by the permutation.{bold}",
        f"Heat map of phi squared of {len(association)} attributes in {len(columns)} columns. "
        f"{strongest_pair(association)}",
    )


def _original_association(release: Release, intervals: int) -> pd.DataFrame:
    return utility.association(release.data, intervals)
