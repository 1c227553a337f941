"""The page Publish: what is in the release, what was left out, what holds, and the files to take away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import pandas as pd
import streamlit as st

from anoncore import Microdata, Release
from anoncore.base.random_numbers import is_guessable
from anoncore.publishing.export import EXCEL_ROWS, FileFormat
from anoncore.publishing.publication import release_archive
from anoncore.publishing.report.subject import treatments
from anoncore.publishing.signing.signers import changed_zip
from anoncore.release.published_numbers import Numbers, ranges_of
from dashboard.board import making
from dashboard.elements import parts, role_questions, verdicts
from dashboard.markdown import escaped
from dashboard.session import compute, state
from dashboard.session.workspace import Run
from dashboard.views import takeaway

PREVIEW_ROWS = 50
NUMBERS: dict[Numbers, str] = {"text": "Text: 20-29", "bounds": "Bounds: 20 and 29", "midpoints": "Midpoints: 24.5"}
TITLES: dict[FileFormat, str] = {"csv": "CSV", "parquet": "Parquet", "excel": "Excel"}


@dataclass(frozen=True)
class Preview:
    """The first rows of a published table, and its size."""

    head: pd.DataFrame
    n_rows: int
    n_columns: int


def render() -> None:
    """Draw the page."""
    run = parts.shown_run()
    if run is None:
        return
    seed_warning(run)
    st.subheader("What holds, and what does not")
    verdicts.render(run)
    role_questions.mend(run)
    signer = downloads(run)
    _contents(run)
    takeaway.render(run, signer)


def seed_warning(run: Run, after: Callable[[], None] = lambda: None) -> None:
    """Say that a seed can be guessed, and ask whether the release is to have a certificate all the same, or to be drawn
    anew where nobody asked for the seed; `after` is called then.
    """
    if run.algorithm is None or not run.algorithm.has_guessable_seed:
        return
    if making.has_known_seed(run):
        st.warning(
            "This release ships with the program, so everybody can repeat its random choices and undo them. To publish "
            "it, draw it anew: its numbers may differ a little from those that the board has shown."
        )
        if st.button("Draw it anew", type="primary", key=f"draw-anew-{run.id}"):
            making.draw_anew(run)
            after()
            # A dialog is drawn alone otherwise, and only a whole page lets releases be made.
            st.rerun()
        return
    seed = next(one for one in run.algorithm.seeds if is_guessable(one))
    st.warning(
        f"This release has the seed {seed}, so it can be repeated, and whoever knows or guesses the seed can "
        "undo its random choices. Don't publish it: empty its field Seed on the board."
    )
    st.checkbox(
        "Certify it although its seed can be guessed",
        key=takeaway.guessable_key(run),
        help="For releases that stay in the house, or whose readers may know everything. The certificate says that the "
        "seed was given, and not which it is.",
    )


def what_is_published(run: Run) -> str:
    """What is published, in one sentence."""
    release = run.release
    names = ", ".join(release.attributes)
    tables = "one table" if len(release.fragments) == 1 else f"{len(release.fragments)} tables"
    return f"{tables.capitalize()} of {release.table_size} with {escaped(names)}. {columns_text(run.data)}"


def columns_text(data: Microdata) -> str:
    """Which columns no release of the table has, and why, in a sentence or two."""
    identifiers, undecided = (", ".join(map(escaped, names)) for names in (data.identifiers, data.left_out))
    told = [f"Left out as identifiers: {identifiers}."] if identifiers else []
    told += [f"Left out because nobody decided on them: {undecided}."] if undecided else []
    return " ".join(told) or "Every column has a role and none is an identifier, so none is left out."


def downloads(run: Run) -> takeaway.Signer | None:
    """One button per format; the file is made when it is clicked. Gives who signs the certificate."""
    st.subheader("Download the release")
    _choose_numbers(run)
    several = len(run.release.fragments) > 1
    uncertified = takeaway.uncertified(run)
    signer = None if uncertified else takeaway.choose_signer()
    for column, format in zip(st.columns(len(TITLES)), get_args(FileFormat), strict=True):
        title = TITLES[format]
        zipped = several and format != "excel"
        too_long = format == "excel" and run.data.n_rows >= EXCEL_ROWS
        parts.download(
            f"{title} (zip of {len(run.release.fragments)} tables)" if zipped else title,
            f"release {format}",
            _archive(run, format, signer),
            f"{takeaway.file_stem(run)}.zip",
            "application/zip",
            f"publish-{format}",
            run,
            column,
            type="primary" if format == "csv" else "secondary",
            disabled=too_long or bool(uncertified),
            help=_help(format, too_long),
            width="stretch",
        )
    # That what ships is to be drawn anew stands above, with the button that does it.
    if uncertified and not making.has_known_seed(run):
        st.warning(escaped(uncertified))
    st.caption(
        "Each download is a zip with the release and its certificate; `anoncore verify` re-checks the folder into "
        "which it is unpacked. The tables hold what is shown below and nothing else: no identifier, no number of a "
        "row, rows sorted by content. In CSV and Excel a text that a spreadsheet would run as a formula gets an "
        "apostrophe in front."
    )
    return signer


def has_ranges(release: Release) -> bool:
    """Whether a release publishes numbers as ranges."""
    return any(ranges_of(one) is not None for fragment in release.fragments for one in fragment.recodings.values())


def _choose_numbers(run: Run) -> None:
    """Ask how ranges of numbers are published, where the release has some."""
    if not compute.cached("dashboard.has_ranges", run, has_ranges):
        return
    st.segmented_control(
        "Ranges of numbers",
        options=list(NUMBERS),
        default="text",
        required=True,
        format_func=lambda form: NUMBERS[form],
        key=takeaway.NUMBERS_KEY,
        help="Text reads best. Bounds are two columns of numbers that programs can count with and tell as much. "
        "Midpoints are one column of numbers and tell less: how wide a range is gets lost.",
    )


def _help(format: FileFormat, too_long: bool) -> str:
    if too_long:
        return f"An Excel sheet holds fewer than {EXCEL_ROWS:,} rows; take CSV or Parquet."
    return {
        "csv": "Text with commas, for any program.",
        "parquet": "Small and typed, for data tools.",
        "excel": "One sheet per table; takes some seconds for tens of thousands of rows.",
    }[format]


def _archive(run: Run, format: FileFormat, signer: takeaway.Signer | None = None) -> Callable[[], bytes]:
    release, asked = takeaway.chosen_release(run), state.asked_of_all(run)
    guessable = takeaway.may_be_guessed(run)

    def make() -> bytes:
        made = release_archive(
            release,
            takeaway.file_stem(run),
            takeaway.input_key(run),
            format,
            compute.cache_of(run),
            asked,
            guessable,
        )
        return made if signer is None else changed_zip("release.zip", made, lambda text: signer.signed(text.decode()))

    return make


def previews(release: Release, numbers: Numbers) -> dict[str, Preview]:
    """The published tables' first rows, without making the tables."""
    n_rows = {fragment.name: fragment.partition.n_rows for fragment in release.fragments}
    return {
        name: Preview(table, n_rows[name], table.shape[1])
        for name, table in release.pandas_tables(numbers, PREVIEW_ROWS).items()
    }


