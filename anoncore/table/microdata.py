"""A table of people: roles, kinds and orders of its attributes, and every value as an integer code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import field
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import DataError
from anoncore.base.random_numbers import generator
from anoncore.base.showing import MOST_NAMES, Lines, Shown, clean
from anoncore.base.texts import counted, did_you_mean, listing, quoted, rows_for_people
from anoncore.base.typed_values import sorted_values, value_key
from anoncore.kernels.arrays import Bools, Codes, Int64, record
from anoncore.kernels.grouping import distinct
from anoncore.table.coding import content_order, content_words, encode_given, guess_kind
from anoncore.table.domain import Domain, Kind, KindName
from anoncore.table.given_table import given_table
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.people import distinct_pairs, people_of, repeated_identifiers

__all__ = ["Codes", "Microdata", "Role", "SensitiveValues", "content_order", "guess_kind"]


T = TypeVar("T")

OTHERS = "*"
"""Stands in roles for every column that is not named."""
LEFT_OUT = "left out (no role)"
LACKS_ROLE = "'{name}' has no role and is left out; give it one in roles, such as sensitive or insensitive."


RoleName = Literal["identifier", "quasi-identifier", "sensitive", "insensitive"]
"""The roles of attributes as texts."""


class Role(StrEnum):
    """What an attribute tells about a person, and so what may happen to it.

    Attributes
    ----------
    IDENTIFIER : str
        `"identifier"`: names the person, such as a name or a number of insurance. It is never published.
    QUASI_IDENTIFIER : str
        `"quasi-identifier"`: an adversary may know it, such as age or postcode. Methods generalize it or unlink it.
    SENSITIVE : str
        `"sensitive"`: an adversary must not learn it, such as a diagnosis.
    INSENSITIVE : str
        `"insensitive"`: neither known nor secret. It is published as it is, by decision: a column without a role is
        left out.

    Examples
    --------
    A role may be given as its text:

    >>> from anoncore import Role
    >>> Role("quasi-identifier") is Role.QUASI_IDENTIFIER
    True
    """

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


Roles = Mapping[str, Role | RoleName | str]
"""The role of each attribute by its name. Texts that a program reads or puts together are allowed; editors offer those
that there are."""
Kinds = Mapping[str, Kind | KindName | str]
"""The kind of each attribute by its name, likewise."""


@record
class SensitiveValues(Shown):
    """A sensitive attribute as requirements see it: its codes, and which of them count as values of their own.

    Where only some values need protection, they are one value with code 0, and every other row counts as a value of its
    own. Those rows share the code `unique`, because it is enough to count them.

    Attributes
    ----------
    attribute : str
        Name of the attribute.
    codes : ndarray of int32, shape (n_rows,)
        Code of each row's value, from 0 to `size` - 1.
    size : int
        Number of codes.
    unique : int
        The code whose rows all count as different values; -1 where every value is protected.
    labels : tuple of str, length size
        Text of each code.
    people : ndarray of int32, shape (n_rows,), or None
        Number of each row's person where one person may have several rows; None where every row is a person.
    """

    attribute: str
    codes: Codes
    size: int
    unique: int
    labels: tuple[str, ...]
    people: Codes | None = field(default=None, kw_only=True)

    def _headline(self) -> str:
        return f"SensitiveValues of '{self.attribute}'"

    @cached_property
    def counts(self) -> Int64:
        """People of the whole table with each value, int64 (size,); who has several values counts with each."""
        if self.people is not None:
            return distinct_pairs(self.people, self.codes, self.size)
        return np.bincount(self.codes, minlength=self.size)


@record
class DateShifts(Shown):
    """By how many days the dates of a table were shifted before it was tagged, for whoever measures a release.

    Attributes
    ----------
    columns : tuple of str
        The columns of dates, which all rows of a person have shifted by one number.
    most : int
        The number is drawn from `-most` to `most`.
    days : ndarray of int64, shape (n_rows,)
        The number of each row. It is never published.
    """

    columns: tuple[str, ...]
    most: int
    days: Int64 = field(repr=False)

    def _headline(self) -> str:
        return f"DateShifts of {listing(self.columns)} by up to {self.most:,} days"

    def rows(self, rows: Int64) -> DateShifts:
        """Those of some rows."""
        return DateShifts(self.columns, self.most, self.days[rows])


@checked_methods
class Microdata(Shown):
    """A table of people with tagged attributes, whose values are turned into integer codes once.

    Every method and measure works on these codes. Identifiers have none, so that no measure can read them.

    Cells have the same code where they hold the same value. Numbers are the same by size, whatever their type: 1, 1.0
    and `Decimal(1)` are one value, and so are 0.0 and -0.0. True is no number, and a text is no number: True, 1 and "1"
    are three values, though a CSV file writes two of them alike. A date is the midnight with which it begins. Texts are
    the same if all their characters are. All kinds of missing cells are one value. Orders, hierarchies and sensitive
    values find their values by the same rule. Of a value in several forms the first of integer, fraction and others is
    published.

    Parameters
    ----------
    frame : DataFrame, LazyFrame, Arrow table or DuckDB relation
        The table, one row per person, or several where `unit` is given: a pandas or Polars DataFrame, a Polars
        LazyFrame, an Arrow table or a DuckDB relation. It is never changed. What is not computed yet is computed once.
        Tables of a release are of the same kind.
    roles : mapping of str to Role or str, optional
        Role of each column that may be published, or that names people. A column without a role is left out of every
        release. `"*"` is the role of all columns that are not named: `{"*": "insensitive"}` decides to publish them as
        they are. Where a column is called `*`, it stands for that column alone.
    kinds : mapping of str to Kind or str, optional
        `"numeric"`, `"ordinal"` or `"nominal"` per column; guessed from the values where it is left out.
    orders : mapping of str to sequence, optional
        All values of an ordinal or nominal column in their order; otherwise they follow the hierarchy, or are sorted.
    hierarchies : mapping of str to Hierarchy, optional
        What the values of a column may be generalized to.
    sensitive_values : mapping of str to collection, optional
        The values of a sensitive column that need protection. They count as one value, and all others as harmless.
        Where the column is left out, every value needs protection.
    unit : str, optional
        The column that says whose row it is, such as a patient's number, where one person may have several rows. Then
        different people are counted instead of rows. The column is an identifier: it is never published.
    pseudonym : str, optional
        The column that says whose row it is where it holds pseudonyms (see `anoncore.table.preparation`). It is the
        unit, and is published by decision: it joins all rows of a person, which every verdict counts.

    Attributes
    ----------
    frame : DataFrame
        The table as a pandas DataFrame, whatever its kind, with column names as texts.
    given : GivenTable
        The table as it was given.
    roles : dict of str to Role
        Role of every column that has one, in column order.
    left_out : tuple of str
        The columns without a role, in column order. They have no codes, and no release that is made has them.
    undecided : tuple of str
        The columns that a release made elsewhere publishes although nobody gave them a role. They count as insensitive.
        None in any other table.
    codes : dict of str to ndarray of int32, shape (n_rows,)
        Code of each row's value, per attribute other than identifiers. A missing value has a code of its own, the last.
    domain : dict of str to Domain
        The values that the codes stand for, per attribute.
    hierarchies : dict of str to Hierarchy
        The hierarchies as they were given.
    sensitive_values : dict of str to tuple
        The values that need protection, in the attribute's order, where only some do.
    unit : str or None
        The column that says whose row it is; None where every row is another person.
    pseudonym : str or None
        The unit where it holds pseudonyms that are published; None otherwise.
    shifts : DateShifts or None
        By how many days dates were shifted before the table was tagged; None where none were.
    people : ndarray of int32, shape (n_rows,), or None
        Number of each row's person; None where every row is another person, with or without a unit.
    further_table : callable or None
        Reads a further table, such as that of a population, by its path, where the recipe of this one may name some.
    whole : Microdata or None
        The table together with which these rows are published, where they are only some of its rows; else None.

    Raises
    ------
    DataError
        For a table without rows or columns, for a tag that names a column, role, kind or value that does not exist, and
        for a unit with missing values.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> people = pd.DataFrame(
    ...     {"name": ["Ann", "Bob", "Cem"], "age": [44, 21, 30], "disease": ["flu", "cold", None]}
    ... )
    >>> data = Microdata(
    ...     people, roles={"name": "identifier", "age": "quasi-identifier", "disease": "sensitive"}
    ... )
    >>> data.attributes
    ('age', 'disease')
    >>> list(data.domain["disease"])
    ['cold', 'flu', None]
    >>> data.codes["disease"].tolist()
    [1, 0, 2]

    Ann came twice, so three rows are two people:

    >>> visits = pd.DataFrame({"name": ["Ann", "Ann", "Bob"], "age": [44, 45, 21]})
    >>> data = Microdata(visits, roles={"age": "quasi-identifier"}, unit="name")
    >>> data.n_rows, data.n_people, data.identifiers
    (3, 2, ('name',))
    """

    def __init__(
        self,
        frame: Any,
        roles: Roles | None = None,
        kinds: Kinds | None = None,
        orders: Mapping[str, Sequence[Any]] | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        sensitive_values: Mapping[str, Collection[Any]] | None = None,
        unit: str | None = None,
        pseudonym: str | None = None,
    ) -> None:
        self.given = given_table(frame)
        columns = list(self.given.columns)
        tagged = roles_by_column(roles, columns)
        given_kinds = {
            name: kind_of(name, kind) for name, kind in _by_column("kinds", kinds, columns).items() if kind is not None
        }
        given_orders = _by_column("orders", orders, columns)
        for name, order in given_orders.items():
            if isinstance(order, str) or not isinstance(order, Iterable):
                raise DataError(f"The order of '{name}' is {quoted(order)}; list its values, such as ['low', 'high'].")
        if pseudonym is not None and unit not in (None, pseudonym):
            raise DataError(f"'{pseudonym}' holds pseudonyms of people and is the unit, which cannot be '{unit}' too.")
        self.pseudonym = None if pseudonym is None else str(pseudonym)
        self.unit = unit = self.pseudonym if unit is None else str(unit)
        if unit is not None:
            _tag_unit(unit, tagged, roles or {}, columns, self.pseudonym is not None)
        self.roles: dict[str, Role] = {name: tagged[name] for name in columns if name in tagged}
        self.left_out: tuple[str, ...] = tuple(name for name in columns if name not in tagged)
        self.undecided: tuple[str, ...] = ()
        self._tags_left_out = (
            {name: kind for name, kind in given_kinds.items() if name in self.left_out},
            {name: order for name, order in given_orders.items() if name in self.left_out},
        )
        self.hierarchies: dict[str, Hierarchy] = _by_column("hierarchies", hierarchies, columns)
        for name, hierarchy in self.hierarchies.items():
            if not isinstance(hierarchy, Hierarchy):
                raise DataError(
                    f"The hierarchy of '{name}' is a {type(hierarchy).__name__}; make it a Hierarchy first."
                )
        self.codes: dict[str, Codes] = {}
        self.domain: dict[str, Domain] = {}
        for name in self.attributes:
            self.codes[name], self.domain[name] = encode_given(
                self.given, name, given_kinds.get(name), given_orders.get(name), self.hierarchies.get(name)
            )
        self.sensitive_values: dict[str, tuple[Any, ...]] = {
            name: self._protected(name, values)
            for name, values in _by_column("sensitive_values", sensitive_values, columns).items()
        }
        self.people: Codes | None = None
        if self.unit is not None:
            people = people_of(self.given.frame_of([self.unit]), self.unit)
            # Where nobody has a second row, counting rows counts people.
            self.people = people if int(people.max()) + 1 < len(people) else None
        self.whole: Microdata | None = None

    further_table: Callable[[str], pd.DataFrame] | None = None
    pseudonym: str | None = None
    shifts: DateShifts | None = None

    def _headline(self) -> str:
        people = f" of {self.n_people:,} people" if self.people is not None else ""
        left_out = f", of which {len(self.left_out):,} left out" if self.left_out else ""
        n_columns = len(self.roles) + len(self.left_out)
        return f"Microdata: {counted(self.n_rows, 'row')}{people}, {counted(n_columns, 'column')}{left_out}"

    def _lines(self) -> Lines:
        lines: Lines = []
        for role in Role:
            names = self._with_role(role)
            shown = names[:MOST_NAMES]
            lines += [(role.value, self._column_text(name)) for name in shown]
            if len(names) > len(shown):
                lines.append((role.value, f"and {len(names) - len(shown):,} more"))
        lines += [(LEFT_OUT, clean(name)) for name in self.left_out[:MOST_NAMES]]
        if len(self.left_out) > MOST_NAMES:
            lines.append((LEFT_OUT, f"and {len(self.left_out) - MOST_NAMES:,} more"))
        return lines

    def _column_text(self, name: str) -> str:
        """A column without its values: its name, kind, and how many values there are."""
        if name not in self.domain:
            return clean(name) + (", says whose row it is" if name == self.unit else "")
        return f"{clean(name)}: {self.domain[name]._inline()}"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.given.n_rows

    @property
    def frame(self) -> pd.DataFrame:
        """The table as a pandas DataFrame, with column names as texts; made when it is first asked for."""
        return self.given.frame

    @property
    def n_people(self) -> int:
        """Number of different people; that of rows where every row is another person."""
        return self.n_rows if self.people is None else int(self.people.max()) + 1

    @property
    def attributes(self) -> tuple[str, ...]:
        """Every attribute that may be published: all with a role but the identifiers, in column order."""
        return tuple(name for name, role in self.roles.items() if role is not Role.IDENTIFIER)

    @cached_property
    def _repeated(self) -> tuple[str, int, int] | None:
        """The identifier by which one person may have several rows, though no unit is given: its name, its different
        values and the rows that have one.
        """
        if self.whole is not None:
            return self.whole._repeated
        identifiers = () if self.unit is not None else self.identifiers
        repeated = repeated_identifiers(self.given.frame_of(identifiers), identifiers)
        return next(((name, *counts) for name, counts in repeated.items()), None)

    @property
    def repeated_identifier(self) -> str | None:
        """The identifier whose values repeat, so that they may be people with several rows, where no unit is given."""
        return None if self._repeated is None else self._repeated[0]

    @property
    def people_word(self) -> str:
        """What rows may be called, in one word: `"people"`, or `"rows"` where values of an identifier repeat and no
        unit says whether they are people. No text calls rows people where this says rows.
        """
        return "people" if self._repeated is None else "rows"

    @property
    def attacked_word(self) -> str:
        """What an attack on all groups gives shares of: rows where a person may have several, as it guesses each of
        them; else what `people_word` says.
        """
        return self.people_word if self.people is None else "rows"

    def in_words(self, text: str) -> str:
        """A sentence about people as every face says it: of rows, where nobody said whether rows are people.

        Parameters
        ----------
        text : str
            The sentence.

        Returns
        -------
        str
            The sentence itself, or the same of rows where `people_word` says so.
        """
        return text if self.people_word == "people" else rows_for_people(text)

    @property
    def unit_note(self) -> str:
        """Whether people or rows are counted, where that matters, in a sentence; empty where there is nothing to say.

        It matters where one person may have several rows, and where the values of an identifier repeat without a unit.
        """
        if self.people is not None:
            return (
                f"Different people are counted by '{self.unit}': {self.n_rows:,} rows are those of {self.n_people:,} "
                "people. Costs, and the attacks by foreground knowledge and membership, count rows."
            )
        if self._repeated is None:
            return ""
        name, different, rows = self._repeated
        return (
            f"Is each of the {different:,} different values of '{name}' a person? They stand in {rows:,} rows, and "
            f"rows are counted, not people: name '{name}' as the unit if so, else the column that says whose row it "
            f"is, or drop the role of '{name}'."
        )

    @property
    def preparation_note(self) -> str:
        """What was done to columns before the table was tagged, in sentences; empty where nothing was."""
        notes = []
        if self.shifts is not None:
            per = "row" if self.unit is None else "person"
            notes.append(
                f"Dates were shifted by a random number of up to {self.shifts.most:,} days per {per}: "
                f"{listing(self.shifts.columns)}."
            )
        if self.pseudonym is not None:
            notes.append(f"'{self.pseudonym}' holds pseudonyms, which join the rows of a person.")
        return " ".join(notes)

    def _with_role(self, wanted: Role) -> tuple[str, ...]:
        return tuple(name for name, role in self.roles.items() if role is wanted)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Attributes that are never published."""
        return self._with_role(Role.IDENTIFIER)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Attributes that an adversary may know."""
        return self._with_role(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Attributes that an adversary must not learn."""
        return self._with_role(Role.SENSITIVE)

    @property
    def insensitive(self) -> tuple[str, ...]:
        """Attributes that are published as they are."""
        return self._with_role(Role.INSENSITIVE)

    def require_quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers, for callers that cannot do without.

        Returns
        -------
        tuple of str
            Their names in column order; at least one.

        Raises
        ------
        DataError
            Where no attribute is tagged as quasi-identifier.
        """
        if not self.quasi_identifiers:
            raise DataError(
                "No attribute is tagged as quasi-identifier; tag those that an adversary may know, such as age or sex."
            )
        return self.quasi_identifiers

    def require_domain(self, attribute: str) -> Domain:
        """The values of an attribute with their codes.

        Parameters
        ----------
        attribute : str
            Name of the attribute.

        Returns
        -------
        Domain
            The entry of `domain`.

        Raises
        ------
        DataError
            Where the table lacks the attribute, it is an identifier, or it has no role and so is left out.
        """
        if attribute in self.left_out:
            raise DataError(LACKS_ROLE.format(name=attribute))
        if attribute not in self.domain:
            there = f"the table has {listing(self.attributes, 30)}.{did_you_mean(attribute, self.attributes)}"
            raise DataError(f"There is no attribute {quoted(attribute)}; {there}")
        return self.domain[attribute]

    def require_sensitive(self, attribute: str | None = None) -> tuple[str, ...]:
        """The sensitive attributes, for callers that cannot do without.

        Parameters
        ----------
        attribute : str, optional
            The only attribute that the caller asks about, whatever its role; by default all sensitive ones.

        Returns
        -------
        tuple of str
            The given attribute, or the names of the sensitive ones in column order; at least one.

        Raises
        ------
        DataError
            Where the given attribute does not exist, or none is given and none is tagged as sensitive.
        """
        if attribute is not None:
            if attribute in self.left_out:
                raise DataError(LACKS_ROLE.format(name=attribute))
            if attribute not in self.codes:
                raise DataError(
                    f"There is no attribute '{attribute}' to protect; the table has {listing(self.attributes)}."
                )
            return (attribute,)
        if not self.sensitive:
            raise DataError(
                "No attribute is tagged as sensitive; tag the one that must not be learned, such as a diagnosis."
            )
        return self.sensitive

    def counted_codes(self, attribute: str) -> Codes:
        """The codes of an attribute, for those who count values and do not ask whose they are.

        Parameters
        ----------
        attribute : str
            Name of the attribute.

        Returns
        -------
        ndarray of int32, shape (n_rows,)
            The codes: those of the rows. Where only published tables are known, they are in an order of their own.

        Raises
        ------
        DataError
            Where the table lacks the attribute, or it is an identifier.
        """
        self.require_domain(attribute)
        return self.codes[attribute]

    @property
    def knows_rows(self) -> bool:
        """Whether it is known which values belong to one person; not where only published tables are known."""
        return True

    @property
    def unknown_widths(self) -> Mapping[str, str]:
        """The attributes of which it is not known what share of the domain a published cell covers, with the reason as
        half a sentence; none but where only published tables are known, and these do not tell.
        """
        return {}

    @property
    def uncounted_cells(self) -> Mapping[tuple[str, str], Bools]:
        """By table and attribute, of which rows it is not known how many values the published cell allows, bool
        (n_rows,); none but where only published tables are known, and these do not tell.
        """
        return {}

    def sensitive_view(self, attribute: str, codes: Codes | None = None) -> SensitiveValues:
        """An attribute with its values counted as requirements count them.

        Parameters
        ----------
        attribute : str
            Name of the attribute.
        codes : ndarray of int32, shape (n_rows,), optional
            Other codes of the same domain, such as published ones; by default those of the table.

        Returns
        -------
        SensitiveValues
            The codes, with all harmless values as one where only some need protection.
        """
        domain = self.require_domain(attribute)
        codes = self.counted_codes(attribute) if codes is None else codes
        protected = self.sensitive_values.get(attribute)
        if protected is None:
            return SensitiveValues(attribute, codes, len(domain), -1, tuple(domain.texts), people=self.people)
        recode = np.ones(len(domain), dtype=np.int32)
        recode[[domain.code_of(value) for value in protected]] = 0
        label = "{" + ", ".join(domain.text(domain.code_of(value)) for value in protected) + "}"
        return SensitiveValues(attribute, recode[codes], 2, 1, (label, "any other value"), people=self.people)

    def with_quasi_identifiers(self, names: Collection[str]) -> Microdata:
        """The same coded table for an adversary who knows other attributes.

        Parameters
        ----------
        names : collection of str
            The attributes that they know. The other quasi-identifiers count as insensitive.

        Returns
        -------
        Microdata
            A view that shares frame, codes and domains with this table.
        """
        view = copy_to_change(self)
        view.roles = {
            name: Role.QUASI_IDENTIFIER
            if name in names
            else (Role.INSENSITIVE if role is Role.QUASI_IDENTIFIER else role)
            for name, role in self.roles.items()
        }
        return view

    def with_classes(self, unit: str, people: Codes | Int64, name: str, classes: Codes) -> Microdata:
        """The same table for an adversary who knows besides in which class of people each row's person is.

        Parameters
        ----------
        unit : str
            The column that says whose row it is.
        people : ndarray of int, shape (n_rows,)
            Number of each row's person, as it was given to people of several tables.
        name : str
            What the attribute is called that holds the class; a quasi-identifier that the table does not have.
        classes : ndarray of int32, shape (n_rows,)
            Number of the class of each row's person, from 0 without gaps.

        Returns
        -------
        Microdata
            A view that shares all codes and domains with this table. People are counted in it.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from anoncore import Microdata
        >>> visits = Microdata(pd.DataFrame({"name": list("aab"), "age": [44, 44, 21]}), {"age": "quasi-identifier"})
        >>> known = visits.with_classes("name", np.array([7, 7, 3]), "class", np.array([1, 1, 0], dtype=np.int32))
        >>> known.n_people, known.quasi_identifiers
        (2, ('age', 'class'))
        """
        view = copy_to_change(self, "_repeated")
        different, numbers = np.unique(people, return_inverse=True)
        view.unit = unit
        view.people = numbers.reshape(-1).astype(np.int32) if len(different) < self.n_rows else None
        view.given = given_table(self.frame.assign(**{name: classes}))
        view.roles = {**self.roles, name: Role.QUASI_IDENTIFIER}
        view.domain = {**self.domain, name: Domain(name, Kind.NOMINAL, tuple(range(int(classes.max()) + 1)))}
        view.codes = self.codes | {name: classes}
        return view

    def with_shuffled(self, attribute: str, seed: int = 0) -> Microdata:
        """The same coded table with the values of one attribute dealt anew to all people, for a control.

        Parameters
        ----------
        attribute : str
            The attribute whose values are shuffled. Where one person may have several rows, the values of a person stay
            together as far as people have equally many rows.
        seed : int
            Says who gets whose values.

        Returns
        -------
        Microdata
            A view that shares everything but the codes of the attribute with this table. Its `frame` is the one of this
            table.

        Raises
        ------
        DataError
            Where the table lacks the attribute, or it is an identifier.

        Examples
        --------
        >>> import pandas as pd
        >>> from anoncore import Microdata
        >>> people = pd.DataFrame({"age": [20, 30, 40], "disease": ["flu", "gout", "cold"]})
        >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
        >>> shuffled = data.with_shuffled("disease", seed=1)
        >>> sorted(shuffled.codes["disease"].tolist()), shuffled.codes["age"] is data.codes["age"]
        ([0, 1, 2], True)
        """
        self.require_domain(attribute)
        rng = generator(seed)
        codes = self.codes[attribute]
        if self.people is None:
            dealt = codes[rng.permutation(self.n_rows)]
        else:
            takers = np.argsort(self.people, kind="stable")
            givers = np.argsort(rng.permutation(self.n_people)[self.people], kind="stable")
            dealt = np.empty_like(codes)
            dealt[takers] = codes[givers]
        view = copy_to_change(self)
        view.codes = {**self.codes, attribute: dealt}
        return view

    def split(self, control: float = 0.2, seed: int = 0) -> tuple[Microdata, Microdata]:
        """Hold back some people at random, with whom attacks compare those who are in a release.

        Each part is a table of its own: its values are those that occur in it. All rows of a person are in one part.

        Parameters
        ----------
        control : float
            Share of the people that are held back, above 0 and below 1.
        seed : int
            Says which people these are.

        Returns
        -------
        tuple of two Microdata
            The part to anonymize, and the part that is held back, each with rows in their original order.

        Raises
        ------
        DataError
            Where a part would be empty.
        ParameterError
            For a seed below 0.

        Examples
        --------
        >>> import pandas as pd
        >>> from anoncore import Microdata
        >>> data = Microdata(pd.DataFrame({"age": [20, 30, 40, 50, 60]}), roles={"age": "quasi-identifier"})
        >>> members, others = data.split(control=0.4)
        >>> members.n_rows, others.n_rows
        (3, 2)
        """
        people = np.arange(self.n_rows) if self.people is None else self.people
        n_people = self.n_people
        n_held = round(n_people * control) if 0 < control < 1 else 0
        if not 0 < n_held < n_people:
            raise DataError(
                f"A share of {control:g} of {n_people:,} people cannot be held back so that both parts have some; give "
                "a share between 0 and 1, such as 0.2."
            )
        is_held = np.zeros(n_people, dtype=np.bool_)
        is_held[generator(seed).permutation(n_people)[:n_held]] = True
        return self._part(np.flatnonzero(~is_held[people])), self._part(np.flatnonzero(is_held[people]))

    def _part(self, rows: Int64) -> Microdata:
        """Some rows as a table of their own, with the tags of this one."""
        named = [name for name in self.attributes if self.domain[name].kind is not Kind.NUMERIC]
        protected = {}
        for name, values in self.sensitive_values.items():
            occurring = set(distinct(self.codes[name][rows]).tolist())
            protected[name] = [value for value in values if self.domain[name].code_of(value) in occurring]
        part = Microdata(
            self.given.rows(rows),
            roles=self.roles,
            kinds={name: self.domain[name].kind for name in self.attributes},
            orders={name: self.domain[name].values for name in named if name != self.pseudonym},
            hierarchies=self.hierarchies,
            sensitive_values={name: values for name, values in protected.items() if values},
            unit=self.unit,
            pseudonym=self.pseudonym,
        )
        part.shifts = None if self.shifts is None else self.shifts.rows(rows)
        return part

    def publishing(self, names: Collection[str]) -> Microdata:
        """The same table for a release made elsewhere that publishes columns which are left out here.

        Parameters
        ----------
        names : collection of str
            Columns of `left_out`.

        Returns
        -------
        Microdata
            The table in which they are insensitive and, as nobody decided so, `undecided`.
        """
        attributes = [name for name in self.attributes if self.domain[name].kind is not Kind.NUMERIC]
        kinds, orders = self._tags_left_out
        table = Microdata(
            self.given,
            roles={**self.roles, **dict.fromkeys(names, Role.INSENSITIVE)},
            kinds={**kinds, **{name: self.domain[name].kind for name in self.attributes}},
            orders={**orders, **{name: self.domain[name].values for name in attributes}},
            hierarchies=self.hierarchies,
            sensitive_values=self.sensitive_values,
            unit=self.unit,
            pseudonym=self.pseudonym,
        )
        table.shifts = self.shifts
        table.undecided = tuple(name for name in table.attributes if name in names)
        return table

    def with_same_tags(self, frame: Any) -> Microdata:
        """Another table, such as one of the population or of people who are not in this one, tagged as this one is.

        Parameters
        ----------
        frame : DataFrame, LazyFrame, Arrow table or DuckDB relation
            The table. It need not have all columns of this one, and may have others.

        Returns
        -------
        Microdata
            The table with the roles and kinds of the columns that both have.

        Raises
        ------
        DataError
            Where a column does not fit its kind here.

        Examples
        --------
        >>> import pandas as pd
        >>> from anoncore import Microdata
        >>> people = pd.DataFrame({"age": [20, 30], "disease": ["flu", "gout"]})
        >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
        >>> data.with_same_tags(pd.DataFrame({"age": [25, 35, 45]})).quasi_identifiers
        ('age',)
        """
        given = given_table(frame)
        columns = set(given.columns)
        return Microdata(
            given,
            roles={name: role for name, role in self.roles.items() if name in columns},
            kinds={name: self.domain[name].kind for name in self.attributes if name in columns},
            unit=self.unit if self.unit in columns else None,
        )

    @cached_property
    def canonical_order(self) -> Int64:
        """The rows sorted by content, quasi-identifiers first, int64 (n_rows,): the same for every order of the input
        rows.

        Only rows that are equal in every published attribute, and in their person, may have changed places.
        """
        return content_order(*self._content())

    @cached_property
    def content_words(self) -> Int64:
        """The published content of every row as integers that compare like it, int64 (n_words, n_rows)."""
        return content_words(*self._content())

    def _content(self) -> tuple[list[Codes], list[int]]:
        names = [*self.quasi_identifiers, *self.sensitive, *self.insensitive]
        columns, sizes = [self.codes[name] for name in names], [len(self.domain[name]) for name in names]
        if self.people is not None:
            columns, sizes = [*columns, self.people], [*sizes, self.n_people]
        return columns, sizes

    def _protected(self, name: str, values: Collection[Any]) -> tuple[Any, ...]:
        if name not in self.domain:
            why = "has no role and is left out; tag it" if name in self.left_out else "is an identifier"
            raise DataError(f"sensitive_values names '{name}', which {why}: it is never published.")
        if isinstance(values, str) or not isinstance(values, Collection) or not len(values):
            raise DataError(f"sensitive_values of '{name}' must be a set of values, such as {{'HIV', 'cancer'}}.")
        wanted = {value_key(value): value for value in values}
        known = [value for value in self.domain[name] if value_key(value) in wanted]
        unknown = wanted.keys() - {value_key(value) for value in known}
        if unknown:
            names = listing(sorted_values([wanted[key] for key in unknown]))
            raise DataError(
                f"sensitive_values of '{name}' names {names}, which do not occur; "
                f"the attribute has {listing(self.domain[name].values)}."
            )
        return tuple(known)


def copy_to_change(data: Microdata, *kept: str) -> Microdata:
    """A copy of a coded table without what it keeps of its order and content, and without what it keeps as `kept`."""
    view = copy(data)
    for name in ("canonical_order", "content_words", *kept):
        view.__dict__.pop(name, None)
    return view


def _by_column(what: str, given: Mapping[Any, T] | None, columns: Sequence[str]) -> dict[str, T]:
    """What is given per column, by the column's name as text. Raises DataError for columns that the table lacks."""
    named = {str(name): value for name, value in (given or {}).items()}
    unknown = [name for name in named if name not in columns]
    if unknown:
        raise DataError(
            f"{what} names {listing(unknown)}, which the table lacks; it has {listing(columns, 30)}."
            f"{did_you_mean(unknown[0], columns)}"
        )
    return named


