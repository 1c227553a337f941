"""The only owner of session keys: which workspace this visitor has, and the questions pages ask about it.

A browser session holds the id of its workspace and nothing of its data. The id is in the address as well, so that
reloading the page finds the workspace again; it is a random token, and another session without it starts empty-handed.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from anoncore import AnonymizationError, Answers, Microdata
from anoncore.requirements import Requirement
from anoncore.sources.apart import Limits
from dashboard.serving import access, audit, quotas, settings
from dashboard.session import browser, compute, loaded_table
from dashboard.session.loaded_table import LoadedTable, Tags, untagged
from dashboard.session.opened import Opened
from dashboard.session.wishes import Wishes, first_wishes
from dashboard.session.workspace import MicrodataStore, Run, Workspace, Workspaces
from dashboard.tasks import reading

if TYPE_CHECKING:
    from dashboard.session.session_file import Saved


FIRST_TABLE = "census"
URL_PARAMETER = "workspace"
STEP_PARAMETER = "step"
SESSION = Limits(memory=3 << 30, processor=60.0, clock=600.0, result=1 << 20)
"""What reading a saved session may take, however small its file: it may name built-in tables of many rows."""
_ID = "_workspace"
_LOST, _FOREIGN = "_workspace_lost", "_workspace_foreign"


_workspaces = Workspaces(settings.current().quotas.workspaces)
_restoring = threading.Lock()
_microdata = MicrodataStore()


def workspace() -> Workspace:
    """This session's workspace: by the session's id, else by the address, else a new one with the first table.

    Where visitors sign in, each person has one workspace, and nobody gets that of another, by whichever address.
    """
    person = access.person()
    if person is None:
        # Somebody signed out, perhaps in another tab, while this page was being drawn.
        st.error("Your sign-in has ended; load the page again and sign in.")
        st.stop()
    here = _workspaces.get(st.session_state.get(_ID))
    id = st.query_params.get(URL_PARAMETER)
    if here is None or here.owner != person.id:
        here = _named(id, person) or _own(person)
        if here is None:
            here = _new(person)
            st.session_state[_LOST] = id is not None and not st.session_state.get(_FOREIGN)
        st.session_state[_ID] = here.id
    if id != here.id:
        _put_address(here)
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        here.sessions.add(context.session_id)
    return here


def _named(id: str | None, person: access.Person) -> Workspace | None:
    """The workspace of that id, which the address names, unless it is gone or somebody else's."""
    here = _workspaces.get(id) or (_restored(id) if id else None)
    if here is None or here.owner == person.id:
        return here
    st.session_state[_FOREIGN] = True
    audit.record("refused", person.name, right="workspace")
    return None


def _own(person: access.Person) -> Workspace | None:
    """The workspace of a person who has signed in."""
    if not person.id:
        return None
    here = _workspaces.of(person.id)
    keeping = _keeping()
    if here is None and keeping is not None:
        id = keeping.id_of(person.id)
        here = None if id is None else _restored(id)
    return here if here is not None and here.owner == person.id else None


def _new(person: access.Person) -> Workspace:
    _save_first_to_go()
    here = _workspaces.new(person.id, person.name)
    load_builtin(FIRST_TABLE, into=here)
    return here


def _restored(id: str) -> Workspace | None:
    """A workspace that was kept in a folder, as it was."""
    keeping = _keeping()
    if keeping is None:
        return None
    from dashboard.session import session_file

    with _restoring:
        here = _workspaces.get(id)
        if here is not None:
            return here
        with quotas.loading(make_room):
            kept = keeping.load(id, loaded_table.builtin_table, _microdata.get)
        if kept is None:
            return None
        _save_first_to_go()
        here = Workspace(kept.id, kept.owner, kept.person)
        session_file.restore(here, kept.saved)
        keeping.note_written(here)
        return _workspaces.add(here)


