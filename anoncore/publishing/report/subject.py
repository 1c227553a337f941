"""A release as a report sees it: its measures, computed once, what becomes of its columns and how it was made."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from anoncore.algorithms import Algorithm
from anoncore.base.errors import AnonymizationError
from anoncore.base.shared_work import Cache, kept_results
from anoncore.base.texts import is_missing, value_text
from anoncore.measures.criteria import CRITERIA, value_of
from anoncore.measures.verdict import Verdict, verdict
from anoncore.publishing.certification.claimed_entries import NO_SEED, Earlier, seed_entry
from anoncore.publishing.report.drawing import Section, section
from anoncore.release.recoding import ColumnRegions, Distorted, Exact, Generalized, GroupValues, Recoding
from anoncore.release.release import Release, ReleaseMethod

SAMPLE_ROWS = 8


@dataclass(frozen=True, eq=False)
class Subject:
    """One release of a report, and every measure of it, computed once.

    Attributes
    ----------
    label : str
        How people call the release.
    release : Release
        The release.
    table : str
        How people call its table.
    cache : callable or None
        `cache(name, function, *arguments)` may keep measures that were computed before.
    style : int or None
        Number of its colour; by default its position in the report.
    earlier : tuple of Earlier
        Earlier releases of the same people, as the certificate names them.

    Examples
    --------
    >>> from anoncore.publishing.report import Subject
    >>> subject = Subject("Mondrian, k = 3", release, table="people")
    >>> subject.attribute, float(subject.numbers("disease")["k"])
    ('disease', 3.0)
    """

    label: str
    release: Release
    table: str = ""
    cache: Cache | None = None
    style: int | None = None
    earlier: tuple[Earlier, ...] = ()

    def measure(self, name: str, function: Callable[..., Any], *arguments: Hashable) -> Any:
        """What a measure gives for the release, computed once.

        Parameters
        ----------
        name : str
            Name of the measure.
        function : callable
            The measure: `function(release, *arguments)`.
        *arguments : hashable
            What the measure takes beside the release.

        Returns
        -------
        object
            The result of the measure.
        """
        return self._results(name, function, *arguments)

    @cached_property
    def _results(self) -> Cache:
        return kept_results(self.release, self.cache)

    @cached_property
    def attribute(self) -> str | None:
        """The sensitive attribute that the report looks at: the first that is published."""
        return next((name for name in self.release.data.sensitive if name in self.release.attributes), None)

    @cached_property
    def verdict(self) -> Verdict:
        """What was asked of the release and holds or not, and what nobody asked for and fails badly."""
        attribute = self.attribute
        try:
            breach = None if attribute is None else value_of(self.release, "foreground-excess", attribute, self.measure)
        except AnonymizationError:  # the attack needs groups that all attributes share
            breach = None
        return verdict(self.release, cache=self.measure, foreground=breach)

    def numbers(self, attribute: str | None) -> dict[str, float | AnonymizationError]:
        """Every criterion of the release, by name.

        Parameters
        ----------
        attribute : str or None
            The sensitive attribute that criteria are about.

        Returns
        -------
        dict of str to float or AnonymizationError
            The number, or the error that says why there is none.
        """
        found: dict[str, float | AnonymizationError] = {}
        for one in CRITERIA.values():
            try:
                found[one.name] = value_of(self.release, one.name, attribute, self.measure)
            except AnonymizationError as error:
                found[one.name] = error
        return found


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


def sample_of(name: str, frame: pd.DataFrame, n_rows: int | None = None) -> dict[str, object]:
    """The first rows of a table as its template takes them; `n_rows` where the frame is only its beginning."""
    head = frame.head(SAMPLE_ROWS)
    return {
        "name": name,
        "n_rows": f"{len(frame) if n_rows is None else n_rows:,}",
        "header": [str(column) for column in frame.columns],
        "rows": [
            ["" if is_missing(cell) else str(cell) for cell in row] for row in head.itertuples(index=False, name=None)
        ],
        "numeric": [place for place, kind in enumerate(frame.dtypes) if pd.api.types.is_numeric_dtype(kind)],
    }


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
