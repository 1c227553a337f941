"""What opens over the board: a column's method, another release, publishing, and the finer points of what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import streamlit as st

from anoncore import AnonymizationError, InfeasibleError, Microdata, Policy
from anoncore.algorithms import ALGORITHMS, Algorithm, Suppression
from anoncore.front.policy import PRESETS
from anoncore.front.policy.policy import preset
from anoncore.front.policy.wording import level_rules
from anoncore.measures.criteria import CRITERIA
from anoncore.search.keeping import Levels, can_leave_out, keeping
from dashboard.board import making
from dashboard.board.bench import Bench
from dashboard.board.wording import ROWS
from dashboard.closer import cells
from dashboard.elements import about, entries, forms, insensitive, left_out, parts, routes, verdicts, whose_rows
from dashboard.markdown import escaped
from dashboard.serving import uploads
from dashboard.session import browser, state
from dashboard.session.wishes import AXES, Column, Wishes, most_frequent
from dashboard.session.workspace import Run, run_names
from dashboard.tasks import redrawing
from dashboard.views import board_opened
from dashboard.views.method_guide import BEGIN, FAMILIES, RECOMMENDED, by_family

OWN_POLICY = "your own"
A_METHOD, A_FILE = "A method", "A release made elsewhere"
OPENED = (
    "It was made elsewhere and is not made anew here. What can be taken away are its tables as they were read, written "
    "as this program writes them with rows sorted by content, with their certificate, and a report on them."
)
LEFT_OUT_STEPS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Percentages of the people that may be left out, to choose from."""
POLL = 2.0
_RELEASE = "board-publish-run"


def render(data: Microdata, wishes: Wishes, bench: Bench | None) -> None:
    """Open what was asked for, if anything."""
    asked = browser.get(making.DIALOG)
    if asked is None:
        return
    if asked[0] == "open":
        _open(str(asked[1]), str(asked[2]), wishes, data, bench)
    elif asked[0] == "publish":
        _publish(str(asked[1]), bench)
    elif asked[0] == "add":
        _add(data, wishes)
    elif asked[0] == "about":
        _about(str(asked[1]))
    else:
        column = wishes.column(str(asked[1]))
        if column is None:
            _close()
        elif column.opened is not None:
            _opened(column, bench)
        else:
            _method(data, wishes, column)


def publish(column_id: str) -> None:
    """Ask, in a callback, for the way to publish the release of a column; of any where the id is empty."""
    state.workspace().is_live = True
    browser.put(_RELEASE, None)
    browser.put(making.DIALOG, ("publish", column_id))


def _close() -> None:
    browser.put(making.DIALOG, None)


def draw_behind() -> None:
    """Draw the board anew because something new is known, unless a dialog lies over it: what somebody is choosing or
    typing there would be gone. Closing the dialog draws the board.
    """
    asked = browser.get(making.DIALOG)
    if asked is None or asked[0] == "open":
        redrawing.draw_page()


def _open(column_id: str, row: str, wishes: Wishes, data: Microdata, bench: Bench | None) -> None:
    """Go to the page that looks closer at a cell, as soon as the release of its column is there."""
    run = next((run for run in state.runs() if run.column == column_id), None)
    if run is not None:
        _close()
        state.select_run(run.id)
        address = {**state.address(), **browser.name_cell(column_id, row)}
        st.switch_page(routes.page(cells.enter(row, run, wishes, data)), query_params=address)
    if bench is not None and not bench.is_busy:
        _close()
    elif bench is not None:
        st.info("The release is being made; its page opens as soon as it is there.")


@st.dialog("A number", width="large", on_dismiss=_close)
def _about(name: str) -> None:
    """What a number is that was added as a row."""
    if name not in CRITERIA:
        _close()
        return
    entry = entries.entries()[f"criterion:{name}"]
    st.markdown(f"**{escaped(entry.title)}**")
    st.markdown(entry.definition)
    about.button(entry.key, "More in the reference", place="board")