def roles_by_column(roles: Mapping[Any, Role | str] | None, columns: Sequence[str]) -> dict[str, Role]:
    """The role of every column that is given one, by name or by `"*"` for all that are not named.

    Raises DataError for a role or a column that does not exist.
    """
    named = {str(name): role for name, role in (roles or {}).items()}
    others = None if OTHERS in columns or OTHERS not in named else role_of(OTHERS, named.pop(OTHERS))
    tagged = {name: role_of(name, role) for name, role in _by_column("roles", named, columns).items()}
    return tagged if others is None else {name: tagged.get(name, others) for name in columns}


def _tag_unit(
    unit: str, tagged: dict[str, Role], given: Mapping[Any, Any], columns: Sequence[str], is_pseudonym: bool
) -> None:
    """Tag the unit as identifier, or as insensitive where it holds pseudonyms that are published.

    Raises DataError for a column that does not exist, or that has another role.
    """
    if unit not in columns:
        raise DataError(
            f"unit names '{unit}', which the table lacks; it has {listing(columns, 30)}.{did_you_mean(unit, columns)}"
        )
    role = tagged.get(unit, Role.IDENTIFIER)
    if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE) and unit in map(str, given):
        published = "published as a pseudonym" if is_pseudonym else "never published"
        raise DataError(
            f"'{unit}' says whose row it is and is {published}, so it cannot be a {role.value} attribute; drop its "
            "role."
        )
    tagged[unit] = Role.INSENSITIVE if is_pseudonym else Role.IDENTIFIER


def role_of(name: str, role: Role | str) -> Role:
    """A role by its text. Raises DataError for one that does not exist."""
    try:
        return Role(role)
    except ValueError:
        raise DataError(
            f"The role of '{name}' is {quoted(role)}; use one of {listing([r.value for r in Role])}."
        ) from None


def kind_of(name: str, kind: Kind | str) -> Kind:
    """A kind by its text. Raises DataError for one that does not exist."""
    try:
        return Kind(kind)
    except ValueError:
        raise DataError(
            f"The kind of '{name}' is {quoted(kind)}; use one of {listing([k.value for k in Kind])}."
        ) from None
