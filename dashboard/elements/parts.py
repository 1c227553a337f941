"""What the result pages share: which run they show, rows of numbers, charts with captions, slow measures."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from anoncore import AnonymizationError, Fragment, Kind, Release, privacy
from anoncore.base.score import Score
from anoncore.base.texts import counted, share_text
from anoncore.kernels.arrays import Int64
from anoncore.privacy import Profile
from anoncore.privacy.published import fragments_of
from anoncore.requirements import RecursiveDiversity, TCloseness
from dashboard.board import making
from dashboard.charts.layout import as_text
from dashboard.charts.palette import COLOR_NAMES, SHAPES, RunStyle
from dashboard.elements import role_questions, routes
from dashboard.markdown import escaped, reason
from dashboard.serving import audit
from dashboard.session import browser, compute, state
from dashboard.session.workspace import Run, run_names
from dashboard.tasks import jobs, redrawing

_SHOWN = "shown-run"
POLL_SECONDS = 0.5
PATIENCE = 0.4
LARGE = 500_000
"""Rows of a table from which on even quick measures take seconds, so that they are made in the background."""
IN_A_LINE = 4
TOLD_SECONDS = 0.1
"""Compiling that takes less is not told."""
CHART_CONFIG = {"displayModeBar": False, "doubleClick": False}
T = TypeVar("T")
P = ParamSpec("P")


def releases() -> tuple[Run, ...]:
    """The releases of the board's columns, with the choice of the one to show beside the page; while they are made, the
    page says so until one is there.

    Raises AnonymizationError where the table is not tagged.
    """
    is_waiting = making.make_for_a_closer_look()
    with st.sidebar:
        _choose_release()
    if is_waiting:
        return ()
    if not state.runs():
        st.info("No column of the board has a release; its cells say why.")
        routes.link("board", "Go to the board")
    return state.runs()


def shown_run(reason_for_people: str = "") -> Run | None:
    """Say which run the page is about; without any, say what to do and return None.

    `reason_for_people`: what rows of people are needed for, as the first half of a sentence, on a page that is about
    groups of people. A synthetic release has none, so such a page says why and returns None. So it is while it stands
    open whose the rows are, as these pages speak of people.
    """
    run = next(iter(releases()), None) and state.current_run()
    if run is None:
        return None
    release = run.release
    if role_questions.whose_rows_are_open(run):
        return None
    if release.is_synthetic and reason_for_people:
        _shown(run, "")
        says_why_nobodys(run, reason_for_people)
        with st.container(horizontal=True):
            routes.link("utility", "See what it is good for")
            routes.link("attack", "Ask what it gives away")
        return None
    groups = " and ".join(counted(fragment.partition.n_groups, "group") for fragment in fragments_of(release, None))
    _shown(run, "" if release.is_synthetic else f" in {groups}")
    return run


def _shown(run: Run, groups: str) -> None:
    """The line above a page: the run's colour, its name, how large it is, and how long it took."""
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        st.image(swatch(run.style), width=18, alt=COLOR_NAMES[run.style.color])
        made = "made" if run.opened is None else "made elsewhere and read"
        st.markdown(
            f"**{escaped(run.label)}**: {run.release.table_size} of {escaped(run.table_name)}{groups}, "
            f"{made} in {made_in(run)}"
        )


def says_why_nobodys(run: Run, reason_for_people: str) -> bool:
    """Say why there is nothing to show of a synthetic release; whether it is one.

    `reason_for_people`: what rows of people are needed for, as the first half of a sentence.
    """
    try:
        run.release.require_people(reason_for_people)
    except AnonymizationError as error:
        st.info(escaped(reason(error)))
        return True
    return False


def made_in(run: Run) -> str:
    """What the method took, and beside it what was compiled before, which is not done again."""
    compiled = (
        f" (compiled once before: {duration(run.compile_seconds)})" if run.compile_seconds >= TOLD_SECONDS else ""
    )
    return duration(run.seconds) + compiled


