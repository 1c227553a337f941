"""The part of a report that shows what is published, and how the release was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from anoncore.algorithms import Algorithm
from anoncore.base.texts import is_missing, value_text
from anoncore.publishing.certification.given_seeds import NO_SEED, seed_entry
from anoncore.publishing.report.rendering import Section, section
from anoncore.publishing.report.subject import Subject
from anoncore.release.recoding import ColumnRegions, Distorted, Exact, Generalized, GroupValues, Recoding
from anoncore.release.release import Release, ReleaseMethod

SAMPLE_ROWS = 8


@dataclass(frozen=True)
class Sample:
    """The first rows of a published table, as texts; `numeric` are the places of the columns that hold numbers."""

    name: str
    n_rows: str
    header: list[str]
    rows: list[list[str]]
    numeric: list[int]


def treatment(recoding: Recoding) -> str:
    """What a release does with an attribute, in words."""
    if isinstance(recoding, Distorted):
        return f"published row by row, with {recoding.n_changed:,} values changed"
    if isinstance(recoding, Exact):
        return "published as it is"
    if isinstance(recoding, GroupValues):
        return "published as the set of values of each group"
    lost = f"{recoding.partition.sizes @ recoding.loss() / recoding.partition.n_rows:.1%} lost"
    if isinstance(recoding, ColumnRegions):
        return f"generalized alike wherever a value stands, {lost}"
    if isinstance(recoding, Generalized):
        form = {"interval": "ranges", "set": "sets of values", "node": "groups of its hierarchy"}[recoding.form]
        return f"generalized to {form}, {lost}"
    return "published by region"


def treatments(release: Release, name: str) -> str:
    """What a release does with an attribute, table by table where they differ."""
    if release.is_synthetic:
        return "published, but no cell is a person's"
    told = {part.name: treatment(part.recodings[name]) for part in release.fragments if name in part.recodings}
    if len(set(told.values())) == 1:
        return next(iter(told.values()))
    return "; ".join(f"{table}: {text}" for table, text in told.items())


def published(subject: Subject) -> Section:
    """What becomes of each attribute, and the first rows of every published table."""
    release = subject.release
    tables = release.pandas_tables()
    return section(
        "What is published",
        "published.html",
        attributes=list(attributes_told(release)),
        joined=len(tables) > 1 and release.is_shared,
        group_word=release.group_word,
        samples=[sample_of(name, frame) for name, frame in tables.items()],
    )


def attributes_told(release: Release) -> Iterator[tuple[str, str, str]]:
    """Name, role and what becomes of it, of every column of the table."""
    for name, role in release.data.roles.items():
        if name in release.attributes:
            told = treatments(release, name)
        elif name in release.data.identifiers:
            told = "left out, it is an identifier"
        else:
            told = "left out by the method"
        yield name, role.value, told
    for name in release.data.left_out:
        yield name, "none", "left out, it has no role"


def sample_of(name: str, frame: pd.DataFrame, n_rows: int | None = None) -> Sample:
    """The first rows of a table; `n_rows` where the frame is only its beginning."""
    head = frame.head(SAMPLE_ROWS)
    return Sample(
        name,
        f"{len(frame) if n_rows is None else n_rows:,}",
        header=[str(column) for column in frame.columns],
        rows=[
            ["" if is_missing(cell) else str(cell) for cell in row] for row in head.itertuples(index=False, name=None)
        ],
        numeric=[place for place, kind in enumerate(frame.dtypes) if pd.api.types.is_numeric_dtype(kind)],
    )


def method(algorithm: ReleaseMethod | None, notes: Sequence[str]) -> Section:
    """The method, its parameters without any seed, and notes on how it went."""
    return section(
        "How it was made",
        "method.html",
        algorithm=algorithm,
        parameters=[] if algorithm is None else list(parameters_of(algorithm)),
        seed=NO_SEED if algorithm is None else seed_entry(algorithm),
        notes=notes,
    )


def parameters_of(algorithm: ReleaseMethod) -> Iterator[tuple[str, str, str]]:
    """Every field of a method but its seed: title, value and what it does."""
    for name, info in type(algorithm).model_fields.items():
        if name != "seed":
            yield info.title or name, parameter_text(getattr(algorithm, name)), info.description or ""


def parameter_text(value: object) -> str:
    """A field of a method as people read it."""
    if value is None:
        return "not given"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return "; ".join(parameter_text(one) for one in value) or "none"
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_in_a_line(one)}" for name, one in value.items()) or "none"
    if hasattr(value, "label"):
        return str(value.label())
    if isinstance(value, Algorithm):
        given = [field for field in value.to_dict() if field not in ("name", "seed")]
        fields = ", ".join(f"{field} = {parameter_text(getattr(value, field))}" for field in given)
        return f"{value.title}: {fields}" if fields else value.title
    return value_text(value)


def _in_a_line(value: object) -> str:
    """What a field says of one attribute."""
    return ", ".join(map(value_text, value)) if isinstance(value, tuple | list) else parameter_text(value)
