"""What one visitor works on: a table, its tags, the releases of the board's columns.

Nothing here touches the page, so threads may hold it.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from anoncore import AnonymizationError, Answers, Microdata, Release, Role
from anoncore.algorithms import Algorithm, Suppression
from anoncore.base.random_numbers import is_guessable
from anoncore.table.preparation import prepared_again
from dashboard.charts.palette import RunStyle, run_style
from dashboard.markdown import distinct
from dashboard.session.loaded_table import LoadedTable, Tags
from dashboard.session.opened import Opened
from dashboard.session.wishes import History, Step, Wishes, in_words, own_parameters
from dashboard.tasks.redrawing import memo

MAX_WORKSPACES = 24
MAX_WORKSPACE_BYTES = 4 << 30
MAX_MICRODATA = 8
LEFT_SECONDS = 10.0
"""Seconds without a browser session after which a workspace counts as left: a page that is loaded again takes one or
two.
"""


@dataclass(frozen=True, eq=False)
class Run:
    """One release and what it was made of and with: an algorithm, or published tables that were `opened`.

    `seconds` is what the algorithm took, without `compile_seconds`, for which it waited for compiled code. `owner` is
    the id of the workspace, and `column` that of the board's column that shows it.
    """

    id: str
    label: str
    algorithm: Algorithm | None
    data: Microdata
    release: Release
    seconds: float
    created: datetime
    color_index: int
    table_name: str
    tags: Tags
    owner: str = ""
    table: LoadedTable | None = None
    column: str = ""
    compile_seconds: float = 0.0
    opened: Opened | None = None

    @property
    def title(self) -> str:
        """The name of the method, or what a release that was made elsewhere was called when it was opened."""
        if self.algorithm is not None:
            return self.algorithm.title
        return self.label if self.opened is None else self.opened.title

    @property
    def style(self) -> RunStyle:
        """How charts draw it: colour, marker and dash."""
        return run_style(self.color_index)

    @property
    def is_drawn(self) -> bool:
        """Whether the method that made it draws at random, so that another seed may give another release."""
        return self.algorithm is not None and bool(self.algorithm.seeds)

    @property
    def promises(self) -> tuple[Any, ...]:
        """The requirements that the method promises; none where the release was made elsewhere."""
        return self.release.promises


class Workspace:
    """A visitor's table, tags, wishes, runs, form values and notices yet to be shown. Any thread may call its methods.

    `answers` are what only people know of a release of the table, for its dossier. `history` is how the loaded table
    was read and what was asked of the board, step by step; it begins with the table. `is_live` says that the board
    makes its releases here although some that ship with the program would do, and `drawn_anew` are those of its columns
    that are not drawn with the seed of what ships. `steps_done` are the steps of lessons that the visitor has done.
    `given` are the cells of the row *Given away*, by column, whose number is of another attack than foreground
    knowledge, and `given_clicked` the one that was clicked, with what was asked then and its column.

    `owner` is the id of the person who has signed in and to whom alone it belongs, and `person` what they are called;
    both are empty where nobody signs in.
    """

    def __init__(self, id: str, owner: str = "", person: str = "") -> None:
        self.id, self.owner, self.person = id, owner, person
        self.lock = threading.RLock()
        self.table: LoadedTable | None = None
        self.answers = Answers()
        self.history: History | None = None
        self.is_live = False
        self.drawn_anew: frozenset[str] = frozenset()
        self.forms: dict[str, Any] = {}
        self.jobs: dict[str, Any] = {}
        self.notices: list[str] = []
        self.steps_done: frozenset[str] = frozenset()
        self.given: dict[str, Mapping[str, Any]] = {}
        self.given_clicked: tuple[Wishes | None, str, Mapping[str, Any] | None] = (None, "", None)
        self.sessions: set[str] = set()
        self.seen = self.looked_at = time.monotonic()
        self.current: str | None = None
        self._runs: tuple[Run, ...] = ()
        self._awaited: _Awaited | None = None

    @property
    def who(self) -> str:
        """Who works here, for records: the person, or a name of the workspace that does not lead to it."""
        return self.person or f"workspace {sha256(self.id.encode()).hexdigest()[:12]}"

    @property
    def tags(self) -> Tags:
        """How the attributes of the loaded table are read."""
        return Tags() if self.history is None else self.history.now.tags

    def set_tags(self, tags: Tags) -> None:
        """Read the attributes of the loaded table otherwise from now on, as a step that can be undone."""
        assert self.history is not None, "only a table has attributes"
        self.history.step(replace(self.history.now, tags=tags))

    @property
    def wishes(self) -> Wishes | None:
        """What is asked of the board for the loaded table, None where nobody looked at the board with it."""
        return None if self.history is None else self.history.now.wishes

    def begin_board(self, wishes: Wishes) -> None:
        """Let this be what is asked of the board at the present step, which is no further step."""
        assert self.history is not None, "only of a table something is asked"
        self.history.now = replace(self.history.now, wishes=wishes)

    def begin_history(self, tags: Tags, wishes: Wishes | None = None, is_live: bool = False) -> None:
        """Forget all steps; numbers in the address go on from there, so that none is given twice."""
        number, made = (0, 0) if self.history is None else (self.history.number, self.history.made)
        self.history = History(Step(tags, wishes), number, made)
        self.is_live = is_live
        self.drawn_anew = frozenset()

    @property
    def runs(self) -> tuple[Run, ...]:
        """The releases of the board's columns, in their order, as far as they are there."""
        return self._runs

    @property
    def n_bytes(self) -> int:
        """About the memory that the table and the coded tables of the runs take."""
        codes = {id(run.data): 4 * run.data.n_rows * len(run.data.codes) for run in self._runs}
        opened = {run.opened: run.opened.n_bytes for run in self._runs if run.opened is not None}
        table = self.table.n_bytes if self.table is not None else 0
        return table + sum(codes.values()) + sum(opened.values())

    @property
    def is_busy(self) -> bool:
        """Whether anything is computed in the background."""
        work = [getattr(one, "job", one) for one in list(self.jobs.values())]
        return any(getattr(one, "running", False) for one in work)

    def close(self) -> None:
        """Cancel what is computed; nobody will take the result."""
        for one in list(self.jobs.values()):
            cancel = getattr(getattr(one, "job", one), "cancel", None)
            if cancel is not None:
                cancel()

    def rest(self) -> None:
        """Stop what is worked out for pages that nobody looks at, and begins anew where somebody does; long work that
        somebody began goes on.
        """
        for one in list(self.jobs.values()):
            rest = getattr(one, "rest", None)
            if rest is not None:
                rest()

    def load(self, table: LoadedTable, tags: Tags) -> None:
        """Replace the table and its tags; the releases stay until the board is made anew.

        The same table once more is read anew as a step that can be undone; the steps of another one are forgotten.
        """
        with self.lock:
            before, self.table = self.table, table
            if before is not None and before.digest == table.digest:
                self.set_tags(tags)
                return
            # What was said of a release of another table is not true of this one's.
            self.answers = Answers()
            self.begin_history(tags)

    def show_on_board(self, shown: Sequence[Run]) -> None:
        """Let these be the releases of the board's columns, in their order.

        The one that the pages show which look closer stays that of its column, where another release takes its place,
        also where that release is there only later and no other one is chosen meanwhile.
        """
        with self.lock:
            before = next((run for run in self._runs if run.id == self.current), None)
            self._runs = tuple(shown)
            self._stay_at_column(before, shown)

    def _stay_at_column(self, before: Run | None, shown: Sequence[Run]) -> None:
        """Let the run that the result pages show be that of the column of which they showed the one `before`."""
        is_gone = before is not None and before.id not in {run.id for run in self._runs}
        if self._awaited is not None and self._awaited.instead != self.current:
            self._awaited = None
        column = self._awaited.column if self._awaited is not None else before.column if before and is_gone else ""
        new = next((run.id for run in shown if column and run.column == column), None)
        if new is not None:
            self.current, self._awaited = new, None
        elif is_gone or self.current is None or self._awaited is not None:
            # Releases come in any order; until somebody chooses one, the first column is shown.
            self.current = self._runs[0].id if self._runs else None
            self._awaited = _Awaited(column, self.current)

    def select_run(self, run_id: str) -> None:
        """Let the result pages show a run, if it is there."""
        with self.lock:
            if any(run.id == run_id for run in self._runs):
                self.current, self._awaited = run_id, None


