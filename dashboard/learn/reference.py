"""The page Reference: what every method, requirement, attack, measure and number is, and when to use it."""

from __future__ import annotations

import re

import streamlit as st

from anoncore.release.openness import QUESTION
from dashboard.elements import about, parts, routes
from dashboard.elements.about import FACTS, Described, Entry
from dashboard.learn import learn
from dashboard.markdown import escaped
from dashboard.session import state


def render() -> None:
    """Draw the page."""
    found = about.entries()
    st.markdown(
        "Every method, requirement, attack, measure and number of these pages, one by one. Choose one, or type part "
        "of its name into the box. How they belong together is told on the page Learn."
    )
    key = parts.choice(
        "Look up",
        list(found),
        about.CHOICE,
        "Type to search: Mondrian, closeness, membership, loss, ...",
        names=lambda one: f"{found[one].kind}: {found[one].title}",
    )
    _draw(found[key])
    _lessons(key)
    _others(found[key])


def _draw(entry: Entry) -> None:
    st.subheader(entry.title)
    st.caption(f"{entry.kind}. In recipes and on the command line: `{entry.name}`.")
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown(_named(entry.definition))
        _parameters(entry)
        _listed("What it gives", entry.returns)
        _listed("Errors", entry.raises)
    with right:
        for word in ("Use", "Avoid", "Assumes", "Cost", "Source"):
            if word in entry.facts:
                text = _named(entry.facts[word])
                st.markdown(f"**{FACTS[word]}**\n\n{text[:1].upper()}{text[1:]}")
        if entry.minimality:
            st.markdown(f"**{QUESTION}**\n\n{entry.minimality}")
            about.button("attack:minimality", "How it is measured")
    if entry.example:
        _example(entry.example)
    if entry.related:
        with left:
            about.button(entry.related, f"How it is computed: {about.entries()[entry.related].title}")


def _named(text: str) -> str:
    """The text with other entries called as they are called on the page."""
    found = about.entries()

    def title(match: re.Match[str]) -> str:
        other = next((key for kind in ("attack", "measure") if (key := f"{kind}:{match[1]}") in found), None)
        return f"*{found[other].title}*" if other else match[0]

    return re.sub(r"`(?:attacks\.|privacy\.|utility\.)?(\w+)`", title, text)


def _parameters(entry: Entry) -> None:
    if not entry.parameters:
        return
    st.markdown("**Parameters**")
    lines = []
    for one in entry.parameters:
        allowed = f"; {escaped(one.allowed)}" if one.allowed else ""
        default = "required" if one.default == "required" else f"default {escaped(one.default)}"
        lines.append(f"- **{escaped(one.title)}** (`{one.name}`): {_named(one.meaning)} _{default}{allowed}_")
    st.markdown("\n".join(lines))


def _listed(title: str, described: tuple[Described, ...]) -> None:
    if described:
        lines = [f"- **{escaped(one.name)}**: {_named(one.meaning)}" for one in described]
        st.markdown("\n".join([f"**{title}**\n", *lines]))


def _example(text: str) -> None:
    """The docstring's example: its sentences as text, its commands and what they answer as code."""
    with st.expander("Example in Python"):
        for block in re.split(r"\n\s*\n", text):
            if block.startswith(">>>"):
                st.code(block, language="pycon")
            else:
                st.markdown(_named(block))


def _lessons(key: str) -> None:
    """The lessons that show it on a small table."""
    with st.container(horizontal=True):
        for lesson in learn.LESSONS:
            if key in lesson.entries and learn.button(lesson, f"Lesson: {lesson.title}"):
                st.switch_page(routes.page("learn"), query_params=state.address())


def _others(entry: Entry) -> None:
    """What else there is of the same kind, one press away."""
    alike = [one.key for one in about.entries().values() if one.kind == entry.kind and one.key != entry.key]
    about.several(f"Other {entry.kind.lower()}s", alike, "others")