def _keeping() -> Any:
    """What keeps workspaces, which takes half a second to import; None where no folder for them is set."""
    if not settings.current().workspaces.folder:
        return None
    from dashboard.session import keeping

    return keeping


def keep_all() -> None:
    """Write what has changed in any workspace, where a folder for them is set."""
    keeping = _keeping()
    for here in () if keeping is None else _workspaces.all():
        keeping.save(here)


def _save_first_to_go() -> None:
    """Write the workspace that makes room for another one, so that whoever comes back to it finds it."""
    here, keeping = _workspaces.first_to_go(), _keeping()
    if here is not None and keeping is not None:
        keeping.save(here)


def make_room() -> None:
    """Let go of workspaces that nobody looks at, where little memory is left."""
    if runtime.exists():
        keep_all()
        let_go(runtime.get_instance().is_active_session, 0.0, is_final=False)


def figures(is_there: Callable[[str], bool]) -> tuple[int, int, int]:
    """How many browser sessions are connected, how many workspaces there are, and the bytes that these take."""
    workspaces = _workspaces.all()
    sessions = {session for here in workspaces for session in list(here.sessions) if is_there(session)}
    return len(sessions), len(workspaces), sum(here.n_bytes for here in workspaces)


def _put_address(here: Workspace) -> None:
    """Let the address name the workspace and the step, at once, so that both are one entry in the browser's history."""
    parameters = _address(here)
    if any(st.query_params.get(name) != value for name, value in parameters.items()):
        st.query_params.update(parameters)


def address() -> dict[str, str]:
    """What links to other pages carry, so that a switch of the page is one entry in the browser's history."""
    return _address(workspace())


def _address(here: Workspace) -> dict[str, str]:
    return {URL_PARAMETER: here.id, STEP_PARAMETER: str(0 if here.history is None else here.history.number)}


def follow_address() -> None:
    """Undo or redo where the visitor went back or forward in the browser, then let the address name the present step.

    Every step of the board is an entry in the browser's history. A step that is kept no more leaves all as it is.
    """
    here = workspace()
    asked = st.query_params.get(STEP_PARAMETER, "")
    if browser.is_history_navigation() and here.history is not None and asked.isdecimal():
        before = here.tags
        here.history.go(int(asked[:18]))
        _show_tags(before)
    _put_address(here)


def let_go(is_there: Callable[[str], bool], keep_seconds: float, is_final: bool = True) -> int:
    """Forget the workspaces that nobody has looked at for so long, with all that was computed; returns how many.

    Unless that is final, those that are kept in a folder can still be had from there.
    """
    abandoned = _workspaces.take_left(is_there, keep_seconds)
    keeping = _keeping()
    for here in () if keeping is None else _workspaces.all():
        keeping.touch(here)
    for here in abandoned:
        here.close()
        if keeping is not None and is_final:
            keeping.remove(here)
        for run in here.runs:
            compute.forget(run)
    if abandoned:
        workspaces = _workspaces.all()
        used = {run.table.digest for here in workspaces for run in here.runs if run.table is not None}
        used |= {here.table.digest for here in workspaces if here.table is not None}
        _microdata.keep(used)
        for table in {here.table.digest for here in abandoned if here.table is not None} - used:
            compute.forget_table(table)
        loaded_table.keep_builtin(used)
    return len(abandoned)


def is_lost(page: str) -> bool:
    """Whether this page, the first one that is looked at, says that the address named a workspace that is gone."""
    return _says(_LOST, page)


def is_foreign(page: str) -> bool:
    """Whether this page, the first one that is looked at, says that the address named somebody else's workspace."""
    return _says(_FOREIGN, page)


def _says(what: str, page: str) -> bool:
    """Whether a page says so: the first one does, also when it draws itself anew, until another one is looked at."""
    first = st.session_state.get(what)
    if first is True:
        st.session_state[what] = first = page
    if first != page:
        st.session_state.pop(what, None)
    return bool(first == page)


def workspace_id() -> str:
    """The id of this session's workspace."""
    return workspace().id


