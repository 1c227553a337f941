"""A release that was made elsewhere on the board: opening its files, how they were read, and what certificates among
them are worth.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from anoncore import AnonymizationError, DataError
from anoncore.base.texts import counted
from dashboard.board.bench import Attempt
from dashboard.markdown import escaped
from dashboard.serving import access, audit, quotas
from dashboard.session import browser, state
from dashboard.session.opened import LONGEST_TITLE, MOST_UNPACKED, Opened, Rows, opened_alone, opened_files, usual_title
from dashboard.session.wishes import Column
from dashboard.tasks import reading

DAMAGE = (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError, ValueError)


def certified(files: Sequence[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """The zips that have a certificate, as a release is handed out: its name and the zip. Nothing is unpacked."""
    found: list[tuple[str, bytes]] = []
    for _, content in files:
        with suppress(*DAMAGE), zipfile.ZipFile(io.BytesIO(content)) as archive:
            own = [name for name in archive.namelist() if name.endswith("-certificate.json")]
            if len(own) == 1 and sum(one.file_size for one in archive.infolist()) <= MOST_UNPACKED:
                found.append((own[0], content))
    return found


def unpacked(name: str, content: bytes) -> tuple[bytes, dict[str, bytes]]:
    """The text of a certificate and the files beside it. Raises DataError for a damaged zip."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            beside = {other: archive.read(other) for other in archive.namelist() if other != name}
            return archive.read(name), beside
    except DAMAGE:
        raise DataError("The zip is damaged and cannot be read.") from None


def certificate_told(text: bytes, tables: Mapping[str, bytes], keys: Sequence[tuple[str, bytes]]) -> str:
    """Who signed a certificate, and what the tables show of it, in two sentences.

    Raises AnonymizationError for what is no certificate, no table or no key.
    """
    # Verification takes half a second to import, for which the first page must not wait.
    from anoncore.publishing import Certificate, signed_by, verify
    from anoncore.publishing.signing.signature import public_key_of

    signed = signed_by(text, [public_key_of(name, content) for name, content in keys])
    found = verify(Certificate.loads(text), tables)
    failing = [one.sentence for one in found.findings if one.outcome == "fails"]
    return " ".join([f"{signed.sentence[0].upper()}{signed.sentence[1:]}.", found.state, *failing[:3]])


def told_of_zip(content: bytes, name: str, keys: Mapping[str, str]) -> str:
    """What `certificate_told` says of the certificate `name` in a zip, by the texts of public keys."""
    text, tables = unpacked(name, content)
    return certificate_told(text, tables, [(key, line.encode()) for key, line in keys.items()])


_TURN = "board_open_turn"
_PROBLEM = "board_open_problem"
WHOSE: Mapping[Rows, tuple[str, str]] = {
    "people": ("Yes, each row was made of one person's", "Values may be coarser, changed or left out."),
    "synthetic": (
        "No, they are nobody's",
        "A synthetic table, or so noisy that no row can be called a person's. It is compared by shares.",
    ),
}
"""What is asked of the rows of published tables, with what either answer means."""


def add() -> bool:
    """Ask for the files of a release, or whether the loaded table is one; whether a column was added."""
    table = state.table()
    assert table is not None, "the board asks for a release only beside a table"
    st.markdown(
        f"Tables that somebody published of **{escaped(table.name)}**: by ARX, sdcMicro, Amnesia, a script. They are "
        "read as they are written (20-29, [20, 30), {a, b}, 476\\*\\*, \\*), and the board judges them like its own "
        "releases."
    )
    turn = browser.get(_TURN, 0)
    files = access.upload_field(
        "Published tables: CSV, TSV, Parquet, Excel, or a zip of them",
        key=f"board-open-{turn}",
        accept_multiple_files=True,
        help="Several files are one release: tables that a column such as group joins, or fragments.",
    )
    chosen = tuple(file.file_id for file in files or ())
    _check_certificates([(file.name, file.getvalue()) for file in files or ()], turn)
    usual = usual_title([file.name for file in files]) if files else ""
    rows = st.radio(
        f"Do these rows belong to the people of {escaped(table.name)}?",
        list(WHOSE),
        key=f"board-open-rows-{turn}",
        format_func=lambda one: WHOSE[one][0],
        captions=[caption for _, caption in WHOSE.values()],
    )
    title = st.text_input(
        "Name on the board", key=f"board-open-name-{turn}", placeholder=usual, max_chars=LONGEST_TITLE
    )
    place = st.container()
    if st.button("Open on the board", type="primary", key="board-open-it", disabled=not files):
        with st.spinner("Reading the files …"):
            found, problem = _read([(file.name, file.getvalue()) for file in files], title, rows)
        if found is not None:
            _put(found)
            browser.put(_TURN, turn + 1)
            return True
        browser.put(_PROBLEM, (chosen, problem))
    # The page is drawn anew whenever a column has come, so it is kept as long as the same files are chosen.
    refused, problem = browser.get(_PROBLEM, ((), ""))
    if chosen and refused == chosen:
        place.error(escaped(problem))
    held = state.current_wishes().columns
    if not any(one.opened is not None and one.opened.rows == "alone" for one in held):
        st.caption(
            "Is the loaded table itself what somebody published, and its original is not here? Then it is judged by "
            "what it shows by itself: sizes of groups, k, l, t, and what is believed. Of several tables that belong "
            "together it tells only its own part; open them beside the table that they were made of."
        )
        if st.button("Judge the loaded table as a release", key="board-open-alone"):
            _put(opened_alone(table))
            return True
    return False


