"""The people whom an attack is tried on: some who are in the table, and some of a control part who are not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anoncore.base.errors import DataError, ParameterError, ReleaseError
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.kernels.guessing import Positions
from anoncore.release.population import neighbours
from anoncore.release.release import Release
from anoncore.table.domain import Domain, Kind
from anoncore.table.microdata import Microdata

FAR = 2.0
"""Where a value lies that has no place on an attribute's axis from 0 to 1: farther off than any value of the table."""


@record
class People:
    """What is true of some people, an axis per attribute, in the codes of the released table.

    Attributes
    ----------
    names : tuple of str
        The attributes.
    below, above : ndarray of int32, shape (n_people, n_axes)
        The codes next to a person's value; equal where it is a code, -1 twice for a category that the table lacks.
    place : ndarray of float, shape (n_people, n_axes)
        Where the value lies on the attribute's axis, from 0 (its first code) to 1 (its last one).
    rows : ndarray of int64, shape (n_people,)
        Their rows in the table that they come from.
    """

    names: tuple[str, ...]
    below: Codes
    above: Codes
    place: Floats
    rows: Int64

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def positions(self) -> Positions:
        """Where they stand, for kernels."""
        return Positions(self.below, self.above)

    def of(self, names: Sequence[str]) -> People:
        """The same people by some of the attributes, in this order."""
        axes = [self.names.index(name) for name in names]
        below, above = np.ascontiguousarray(self.below[:, axes]), np.ascontiguousarray(self.above[:, axes])
        return People(tuple(names), below, above, np.ascontiguousarray(self.place[:, axes]), self.rows)

    def some(self, chosen: Int64) -> People:
        """Some of the people."""
        return People(self.names, self.below[chosen], self.above[chosen], self.place[chosen], self.rows[chosen])


def members_of(release: Release, names: Sequence[str], most: int | None, rng: np.random.Generator) -> People:
    """People of the released table, at most so many of them at random; None takes all."""
    data = release.data
    rows = _chosen(data, most, rng)
    codes = np.column_stack([data.codes[name][rows] for name in names])
    place = np.column_stack([data.domain[name].shares[data.codes[name][rows]] for name in names])
    return People(tuple(names), codes, codes, place, rows)


def control_of(
    release: Release, control: Microdata, names: Sequence[str], most: int | None, rng: np.random.Generator
) -> People:
    """People of the control part, at most so many of them at random; None takes all.

    Raises DataError where the control part lacks one of the attributes, and ParameterError where it is the table that
    was released.
    """
    if control.given is release.data.given:
        raise ParameterError(
            "The control part is the released table itself; give people who are not in the release, such as the second "
            "part of data.split(control=0.2), of which the first one is anonymized."
        )
    lacking = [name for name in names if name not in control.codes]
    if lacking:
        raise DataError(f"The control part lacks {listing(lacking)}; it has {listing(control.attributes, 30)}.")
    rows = _chosen(control, most, rng)
    below, above, place = [], [], []
    for name in names:
        domain = release.data.domain[name]
        under, over = neighbours(control, name, domain, release.data.hierarchies.get(name))
        below.append(under[rows])
        above.append(over[rows])
        place.append(_places(control.domain[name], domain)[control.codes[name][rows]])
    return People(tuple(names), np.column_stack(below), np.column_stack(above), np.column_stack(place), rows)


def _chosen(data: Microdata, most: int | None, rng: np.random.Generator) -> Int64:
    """Rows of a table at random, which depend on its content and not on the order of its rows."""
    if most is None or most >= data.n_rows:
        return np.asarray(data.canonical_order, np.int64)
    return np.asarray(data.canonical_order[rng.choice(data.n_rows, most, replace=False)], np.int64)


def _places(own: Domain, domain: Domain) -> Floats:
    """Where each value of a control part's attribute lies on the axis of the released one, float (len(own),)."""
    if own.kind is Kind.NUMERIC and domain.kind is Kind.NUMERIC and own.is_date == domain.is_date:
        known = len(domain.values)
        places = np.interp(own.positions, domain.positions[:known], domain.shares[:known]) if known else own.shares * 0
        if own.missing_code is not None:
            places[own.missing_code] = domain.shares[-1] if domain.has_missing else FAR
        return places
    return np.full(len(own), FAR)


def attacked_attributes(release: Release, names: Sequence[str] | None, besides: Sequence[str] = ()) -> tuple[str, ...]:
    """The published attributes of these names, by default all but those that are guessed. Raises ReleaseError for one
    that is not published, and ParameterError where none is left.
    """
    wanted = [name for name in release.attributes if name not in besides] if names is None else list(names)
    unknown = [name for name in wanted if name not in release.attributes]
    if unknown:
        raise ReleaseError(
            f"The release does not publish {listing(unknown)}; it has {listing(release.attributes, 30)}."
        )
    wanted = [name for name in dict.fromkeys(wanted) if name not in besides]
    if not wanted:
        raise ParameterError("The adversary knows no published attribute; name at least one besides what is guessed.")
    return tuple(wanted)
