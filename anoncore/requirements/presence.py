"""delta-presence: how many of the people of a population who fit a class are in the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field

from anoncore.base.errors import DataError, ReleaseError
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Codes, Floats, Int64, Rows, record
from anoncore.kernels.grouping import dense_key
from anoncore.kernels.rounding import reaches
from anoncore.release.partition import Partition
from anoncore.release.population import Points
from anoncore.release.recoding import Generalized, Recoding
from anoncore.release.release import Fragment
from anoncore.requirements.requirement import Check, Comparison, Requirement
from anoncore.sources.addresses import is_address
from anoncore.table.given_table import GivenTable, given_table, is_table
from anoncore.table.microdata import Microdata


def _population(value: Any) -> Any:
    if isinstance(value, str) and is_address(value):
        # Labels and certificates show the path, and an address may hold a password.
        raise ValueError("population should be a file and no address; bring the table to this machine first.")
    if value is None or isinstance(value, str | GivenTable | Microdata):
        return value
    if is_table(value):
        return given_table(value)
    raise ValueError("population should be a table of people, or in a recipe the path of one.")


class DeltaPresence(Requirement):
    """Of the people of a population who fit a class, a share between `at_least` and `at_most` is in the table.

    Whoever knows the quasi-identifiers of somebody of the population believes with this share that the person is in
    the table. People fit a class as in `attacks.reidentification`: every known value fits the published cell. Those of
    the table are counted in the same way, so that a class which overlaps others has all who fit it, and the population
    counts as at least these.

    A recipe names the population's file, which starts at the recipe's folder; the file is read when the recipe is run.
    In Python the population is a table of any kind that is taken, or Microdata, with one row per person. Without one
    the population is the table itself, of which everybody is in it.

    A search for groups counts sensitive values, and a population has none. So methods look for groups that keep their
    other requirements and join these afterwards until the shares are kept: ask for k-anonymity as well, so that they
    begin with few. Where a method publishes known values as they are, no joining helps, and it says so.

    Notes
    -----
    Assumes: the adversary has the population as a list, and does not know who is in the table.
    Cost: O(N log N) for a population of N, then for each class the people near it.
    Use: it is the secret that somebody is in the table, as with patients of a clinic or people of a register.
    Avoid: the population is only guessed at, or bounds below are needed for people who fit no class: that these are
      not in the table is plain, and `at_least` is about classes.

    References
    ----------
    Nergiz, Atzori and Clifton, Hiding the presence of individuals from shared databases, SIGMOD 2007, definition 1.

    Examples
    --------
    Two of the four people of the town in their twenties are in the table, and both who are older:

    >>> import pandas as pd
    >>> from anoncore import Microdata, Partition
    >>> from anoncore.requirements import DeltaPresence
    >>> data = Microdata(pd.DataFrame({"age": [21, 28, 44, 46]}), roles={"age": "quasi-identifier"})
    >>> town = pd.DataFrame({"age": [21, 22, 25, 28, 44, 46]})
    >>> (check,) = DeltaPresence(at_most=0.5, population=town).checks(data)
    >>> levels = check.levels(Partition([0, 0, 1, 1]))
    >>> levels.tolist(), check.holds(levels).tolist()
    ([0.5, 1.0], [True, False])
    """

    name = "delta-presence"
    title = "delta-presence"
    source = "Nergiz, Atzori and Clifton, SIGMOD 2007, definition 1"
    comparison = Comparison.AT_MOST
    level_name = "presence"
    parameter = "at_most"
    attribute_free = True
    monotone_under_merging = False
    monotone_under_suppression = False
    counts_alone = False

    at_least: Annotated[
        float, Field(ge=0, le=1, title="At least", description="Smallest share that is in the table, 0 to 1.")
    ] = 0.0
    at_most: Annotated[
        float, Field(ge=0, le=1, title="At most", description="Largest share that is in the table, 0 to 1.")
    ] = 0.5
    population: Annotated[
        Any,
        BeforeValidator(_population),
        Field(
            title="Population",
            description="In a recipe the path of the table of all people; empty: the table itself.",
            json_schema_extra={"type": "string"},
        ),
    ] = None

    def checks(self, data: Microdata) -> tuple[Check, ...]:
        """The requirement on one table.

        Parameters
        ----------
        data : Microdata
            The table.

        Returns
        -------
        tuple of Check
            One check, of classes by what is published of their quasi-identifiers.

        Raises
        ------
        DataError
            Where the table has no quasi-identifiers, the population is not at hand or lacks one of them, or one person
            has several rows in one of the tables.
        """
        data.require_quasi_identifiers()
        population = self._read(data)
        for which, table in (("table", data), ("population", population)):
            if table.people is not None:
                raise DataError(
                    f"{self.title} counts every person once, and the {which} has several rows of one person "
                    f"('{table.unit}'); give it one row per person."
                )
        return (PresenceCheck(self, None, np.zeros(1), data=data, population=population),)

    def _read(self, data: Microdata) -> Microdata:
        if self.population is None:
            return data if data.whole is None else data.whole
        if isinstance(self.population, Microdata):
            return self.population
        if not isinstance(self.population, str):
            return data.with_same_tags(self.population)
        if data.further_table is None:
            raise DataError(
                f"The population of {self.title} is named by its path, {self.population!r}, which is read where a "
                "recipe is run; in Python give the table itself, such as population=pd.read_parquet(path)."
            )
        return data.with_same_tags(data.further_table(self.population))

    def reached_text(self, level: float, text: str, attribute: str | None) -> str:
        """The share of a class; where it is below `at_least`, that it is."""
        if np.isinf(level):
            return f"{self.level_name} below {self.at_least:g}, the least that is asked for"
        return f"{self.level_name} {text}"

    def label(self) -> str:
        """The requirement as a reader writes it; a population that was given in Python has no name."""
        named = f", population = {self.population}" if isinstance(self.population, str) else ""
        return f"{self.title} (at_least = {self.at_least}, at_most = {self.at_most}{named})"

    def to_dict(self, complete: bool = False) -> dict[str, Any]:
        """Plain values for a recipe; a population that was given in Python is told by its number of people."""
        values = super().to_dict(complete)
        if isinstance(self.population, GivenTable | Microdata):
            values["population"] = f"{self.population.n_rows:,} people, given in Python"
        return values


@record
class PresenceCheck(Check):
    """The requirement on one table: classes are judged by what is published of their quasi-identifiers.

    `data` is the table and `population` that of all people.
    """

    requirement: DeltaPresence
    data: Microdata = field(kw_only=True)
    population: Microdata = field(kw_only=True)

    def levels(self, partition: Partition, codes: Codes | None = None, rows: Rows | None = None) -> Floats:
        """The level of every group if it were published by the tightest regions of its rows, float (n_groups,)."""
        regions = {}
        for name in self.data.quasi_identifiers:
            own = self.data.codes[name] if rows is None else self.data.codes[name][rows]
            regions[name] = Generalized.of_rows(self.data.domain[name], partition, own)
        return self._levels(regions, partition)

    def published_levels(self, fragment: Fragment) -> Floats:
        """The level of every group of a fragment by what it publishes, the largest of its rows, float (n_groups,)."""
        names = self.data.quasi_identifiers
        apart = [name for name in names if name not in fragment.recodings]
        if apart:
            raise ReleaseError(
                f"{self.requirement.title} is about people who fit all that is known of a group, and table "
                f"'{fragment.name}' lacks {listing(apart)}; choose a method that publishes what is known in one table."
            )
        return self._levels({name: fragment.recodings[name] for name in names}, fragment.partition)

    def table_level(self, n_rows: int, counts: Int64 | None = None) -> float:
        """The level of the whole table as one group."""
        return float(self.levels(Partition(np.zeros(n_rows, np.int32)))[0])

    @cached_property
    def _points(self) -> tuple[Points, Points]:
        """The people of the table and of the population."""
        domains = {name: self.data.domain[name] for name in self.data.quasi_identifiers}
        whole = self.data if self.data.whole is None else self.data.whole
        hierarchies = self.data.hierarchies
        return Points.of(whole, domains, hierarchies), Points.of(self.population, domains, hierarchies)

    def _levels(self, recodings: Mapping[str, Recoding], partition: Partition) -> Floats:
        key = dense_key((column for one in recodings.values() for column in one.content()), partition.n_rows)
        _, first, of_row, rows = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        in_table, in_population = (
            points.inside([(recoding, first) for recoding in recodings.values()]) for points in self._points
        )
        in_table = np.maximum(in_table, rows)
        share = in_table / np.maximum(in_population, in_table)
        level = np.where(reaches(share, self.requirement.at_least), share, np.inf)[of_row.reshape(-1)]
        return np.maximum.reduceat(level[partition.order], partition.starts[:-1])