@st.dialog("Add a release", width="large", on_dismiss=_close)
def _add(data: Microdata, wishes: Wishes) -> None:
    """Choose a method by what it does, or files of a release that was made elsewhere."""
    what = st.segmented_control(
        "What to add", [A_METHOD, A_FILE], default=A_METHOD, key="board-add-what", required=True
    )
    if what == A_FILE:
        if board_opened.add():
            _close()
            st.rerun()
        return
    kind = _choose_method("board-add", _first_unused(wishes, data), data)
    fields, is_chosen = _entered(kind, f"board-new-{kind.name}", {}, data, wishes, "Add to the board", "board-add-it")
    if is_chosen:
        _take_up(state.current_wishes().with_column(kind.name, fields))


def _entered(
    kind: type[Algorithm], prefix: str, start: dict[str, Any], data: Microdata, wishes: Wishes, label: str, key: str
) -> tuple[dict[str, Any] | None, bool]:
    """The parameters of a method that are entered, None where they are none, and whether the button was pressed that
    takes them.
    """
    fields, problem = _fields(kind, prefix, state.forms().setdefault(prefix, start), data, wishes)
    if problem:
        st.warning(escaped(problem))
    return fields, st.button(label, type="primary", key=key, disabled=fields is None)


def _take_up(wishes: Wishes) -> None:
    """Ask for this, and close the dialog."""
    state.wish(wishes)
    _close()
    st.rerun()


def _first_unused(wishes: Wishes, data: Microdata) -> str:
    """The first recommended method that has no column yet and can make one of this table."""
    used = {column.method for column in wishes.columns}
    able = [name for name in RECOMMENDED if data.people is None or not ALGORITHMS[name].counts_rows]
    return next((name for name in able if name not in used), RECOMMENDED[0])


@st.dialog("A release made elsewhere", width="large", on_dismiss=_close)
def _opened(column: Column, bench: Bench | None) -> None:
    """How the release of a column was read."""
    held = () if bench is None else reversed(bench.attempts)
    board_opened.explain(
        column, next((one for one in held if (one.column, one.opened) == (column.id, column.opened)), None)
    )


@st.dialog("Method of this release", width="large", on_dismiss=_close)
def _method(data: Microdata, wishes: Wishes, column: Column) -> None:
    """Another method or other parameters of its own for a column."""
    kind = _choose_method(f"board-method-{column.id}", column.method, data)
    prefix = f"board-{column.id}-{kind.name}"
    start = dict(column.fields) if kind.name == column.method else {}
    fields, is_chosen = _entered(kind, prefix, start, data, wishes, "Use for this release", "board-use")
    if is_chosen:
        _take_up(state.current_wishes().with_fields(column.id, kind.name, fields or {}))
    table = state.table()
    if fields is not None and table is not None and table.drawn_from is not None:
        _all_rows(keeping(kind.name, fields, wishes.levels, wishes.more, data, wishes.left_out))


def _all_rows(algorithm: Algorithm) -> None:
    """The way to the same release of all rows, where the table is a sample of one on this machine."""
    # The first page must not wait for what reads such tables.
    from dashboard.table import all_rows, large_runs

    large = large_runs.sampled()
    if large is None or large_runs.kind_for_all_rows(algorithm) is None:
        return
    help = "The page Table asks where it goes. What was measured of it stands in this column afterwards."
    if st.button(f"Make it of all {large.n_rows:,} rows …", key="board-all-rows", help=help):
        all_rows.take_over(algorithm)
        _close()
        st.switch_page(routes.page("table"), query_params=state.address())


def _choose_method(key: str, first: str, data: Microdata) -> type[Algorithm]:
    """A method, by the family that says what it does; the usual one of each family comes first."""
    # Leaving people out is asked of all methods at once, beside the promises.
    families = {family: [one for one in names if one != Suppression.name] for family, names in by_family().items()}
    shown = list(families)
    family_key = f"{key}-family"
    if browser.widget_value(family_key) not in shown:
        browser.set_widget_values({family_key: ALGORITHMS[first].family})
    family = st.selectbox(
        "What it does to the table",
        shown,
        key=family_key,
        persist_state="page",
        format_func=lambda one: FAMILIES.get(one, one),
    )
    names = families[family]
    name_key = f"{key}-{family}"
    if browser.widget_value(name_key) not in names:
        browser.set_widget_values({name_key: first if first in names else names[0]})
    name = st.radio(
        "Method",
        names,
        key=name_key,
        persist_state="page",
        format_func=lambda one: f"**{ALGORITHMS[one].title}**" + (f" ({BEGIN})" if one in RECOMMENDED else ""),
        captions=[ALGORITHMS[one].summary for one in names],
    )
    kind = ALGORITHMS[name]
    about.button(entries.key_of(kind), f"What {kind.title} is, and when to use it", place=key)
    if can_leave_out(name):
        st.caption(
            f"This method can leave out {data.people_word} that are like no other, so that all others are told more "
            "finely. How many is asked of all methods at once, on the board under *+ more*."
        )
        if "max_suppression" not in kind.model_fields:
            about.button(entries.key_of(Suppression), "How those that are left out are chosen", place=key)
    return kind


