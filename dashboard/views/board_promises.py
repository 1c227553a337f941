"""What is asked on the board: the levels, further requirements, a policy, who may be left out, and the adversary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from anoncore import AnonymizationError, Microdata, Policy
from anoncore.base.texts import share_text
from anoncore.front.policy import PRESETS
from anoncore.front.policy.policy import preset
from anoncore.front.policy.wording import level_rules
from anoncore.measures.criteria import CRITERIA
from anoncore.search.keeping import Levels
from dashboard.board.wording import ROWS
from dashboard.elements import forms, parts
from dashboard.markdown import escaped
from dashboard.serving import access
from dashboard.session import browser, state
from dashboard.session.wishes import AXES, Wishes, most_frequent
from dashboard.session.wishes import LARGEST_LEVEL as MOST

HYPHEN = "\N{NON-BREAKING HYPHEN}"
"""Where the term of the field does not fit behind a label, all of it goes."""
OFF = "off"
K_STEPS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000)
L_STEPS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
C_STEPS = (0.5, 1, 1.5, 2, 3, 4, 5, 8, 10)
T_STEPS = tuple(round(0.05 * place, 2) for place in range(1, 20))
RECURSIVE = (
    "Recursive (c,l)-diversity: the most frequent value of a group is less than c times as frequent as all from the "
    "l-th most frequent on. A c here takes the place of the bound by 1/l."
)
CLOSE = "t-closeness: earth mover's distance of every group from the table, 0 is as in the table, 1 as far as can be."
OWN_POLICY = "your own"
LEFT_OUT_STEPS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Percentages of the people that may be left out, to choose from."""


@dataclass(frozen=True)
class Level:
    """One control of the promise: its letter, its words, the field's term for it, how a value is said, the steps of its
    slider, and what may be typed.
    """

    axis: str
    label: str
    term: str
    said: str
    help: str
    steps: Sequence[float]
    typed: tuple[float, float]
    by: float


def promises(wishes: Wishes, data: Microdata) -> None:
    """The levels that everybody is asked for, and the adversary."""
    with st.container(key="promises"):
        places = st.columns([3, 3, 3, 3, 4] if data.sensitive else [3, 13], vertical_alignment="bottom")
        for level, place in zip(_levels(wishes, data), places[:-1], strict=True):
            with place:
                _level(level, wishes)
        with places[-1], st.container(horizontal=True, vertical_alignment="bottom"):
            _more_promises(wishes, data)
            if data.sensitive:
                _adversary(wishes, data)


def _levels(wishes: Wishes, data: Microdata) -> list[Level]:
    """The controls of the promise: k alone where nothing is secret."""
    nobody = "no row" if data.people_word == "rows" else "nobody"
    told = f"k = 10: {nobody} hides among fewer than 9 others."
    k = Level("k", f"k: {data.people_word} per group", "k-anonymity", "{} or more", told, K_STEPS, (1.0, MOST), 1.0)
    if not data.sensitive:
        return [k]
    name, share = most_frequent(data)
    possible = [step for step in L_STEPS if step <= 1 / share]
    of_l = ("l: share of a secret", "l-diversity", "at most 1 in {}")
    if "c" in wishes.levels:
        of_l = ("l: of (c,l)", "recursive", "{}")
    told = (
        f"l = 3: in no group has one value more than a third. Nothing above {1 / share:.3g} is possible here, as one "
        f"value of '{escaped(name)}' is that of {share_text(share)} of all {data.people_word}. With a c it is the l of "
        "recursive (c,l)-diversity instead."
    )
    return [
        k,
        Level("l", *of_l, told, possible, (1.0, MOST), 1.0),
        Level("c", "c: commonest secret", "recursive", "below {} × rest", RECURSIVE, C_STEPS, (0.1, MOST), 0.5),
        Level("t", "t: group's distance", "t-closeness", "at most {}", CLOSE, T_STEPS, (0.0, 1.0), 0.05),
    ]


def _level(level: Level, wishes: Wishes) -> None:
    """A slider and a field for one level; the step `off`, and an empty field, ask for nothing."""
    axis, held = level.axis, wishes.levels.get(level.axis)
    is_whole = axis == "k"
    ruled = None if wishes.policy is None else wishes.policy.levels.of_groups.get(axis)
    most = level.steps[-1] if axis == "l" and level.steps else MOST
    further = {value for value in (held, ruled if (ruled or 0) <= most else None) if value is not None}
    options = [OFF, *sorted({*level.steps, *further})]
    # The browser knows a step by what it says; said otherwise, as that of l with a c, it is a step of another slider.
    said = {one: OFF if one == OFF else level.said.format(f"{one:g}") for one in options}
    slider = browser.widget_showing(f"board-{axis}", OFF if held is None else held, said.items())
    field = browser.widget_showing(
        f"board-{axis}-typed", None if held is None else int(held) if is_whole else float(held)
    )

    def change(key: str) -> None:
        if browser.is_on_page(key):
            value = browser.widget_value(key)
            level = None if value in (OFF, None) else value
            state.wish(state.current_wishes().with_level(axis, level), f"level {axis}")

    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall", key=f"level-{axis}"):
        with st.container(gap=None):
            st.select_slider(
                f"{level.label} ·\N{NO-BREAK SPACE}{level.term.replace('-', HYPHEN)}",
                options,
                key=slider,
                persist_state="page",
                on_change=change,
                args=(slider,),
                help=level.help,
                format_func=said.__getitem__,
                width="stretch",
            )
            if ruled is not None:
                _mark(ruled, options)
        kind: Any = int if is_whole else float
        st.number_input(
            f"{axis}, typed",
            min_value=kind(level.typed[0]),
            max_value=kind(level.typed[1]),
            value=None,
            key=field,
            persist_state="page",
            step=kind(level.by),
            format="%d" if is_whole else "%g",
            on_change=change,
            args=(field,),
            placeholder=OFF,
            label_visibility="collapsed",
            width=64,
        )


def _mark(ruled: float, options: Sequence[Any]) -> None:
    """The level that the policy asks for, as a mark below its place on the slider."""
    is_possible = ruled in options
    place = options.index(ruled) / (len(options) - 1) if is_possible else 1.0
    text = f"policy: {ruled:g}" if is_possible else f"policy: {ruled:g}, not possible here"
    words = f"▲ {text}" if place <= 0.5 else f"{text} ▲"
    side = "left" if place <= 0.5 else "right"
    at = place if place <= 0.5 else 1 - place
    st.html(f'<div class="policy-mark"><small style="{side}: calc({100 * at:.1f}% - 0.35em)">{words}</small></div>')


def _more_promises(wishes: Wishes, data: Microdata) -> None:
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
    given = access.upload_field("Rules of your own office (policy.toml)", type="toml", key="board-policy")
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


def _adversary(wishes: Wishes, data: Microdata) -> None:
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
