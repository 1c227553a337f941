"""What lessons are drawn with: the papers' tables, the releases of their examples, tables with marks, questions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Exact, Fragment, Generalized, Microdata, Partition, Release, datasets
from anoncore.datasets import published_groups
from dashboard.charts.classes import Shares, sensitive_shares
from dashboard.charts.layout import faint
from dashboard.charts.palette import ORANGE, RunStyle, run_style
from dashboard.elements import parts
from dashboard.session import builtin

Option = TypeVar("Option", bound=str)

STYLE: RunStyle = run_style(0)
"""How a lesson draws what is published, beside the original table in grey."""
MARK = f"background-color: {faint(ORANGE, 0.35)}"
MOST_HEIGHT = 430


@dataclass(frozen=True)
class Step:
    """One step of a lesson; `draw` puts text, picture and question on the page."""

    title: str
    draw: Callable[[], None]


@lru_cache(maxsize=16)
def data_of(name: str, quasi_identifiers: tuple[str, ...] | None = None, n_rows: int | None = None) -> Microdata:
    """A built-in table, a generated one with so many rows; only the given attributes as quasi-identifiers, if any."""
    entry = datasets.table(name)
    frame = entry.load() if n_rows is None else entry.load(n_rows=n_rows)
    roles = dict(entry.roles)
    if quasi_identifiers is not None:
        kept = {column for column, role in roles.items() if role in ("sensitive", "identifier")}
        roles = {column: role for column, role in roles.items() if column in kept}
        roles |= dict.fromkeys(quasi_identifiers, "quasi-identifier")
    return Microdata(
        frame[list(roles)],
        roles,
        kinds={column: kind for column, kind in entry.kinds.items() if column in roles},
        orders={column: order for column, order in entry.orders.items() if column in roles},
        hierarchies={column: tree for column, tree in builtin.hierarchies(name).items() if column in roles},
        sensitive_values={column: values for column, values in entry.sensitive_values.items() if column in roles},
    )


def class_chart(release: Release, attribute: str, group: int, key: str) -> None:
    """What one class has of a sensitive attribute, beside the whole table."""
    view = release.data.sensitive_view(attribute)
    inside = np.bincount(view.codes[release.partition.rows(group)], minlength=view.size)
    shares = Shares.of(inside, view.counts, view.labels)
    parts.chart(
        sensitive_shares(shares, STYLE, f"class {group + 1}"),
        key=key,
        caption=f"Shares of each {attribute} in class {group + 1} and in the whole table (grey).",
        alt=f"Bars of the shares in class {group + 1}; the largest is {shares.group.max():.0%}.",
    )


def published(name: str) -> Partition:
    """The groups that the paper publishes of its example."""
    return Partition(np.array(published_groups(name)))


def generalized(data: Microdata, partition: Partition) -> Release:
    """Quasi-identifiers as the range or the set of each group's values, everything else as it is."""
    known = set(data.quasi_identifiers)
    recodings = {
        name: Generalized.of_rows(data.domain[name], partition, data.codes[name])
        if name in known
        else Exact(data.domain[name], partition, data.codes[name])
        for name in data.attributes
    }
    return Release(data, (Fragment("release", partition, recodings),))


def in_columns(data: Microdata, partition: Partition, columns: Sequence[Sequence[str]]) -> Release:
    """Exact values in columns that are not linked inside a group: bucketization and slicing."""
    return Release(
        data,
        tuple(
            Fragment(
                f"column {number}",
                partition,
                {name: Exact(data.domain[name], partition, data.codes[name]) for name in column},
            )
            for number, column in enumerate(columns, start=1)
        ),
    )


def as_published(release: Release) -> pd.DataFrame:
    """A generalized release as people read it: the class of each row, from 1, then the published cells."""
    partition = release.partition
    frame = pd.DataFrame({name: release.recoding(name).texts() for name in release.attributes})
    frame.insert(0, "class", partition.group + 1)
    return frame.iloc[partition.order].reset_index(drop=True)


def as_columns(release: Release, group: str) -> list[pd.DataFrame]:
    """What a reader sees of each column: the group of each row, from 1, and its values, sorted inside the group."""
    tables = []
    for fragment in release.fragments:
        frame = pd.DataFrame({name: recoding.texts() for name, recoding in fragment.recodings.items()})
        frame.insert(0, group, fragment.partition.group + 1)
        tables.append(frame.sort_values(list(frame.columns), ignore_index=True))
    return tables


def table(frame: pd.DataFrame, alt: str, marked: Collection[int] = ()) -> None:
    """A small table; rows at the marked positions stand out."""
    shown = frame.reset_index(drop=True)
    places = set(marked)
    styled = shown.style.apply(lambda row: [MARK if row.name in places else ""] * len(row), axis=1).format(precision=3)
    st.dataframe(styled, hide_index=True, height=min(38 + 35 * len(shown), MOST_HEIGHT), alt=alt, width="stretch")


def ask(question: str, answer: str) -> None:
    """The question that the picture answers, and the answer for those who want to see it."""
    st.markdown(f"**Question:** {question}")
    with st.expander("Show the answer"):
        st.markdown(answer)


def slider(label: str, low: float, high: float, value: float, key: str, help: str, step: float = 0.05) -> float:
    """A number to play with."""
    return float(st.slider(label, low, high, value, step=step, key=f"lesson-{key}", help=help, width=320))


def whole(label: str, low: int, high: int, value: int, key: str, help: str) -> int:
    """A whole number to play with."""
    return int(st.slider(label, low, high, value, step=1, key=f"lesson-{key}", help=help, width=320))


def pick(label: str, options: Sequence[Option], key: str, help: str, index: int = 0) -> Option:
    """One of a few things to play with."""
    chosen = st.segmented_control(label, options, default=options[index], key=f"lesson-{key}", help=help, required=True)
    return options[index] if chosen is None else chosen
