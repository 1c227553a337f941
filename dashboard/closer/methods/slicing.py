"""How slicing made its release: the columns and what they were made from, the buckets, and the diversity reached."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from anoncore import Release, privacy, utility
from anoncore.algorithms import RandomBuckets, Slicing
from anoncore.algorithms.attribute_proposal import AttributeProposal
from anoncore.algorithms.slicing.slicing import achieved_diversity
from dashboard.charts.association import association_map, strongest_pair
from dashboard.charts.classes import size_histogram
from dashboard.charts.palette import run_style
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import compute
from dashboard.session.workspace import Run

MOST_NAMES = 30
READINGS = {"posterior": "1 / the largest p(t,s) of anyone", "distinct": "fewest possible values of anyone"}


def render(run: Run) -> None:
    """Draw the panel."""
    algorithm = run.algorithm
    if not isinstance(algorithm, Slicing | RandomBuckets):
        return
    columns = [part.attributes for part in run.release.fragments]
    medoids = _medoids(run, algorithm, columns)
    _figures(run, algorithm)
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Columns")
        _columns(algorithm, columns, medoids)
        _association(run, algorithm, columns, medoids)
    with right:
        st.subheader("Buckets")
        _buckets(run, algorithm)


def _medoids(
    run: Run, algorithm: Slicing | RandomBuckets, columns: Sequence[tuple[str, ...]]
) -> tuple[str | None, ...]:
    """The medoid of each column; None for those by hand and for a sensitive column of given size."""
    if algorithm.attribute_columns is not None:
        return (None,) * len(columns)
    found = compute.cached("slicing.proposal", run, proposal)
    return found.centres


def proposal(release: Release) -> AttributeProposal:
    """The columns of the clustering for the release's table."""
    assert isinstance(release.algorithm, Slicing | RandomBuckets)
    found = release.algorithm.proposed_groups(release.data)
    assert found is not None
    return found


def _figures(run: Run, algorithm: Slicing | RandomBuckets) -> None:
    sizes = run.release.partition.sizes
    row = [
        Tile("Columns", f"{len(run.release.fragments)}", "Groups of attributes, each permuted on its own in a bucket."),
        Tile(
            "Buckets",
            f"{len(sizes):,}",
            "Groups of rows within which the columns are permuted.",
            f"{sizes.min():,} to {sizes.max():,} rows",
        ),
    ]
    row += [
        Tile(
            f"Reached l, {reading}" + (f", {escaped(name)}" if len(run.data.sensitive) > 1 else ""),
            f"{compute.cached('slicing.achieved', run, achieved_diversity, name, reading):.4g}",
            f"{meaning[0].upper()}{meaning[1:]}, for '{escaped(name)}'.",
            *_asked(run, algorithm, name, reading),
        )
        for name in run.data.sensitive
        for reading, meaning in READINGS.items()
    ]
    parts.tiles(row)
    for one in compute.cached("privacy.personal_guarantees", run, privacy.personal_guarantees):
        (st.success if one.holds else st.error)(escaped(one.sentence))
    if isinstance(algorithm, RandomBuckets):
        st.info("Buckets of one size promise nothing about sensitive values: they hide who is in the table.")


def _asked(run: Run, algorithm: Slicing | RandomBuckets, name: str, reading: str) -> tuple[str, bool | None]:
    if isinstance(algorithm, Slicing) and algorithm.diversity == reading:
        return f"asked: at least {algorithm.levels_of(run.data)[name]:g}", True
    return "not asked for", None


def _columns(
    algorithm: Slicing | RandomBuckets, columns: Sequence[tuple[str, ...]], medoids: Sequence[str | None]
) -> None:
    for number, (column, medoid) in enumerate(zip(columns, medoids, strict=True), start=1):
        around = f" (around {escaped(medoid)})" if medoid else ""
        rest = f" and {len(column) - MOST_NAMES} more" if len(column) > MOST_NAMES else ""
        st.markdown(f"**Column {number}**: {', '.join(map(escaped, column[:MOST_NAMES]))}{rest}{around}")
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
        how = f"Buckets were split at the median of {what} as long as the whole table stayed l-diverse."
    elif algorithm.grouping == "random":
        how = f"Rows were dealt at random into buckets of {algorithm.size:,}."
    else:
        how = f"Rows of equal column values were spread over buckets of {algorithm.size:,}."
    parts.chart(
        size_histogram(sizes, run_style(run.color_index), "bucket", "buckets"),
        key="slicing-sizes",
        caption=f"How many buckets have how many rows. {how}",
        alt=f"Histogram of {len(sizes):,} buckets of {sizes.min():,} to {sizes.max():,} rows.",
    )


def _association(
    run: Run, algorithm: Slicing | RandomBuckets, columns: Sequence[tuple[str, ...]], medoids: Sequence[str | None]
) -> None:
    association = compute.cached("slicing.association", run, _original_association, algorithm.intervals)
    bold = " Bold: the medoids." if any(medoids) else ""
    parts.chart(
        association_map(association, columns, "phi squared", "column", medoids),
        key="slicing-association",
        caption="Phi squared of every pair of attributes in the original table, from 0 (independent) to 1 (one value "
        "tells the other). Framed: the columns, inside which everything stays exact; what lies outside the frames is "
        f"weakened by the permutation.{bold}",
        alt=f"Heat map of phi squared of {len(association)} attributes in {len(columns)} columns. "
        f"{strongest_pair(association)}",
    )


def _original_association(release: Release, intervals: int) -> pd.DataFrame:
    return utility.association(release.data, intervals)
