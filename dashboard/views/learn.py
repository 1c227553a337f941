"""Lessons: the attacks and the methods on the papers' own small tables, step by step."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType

import streamlit as st

from dashboard import routes, state
from dashboard.views import parts, steps


@dataclass(frozen=True)
class Lesson:
    """One lesson: the module `dashboard.views.lessons.<name>` has its steps and its table."""

    name: str
    title: str
    promise: str
    minutes: int


LESSONS = (
    Lesson(
        "linking",
        "Linking and k-anonymity",
        "How a table without names gets its names back, and how a crowd stops it.",
        4,
    ),
    Lesson("diversity", "All alike and l-diversity", "Why a crowd does not help if everybody in it has the same.", 4),
    Lesson("closeness", "Too different and t-closeness", "Why different values can still tell everything.", 5),
    Lesson("moving", "Distance as moving earth", "How far one distribution is from another, by hand.", 4),
    Lesson("mondrian", "Mondrian cuts a plane", "How people are put into crowds with as little blur as possible.", 3),
    Lesson("sampling", "Rothko grows on a sample", "How a table is cut that does not fit in memory.", 5),
    Lesson("slicing", "Slicing and its matching buckets", "How exact values can be published all the same.", 4),
    Lesson("worlds", "The release against itself", "How the other groups give away who has what in this one.", 5),
    Lesson("dealing", "Stack & Deal", "How to make classes that look like the whole table, by dealing cards.", 4),
    Lesson("boxes", "Two secrets at once", "How classes stay close in several secrets, each by its own measure.", 4),
    Lesson("joins", "Narrow tables and the join attack", "What cutting a wide table wins, and what joining undoes.", 5),
    Lesson("members", "Is somebody in the table?", "How invented people hide that somebody is in a table at all.", 4),
)
CHOICE = "lesson"


def render() -> None:
    """Draw the choice of lessons and the chosen one."""
    st.markdown(
        "Each lesson takes a few minutes: an attack or a method on a small table, one step at a time. "
        "Every number is computed while you watch."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        lesson = parts.choice(
            "Lesson",
            LESSONS,
            CHOICE,
            "Begin with the first; each builds on those before.",
            names=lambda one: f"{LESSONS.index(one) + 1}. {one.title}",
        )
        module = load(lesson)
        place = LESSONS.index(lesson)
        if place + 1 < len(LESSONS):
            st.button(
                "Next lesson",
                key="lesson-next",
                on_click=state.set_widget_values,
                args=({CHOICE: LESSONS[place + 1]},),
                help=LESSONS[place + 1].title,
            )
        if st.button("Load this table", key="lesson-load", help="Open the lesson's table in the working pages."):
            state.load_builtin(module.TABLE)
            st.switch_page(routes.page("data"), query_params={state.URL_PARAMETER: state.workspace_id()})
    st.markdown(f"{lesson.promise} About {lesson.minutes} minutes.")
    _walk(lesson, module)


def load(lesson: Lesson) -> ModuleType:
    """The module of a lesson."""
    return importlib.import_module(f"dashboard.views.lessons.{lesson.name}")


@st.fragment
def _walk(lesson: Lesson, module: ModuleType) -> None:
    step = steps.choose(f"lesson-{lesson.name}", [one.title for one in module.STEPS])
    module.STEPS[step].draw()
