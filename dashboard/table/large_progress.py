"""A run over all rows of a large table: how far it is, and what came out."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import streamlit as st

from anoncore.base.texts import listing, share_text, size_text
from anoncore.engines.large_run import LargeRun
from anoncore.engines.output_folder import SUMMARY
from anoncore.publishing.parts.part_certificate import CERTIFICATE_FILE
from anoncore.utility.loss import INFORMATION_LOSS
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.table import large_runs
from dashboard.table.large_runs import FullRun

POLL = 0.5
PREVIEW_ROWS = 20


def on_the_way() -> None:
    """What becomes of the run, until it is done."""
    run = large_runs.full_run()
    if run is None:
        st.caption(
            "The rows are read piece by piece and published as Parquet files. Until the release is complete, nothing "
            "with its name is there; a run that is cancelled or cut off leaves none, and can be started again."
        )
    elif run.job.running:
        _watch()
    elif run.job.status == "failed":
        st.error(escaped(run.job.error))
    elif run.job.status == "cancelled":
        st.info("The run was cancelled; nothing of it is left. It can be started again.")


@st.fragment(run_every=POLL, key="large-watch")
def _watch() -> None:
    run = large_runs.full_run()
    if run is None or not run.job.running:
        st.rerun()
    st.progress(run.job.fraction, text=escaped(run.job.text))
    memory = run.look()
    used = f"; the program takes {size_text(memory)} of memory, {size_text(run.peak)} at most so far" if memory else ""
    st.caption(
        f"All {run.n_rows:,} rows to {escaped(str(run.output))}, for {time.monotonic() - run.begun:,.0f} s{used}."
    )
    st.button("Cancel", key="large-cancel", on_click=run.job.cancel, help="Stop; nothing of this run is kept.")


def result() -> None:
    """What came out of the run, if it is done."""
    run = large_runs.full_run()
    if run is None or run.job.status != "done":
        return
    found: LargeRun = run.job.value
    st.subheader("The release of all rows")
    name, classes = run.name, parts.counted(found.n_groups, "equivalence class")
    st.success(escaped(f"Released: {found.n_rows:,} rows of {name} in {classes}."))
    first = [
        Tile("Smallest class", parts.counted(found.smallest, "row"), "The class that hides its people least."),
        Tile("Largest class", parts.counted(found.largest, "row"), "The class that lost most detail."),
        Tile(
            INFORMATION_LOSS.title,
            share_text(found.information_loss),
            f"{INFORMATION_LOSS.meaning} 0%: all exact, 100%: nothing left; lower is better.",
        ),
    ]
    took = [
        Tile("Time", parts.duration(run.job.seconds), "From the start to the complete release."),
        Tile("Memory", size_text(run.peak) if run.peak else "–", "The most that the whole program took on the way."),
        Tile("Parts", f"{len(files(run)):,}", "Parquet files, to be read together as one table."),
    ]
    parts.tiles(first)
    parts.tiles(took)
    for requirement in found.algorithm.requirements:
        st.markdown(f"- {escaped(requirement.label())} holds in every class; it was checked row by row.")
    if run.breaking:
        st.error(escaped(run.breaking))
    for sentence in run.failing:
        st.warning(f"Nobody asked for this, and it fails badly: {escaped(sentence)}")
    written = files(run)
    if not written:
        st.warning(escaped(f"The folder '{run.output}' was moved or removed since."))
        return
    held = sum(file.stat().st_size for file in written)
    st.markdown("The release lies in the folder")
    st.code(str(run.output), language=None)
    st.caption(
        f"{size_text(held)} of Parquet; the file {escaped(SUMMARY)} beside the parts says how they were made and what "
        f"was measured, and {escaped(CERTIFICATE_FILE)} what holds."
    )
    st.code(f"anoncore verify {shlex.quote(str(run.output))}", language="bash")
    beside = [path for path in large_runs.private_files(run.output, run.private) if path.exists()]
    if beside:
        st.caption("Beside the folder, for you and not for publication: " + escaped(listing([p.name for p in beside])))
    for note in found.notes:
        st.caption(escaped(note))
    st.dataframe(first_rows(written[0]), hide_index=True, key="large-preview", alt="First rows of the release")
    st.caption(f"The first rows of {escaped(written[0].name)}, as published.")


def files(run: FullRun) -> list[Path]:
    """The published files that are there."""
    return sorted(run.output.glob("*.parquet"))


def first_rows(file: Path) -> pd.DataFrame:
    """A few rows of a published file."""
    with pq.ParquetFile(file) as opened:
        batch = next(opened.iter_batches(PREVIEW_ROWS), None)
        rows = pa.Table.from_batches([] if batch is None else [batch], opened.schema_arrow)
    return rows.to_pandas()
