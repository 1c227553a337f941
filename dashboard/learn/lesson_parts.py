"""What lessons are drawn with: the papers' tables, the releases of their examples, tables with marks, fields."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from anoncore import Microdata, Partition, Release, datasets
from anoncore.algorithms.base import generalized_release
from anoncore.datasets import published_groups
from anoncore.kernels.arrays import Floats
from dashboard.charts.groups import Shares, sensitive_shares
from dashboard.charts.layout import faint
from dashboard.charts.palette import ORANGE, RunStyle, run_style
from dashboard.charts.utility import share_bars
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.session import loaded_table

STYLE: RunStyle = run_style(0)
"""How a lesson draws what is published, beside the original table in grey."""
MARK = f"background-color: {faint(ORANGE, 0.35)}"
MOST_HEIGHT = 460
Question = tuple[str, str]
"""What a picture answers, and the answer for those who want to see it."""
Shown = str | Tile | tuple[str, pd.DataFrame]
"""What paper can show: a sentence, a number, or a table under its title."""
Draws = TypeVar("Draws", bound=Callable[..., Any])
_paper: ContextVar[list[Shown] | None] = ContextVar("paper", default=None)
"""What is to be printed so far, None where steps are drawn on a page."""
_LESSONS = tomllib.loads((Path(__file__).parent / "lessons.toml").read_text("utf-8"))


@dataclass(frozen=True)
class Step:
    """One step of a lesson: what it says first, the fields to play with, each with what `field` takes, and `draw`,
    which puts the picture for their values below and returns the question.
    """

    title: str
    text: str
    draw: Callable[..., Question]
    fields: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Lesson:
    """One lesson; functions that draw its steps join it in the order in which they stand.

    Its end says in one sentence each what the attack (or the difficulty) was and what stopped it; `table` is that of
    the lesson, and `entries` are the keys of what the reference has on it. `methods` and `levels` are what it was
    about, for the board with a table of one's own.
    """

    name: str
    title: str
    promise: str
    minutes: int
    table: str
    attack: str
    cure: str
    entries: Sequence[str]
    methods: Sequence[str]
    levels: Mapping[str, float]
    texts: Sequence[Mapping[str, Any]]
    steps: list[Step] = dataclasses.field(default_factory=list)

    @classmethod
    def named(cls, name: str) -> Lesson:
        """The lesson of that name in the file of lessons, which has no step yet that draws something."""
        return cls(name, **_LESSONS[name])

    def step(self, draw: Callable[..., Question]) -> None:
        """Let a function draw the next step."""
        self.steps.append(Step(draw=draw, **self.texts[len(self.steps)]))

    @property
    def end(self) -> str:
        """What the attack was and what stopped it."""
        return f"**What was wrong:** {self.attack}\n\n**What helps:** {self.cure}"

    @property
    def marks(self) -> list[str]:
        """The names of the steps, such as `linking.1`: in addresses, and among those that are done."""
        return [f"{self.name}.{number}" for number in range(1, len(self.steps) + 1)]


@lru_cache(maxsize=16)
def data_of(name: str, quasi_identifiers: tuple[str, ...] | None = None, n_rows: int | None = None) -> Microdata:
    """A built-in table, a generated one with so many rows; only the given attributes as quasi-identifiers, if any."""
    entry = datasets.table(name)
    frame = entry.load() if n_rows is None else entry.load(n_rows=n_rows)
    roles = dict(entry.roles)
    if quasi_identifiers is not None:
        roles = {column: role for column, role in roles.items() if role in ("sensitive", "identifier")}
        roles |= dict.fromkeys(quasi_identifiers, "quasi-identifier")
    about = {
        "kinds": entry.kinds,
        "orders": entry.orders,
        "hierarchies": loaded_table.builtin_hierarchies(name),
        "sensitive_values": entry.sensitive_values,
    }
    tags: Any = {what: {column: given[column] for column in roles if column in given} for what, given in about.items()}
    return Microdata(frame[list(roles)], roles, **tags)


def on_paper(step: Step) -> tuple[list[Shown], Question]:
    """What a step shows on paper, with all fields as they are at first, and its question; nothing is drawn."""
    shown: list[Shown] = []
    token = _paper.set(shown)
    try:
        return shown, step.draw(**{name: about["value"] for name, about in step.fields.items()})
    finally:
        _paper.reset(token)


def _or_on_paper(print_instead: Callable[..., Any]) -> Callable[[Draws], Draws]:
    """On paper, let another function answer in the place of one that draws on a page."""

    def choose(draw: Draws) -> Draws:
        @wraps(draw)
        def drawn(*given: Any, **named: Any) -> Any:
            paper = _paper.get()
            return draw(*given, **named) if paper is None else print_instead(paper, *given, **named)

        return cast(Draws, drawn)

    return choose


@_or_on_paper(lambda _paper, *widths: [nullcontext()] * (len(widths) or 2))
def beside(*widths: int) -> list[Any]:
    """Places beside each other, of these widths; without any, two halves."""
    return parts.beside(*widths)


@_or_on_paper(lambda paper, text: paper.append(text))
def say(text: str) -> None:
    """A sentence that explains the picture."""
    st.markdown(text)


def _chart_on_paper(paper: list[Shown], _figure: Any, _key: str, caption: str, _alt: str, told: Any = None) -> None:
    if told is not None:
        paper.append((caption, told))


@_or_on_paper(_chart_on_paper)
def chart(figure: go.Figure, key: str, caption: str, alt: str, told: pd.DataFrame | None = None) -> None:
    """A picture; paper has what it tells as a table, if given."""
    parts.chart(figure, f"lesson-{key}", caption, alt)


def class_chart(release: Release, attribute: str, group: int, key: str) -> None:
    """What one class has of a sensitive attribute, beside the whole table."""
    view = release.data.sensitive_view(attribute)
    inside = np.bincount(view.codes[release.partition.rows(group)], minlength=view.size)
    shares = Shares.of(inside, view.counts, view.labels)
    chart(
        sensitive_shares(shares, STYLE, f"group {group + 1}"),
        key,
        f"Shares of each {attribute} in group {group + 1} and in the whole table (grey).",
        f"Bars of the shares in group {group + 1}; the largest is {shares.group.max():.0%}.",
    )


def published(name: str) -> Partition:
    """The groups that the paper publishes of its example."""
    return Partition(np.array(published_groups(name)))


def as_in_paper(name: str) -> Release:
    """The example of a paper in the groups that it publishes, generalized."""
    return generalized(data_of(name), published(name))


def generalized(data: Microdata, partition: Partition) -> Release:
    """Quasi-identifiers as the range or the set of each group's values, everything else as it is."""
    return generalized_release(None, data, partition)