def _contents(run: Run) -> None:
    """The published tables and what becomes of each attribute."""
    release = run.release
    st.subheader("What is published")
    found = parts.soon("The first rows are looked up", run, previews, takeaway.chosen_release(run).numbers) or {}
    weights = [min(max(preview.n_columns, 3), 9) for preview in found.values()]
    for column, (name, preview) in zip(parts.side_by_side(weights), found.items(), strict=True):
        if len(found) > 1:
            column.markdown(f"**Table '{escaped(name)}'**")
        column.dataframe(preview.head, hide_index=True, key=f"publish-preview-{name}", alt=f"First rows of {name}.")
        count = f"{preview.n_columns} column{'s' if preview.n_columns > 1 else ''}"
        column.caption(f"The first {len(preview.head):,} of {preview.n_rows:,} rows, {count}, as published.")
    if len(release.fragments) > 1 and release.is_shared:
        st.caption(
            "The tables are joined by the column `group` only: inside a group any row of one may "
            "belong to any row of the other. The group numbers are drawn anew for every file."
        )
    lines = [f"- **{escaped(name)}**: {escaped(treatments(release, name))}" for name in release.attributes]
    hidden = [name for name in run.data.attributes if name not in release.attributes]
    lines += [f"- **{escaped(name)}**: left out by the method" for name in hidden]
    lines += [f"- **{escaped(name)}**: left out, it is an identifier" for name in run.data.identifiers]
    lines += [f"- **{escaped(name)}**: left out, nobody decided on it" for name in run.data.left_out]
    with st.expander("What becomes of each attribute"):
        st.markdown("\n".join(lines))
    for note in release.notes:
        st.caption(escaped(note))
    st.caption(columns_text(run.data))
