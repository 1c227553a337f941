"""A release as a report sees it: its name, its table's name, and every measure of it computed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from anoncore.base.errors import AnonymizationError
from anoncore.measures.criteria import CRITERIA, value_of
from anoncore.measures.kept_results import Cache, KeptResults
from anoncore.measures.verdict import Verdict, verdict
from anoncore.publishing.certification.earlier import Earlier
from anoncore.release.release import Release


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
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
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
        return KeptResults(self.release) if self.cache is None else self.cache

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