def swatch(style: RunStyle) -> str:
    """The run's colour and symbol as a small picture (SVG), the same that the board and the charts show."""
    look = f'fill="{style.color}" stroke="{style.outline}" stroke-width="1.2"'
    corners = SHAPES.get(style.symbol)
    mark = f'<circle r="6.5" {look}/>' if corners is None else f'<polygon points="{corners}" {look}/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="18" height="18" viewBox="-8 -8 16 16">{mark}</svg>'


def duration(seconds: float) -> str:
    """Seconds as people read them."""
    return f"{seconds * 1000:,.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"


@dataclass(frozen=True)
class Tile:
    """One number with its name and what it means; `note` goes below it, `holds` colours the note."""

    label: str
    value: str
    help: str
    note: str | None = None
    holds: bool | None = None

    @classmethod
    def of(cls, score: Score, beside: str = "guessing", more: str = "", **changes: Any) -> Tile:
        """A share with its baseline, which is called `beside`; `more` follows what it means, `changes` are fields."""
        note = f"{beside}: {share(score.baseline or 0)}"
        meaning = f"{escaped(score.meaning)} {more}".strip()
        return replace(cls(score.label, share(score), meaning, note), **changes)


def share(value: float | None) -> str:
    """A share as people read it, or that there is none."""
    return "none" if value is None or np.isnan(value) else share_text(value)


def tiles(row: Sequence[Tile], columns: int | None = None) -> None:
    """Numbers side by side in frames, in so many columns, or all in one line."""
    colors: dict[bool | None, Literal["green", "red", "gray"]] = {True: "green", False: "red", None: "gray"}
    columns = columns or len(row)
    for start in range(0, len(row), columns):
        for column, tile in zip(st.columns(columns), row[start : start + columns], strict=False):
            column.metric(
                tile.label,
                tile.value,
                tile.note,
                delta_color=colors[tile.holds],
                delta_arrow="off",
                help=tile.help,
                border=True,
                height="stretch",
            )


def beside(*widths: int) -> list[Any]:
    """Places beside each other, of these widths; without any, two halves."""
    return st.columns(list(widths) or 2, gap="medium")


def number(
    help: str | None = None, format: str | None = None, width: int | None = None, label: str | None = None
) -> Any:
    """A column of numbers in a list: what its head explains, how numbers are written, and its width in pixels."""
    return st.column_config.NumberColumn(label, help=help, format=format, width=width)


def words(help: str | None = None, width: int | None = None) -> Any:
    """A column of texts."""
    return st.column_config.TextColumn(help=help, width=width)


def percent(help: str | None = None, width: int | None = 75) -> Any:
    """A column of shares."""
    return number(help, "percent", width)


def table(frame: Any, key: str, alt: str, height: Any = "auto", columns: Any = None, row: int | None = None) -> None:
    """A list without the numbers of its lines; `row` is the height of a line in which sentences wrap."""
    st.dataframe(frame, hide_index=True, height=height, key=key, row_height=row, column_config=columns, alt=alt)


def tinted(frame: pd.DataFrame, styles: Mapping[Any, Any]) -> Any:
    """A list whose columns have these styles (CSS), one for all of their cells or one for each."""
    shades = pd.DataFrame("", index=frame.index, columns=frame.columns)
    for column, style in styles.items():
        shades[column] = style
    return frame.style.apply(lambda _: shades, axis=None)


def notes(sentences: Iterable[str], draw: Callable[[str], object] = st.info) -> None:
    """What a result says of itself, a box or a line each."""
    for sentence in sentences:
        draw(escaped(sentence))


def side_by_side(widths: Sequence[int]) -> list[Any]:
    """Places beside each other, as wide as given, with at most four in a line."""
    places: list[Any] = []
    for start in range(0, len(widths), IN_A_LINE):
        places += st.columns(list(widths[start : start + IN_A_LINE]))
    return places


def chart(figure: go.Figure, key: str, caption: str, alt: str, on_select: Callable[[], None] | None = None) -> None:
    """A figure with its caption; `on_select` is called after a click on one of its points."""
    selecting: dict[str, Any] = {} if on_select is None else {"on_select": on_select, "selection_mode": "points"}
    st.plotly_chart(as_text(figure), key=key, config=CHART_CONFIG, alt=alt, **selecting)
    st.caption(caption)