def _read(files: list[tuple[str, bytes]], title: str, rows: Rows) -> tuple[Opened | None, str]:
    """The release in files, or a sentence that says why it cannot be read."""
    try:
        access.require("upload")
        found = opened_files(files, title, rows, access.most_upload_bytes(), state.workspace_id(), state.make_room)
        for name, frame in found.frames.items():
            quotas.require_rows(len(frame), f"'{name}'")
            audit.record("loaded", state.workspace().who, table=found.digest, rows=len(frame), beside=True)
        return found, ""
    except AnonymizationError as error:
        return None, str(error)
    except MemoryError:
        return None, "The files do not fit into memory; open a release of fewer rows."


def _put(opened: Opened) -> None:
    """A column for the release, in a colour of its own."""
    state.wish(state.current_wishes().with_column("", opened=opened))
    state.workspace().is_live = True


def explain(column: Column, attempt: Attempt | None) -> None:
    """What the files of a column are, how they were read, and what became of their rows."""
    opened = column.opened
    assert opened is not None, "only a release that was made elsewhere was read"
    st.markdown(f"**{escaped(opened.title)}**: {escaped(opened.told)}.")
    lines = [
        f"- Table '{escaped(name)}': {counted(len(frame), 'row')}, {counted(frame.shape[1], 'column')}"
        for name, frame in opened.frames.items()
    ]
    st.markdown("\n".join(lines))
    if attempt is not None and attempt.problem:
        st.error(escaped(attempt.problem))
    elif attempt is None or attempt.run is None:
        st.info("It is being read; what was noticed will stand here.")
    else:
        _notes("How its rows were read", attempt.run.release.notes, "Every row was found, without a doubt.")
    _notes("How the files were read", opened.notes, "")
    st.caption(
        "It stays as it was published whatever is asked for: the board says how it fares, and no method promises "
        "anything of it. With other tags it is read anew."
    )


def _notes(title: str, notes: tuple[str, ...], otherwise: str) -> None:
    told: Any = [f"- {escaped(note)}" for note in notes] or ([f"- {otherwise}"] if otherwise else [])
    if told:
        st.markdown("\n".join([f"**{title}**", "", *told]))


def _check_certificates(files: Sequence[tuple[str, bytes]], turn: int) -> None:
    """Offer to check the certificates that lie beside the tables; nothing where there are none."""
    certificates = certified(files)
    if not certificates:
        return
    keys = access.upload_field(
        "Public keys that you trust",
        key=f"board-open-keys-{turn}",
        type=["pub"],
        accept_multiple_files=True,
        help="Files that the makers of certificates gave you; without one nobody's name is told.",
    )
    if not st.button("Check the certificate", key=f"board-open-check-{turn}"):
        return
    given = {key.name: key.getvalue().decode(errors="replace") for key in keys or ()}
    for name, content in certificates:
        about = {"name": name, "keys": given}
        try:
            found = reading.answer(
                "dashboard.views.board_opened:told_of_zip", content, name, state.workspace_id(), state.make_room, about
            )
            st.markdown(f"**{escaped(name)}**: {escaped(found)}")
        except AnonymizationError as error:
            st.warning(escaped(str(error)))
