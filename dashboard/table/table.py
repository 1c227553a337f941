"""The page Table: which table it is, what each of its columns tells about a person, identifiers of HIPAA's safe harbor
in them, the run over all rows, and saved sessions.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from anoncore import AnonymizationError, Kind, Microdata, Role, datasets
from anoncore.base.texts import listing, share_text, size_text
from anoncore.privacy import IdentifierFinding, IdentifiersFound
from anoncore.table.identifiers.finder import identifiers_of
from anoncore.table.identifiers.kinds import Mend
from anoncore.table.identifiers.mends import mending_hierarchy
from anoncore.table.suggestions import uniqueness
from dashboard.elements import parts, role_questions, routes
from dashboard.markdown import escaped
from dashboard.serving import access, own_machine
from dashboard.session import browser, compute, state, tagging
from dashboard.session.loaded_table import LoadedTable
from dashboard.session.workspace import Workspace
from dashboard.table import all_rows, attribute_details, attribute_hierarchy, large_runs, table_columns, table_source
from dashboard.table.table_place import TablePlace, known_tables
from dashboard.table.table_source import attempt, load_place
from dashboard.tasks import redrawing

PREVIEW_COLUMNS = 200
PREVIEW_ROWS = 1_000
FILE_NAME = "session.anoncore"
MOST_GENERATED = 1_000_000
POLL = 0.5
MENDS = {Mend.YEAR: "Group by year", Mend.THREE_DIGITS: "Group by three digits", Mend.NINETY: "Group into 90+"}
"""What the button of a mend that groups values says."""
LEVEL_NOTE = (
    "A grouping becomes the column's hierarchy. Methods may still publish finer values where a group has them: judge "
    "the release, or make the column coarse before you load the table."
)
MOST_SHOWN = 40
_TURN, _PROBLEM = "session_turn", "session_problem"
_PLACE, _PLACE_TABLE, _SIZE = "place", "place-table", "sample-rows"


def render() -> None:
    """Draw the page."""
    _choose()
    table = state.table()
    if table is None:
        st.info("No table is loaded. Choose a built-in table or upload your own above.")
        return
    _about(table)
    table_columns.render(table)
    _identifiers_of_safe_harbor(table)
    data = _coded(table)
    attribute_details.render(table, data)
    all_rows.render(data)
    _first_rows(table)
    _saved_sessions()


def _about(table: LoadedTable) -> None:
    """The name of the table, its size, and how it was read."""
    st.subheader(escaped(table.name))
    n_rows, n_columns = table.frame.shape
    n_missing = sum(summary.n_missing for summary in table_columns.summaries(table))
    missing = (
        f"{share_text(n_missing / (n_rows * n_columns))} of the cells are empty" if n_missing else "no cell is empty"
    )
    st.caption(f"{n_rows:,} rows, {n_columns:,} columns; {missing}; {size_text(table.n_bytes)} of memory.")
    if table.builtin:
        st.caption("**About this table.** " + " ".join(escaped(note) for note in table.notes))
    elif table.notes:
        st.info("**How the file was read**\n\n" + "\n".join(f"- {escaped(note)}" for note in table.notes))


def _coded(table: LoadedTable) -> Microdata | None:
    """The table as its tags read it, with what follows from them; None, and why, where it cannot be read so."""
    try:
        data = state.microdata()
    except AnonymizationError as error:
        st.error(escaped(f"{error} Until then no method can run."))
        return None
    if data.people_word != "people":
        role_questions.ask_whose_rows()
    role_questions.propose(table, data)
    _what_follows(table, data)
    return data


def _what_follows(table: LoadedTable, data: Microdata) -> None:
    """What the tags mean for the people in the table, and where to go."""
    if not data.quasi_identifiers:
        told = tagging.word("quasi-identifier")
        st.warning(f"Tag at least one attribute as {told}: what an adversary may know about a person.")
        return
    key = (table.digest, state.tags().digest, data.quasi_identifiers)
    found = compute.kept("uniqueness", key, lambda: uniqueness(data))
    with st.container(border=True):
        st.markdown(
            f"**{found.sentence}** ({found.share:.0%}): whoever knows these values finds the person for certain.",
            help="A row is unique if no other row has the same values in all quasi-identifiers, and a person if nobody "
            "else's row has.",
        )
        if not data.sensitive:
            st.markdown("No attribute is sensitive. k-anonymity works so; other requirements need one.")
        sample = "" if large_runs.sampled() is None else ", and compare methods on the sample"
        routes.button("board", f"Go to the board{sample}", primary=True)


def _first_rows(table: LoadedTable) -> None:
    st.subheader("First rows")
    first = table.frame.iloc[:PREVIEW_ROWS, :PREVIEW_COLUMNS]
    st.dataframe(first, key=f"preview-{table.id}", height=320, alt="First rows of the table")
    n_rows, n_columns = table.frame.shape
    more = f" and {PREVIEW_COLUMNS:,} of {n_columns:,} columns" if n_columns > PREVIEW_COLUMNS else ""
    st.caption(f"The first {len(first):,} of {n_rows:,} rows{more}, as they were read.")


def _saved_sessions() -> None:
    """Save the session to one file, and open one again."""
    problem = browser.get(_PROBLEM)
    here = state.workspace()
    with st.expander("Save this session, or open a saved one", expanded=bool(problem)):
        if problem:
            st.error(escaped(problem))
        left, right = st.columns(2, gap="large")
        with left:
            parts.download(
                "Save this session",
                "session",
                lambda: _content(here),
                FILE_NAME,
                "application/octet-stream",
                "save-session",
                help="One file with the table, its tags, and the board with its releases, to go on later or "
                "on another machine.",
            )
            st.caption("The file holds the original table and the seeds of the releases. Keep it as safe as the table.")
            _unrepeatable()
        with right:
            file = access.upload_field(
                "Open a saved session",
                type=["anoncore"],
                key=f"session-upload-{browser.get(_TURN, 0)}",
                help="Its table, its tags and its board replace those of now.",
            )
            if file is not None:
                with st.spinner("Opening the session …"):
                    _open_session(file.getvalue())


def _unrepeatable() -> None:
    """Say which releases the file cannot bring back, because nothing can draw the same noise twice."""
    drawn = {
        run.algorithm.title for run in state.runs() if run.algorithm is not None and not run.algorithm.is_repeatable
    }
    if drawn:
        st.caption(
            f"Tables of {escaped(listing(sorted(drawn)))} are not in it, and no seed makes them again: opened, the "
            "board draws other ones. Take the tables themselves away on the page Publish first."
        )


def _content(here: Workspace) -> bytes:
    try:
        # It takes half a second to import, for which no page must wait that only might save.
        from dashboard.session import session_file

        return session_file.save(here)
    except AnonymizationError as error:
        # The browser is waiting for a file: it gets the sentence in one.
        return str(error).encode()


def _open_session(content: bytes) -> None:
    """Open the session and draw the whole page anew, with what went wrong."""

    def load() -> None:
        n_runs = state.open_session(content)
        state.workspace().notices.append(
            f"The session is open; {n_runs} {'release' if n_runs == 1 else 'releases'} came with it."
        )

    browser.put(_PROBLEM, table_source.problem_of(load, "session", "Nothing was changed."))
    browser.put(_TURN, browser.get(_TURN, 0) + 1)
    st.rerun()


def _choose() -> None:
    """Ask for another table."""
    if large_runs.take_sample():
        st.rerun()
    with st.container(border=True):
        left, right = st.columns(2, gap="large")
        with left:
            table_source.ask_for_builtin("builtin-table")
            _ask_for_rows()
            if own_machine.may_use_paths():
                _at_an_address()
            else:
                st.caption(escaped(access.refusal("paths")) or own_machine.NOT_ALONE)
        with right:
            table_source.ask_for_file("upload")
    problem = browser.get("load_problem")
    if problem:
        st.error(escaped(problem))


def _ask_for_rows() -> None:
    """Ask how many rows the built-in table has, where it is generated."""
    table = state.table()
    if table is None or table.builtin is None or not datasets.table(table.builtin).generated:
        return
    key = f"generated-rows-{table.id}"
    st.number_input(
        "Rows to make up",
        min_value=10,
        max_value=MOST_GENERATED,
        value=len(table.frame),
        step=5_000,
        key=key,
        on_change=lambda: table_source.want_builtin(table.builtin, browser.widget_value(key)),
        help="This table is generated, so it can have any number of rows. The same number gives the same table.",
    )


def _at_an_address() -> None:
    """A table that lies elsewhere, or on this machine, by its name: all of it, or a sample to try methods on."""
    drawn = large_runs.sampling()
    with st.expander("A table by its path or address", expanded=drawn is not None):
        text = st.text_input(
            "Path or address",
            key=_PLACE,
            persist_state="session",
            placeholder="/data/people.parquet",
            help="A Parquet or CSV file, a folder of such files, or a DuckDB or SQLite database; or s3://, gs://, "
            "abfs://, https:// or postgresql://. It is read with the rights of the program. Leave passwords out: the "
            "program takes them from its environment.",
        )
        size = st.number_input(
            "Rows in the sample",
            min_value=100,
            max_value=large_runs.MOST_SAMPLED,
            value=large_runs.SAMPLE_ROWS,
            step=10_000,
            key=_SIZE,
            persist_state="session",
            help="Drawn at random, every row with the same chance. A smaller table is taken whole.",
        )
        source = _source(text) if text.strip() else None
        if drawn is not None and drawn.job.running:
            _drawing()
            return
        with st.container(horizontal=True):
            if st.button("Load it", key="load-place", disabled=source is None, help="All rows become your table."):
                browser.put("asked_place", source)
            if st.button(
                "Take a sample",
                key="large-sample",
                disabled=source is None,
                help="A random sample becomes your table, so that every page works on it; then the same is done to "
                "all rows, piece by piece, so that they never have to fit into memory.",
            ):
                large_runs.draw_sample(source or TablePlace(Path()), int(size))
                st.rerun()
        if drawn is not None and drawn.job.status == "failed":
            st.error(escaped(drawn.job.error))
    asked = browser.get("asked_place")
    if asked is not None:
        with st.spinner(f"Fetching {escaped(asked.name)} …"):
            attempt(lambda: load_place(asked), "asked_place", None)


def _source(text: str) -> TablePlace | None:
    """The table that is named, or the sentence that says why there is none."""
    try:
        place = own_machine.whole_place(text)
        tables = known_tables(place)
    except (AnonymizationError, OSError) as error:
        why = str(error) if isinstance(error, AnonymizationError) else f"'{text}' cannot be read: {error.strerror}."
        st.error(escaped(why))
        return None
    if not tables:
        return TablePlace(place)
    return TablePlace(place, parts.choice("Table of the database", tables, _PLACE_TABLE, "It has several tables."))


@redrawing.part(POLL, "large-drawing")
def _drawing() -> None:
    drawn = large_runs.sampling()
    if drawn is None:
        redrawing.draw_page()
    parts.follow(drawn.job, "large-sample-cancel", "Keep the table that is loaded.")


def _identifiers_of_safe_harbor(table: LoadedTable) -> None:
    """Draw the question and, where it is asked, what was found, what mends it, and what cannot be seen."""
    asked = st.toggle(
        "Look for the identifiers of HIPAA's safe harbor",
        key=f"safe-harbor-{table.id}",
        help="The 18 kinds of 45 CFR 164.514(b)(2)(i), by names and values of the columns. It never says that the rule "
        "is met: what cannot be seen stands below.",
    )
    if not asked:
        return
    found = _identifiers_in(table)
    with st.container(border=True):
        st.markdown(escaped(found.headline))
        for one in found.findings[:MOST_SHOWN]:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"- {escaped(one.sentence)}", width="content")
                _mend_button(one, found)
            problem = attribute_hierarchy.problem(one.column)
            if problem:
                st.error(escaped(problem))
        if len(found.findings) > MOST_SHOWN:
            st.caption(f"And {len(found.findings) - MOST_SHOWN:,} more, which `anoncore check --identifiers` prints.")
        if any(one.mend in MENDS for one in found.findings):
            st.caption(LEVEL_NOTE)
        cannot = "\n".join(f"- {escaped(one)}" for one in found.cannot_see)
        st.caption(f"**What cannot be seen**\n\n{cannot}")


def _identifiers_in(table: LoadedTable) -> IdentifiersFound:
    """The identifiers of a table, looked for once."""
    summaries = table_columns.summaries(table)
    return compute.kept("identifiers", (table.digest,), lambda: identifiers_of(table.frame, summaries))


def _mend_button(finding: IdentifierFinding, found: IdentifiersFound) -> None:
    key = f"mend-{finding.letter}-{finding.column}"
    if finding.mend in MENDS:
        st.button(MENDS[finding.mend], key=key, on_click=_group, args=(finding, found))
        return
    is_tagged = state.tags().roles.get(finding.column) == Role.IDENTIFIER
    st.button(
        "Tag as identifier",
        key=key,
        on_click=role_questions.tag,
        args=([finding.column], Role.IDENTIFIER.value),
        disabled=is_tagged,
    )


def _group(finding: IdentifierFinding, found: IdentifiersFound) -> None:
    """Give a column the groups of its mend as hierarchy; it becomes a quasi-identifier where nobody decided on it."""
    name, tags = finding.column, state.tags()
    if name not in tags.roles:
        tags = tags.changed("roles", name, Role.QUASI_IDENTIFIER.value)
    if finding.mend is Mend.THREE_DIGITS:
        # Areas with few people share a group, however far their numbers lie apart.
        tags = tags.changed("kinds", name, Kind.NOMINAL.value).changed("orders", name, None)
    try:
        values = state.microdata(tags).domain[name].values
        groups = mending_hierarchy(values, finding.mend, found.few_people, found.year)
        tags = tags.changed("hierarchies", name, groups)
        state.microdata(tags)
    except AnonymizationError as error:
        attribute_hierarchy.refuse(name, error)
        return
    state.retag(tags)