def download(
    label: str,
    what: str,
    make: Callable[[], str | bytes],
    file_name: str,
    mime: str,
    key: str,
    run: Run | None = None,
    place: Any = st,
    **options: Any,
) -> None:
    """A button for a file, which is made when it is clicked; `what` is taken away, and of which run, is recorded."""
    # It is made outside the page's thread, where nobody knows whose session it is.
    facts = {} if run is None else audit.of_run(run)
    data = audit.taken_away(state.workspace().who, what, make, **facts)
    place.download_button(label, data, file_name, mime, key, on_click="ignore", **options)


def choice(
    label: str,
    options: Sequence[T],
    key: str,
    help: str,
    names: Callable[[T], str] = str,
    index: int = 0,
) -> T:
    """A choice that is kept over page switches and in the address; a single option is taken without asking."""
    if len(options) == 1:
        return options[0]
    held, returned = browser.widget_value(key), browser.returned_place(key, index)
    if returned is not None and returned < len(options):
        browser.set_widget_values({key: options[returned]})
    elif held not in options:
        asked = browser.linked_place(key) if held is None else None
        browser.set_widget_values({key: options[index if asked is None or asked >= len(options) else asked]})
    chosen = st.selectbox(label, options, format_func=names, key=key, help=help, persist_state="session", width=320)
    taken = options[index] if chosen is None else chosen
    browser.link_place(key, options.index(taken), index)
    return taken


def fragment_choice(release: Release, key: str) -> Fragment:
    """The fragment whose groups are shown; where all share their groups, the one with most quasi-identifiers."""
    if release.is_shared:
        known = set(release.data.quasi_identifiers)
        return max(release.fragments, key=lambda fragment: len(known & set(fragment.attributes)))
    # Fragments hold codes of all rows: what the page remembers is the place among them.
    place = choice(
        "Fragment",
        range(len(release.fragments)),
        key,
        "Each fragment of this release has groups of its own.",
        names=lambda at: f"{release.fragments[at].name}: {', '.join(release.fragments[at].attributes)}",
    )
    return release.fragments[place]


def two_quasi_identifiers(run: Run, names: Sequence[str], key: str, places: Sequence[Any]) -> tuple[str, str]:
    """The attributes of a plane; those with most numbers are proposed first."""
    domains = run.data.domain
    names = sorted(names, key=lambda name: (domains[name].kind is not Kind.NUMERIC, -len(domains[name])))
    with places[0]:
        across = choice("Across", names, f"{key}-across", "Quasi-identifier on the horizontal axis.")
    with places[1]:
        rest = [name for name in names if name != across]
        return across, choice("Up", rest, f"{key}-up", "Quasi-identifier on the vertical axis.")


def profile(run: Run) -> Profile:
    """The levels of all groups; recursive diversity with the l that was asked for, else 2."""
    asked = [one.l for one in run.promises if isinstance(one, RecursiveDiversity)]
    return measured(run, privacy.profile, *([max(asked)] if asked else []))


def usual_ground(run: Run, attribute: str, grounds: Sequence[str]) -> str:
    """The ground distance that t-closeness was asked for with, else the first that fits the attribute."""
    asked = run.promises
    wanted = [one.ground for one in asked if isinstance(one, TCloseness) and one.attribute in (None, attribute)]
    return next((ground for ground in wanted if ground in grounds), grounds[0])


def measured(run: Run, function: Callable[..., T], *arguments: Hashable) -> T:
    """A measure of the run, computed once; what the board measured under the name of the function is not done again."""
    return compute.cached(_name(function), run, function, *arguments)


def _name(function: Callable[..., Any]) -> str:
    """The name under which what a function says of a run is kept: that of its package, and its own."""
    return f"{function.__module__.split('.')[1]}.{function.__qualname__}"


