"""A lesson on paper: its tables and questions with space for answers, and the solutions on a second page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

import pandas as pd

from anoncore import datasets
from dashboard.elements.parts import Tile
from dashboard.learn.lessons.board import Lesson, Shown, Step, on_paper

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


def page(lesson: Lesson) -> str:
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