def table() -> LoadedTable | None:
    """The loaded table."""
    return workspace().table


def tags() -> Tags:
    """How the attributes of the loaded table are read."""
    return workspace().tags


def set_tags(tags: Tags) -> None:
    """Read the attributes otherwise from now on, as a step that can be undone."""
    workspace().set_tags(tags)


def retag(tags: Tags) -> None:
    """The same by something else than an editor of tags; such editors start anew from the changed ones."""
    before = workspace().tags
    set_tags(tags)
    _show_tags(before)


def wishes(data: Microdata) -> Wishes:
    """What is asked of the board for the loaded table; a table that is new to the board starts with the usual."""
    here = workspace()
    if here.wishes is None:
        here.begin_board(first_wishes(data))
    return current_wishes()


def begin_board(opened: Opened) -> None:
    """Begin the board of the loaded table with a release that was made elsewhere as its only column."""
    here = workspace()
    here.begin_board(first_wishes(microdata(), opened))
    here.is_live = True


def current_wishes() -> Wishes:
    """What is asked of the board now, nothing where it has not begun; for callbacks of its widgets."""
    return workspace().wishes or Wishes()


def wish(then: Wishes, control: str = "") -> None:
    """Ask the board for something else, as a step that can be undone; quick steps of one control are one.

    Of a board that has not begun nothing is asked: the browser may still speak of one that was just undone.
    """
    history = workspace().history
    if history is not None and history.now.wishes is not None:
        history.step(replace(history.now, wishes=then), control)


def ask_anew(methods: Sequence[str], levels: Mapping[str, float]) -> None:
    """Ask the board for these methods under these levels alone, as a step that can be undone.

    Raises AnonymizationError where no table is loaded or its tags do not fit.
    """
    asked = replace(wishes(microdata()), levels={}, more=(), columns=())
    for axis, level in levels.items():
        asked = asked.with_level(axis, level)
    for method in methods:
        asked = asked.with_column(method)
    wish(asked)


def undo(forward: bool = False) -> None:
    """Take the last change of wishes or tags back, or make it again."""
    history, before = workspace().history, tags()
    if history is not None:
        history.redo() if forward else history.undo()
        _show_tags(before)


def _show_tags(before: Tags) -> None:
    """Let an editor that shows tags start anew from those of now, where these are others."""
    if tags() is not before:
        browser.renew_editors()


def can_undo(forward: bool = False) -> bool:
    """Whether there is a change to take back, or one to make again, of the loaded table."""
    history = workspace().history
    return history is not None and bool(history.future if forward else history.past)


def microdata(tags: Tags | None = None) -> Microdata:
    """The loaded table, coded by its tags (or by others, to try them), kept by the digests of both.

    Raises AnonymizationError, with a sentence for the page, where no table is loaded or the tags do not fit.
    """
    here = workspace()
    if here.table is None:
        raise AnonymizationError("No table is loaded; choose one on the page Table.")
    return _microdata.get(here.table, tags if tags is not None else here.tags)


def runs() -> tuple[Run, ...]:
    """The releases of the board's columns, in their order, as far as they are there."""
    return workspace().runs


def asked_of_all(run: Run) -> tuple[Requirement, ...]:
    """What the board asks of every release, where the run stands on the board now."""
    wishes = workspace().wishes
    if wishes is None or not run.column or not is_of_table(run):
        return ()
    return wishes.asked_of(run.data)


def answers(run: Run) -> Answers:
    """What only people know of a run, for its dossier and its recipe; nothing of a run of another table."""
    here = workspace()
    is_same = here.table is not None and run.table is not None and here.table.digest == run.table.digest
    return here.answers if is_same else Answers()


def is_of_table(run: Run) -> bool:
    """Whether a run was made from the loaded table, read as it is read now; then the board can set it beside others."""
    here = workspace()
    if here.table is None or run.table is None:
        return False
    return (run.table.digest, run.tags.digest) == (here.table.digest, here.tags.digest)