def attempt(run: Run, function: Callable[..., T], *arguments: Hashable) -> T | None:
    """A measure of the run, or the sentence that says why it has none, on the page, and None."""
    try:
        return measured(run, function, *arguments)
    except AnonymizationError as error:
        st.info(escaped(reason(error)))
        return None


def says_why(draw: Callable[P, None]) -> Callable[P, None]:
    """A part of a page that says on its place why a release has nothing to draw there, and leaves the others be."""

    @wraps(draw)
    def drawn(*given: P.args, **named: P.kwargs) -> None:
        try:
            draw(*given, **named)
        except AnonymizationError as error:
            st.info(escaped(reason(error)))

    return drawn


def fragment(draw: Callable[P, None]) -> Callable[P, None]:
    """A part of a page that draws itself anew alone, and says on its place why a release has nothing to draw there."""
    return redrawing.part()(says_why(draw))


def later(
    what: str, run: Run, function: Callable[..., Any], *arguments: Hashable, name: str = "", urgent: bool = False
) -> Any:
    """A slow measure: its value when there, else None and on the page how far it is or why it failed.

    A measure that is done within PATIENCE seconds is waited for, so that nothing flashes. `name` tells functions apart
    that have no name of their own. What is `urgent` takes a second or few, and waits for no long work.
    """
    asked: Any = (name or _name(function), run, function, *arguments)
    found = compute.later(*asked, urgent=urgent)
    end = time.monotonic() + PATIENCE
    while found.status == "running" and time.monotonic() < end:
        time.sleep(0.02)
        found = compute.later(*asked)
    if found.status == "done":
        return found.value
    if found.status == "failed":
        st.warning(escaped(found.error))
        return None
    _progress(what, asked)
    return None


def soon(what: str, run: Run, function: Callable[..., T], *arguments: Hashable, takes_long: bool = False) -> T | None:
    """A measure that takes a fraction of a second, at once; of a table of `LARGE` rows and more, where it takes
    seconds, in the background as `later` does it. Where it `takes_long` there, it lets shorter work go first.
    """
    if run.data.n_rows < LARGE:
        return measured(run, function, *arguments)
    found: T | None = later(what, run, function, *arguments, urgent=not takes_long)
    return found


@redrawing.part(POLL_SECONDS)
def _progress(what: str, asked: Any) -> None:
    found = compute.later(*asked)
    if found.status != "running":
        redrawing.draw_page()
    st.progress(found.progress, text=f"{what}: {found.text}")


def popover(label: str, key: str, help: str | None = None) -> Any:
    """A button that opens a small window; draw into it only while it is `open`.

    A browser has the fields of a window only while it is open, and takes in a value that one of them is told only
    then. Told while it is closed, it would open with the usual values and send these back as if they had been chosen.
    """
    seen = f"label-of-{key}"
    if browser.get(seen) != label and browser.widget_value(key):
        # For Streamlit it is another window under another label, which would begin closed.
        browser.set_widget_values({key: True})
    browser.put(seen, label)
    return st.popover(label, key=key, on_change="rerun", help=help)


def tabs(name: str, pages: Mapping[str, Callable[[], None]], first: str = "") -> None:
    """Tabs of which only the open one is computed; it is remembered over page switches and in the address.

    `first` is the title of the tab that is open before another one is chosen, if not that of the first tab.
    """
    key = f"tabs-{name}"
    chosen = browser.get(name)

    def remember() -> None:
        browser.put(name, browser.widget_value(key))
        browser.leave_cell()

    titles = list(pages)
    returned = browser.returned_place(key, 0)
    if returned is not None and returned < len(titles):
        chosen = titles[returned]
        browser.put(name, chosen)
        browser.set_widget_values({key: chosen})
    asked = browser.linked_place(key)
    usual = titles.index(first) if first else 0
    default = chosen if chosen in pages else titles[usual if asked is None or asked >= len(titles) else asked]
    for place, (tab, draw) in enumerate(
        zip(st.tabs(titles, default=default, key=key, on_change=remember), pages.values(), strict=True)
    ):
        if tab.open:
            browser.link_place(key, place, 0)
            with tab:
                draw()