def as_published(release: Release) -> pd.DataFrame:
    """A generalized release as people read it: the class of each row, from 1, then the published cells."""
    partition = release.partition
    frame = pd.DataFrame({name: release.recoding(name).texts() for name in release.attributes})
    frame.insert(0, "group", partition.group + 1)
    return frame.iloc[partition.order].reset_index(drop=True)


def as_columns(release: Release, group: str) -> list[pd.DataFrame]:
    """What a reader sees of each column: the group of each row, from 1, and its values, sorted inside the group."""
    tables = []
    for fragment in release.fragments:
        frame = pd.DataFrame({name: recoding.texts() for name, recoding in fragment.recodings.items()})
        frame.insert(0, group, fragment.partition.group + 1)
        tables.append(frame.sort_values(list(frame.columns), ignore_index=True))
    return tables


@_or_on_paper(lambda paper, frame, title, marked=(): paper.append((title, frame)))
def table(frame: pd.DataFrame, title: str, marked: Collection[int] = ()) -> None:
    """A small table; rows at the marked positions stand out."""
    shown = frame.reset_index(drop=True)
    places = set(marked)
    styled = shown.style.apply(lambda row: [MARK if row.name in places else ""] * len(row), axis=1).format(precision=3)
    st.dataframe(styled, hide_index=True, height=min(38 + 35 * len(shown), MOST_HEIGHT), alt=title, width="stretch")


@_or_on_paper(lambda paper, *tables: paper.extend(shown[:2] for shown in tables))
def side_by_side(*tables: tuple[Any, ...]) -> None:
    """Small tables, each under its title, with the positions of marked rows if it has any."""
    for place, (title, frame, *marked) in zip(beside(*[1] * len(tables)), tables, strict=True):
        with place:
            st.markdown(f"**{title}**")
            table(frame, title, *marked)


@_or_on_paper(lambda paper, *rows, columns=None: paper.extend(Tile(*row) for row in rows))
def figures(*rows: Any, columns: int | None = None) -> None:
    """Numbers side by side: of each its name, its value and what it means."""
    parts.tiles([Tile(*row) for row in rows], columns)


def _shares_on_paper(paper: list[Shown], labels: Sequence[str], values: Any, what: str, *_: str) -> None:
    paper.append((what, pd.DataFrame([[f"{value:.1%}" for value in values]], columns=list(labels))))


@_or_on_paper(_shares_on_paper)
def share_chart(labels: Sequence[str], values: Sequence[float] | Floats, what: str, key: str, caption: str) -> None:
    """A bar per label for a share of something."""
    alt = ", ".join(f"{label} {value:.1%}" for label, value in zip(labels, values, strict=True))
    chart(share_bars(labels, values, STYLE, what), key, caption, f"Bars of the {what}: {alt}.")


def ask_for(what: str) -> NoReturn:
    """Say what a step needs, and draw nothing more."""
    st.info(what)
    st.stop()


def field(key: str, label: str, value: Any, help: str, range: Sequence[Any] = (), options: Sequence[Any] = ()) -> Any:
    """Something to play with: a number in a range, one of a few options, or several of them; `value` is the usual."""
    about: dict[str, Any] = {"key": f"lesson-{key}", "help": help}
    if range:
        low, high, step = range
        return st.slider(label, low, high, value, step, width=320, **about)
    if isinstance(value, list):
        return st.multiselect(label, options, value, width=520, **about)
    return st.segmented_control(label, options, default=value, required=True, **about)