def current_run() -> Run | None:
    """The run that the result pages show, or None before the first."""
    here = workspace()
    return next((run for run in here.runs if run.id == here.current), None)


def select_run(run_id: str) -> None:
    """Let the result pages show another run; call it in a callback, so that the whole page follows."""
    workspace().select_run(run_id)


def open_session(content: bytes) -> int:
    """Put a saved session into this workspace; returns how many runs came. Raises DataError and changes nothing."""
    from dashboard.session import session_file

    here, saved = workspace(), _saved(content)
    audit.record(
        "opened a session", here.who, tables=[audit.of_table(table) for table in saved.tables], runs=len(saved.runs)
    )
    before = here.runs
    session_file.restore(here, saved)
    kept = {run.id for run in here.runs}
    for gone in before:
        if gone.id not in kept:
            compute.forget(gone)
    _workspaces.trim()
    return len(saved.runs)


def read_session(content: bytes) -> tuple[Run, ...]:
    """The runs of a saved session, which stay outside this workspace. Raises DataError for a file that is none."""
    return _saved(content).runs


def _saved(content: bytes) -> Saved:
    """A saved session; it is read apart first, and here if that takes no more than it may."""
    # What is published with is not needed by the first page, and takes half a second to import.
    from dashboard.session import session_file

    access.require("upload")
    owner = workspace_id()
    reading.answer("dashboard.session.state:tried_session", content, "The session", owner, make_room, least=SESSION)
    with reading.turn(len(content), owner, make_room):
        saved = session_file.read(content, _allowed_table, _microdata.get)
    for table in saved.tables:
        quotas.require_rows(len(table.frame), "A table of the session")
    return saved


def tried_session(content: bytes) -> int:
    """How many runs a saved session has; asked in a process of its own, which ends where that takes too much."""
    from dashboard.session import session_file

    return len(session_file.read(content, loaded_table.builtin_table, _microdata.get, is_trusted=True).runs)


def _allowed_table(name: str, n_rows: int | None) -> LoadedTable:
    """A built-in table of a session. Raises DataError where one of so many rows may not be loaded."""
    if n_rows is not None:
        quotas.require_rows(n_rows, "A table of the session")
    return loaded_table.builtin_table(name, n_rows)


def load_builtin(name: str, n_rows: int | None = None, into: Workspace | None = None) -> LoadedTable:
    """Load a built-in table with its suggested tags, a generated one with `n_rows` rows.

    Raises DataError where it cannot be had, such as a download without a network.
    """
    if n_rows is not None:
        quotas.require_rows(n_rows, "The table that you ask for")
    with quotas.loading(make_room) if into is None else nullcontext():
        loaded = loaded_table.builtin_table(name, n_rows)
    return _take(loaded, into or workspace())


def load_frame(
    frame: Any,
    name: str,
    digest: str,
    notes: tuple[str, ...],
    sheet: str | None = None,
    drawn_from: int | None = None,
) -> LoadedTable:
    """Load a visitor's own table, with guessed kinds and no role tagged."""
    quotas.require_rows(len(frame), f"'{name}'")
    loaded = LoadedTable(secrets.token_hex(8), name, frame, digest, notes, None, untagged(frame), sheet, drawn_from)
    return _take(loaded, workspace())


def _take(loaded: LoadedTable, here: Workspace) -> LoadedTable:
    """Make a table that of a workspace."""
    audit.record("loaded", here.who, **audit.of_table(loaded))
    here.load(loaded, loaded.suggested)
    _workspaces.trim()
    return loaded


def forms() -> dict[str, Any]:
    """Values of forms by name; they outlive page switches and reloads."""
    return workspace().forms


def forget_form(prefix: str) -> None:
    """Forget what was entered into forms whose name begins so; their widgets start anew."""
    here = workspace()
    for name in [name for name in here.forms if name.startswith(prefix)]:
        del here.forms[name]
    browser.drop_widgets(prefix)