def row_choice(
    frame: pd.DataFrame, ids: Int64, name: str, columns: dict[str, Any], height: int, alt: str, key: str = ""
) -> int:
    """Draw the list; returns the id of the chosen row, the first one until another is chosen.

    `ids` int64 (len(frame),) tells the rows apart, whatever their order; `name` is the list's own, under which the
    choice is kept, and `key` that of its order.
    """
    key = key or f"list-{name}"
    chosen = browser.get(name)
    if chosen is None or chosen not in ids:
        chosen = int(ids[0])
    st.dataframe(
        frame,
        hide_index=True,
        height=height,
        key=key,
        on_select=partial(_clicked, name, key, ids),
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [_first_selected(key, ids, chosen)]}},
        column_config=columns,
        alt=alt,
    )
    return int(chosen)


def _first_selected(key: str, ids: Int64, chosen: int) -> int:
    """The row that is selected when the list is first drawn; a list whose default changes is sent anew as a whole."""
    held = browser.get(f"default-{key}")
    if held is None or browser.widget_value(key) is None:
        held = int(np.flatnonzero(ids == chosen)[0])
        browser.put(f"default-{key}", held)
    return int(held)


def selected(key: str, what: Literal["rows", "points"]) -> list[Any]:
    """The rows of a list, or the points of a figure, that are selected."""
    chosen: list[Any] = browser.widget_value(key, {}).get("selection", {}).get(what, [])
    return chosen


def _clicked(kept: str, key: str, ids: Int64) -> None:
    rows = selected(key, "rows")
    if rows and rows[0] < len(ids):
        browser.put(kept, int(ids[rows[0]]))


def steps(name: str, titles: Sequence[str]) -> int:
    """Draw Back, Next and where the reader is; returns the step, which the address keeps. Call it in a fragment."""
    key = f"step-{name}"
    returned = browser.returned_place(key, 0)
    if returned is not None:
        browser.put(key, returned)
    held = browser.get(key)
    step = min((browser.linked_place(key) or 0) if held is None else held, len(titles) - 1)
    browser.link_place(key, step, 0)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Back",
            key=f"{key}-back",
            disabled=step == 0,
            on_click=go_to_step,
            args=(name, step - 1),
            help="The step before.",
        )
        st.button(
            "Next",
            key=f"{key}-next",
            type="primary",
            disabled=step == len(titles) - 1,
            on_click=go_to_step,
            args=(name, step + 1),
            help="The next step.",
        )
        st.markdown(f"**Step {step + 1} of {len(titles)}: {titles[step]}**")
    return step


def go_to_step(name: str, step: int) -> None:
    """Let `steps` of that name be at a step from now on."""
    browser.put(f"step-{name}", step)


def _choose_release() -> None:
    """Draw the choice of the release at which a page looks closer, among those of the board that are there."""
    runs = state.runs()
    if not runs:
        return
    current = state.current_run() or runs[0]
    labels = run_names(runs)
    key = browser.widget_showing(_SHOWN, current.id, tuple(labels))
    st.selectbox(
        "Release shown",
        list(labels),
        format_func=lambda run_id: labels.get(run_id, "?"),
        key=key,
        persist_state="page",
        on_change=_select_release,
        args=(key,),
        help="The columns of the board: these pages look closer at one of them.",
    )
    style = current.style
    st.caption(f"In charts: {COLOR_NAMES[style.color]}, {style.symbol}.")


def _select_release(key: str) -> None:
    if browser.is_on_page(key):
        state.select_run(browser.widget_value(key))
        shown = state.current_run()
        if shown is not None:
            browser.name_column(shown.column)


def follow(job: jobs.Job, key: str, help: str = "") -> None:
    """Say in a part of a page how far a job is, with the button that cancels it; at its end draw the page anew."""
    if not job.running:
        redrawing.draw_page()
    st.progress(job.fraction, text=escaped(job.text))
    st.button("Cancel", key=key, on_click=job.cancel, help=help or None)
