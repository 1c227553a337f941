"""The part of a report that shows what is published, and how the release was made."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from anoncore.base.texts import is_missing
from anoncore.base.toml import dumps
from anoncore.publishing.certification.certificate import NO_SEED, SEED
from anoncore.publishing.report.markup import Markup, items, joined, section, table, tag
from anoncore.publishing.report.subject import Subject
from anoncore.recipes.recipe import without_seeds
from anoncore.release.recoding import ColumnRegions, Distorted, Exact, Generalized, GroupValues, Recoding
from anoncore.release.release import Release

SAMPLE_ROWS = 8


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
    told = {part.name: treatment(part.recodings[name]) for part in release.fragments if name in part.recodings}
    if len(set(told.values())) == 1:
        return next(iter(told.values()))
    return "; ".join(f"{table}: {text}" for table, text in told.items())


def published(subject: Subject) -> Markup:
    """What becomes of each attribute, and the first rows of every published table."""
    release = subject.release
    return section(
        "What is published",
        table(("Attribute", "Role", "What becomes of it"), _attributes(release)),
        joined(_samples(release)),
    )


def _attributes(release: Release) -> Iterator[tuple[str, str, str]]:
    for name, role in release.data.roles.items():
        if name in release.attributes:
            told = treatments(release, name)
        elif name in release.data.identifiers:
            told = "left out, it is an identifier"
        else:
            told = "left out by the method"
        yield name, role.value, told


def _samples(release: Release) -> Iterator[Markup]:
    tables = release.tables()
    if len(tables) > 1 and release.is_shared:
        yield tag(
            "p",
            f"The tables are joined by the column of group numbers only: inside a {release.group_word} any row of one "
            "may belong to any row of the other. The numbers are drawn anew for every file.",
            class_="soft",
        )
    for name, frame in tables.items():
        head = frame.head(SAMPLE_ROWS)
        yield tag("h3", f"Table '{name}': the first {len(head)} of {len(frame):,} rows, as published")
        numeric = [place for place in range(frame.shape[1]) if pd.api.types.is_numeric_dtype(frame.dtypes.iloc[place])]
        rows = [["" if is_missing(cell) else cell for cell in row] for row in head.itertuples(index=False, name=None)]
        yield table(list(frame.columns), rows, numeric)


def method(subject: Subject) -> Markup:
    """The method, its parameters without any seed, and notes on how it went."""
    algorithm = subject.release.algorithm
    if algorithm is None:
        return section("How it was made", tag("p", "The method that made the release is not known."))
    fields = type(algorithm).model_fields
    return section(
        "How it was made",
        tag("p", tag("b", algorithm.title), f" ({algorithm.family}). {algorithm.summary}"),
        tag("p", f"Source: {algorithm.source}.", class_="soft"),
        table(("Parameter", "Value", "What it does"), _parameters(subject)),
        tag("p", f"Seed: {SEED if 'seed' in fields else NO_SEED}.", class_="soft"),
        items(subject.release.notes),
    )


def _parameters(subject: Subject) -> Iterator[tuple[str, str, str]]:
    algorithm = subject.release.algorithm
    if algorithm is None:
        return
    for name, info in type(algorithm).model_fields.items():
        if name != "seed":
            yield info.title or name, parameter_text(getattr(algorithm, name)), info.description or ""


def parameter_text(value: object) -> str:
    """A field of a method as people read it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return "; ".join(parameter_text(one) for one in value) or "none"
    if hasattr(value, "label"):
        return str(value.label())
    if hasattr(value, "to_dict"):
        return dumps(without_seeds(value.to_dict())).strip().replace("\n", ", ")
    return str(value)