def _fields(
    kind: type[Algorithm], prefix: str, values: dict[str, Any], data: Microdata, wishes: Wishes
) -> tuple[dict[str, Any] | None, str]:
    """The parameters that belong to the method alone; those that the board asks of everybody are left out."""
    without = decided(kind, wishes.levels)
    told = [name for name in ("k", "l", "t") if name in without]
    if told or "requirements" in without:
        st.caption("What is asked is said on the board, the same for all methods.")
    try:
        with st.container(border=True):
            entered = forms.draw(kind, prefix, values, forms.Names.of(data), without=without)
            if len(without) == len(kind.model_fields):
                st.caption("This method has no parameters of its own.")
        algorithm = keeping(kind.name, entered, wishes.levels, wishes.more, data, wishes.left_out)
        if kind.why_unavailable():
            return None, kind.why_unavailable()
        # What no parameter of the method's own can mend is said here; where a level is out of reach, the board looks
        # for parameters that reach it, and else the column says so.
        with suppress(InfeasibleError):
            algorithm.validate_data(data)
    except AnonymizationError as error:
        return None, str(error)
    return entered, ""


def decided(kind: type[Algorithm], levels: Levels) -> frozenset[str]:
    """The fields of a method that the board decides: requirements, and the levels that are asked of everybody."""
    fields = set(kind.model_fields)
    found = {"requirements"} & fields | {name for name in levels if name in fields}
    if "t" in levels:
        found |= {"other_t", "ground", "grounds", "t"} & fields
    return frozenset(found)


@st.dialog("Publish a release", width="large", on_dismiss=_close)
def _publish(column_id: str, bench: Bench | None) -> None:
    """One dialog: what is published, what holds, what does not, and the files."""
    # Files and reports take half a second to import, for which the first page must not wait.
    from dashboard.views import dossier, takeaway
    from dashboard.views import publish as publish_page

    runs = list(state.runs())
    if not _is_there(column_id):
        # Another release must not take its place: somebody would publish what the answer above the board does not name.
        st.info("The release is being made; this takes a moment.")
        _wait_for(column_id)
        return
    if not runs:
        st.info("No release could be made; the head of each says why.")
        return
    by_id = {run.id: run for run in runs}
    names = {id: escaped(name) for id, name in run_names(runs).items()}
    run: Run = by_id.get(browser.get(_RELEASE)) or _first_to_publish(runs, column_id)
    key = browser.widget_showing(_RELEASE, run.id, tuple(names.items()))
    st.radio(
        "Release",
        list(by_id),
        key=key,
        persist_state="page",
        format_func=names.__getitem__,
        horizontal=True,
        on_change=_choose_release,
        args=(key,),
    )
    st.caption(_published(run))
    if whose_rows.stands_open(run, "publish"):
        return
    if run.opened is not None:
        st.caption(OPENED)
    verdicts.render(run)
    _by_policy(run)
    publish_page.seed_warning(run, lambda: browser.put(making.DIALOG, ("publish", run.column)))
    insensitive.mend(run)
    if run.release.is_synthetic:
        for note in run.release.notes:
            st.caption(escaped(note))
    signer, files = publish_page.downloads(run), st.container()
    # What is typed there stands in the recipe at once.
    dossier.render(run)
    with files:
        takeaway.render(run, signer)
    state.select_run(run.id)
    routes.link("publish", "See the tables as they are published")


def _choose_release(key: str) -> None:
    if browser.is_on_page(key):
        browser.put(_RELEASE, browser.widget_value(key))


