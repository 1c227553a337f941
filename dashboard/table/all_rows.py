"""Part of the page Table: the run over all rows of a table of which a sample is loaded."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from shutil import disk_usage

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import streamlit as st

from anoncore import AnonymizationError, DataError, InfeasibleError, Microdata
from anoncore.algorithms import ALGORITHMS, RothkoSampling, RothkoTree
from anoncore.algorithms.base import Algorithm
from anoncore.algorithms.mondrian import Mondrian
from anoncore.algorithms.rothko.rothko import Rothko
from anoncore.base.texts import counted, listing, size_text
from anoncore.engines.large_run import LargeRun, space_needed
from anoncore.engines.output_folder import SUMMARY
from anoncore.measures.criteria import CRITERIA
from anoncore.publishing.certification.certificate import CERTIFICATE_FILE
from anoncore.publishing.certification.claimed_entries import require_drawn_seeds
from anoncore.publishing.parts.part_publication import MAPPING, REPORT
from anoncore.sources.addresses import is_address, shown_address
from dashboard.elements import forms, parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.serving import own_machine
from dashboard.session import browser, state
from dashboard.table import large_runs
from dashboard.table.large_runs import FullRun, Sampled
from dashboard.tasks import redrawing

POLL = 0.5
PREVIEW_ROWS = 20
METHODS = (RothkoSampling.name, RothkoTree.name)
_OUTPUT, _TEMPORARY, _REPLACE = "large-output", "large-temporary", "large-replace"
_REPORT, _MAPPING = "large-report", "large-mapping"
_METHOD, _PARAMETERS = "large-method", "large-parameters-"


def render(data: Microdata | None) -> None:
    """Draw the form of the run where the table is a sample, and what became of the run that was started."""
    large = large_runs.sampled()
    if large is not None:
        st.subheader("Run on all rows")
        _sizes(large)
        if data is not None:
            _ask(large, data)
    elif large_runs.full_run() is not None:
        st.subheader("The run that was started")
        _on_the_way()
    _outcome()


def _ask(large: Sampled, data: Microdata) -> None:
    """The method, where the release goes, and the button that starts the run."""
    try:
        data.require_quasi_identifiers()
    except AnonymizationError as error:
        st.warning(escaped(str(error)))
        return
    left, right = st.columns([2, 3], gap="large")
    with left:
        algorithm, problem = _form(large, data)
    with right:
        _target(large, data, algorithm, problem)


def _sizes(large: Sampled) -> None:
    """What is loaded, and where to go with it."""
    share = large.n_sampled / large.n_rows
    parts.tiles(
        [
            Tile("Rows of the table", f"{large.n_rows:,}", "Counted in the file."),
            Tile("Rows in the sample", f"{large.n_sampled:,}", f"{share:.2%} of the rows; they are your table now."),
            Tile(
                "One sampled row stands for",
                f"{1 / share:,.1f}".removesuffix(".0") + (" row" if share == 1 else " rows"),
                "A group of 5 rows in a release of the sample stands for 5 times as many of the table.",
            ),
        ]
    )
    st.markdown(
        f"The sample of **{escaped(large.source.name)}** is your table: tag its attributes and try methods on it. "
        "The run takes these tags to all rows."
    )


def _form(large: Sampled, data: Microdata) -> tuple[Rothko | None, str]:
    """The algorithm and its parameters, or the sentence that says why there is none."""
    name = parts.choice(
        "Method",
        METHODS,
        _METHOD,
        "Both are Mondrian for tables that do not fit into memory: the tree counts and finds the very groups that "
        "Mondrian finds, the sampling reads less and keeps every requirement too.",
        names=lambda one: ALGORITHMS[one].title,
    )
    kind = ALGORITHMS[name]
    prefix, kept = f"large.{name}", state.forms()
    run, table = state.current_run(), state.table()
    of_sample = run is not None and table is not None and run.table_name == table.name
    if run is not None and of_sample and isinstance(run.algorithm, Mondrian):
        st.button(
            "Parameters of the release shown",
            key="large-take",
            on_click=_take,
            args=(kind, run.algorithm),
            help=f"Requirements, split and recoding as in {escaped(run.label)}. A k that suits the sample is often "
            "smaller than what suits all rows.",
        )
    values = kept.setdefault(f"{_PARAMETERS}{name}", {})
    algorithm: Rothko | None = None
    try:
        entered = kind(**forms.draw(kind, prefix, values, forms.Names.of(data)))
        assert isinstance(entered, Rothko)
        algorithm = entered
        entered.validate_data(data)
    except InfeasibleError:
        # The sample has fewer rows and values than the table, which alone decides.
        return algorithm, ""
    except AnonymizationError as error:
        return None, str(error)
    return algorithm, ""


def _take(kind: type[Rothko], algorithm: Mondrian) -> None:
    """Let the form show what a release of the sample was asked; in a callback."""
    model, values = large_runs.taken_over(kind, algorithm), state.forms().setdefault(f"{_PARAMETERS}{kind.name}", {})
    forms.take(model, f"large.{kind.name}", values)


def take_over(algorithm: Algorithm) -> None:
    """Let the form show the method that releases all rows as this one releases the sample; before it is drawn."""
    kind = large_runs.kind_for_all_rows(algorithm)
    assert kind is not None, "only such methods are offered for all rows"
    assert isinstance(algorithm, Mondrian), "they are all forms of Mondrian"
    browser.set_widget_values({_METHOD: kind.name})
    _take(kind, algorithm)


def _target(large: Sampled, data: Microdata, algorithm: Rothko | None, problem: str) -> None:
    """Where the release goes, the recipe, and the button that starts the run."""
    first = large.source.folder / f"{large.source.stem}-release"
    if browser.widget_value(_OUTPUT) is None or browser.get("large-output-of") != large.table_id:
        browser.set_widget_values({_OUTPUT: str(first)})
        browser.put("large-output-of", large.table_id)
    text = st.text_input(
        "Folder for the release",
        key=_OUTPUT,
        persist_state="session",
        help="A new folder of Parquet files on this machine; it appears when the release is complete.",
    )
    elsewhere = st.text_input(
        "Folder for temporary files",
        key=_TEMPORARY,
        persist_state="session",
        placeholder="beside the release",
        help="They are gone when the run ends. A fast disk pays.",
    )
    active = large_runs.full_run()
    running = active is not None and active.job.running
    output, workspace = None, None
    if not running:
        try:
            output = large_runs.checked_output(text, large)
            workspace = _temporary(elsewhere)
            _space(large, data, workspace or output.parent)
            require_drawn_seeds(algorithm, False, "Empty the field Seed.")
        except AnonymizationError as error:
            problem = problem or str(error)
    there = output is not None and output.exists()
    replace = there and st.toggle(
        "Replace the release that is there", key=_REPLACE, help="It goes when the new one is complete, and not before."
    )
    private = _private()
    if output is not None and not replace:
        left = [path for path in large_runs.private_files(output, private) if path.exists()]
        if left:
            problem = problem or f"'{left[0]}' is there already; remove it, or choose another folder for the release."
    if problem:
        st.warning(escaped(problem))
    start, take = st.columns(2)
    pressed = start.button(
        "Start",
        key="large-start",
        type="primary",
        width="stretch",
        disabled=running or output is None or algorithm is None or bool(problem) or there != replace,
        help="Make the release of all rows in the background; you can go on working on other pages.",
    )
    if pressed and output is not None and algorithm is not None:
        large_runs.start(large, algorithm, output, workspace, replace, private)
        st.rerun()
    _on_the_way()
    if algorithm is not None:
        _recipe(large, algorithm, take)


def _private() -> list[str]:
    """The endings of what is written beside the release, for those who make it."""
    with st.container(horizontal=True):
        report = st.toggle(
            "Report",
            key=_REPORT,
            help="A page (HTML) beside the folder, with numbers of all rows; not for publication.",
        )
        mapping = st.toggle(
            "Mapping", key=_MAPPING, help="What became what (CSV), beside the folder; it would undo the release."
        )
    st.caption(
        "The folder gets its certificate. The key of the certificate's hash of your table is written beside it: keep "
        "it, and don't publish it."
    )
    return [*([REPORT] if report else []), *([MAPPING] if mapping else [])]


def _temporary(text: str) -> Path | None:
    if not text.strip():
        return None
    folder = own_machine.whole_path(text)
    if not folder.is_dir():
        raise DataError(f"There is no folder '{folder}' for temporary files; make it first, or choose another one.")
    return folder


def _space(large: Sampled, data: Microdata, folder: Path) -> None:
    """What the run needs on the disk."""
    coded = len(data.quasi_identifiers) + len(data.sensitive) + 1
    needed = space_needed(large.n_rows, coded, len(data.attributes) - len(data.quasi_identifiers))
    free = disk_usage(folder).free
    if needed > free:
        raise DataError(
            f"The run needs about {size_text(needed)} for temporary files in '{folder}', where "
            f"{size_text(free)} are free; free some space, or choose another folder for them."
        )
    need, have = size_text(needed), size_text(free)
    st.caption(f"Takes up to {need} of temporary files; {have} are free there.")
    listed = large_runs.knows_sample_only()
    if listed:
        st.caption(
            f"The hierarchy or order of {escaped(listing(listed))} lists the values of the sample: a value that only "
            "the whole table has ends the run with a sentence that names it."
        )


def _recipe(large: Sampled, algorithm: Rothko, place: object) -> None:
    """The same run as a file, for the command line."""
    try:
        recipe = large_runs.recipe_of(large, algorithm)
        text = recipe.dumps()
    except AnonymizationError as error:
        st.caption(escaped(str(error)))
        return
    name = f"{large.source.stem}{'-not-for-publication' if recipe.holds_values_of else ''}.toml"
    parts.download(
        "Recipe (TOML)",
        "recipe",
        lambda: text,
        name,
        "application/toml",
        "large-recipe",
        place=place,
        width="stretch",
        help=f"This run as a file; it holds no seed. {escaped(recipe.publication_warning)}".strip(),
    )
    with st.expander("Run it without this page"):
        where = str(large.source.place)
        allowed = ["--allow-address", shown_address(where)] if is_address(where) else ["--allow-path", where]
        words = ["anoncore", "run", name, "--engine", "disk", *allowed]
        st.code(shlex.join(words), language="bash")
        st.code(text, language="toml")


def _on_the_way() -> None:
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


@redrawing.part(POLL, "large-watch")
def _watch() -> None:
    run = large_runs.full_run()
    if run is None:
        redrawing.draw_page()
    parts.follow(run.job, "large-cancel", "Stop; nothing of this run is kept.")
    memory = run.look()
    used = f"; the program takes {size_text(memory)} of memory, {size_text(run.peak)} at most so far" if memory else ""
    st.caption(
        f"All {run.n_rows:,} rows to {escaped(str(run.output))}, for {time.monotonic() - run.begun:,.0f} s{used}."
    )


def _outcome() -> None:
    """What came out of the run, if it is done."""
    run = large_runs.full_run()
    if run is None or run.job.status != "done":
        return
    found: LargeRun = run.job.value
    st.subheader("The release of all rows")
    name, groups = run.name, counted(found.n_groups, "group")
    st.success(escaped(f"Released: {found.n_rows:,} rows of {name} in {groups}."))
    measured = [
        Tile(CRITERIA[name].title, CRITERIA[name].text(value), CRITERIA[name].meaning)
        for name, value in run.numbers.items()
    ]
    took = [
        Tile("Largest group", counted(found.largest, "row"), "The group that lost most detail."),
        Tile("Time", parts.duration(run.job.seconds), "From the start to the complete release."),
        Tile("Memory", size_text(run.peak) if run.peak else "–", "The most that the whole program took on the way."),
        Tile("Parts", f"{len(files(run)):,}", "Parquet files, to be read together as one table."),
    ]
    parts.tiles(measured)
    parts.tiles(took)
    for requirement in found.algorithm.requirements:
        st.markdown(f"- {escaped(requirement.label())} holds in every group; it was checked row by row.")
    say_verdict(run)
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
    parts.table(first_rows(written[0]), "large-preview", "First rows of the release")
    st.caption(f"The first rows of {escaped(written[0].name)}, as published.")


def say_verdict(run: FullRun) -> None:
    """What speaks against the release of all rows, if anything."""
    if run.question:
        st.warning(escaped(run.question))
    if run.breaking:
        st.error(escaped(run.breaking))
    for sentence in run.failing:
        st.warning(f"Not asked for, and not protected: {escaped(sentence)}")


def files(run: FullRun) -> list[Path]:
    """The published files that are there."""
    return sorted(run.output.glob("*.parquet"))


def first_rows(file: Path) -> pd.DataFrame:
    """A few rows of a published file."""
    with pq.ParquetFile(file) as opened:
        batch = next(opened.iter_batches(PREVIEW_ROWS), None)
        rows = pa.Table.from_batches([] if batch is None else [batch], opened.schema_arrow)
    return rows.to_pandas()