@dataclass(frozen=True)
class _Awaited:
    """A column of the board whose next release the result pages will show (empty: the first column), and the run that
    they show until then.
    """

    column: str
    instead: str | None


def run_names(runs: Sequence[Run], name_of: Callable[[Run], str] = lambda run: run.label) -> dict[str, str]:
    """What lists and tables call each of these runs, by id: its label, and a number where several have the same."""
    return dict(zip((run.id for run in runs), distinct(map(name_of, runs)), strict=True))


def column_names(runs: Sequence[Run]) -> dict[str, str]:
    """What a picture of all columns calls each of these runs, by id: its method, as all are asked for the same, and its
    own parameters where several are of one method.
    """
    titles = [run.title for run in runs]

    def name(run: Run) -> str:
        own = {} if run.algorithm is None or titles.count(run.title) == 1 else own_parameters(run.algorithm)[1]
        # A seed that nobody typed says nothing to anybody.
        own = {name: value for name, value in own.items() if name != "seed" or is_guessable(value)}
        return f"{run.title}: {in_words(own)}" if own else run.title

    return run_names(runs, name)


def run_title(algorithm: Algorithm) -> str:
    """The algorithm with its requirements or first number, and what else differs from the defaults."""
    if isinstance(algorithm, Suppression):
        return f"{run_title(algorithm.method)}, at most {100 * algorithm.max_suppression:.6g}% left out"
    parts: list[str] = []
    for name, info in type(algorithm).model_fields.items():
        value = getattr(algorithm, name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if isinstance(value, tuple) and value and all(hasattr(item, "parameter") for item in value):
            parts += [_requirement_text(item) for item in value]
        elif name != "seed" and (value != info.get_default(call_default_factory=True) or (is_number and not parts)):
            words = name.replace("_", " ")
            parts.append(value if isinstance(value, str) else f"{words} = {value:g}" if is_number else words)
    return f"{algorithm.title} ({', '.join(parts)})" if parts else algorithm.title


def _requirement_text(requirement: Any) -> str:
    fields = ", ".join(
        f"{name} = {value:g}"
        for name, value in requirement
        if isinstance(value, int | float) and not isinstance(value, bool)
    )
    first = requirement.title.split(" ")[0]
    return fields if "-" in first else f"{first} {fields}"


class Workspaces:
    """The workspaces of this process, the least recently used of which go when there are too many or too large ones."""

    def __init__(self, most: int = MAX_WORKSPACES, most_bytes: int = MAX_WORKSPACE_BYTES) -> None:
        self.most, self.most_bytes = most, most_bytes
        self._lock = threading.Lock()
        self._items: OrderedDict[str, Workspace] = OrderedDict()

    def get(self, id: str | None) -> Workspace | None:
        """The workspace of that id, if it is still there."""
        with self._lock:
            found = self._items.get(id or "")
            if found is not None:
                self._items.move_to_end(found.id)
            return found

    def of(self, owner: str) -> Workspace | None:
        """The workspace of a person who has signed in."""
        with self._lock:
            found = next((one for one in self._items.values() if one.owner == owner), None)
        return self.get(found.id) if found is not None else None

    def new(self, owner: str = "", person: str = "") -> Workspace:
        """A new workspace under an id that cannot be guessed."""
        return self.add(Workspace(secrets.token_urlsafe(18), owner, person))

    def add(self, made: Workspace) -> Workspace:
        """Take a workspace in."""
        with self._lock:
            self._items[made.id] = made
            self._items.move_to_end(made.id)
            self._trim()
            return made

    def trim(self) -> None:
        """Let go of workspaces beyond the limits; call it when a table was loaded."""
        with self._lock:
            self._trim()

    def first_to_go(self) -> Workspace | None:
        """The workspace that goes next, where there are too many or too large ones or as many as there may be."""
        with self._lock:
            is_full = len(self._items) >= self.most or self._n_bytes() > self.most_bytes
            return next(iter(self._items.values())) if is_full and len(self._items) > 1 else None

    def take_left(self, is_there: Callable[[str], bool], keep_seconds: float) -> list[Workspace]:
        """Remove and return the workspaces that no session has looked at for so long and where nothing is computed.

        Nothing is worked out for pages of a workspace that no session has looked at for LEFT_SECONDS. `is_there` tells
        whether a browser session is connected.
        """
        now = time.monotonic()
        for one in self.all():
            # Outside the lock, as what is stopped may wait for a lock of its own.
            if now - one.looked_at > LEFT_SECONDS and not any(map(is_there, tuple(one.sessions))):
                one.rest()
        with self._lock:
            for one in self._items.values():
                one.sessions = {session for session in one.sessions if is_there(session)}
                if one.sessions:
                    one.looked_at = now
                if one.sessions or one.is_busy:
                    one.seen = now
            left = [one for one in self._items.values() if now - one.seen > keep_seconds]
            for one in left:
                del self._items[one.id]
            return left

    def all(self) -> tuple[Workspace, ...]:
        """The workspaces that are kept."""
        with self._lock:
            return tuple(self._items.values())

    def _trim(self) -> None:
        while len(self._items) > 1 and (len(self._items) > self.most or self._n_bytes() > self.most_bytes):
            self._items.popitem(last=False)

    def _n_bytes(self) -> int:
        return sum(item.n_bytes for item in self._items.values())


class MicrodataStore:
    """Coded tables by (table digest, tags digest), with the sentences that say which tags do not fit."""

    def __init__(self, most: int = MAX_MICRODATA) -> None:
        self._memo = memo(most, kept_errors=(AnonymizationError,))

    def keep(self, digests: set[str]) -> None:
        """Let go of the coded tables of all but these table digests."""
        self._memo.drop(lambda key: key[0] not in digests)

    def get(self, table: LoadedTable, tags: Tags) -> Microdata:
        """The coded table. Raises what Microdata raises for tags that do not fit."""
        return self._memo.get((table.digest, tags.digest), lambda: _microdata(table, tags))


def _microdata(table: LoadedTable, tags: Tags) -> Microdata:
    values = tags.sensitive_values.items()
    protected = {name: chosen for name, chosen in values if tags.roles.get(name) == Role.SENSITIVE}
    prepared = prepared_again(bytes.fromhex(tags.secret), table.frame, **tags.preparations, unit=tags.unit)
    return prepared.microdata(
        roles=tags.roles,
        kinds=tags.kinds,
        orders=tags.orders,
        hierarchies=tags.hierarchies,
        sensitive_values=protected,
    )