def _by_policy(run: Run) -> None:
    """What the policy in force says of the release, in its own words where it breaks a rule."""
    policy = None if state.workspace().wishes is None else state.current_wishes().policy
    attempt = making.attempt_of(run)
    if policy is None or attempt is None:
        return

    def draw() -> None:
        found = attempt.by_policy(policy)
        box = {"good": st.success, "bad": st.error, "warn": st.warning}.get(found.tone, st.info)
        box(escaped(found.text))

    # The dialog is not drawn anew when another rule has come out.
    redrawing.part(POLL if making.bench().is_busy else None)(draw)()


def _first_to_publish(runs: list[Run], column_id: str) -> Run:
    """The release of a column, else the one that is looked at, else the first."""
    current = state.current_run()
    looked_at = [run for run in runs if current is not None and run.id == current.id]
    return [*(run for run in runs if run.column == column_id), *looked_at, *runs][0]


def _is_there(column_id: str) -> bool:
    """Whether pages can show the release of a column, or nothing is made any more; of any where the id is empty."""
    return any(column_id in ("", run.column) for run in state.runs()) or not making.bench().is_busy


@redrawing.part(0.5, "publish-wait")
def _wait_for(column_id: str) -> None:
    # Only a whole draw of the board hands a release that was made to the pages.
    if making.bench().is_made(column_id) or not making.bench().is_busy:
        redrawing.draw_page()


def _published(run: Run) -> str:
    """What is published, in one sentence."""
    release = run.release
    names = ", ".join(release.attributes)
    tables = "one table" if len(release.fragments) == 1 else f"{len(release.fragments)} tables"
    return f"{tables.capitalize()} of {release.table_size} with {escaped(names)}. {left_out.columns_text(run.data)}"


def more_promises(wishes: Wishes, data: Microdata) -> None:
    """Requirements beyond k, l and t, and how many people may be left out."""
    asked = len(wishes.more) + (wishes.left_out > 0) + (wishes.policy is not None)
    label = f"+ more ({asked})" if asked else "+ more"
    place = parts.popover(label, "board-more")
    if not place.open:
        return
    with place:
        _policy(wishes.policy, data)
        _left_out(wishes, data.people_word)
        values = state.forms().setdefault("board-requirements", {"more": []})
        if tuple(values.get("seen", ())) != wishes.more:
            values.clear()
            values |= {"more": [forms.entry(values, one) for one in wishes.more], "seen": wishes.more}
            browser.drop_widgets("board-requirements.")
        try:
            found = forms.requirement_rows(
                "more", "Also asked of every group", "board-requirements", values, forms.Names.of(data)
            )
        except AnonymizationError as error:
            st.warning(escaped(str(error)))
            return
        if found != wishes.more:
            values["seen"] = found
            state.wish(replace(state.current_wishes(), more=found))
            st.rerun()


def _policy(in_force: Policy | None, data: Microdata) -> None:
    """A policy, of those that come with the program or of one's own, by which all is judged; its levels are asked."""
    offered = {**_own_policy(), **{name: preset(name) for name in PRESETS}}
    chosen = st.selectbox(
        "Rules and levels that are usual for",
        list(offered),
        index=None,
        key="board-purpose",
        format_func=lambda one: offered[one].name,
        placeholder="a purpose" if in_force is None else in_force.name,
    )
    policy = in_force if chosen is None else offered[chosen]
    if policy is None:
        return
    st.caption(escaped(policy.purpose or policy.source))
    if beyond := rules_beyond_levels(policy):
        st.caption(escaped(f"Every release is judged by these, too: {'; '.join(beyond)}."))
    if policy == in_force:
        st.button("Judge by no policy", key="board-purpose-end", on_click=_take, args=(None, {}))
        return
    levels = possible_levels(policy, data)
    told = ", ".join(f"{axis} = {value:g}" for axis, value in levels.items())
    label = f"Ask for {told}" if told else f"Judge by {escaped(policy.name)}"
    st.button(label, key="board-purpose-take", on_click=_take, args=(policy, levels))


def _own_policy() -> dict[str, Policy]:
    """The policy in the file that the visitor gave, by a name that no other has; none where there is no such file."""
    given = uploads.field("Rules of your own office (policy.toml)", type="toml", key="board-policy")
    if given is None:
        return {}
    try:
        return {OWN_POLICY: Policy.loads(given.getvalue())}
    except AnonymizationError as error:
        st.warning(escaped(str(error)))
        return {}


