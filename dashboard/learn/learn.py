"""Lessons: the attacks and the methods on the papers' own small tables, step by step on the page and on paper."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from html import escape
from itertools import pairwise
from typing import Literal

import pandas as pd
import streamlit as st

from anoncore import datasets
from dashboard.elements import about, parts, routes
from dashboard.elements.parts import Tile
from dashboard.learn import buckets, crowds, cuts, dealing, joins, noise
from dashboard.learn.lesson_parts import Lesson, Shown, Step, field, on_paper
from dashboard.session import browser, state

LESSONS = (
    crowds.LINKING,
    crowds.DIVERSITY,
    crowds.CLOSENESS,
    crowds.MOVING,
    cuts.MONDRIAN,
    cuts.SAMPLING,
    buckets.SLICING,
    buckets.WORLDS,
    dealing.DEALING,
    dealing.BOXES,
    joins.JOINS,
    joins.MEMBERS,
    buckets.HOSPITALS,
    noise.PRIVACY,
)
NEXT = dict(pairwise(LESSONS))
BY_NAME = {lesson.name: lesson for lesson in LESSONS}
OVERVIEW = "overview"
CHOICE = "lesson"
TITLES = {OVERVIEW: "All lessons"} | {
    lesson.name: f"{number}. {lesson.title}" for number, lesson in enumerate(LESSONS, start=1)
}


def render() -> None:
    """Draw the overview or the chosen lesson."""
    _follow_link()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = parts.choice("Lesson", list(TITLES), CHOICE, "Each builds on those before.", names=TITLES.__getitem__)
        lesson = BY_NAME.get(name)
        if lesson is not None:
            if lesson in NEXT:
                button(NEXT[lesson], "Next lesson")
            if st.button("Load this table", key="lesson-load", help="Open the lesson's table in the working pages."):
                state.load_builtin(lesson.table)
                st.switch_page(routes.page("table"), query_params=state.address())
    if lesson is None:
        _overview()
    else:
        st.markdown(f"{lesson.promise} About {lesson.minutes} minutes.")
        _walk(lesson)


def _follow_link() -> None:
    """Open the step that a link names, such as `?lesson=linking.2`, which anybody can be given."""
    mark = st.query_params.get(CHOICE, "")
    lesson = BY_NAME.get(mark.partition(".")[0])
    if lesson is not None and mark in lesson.marks:
        browser.set_widget_values({CHOICE: lesson.name})
        parts.go_to_step(_steps(lesson), lesson.marks.index(mark))
        del st.query_params[CHOICE]


def button(lesson: Lesson, label: str, width: int | Literal["content"] = "content") -> bool:
    """Draw a button that opens a lesson; whether it was pressed."""
    chosen = {CHOICE: lesson.name}
    return st.button(
        label,
        key=f"open-{lesson.name}",
        on_click=browser.set_widget_values,
        args=(chosen,),
        help=lesson.promise,
        width=width,
    )


def _steps(lesson: Lesson) -> str:
    return f"lesson-{lesson.name}"


def _overview() -> None:
    done = state.workspace().steps_done
    marks = [mark for lesson in LESSONS for mark in lesson.marks]
    st.markdown(
        "Each lesson takes a few minutes: an attack or a method on a small table, one step at a time. "
        "Every number is computed while you watch. A step is done once you have looked at its answer: "
        f"**{len(done.intersection(marks))} of {len(marks)} steps are done**."
    )
    for lesson in LESSONS:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            button(lesson, TITLES[lesson.name], width=290)
            st.markdown(lesson.promise, width="stretch")
            signs = ["✓" if mark in done else "○" for mark in lesson.marks]
            st.caption(
                f"{lesson.minutes} minutes, {signs.count('✓')} of {len(signs)} done {' '.join(signs)}", width=210
            )


@parts.fragment
def _walk(lesson: Lesson) -> None:
    place = parts.steps(_steps(lesson), [one.title for one in lesson.steps])
    step, mark = lesson.steps[place], lesson.marks[place]
    st.markdown(step.text)
    with st.container(horizontal=True, gap="medium"):
        values = {name: field(f"{mark}-{name}", **about) for name, about in step.fields.items()}
    question, answer = step.draw(**values)
    st.markdown(f"**Question:** {question}")
    with st.expander("Show the answer", key=f"answer-{mark}", on_change="rerun") as opened:
        st.markdown(answer)
    if opened.open:
        state.workspace().steps_done |= {mark}
    if place == len(lesson.steps) - 1:
        _end(lesson)
    _for_a_class(lesson, mark)


def _end(lesson: Lesson) -> None:
    """What the lesson was about, the way to the board with it, and what the reference has on it."""
    st.success(lesson.end)
    with st.container(horizontal=True):
        if st.button(
            "Try this on your own table",
            key="lesson-try",
            type="primary",
            help="The board asks the loaded table for what the lesson was about; Undo takes it back.",
        ):
            state.ask_anew(lesson.methods, lesson.levels)
            st.switch_page(routes.page("board"), query_params=state.address())
        for key in lesson.entries:
            about.button(key, f"More on {about.entries()[key].title}", "lesson")


def _for_a_class(lesson: Lesson, mark: str) -> None:
    """The address of the step without the workspace of whoever gives it away, and the lesson on paper."""
    with st.popover("For a class"):
        st.caption(
            "Give a class this address: it opens this step, for each with a table of their own. The address that the "
            "browser shows leads to your table."
        )
        st.code(f"{(st.context.url or '').partition('?')[0]}?{CHOICE}={mark}", language=None)
        st.download_button(
            "Worksheet to print",
            partial(worksheet, lesson),
            f"{lesson.name}.html",
            "text/html",
            key="lesson-worksheet",
            on_click="ignore",
            help="The questions of this lesson with space for answers, and the solutions on a second page.",
        )


MOST_ROWS = 12
LINE = '<div class="line"></div>'
"""Where an answer is written."""
MOST_LINES = 9
BOLD, ITALIC = re.compile(r"\*\*([^*]+)\*\*"), re.compile(r"\*([^*]+)\*")
LOOK = """
@page { size: A4; margin: 12mm }
body { font: 9.5pt/1.3 sans-serif; color: #000; background: #fff; max-width: 182mm; margin: 8mm auto }
h1 { font-size: 15pt; margin: 0 0 1mm } h2 { font-size: 11pt; margin: 2.5mm 0 0 } p { margin: 1mm 0 }
.work { display: flex; flex-wrap: wrap; gap: 1.5mm 5mm; align-items: flex-start }
.title { max-width: 75mm } .answer { flex: 1 1 70mm }
table { border-collapse: collapse; font-size: 7.5pt; line-height: 1.15 }
th, td { border: 0.2mm solid #777; padding: 0 1.5mm; text-align: left }
.line { border-bottom: 0.2mm solid #777; height: 6.5mm }
section { break-inside: avoid } .solutions { break-before: page }
@media print { body { margin: 0; max-width: none } }
"""


def worksheet(lesson: Lesson) -> str:
    """A document (HTML) that loads nothing: the questions of a lesson on a page, and its solutions on another."""
    questions, solutions, lines = [], [], LINE * (MOST_LINES // len(lesson.steps))
    for number, step in enumerate(lesson.steps, start=1):
        shown, (question, answer) = on_paper(step)
        title, asked = f"<h2>{number}. {escape(step.title)}</h2>", _text(f"**{question[:1].upper()}{question[1:]}**")
        questions.append(f"<section>{title}{_text(step.text)}{_work(step, shown, asked + lines)}</section>")
        solutions.append(f"<section>{title}{asked}{_text(answer)}</section>")
    if "<table" not in questions[0]:
        table = datasets.table(lesson.table)
        questions.insert(0, _table(f"First rows of {table.title}", table.load().head(6)))
    title = escape(lesson.title)
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{LOOK}</style>'
        f"<h1>{title}</h1>{_text(lesson.promise)}{''.join(questions)}"
        f'<div class="solutions"><h1>Solutions: {title}</h1>{"".join(solutions)}{_text(lesson.end)}</div></html>'
    )


def _text(text: str) -> str:
    """A text of a lesson with its emphasis."""
    bold = BOLD.sub(r"<b>\1</b>", escape(text))
    return "<p>" + ITALIC.sub(r"<i>\1</i>", bold) + "</p>"


def _work(step: Step, shown: Sequence[Shown], asked: str) -> str:
    """Tables, and where there is room beside them the fields, what else is shown, and what is asked."""
    tables = "".join(_table(*one) for one in shown if isinstance(one, tuple))
    fields = [(about["label"], about["value"]) for about in step.fields.values()]
    values = [*fields, *((one.label, one.value) for one in shown if isinstance(one, Tile))]
    numbers = "; ".join(f"{label}: **{', '.join(v) if isinstance(v, list) else v}**" for label, v in values)
    told = "".join(map(_text, filter(None, [numbers, *(one for one in shown if isinstance(one, str))])))
    return f'<div class="work">{tables}<div class="answer">{told}{asked}</div></div>'


def _table(title: str, frame: pd.DataFrame) -> str:
    rest = len(frame) - MOST_ROWS
    more = f" ({rest:,} more rows)" if rest > 0 else ""
    cells = frame.head(MOST_ROWS).style.hide().format(precision=3, escape="html").to_html(exclude_styles=True)
    return f'<div><div class="title"><b>{escape(title)}</b>{more}</div>{cells}</div>'