def rules_beyond_levels(policy: Policy) -> list[str]:
    """What a policy rules beside the levels that the board asks, in words."""
    return list(policy.rules()[len(level_rules(policy.levels)) :])


def possible_levels(policy: Policy, data: Microdata) -> Levels:
    """The levels of a policy that a table can keep at all: without a secret k alone, and no impossible l."""
    levels = policy.levels.of_groups
    if not data.sensitive:
        return {axis: value for axis, value in levels.items() if axis == "k"}
    most = 1 / most_frequent(data)[1]
    return {axis: value for axis, value in levels.items() if axis != "l" or value <= most}


def _take(policy: Policy | None, levels: Levels) -> None:
    """Judge by a policy, and ask for its levels where it has some, in one step."""
    state.workspace().is_live = True
    wishes = replace(state.current_wishes(), policy=policy)
    for axis in AXES if levels else ():
        wishes = wishes.with_level(axis, levels.get(axis))
    state.wish(wishes)


def _left_out(wishes: Wishes, people: str) -> None:
    """The share of the people (or rows) that may be left out, asked of every method where that makes sense."""
    percent = round(100 * wishes.left_out, 2)
    options = sorted({*LEFT_OUT_STEPS, percent})
    key = browser.widget_showing("board-left-out", percent, options)

    def change() -> None:
        if browser.is_on_page(key):
            state.wish(replace(state.current_wishes(), left_out=browser.widget_value(key) / 100))

    st.select_slider(
        f"{people.capitalize()} left out, at most",
        options,
        key=key,
        persist_state="page",
        on_change=change,
        format_func=lambda one: f"{one:g}%",
        help="Methods that coarsen values leave out those that are like no other, where all others are then told so "
        "much more finely that the release loses less, each row left out counted as lost. It takes several runs. "
        "Bucketization, slicing and fragmentation leave none out.",
    )


def adversary(wishes: Wishes, data: Microdata) -> None:
    """What the adversary is after, from which belief on somebody is given away, and what is predicted."""
    place = parts.popover("Adversary and rows", "board-adversary")
    if not place.open:
        return
    shown: dict[str, tuple[Any, Sequence[Any]]] = {
        "r": (wishes.r, ()),
        "secret": (wishes.secret_of(data), data.sensitive),
        "target": (wishes.target_of(data), data.attributes),
        "hidden": ([name for name in ROWS if name not in wishes.hidden], ()),
        "numbers": (list(wishes.numbers), ()),
    }
    keys = {name: browser.widget_showing(f"board-{name}", *showing) for name, showing in shown.items()}

    def change(name: str) -> None:
        # Only what was moved: whatever the other widgets hold, nobody asked for a change of it.
        if not browser.is_on_page(keys[name]):
            return
        value = browser.widget_value(keys[name])
        if name == "hidden":
            value = tuple(row for row in ROWS if row not in value)
        elif name == "numbers":
            value = tuple(value)
        state.wish(replace(state.current_wishes(), **{name: value}))

    with place:
        st.slider(
            "r: somebody is given away where an adversary is more than 1/r sure",
            2,
            10,
            key=keys["r"],
            persist_state="page",
            on_change=change,
            args=("r",),
            help="r = 2: surer than the toss of a coin.",
        )
        st.selectbox(
            "Secret that is looked at",
            list(data.sensitive),
            key=keys["secret"],
            persist_state="page",
            on_change=change,
            args=("secret",),
        )
        st.selectbox(
            "Attribute that a model predicts",
            list(data.attributes),
            key=keys["target"],
            persist_state="page",
            on_change=change,
            args=("target",),
        )
        st.pills(
            "Questions of the board",
            list(ROWS),
            selection_mode="multi",
            key=keys["hidden"],
            persist_state="page",
            format_func=lambda name: ROWS[name][0],
            on_change=change,
            args=("hidden",),
        )
        st.multiselect(
            "Further questions: any other number",
            [name for name, criterion in CRITERIA.items() if data.sensitive or not criterion.of_attribute],
            key=keys["numbers"],
            persist_state="page",
            format_func=lambda name: CRITERIA[name].title if name in CRITERIA else name,
            on_change=change,
            args=("numbers",),
            help="Every number that can be told of any release, beside that of the original table.",
        )
