"""What a release teaches about rows that were not in it: which class a combination of known values belongs to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from anoncore.algorithms import Algorithm
from anoncore.algorithms.joined_groups import with_joined_groups
from anoncore.base.errors import DataError, ParameterError, ReleaseError
from anoncore.base.pandas_versions import TEXT, factorized
from anoncore.base.texts import counted, quoted
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64
from anoncore.kernels.grouping import dense_key, distinct, first_rows, occurring_pairs, owners
from anoncore.privacy.guarantees import broken
from anoncore.release.partition import Partition
from anoncore.release.published_numbers import Numbers, label_bounds, ranges_of
from anoncore.release.recoding import Distorted, Exact, Generalized
from anoncore.release.release import Fragment, Release
from anoncore.table.domain import Domain, Kind
from anoncore.table.hierarchy import ROOT, Hierarchy
from anoncore.table.microdata import Microdata

Outside = Literal["refuse", "suppress", "nearest"]
"""What becomes of a row that no class holds."""
CELLS_AT_ONCE = 4_000_000
"""Pairs of a row and a class that are compared at a time, a few bytes each."""


class LearnedRecoding:
    """The classes of a release as a function of the quasi-identifiers.

    Rows with the same quasi-identifiers are in the same class. A combination that did not occur belongs to the class
    that loses least among those whose regions hold it, if there is one.

    Attributes
    ----------
    release : Release
        The release, in which equal rows share a class.
    """

    def __init__(self, algorithm: Algorithm, data: Microdata) -> None:
        release = algorithm.anonymize(data)
        _require_generalized(release, algorithm)
        self.release = _with_equal_rows_together(release, algorithm)

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self.release.data.quasi_identifiers

    @property
    def _regions(self) -> dict[str, Generalized]:
        recodings = self.release.fragments[0].recodings
        return {name: recoding for name in self.names if isinstance(recoding := recodings[name], Generalized)}

    @cached_property
    def _seen(self) -> tuple[dict[str, Codes], Codes]:
        """The codes of the different combinations that occurred, by attribute, and the class of each."""
        codes = [self.release.data.codes[name] for name in self.names]
        first = first_rows(dense_key(codes, len(codes[0]), is_sorted=True))
        return {name: column[first] for name, column in zip(self.names, codes, strict=True)}, (
            self.release.partition.group[first]
        )

    @cached_property
    def _loss(self) -> Floats:
        """What the cells of each class lose, summed over attributes."""
        loss: Floats = np.sum([region.loss() for region in self._regions.values()], axis=0)
        # Of classes that lose the same the first one is taken, whatever rounding makes of their sums.
        return np.round(loss, 12)

    def classes(self, data: Microdata, outside: Outside) -> Int64:
        """The class of each row of a table with the same columns; -1 for one that is left out.

        Raises ReleaseError where no class holds a row and such rows are refused.
        """
        values = {name: data.domain[name] for name in self.names}
        known = {name: _known_codes(self.release.data.domain[name], values[name]) for name in self.names}
        seen, class_of = self._seen
        n_seen = len(class_of)
        columns = [np.concatenate((seen[name], known[name][data.codes[name]])) for name in self.names]
        # A value that never occurred makes a combination that never occurred: its code -1 is no other's.
        key = dense_key((column + 1 for column in columns), len(columns[0]))
        class_of_key = np.full(int(key.max()) + 1, -1, dtype=np.int64)
        class_of_key[key[:n_seen]] = class_of
        classes = class_of_key[key[n_seen:]]
        new = np.flatnonzero(classes < 0)
        if len(new):
            codes = {name: data.codes[name][new] for name in self.names}
            row_of = dense_key(codes.values(), len(new), is_sorted=True)
            first = first_rows(row_of)
            found, holds = self._fitting({name: column[first] for name, column in codes.items()}, values, known)
            if outside == "refuse" and not holds.all():
                raise ReleaseError(self._refusal(data, new[~holds[row_of]]))
            classes[new] = np.where(holds | (outside == "nearest"), found, -1)[row_of]
        return classes

    def _fitting(
        self, codes: dict[str, Codes], values: dict[str, Domain], known: dict[str, Codes]
    ) -> tuple[Int64, Bools]:
        """The class that holds most values of each combination, of several the one that loses least, and whether it
        holds all of them.
        """
        data = self.release.data
        inside = {
            name: _holding(region, values[name], known[name], data.hierarchies.get(name))
            for name, region in self._regions.items()
        }
        n, n_classes = len(next(iter(codes.values()))), self.release.partition.n_groups
        found, holds = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.bool_)
        # Attributes that do not hold weigh more than any loss.
        weight = float(self._loss.max()) + 1.0
        step = max(CELLS_AT_ONCE // n_classes, 1)
        for start in range(0, n, step):
            rows = slice(start, start + step)
            outside = np.sum([~inside[name][column[rows]] for name, column in codes.items()], axis=0)
            found[rows] = np.argmin(outside * weight + self._loss, axis=1)
            holds[rows] = outside.min(axis=1) == 0
        return found, holds

    def _refusal(self, data: Microdata, rows: Int64) -> str:
        """Why rows may not be recoded, with the first of them."""
        first = int(rows[0])
        cells = {name: data.domain[name].text(int(data.codes[name][first])) for name in self.names}
        told = ", ".join(f"{name} = {text}" for name, text in cells.items())
        return (
            f"{counted(len(rows), 'row')} of {data.n_rows:,} {'lies' if len(rows) == 1 else 'lie'} in no group that "
            f"was fitted, so no published cells are true of {'it' if len(rows) == 1 else 'them'}; the first is row "
            f"{first:,} ({told}). Fit with these rows too, or leave them out with outside='suppress'; "
            "outside='nearest' is for predictions that nobody publishes."
        )

    def cells(self, classes: Int64, name: str, numbers: Numbers) -> dict[str, pd.Series[Any]]:
        """The published columns of a quasi-identifier for rows of these classes."""
        region = self._regions[name]
        left_out = classes < 0
        at = np.where(left_out, 0, classes)
        ranges = None if numbers == "text" else ranges_of(region)
        if ranges is None:
            texts = pd.Series(pd.array(region.group_texts, dtype=TEXT).take(at))
            return {name: texts.mask(left_out, ROOT)}
        columns = replace(self.release, numbers=numbers).number_columns.get(name)
        if columns is None:
            return {name: _masked(ranges.midpoints(), at, left_out)}
        cells = {columns.low: _masked(ranges.low, at, left_out), columns.high: _masked(ranges.high, at, left_out)}
        if columns.or_missing is not None:
            cells[columns.or_missing] = pd.Series(ranges.or_missing[at] | left_out)
        return cells

    def require_kept(self, data: Microdata, classes: Int64, algorithm: Algorithm) -> None:
        """Raise ReleaseError where the fitted table and the new rows of another one, published together, would break
        what the algorithm promises of sensitive attributes.

        A row that equals one of the fitted table counts as that row. Further rows never break a promise about sizes.
        """
        fitted = self.release.data
        promises = algorithm.promises(fitted)
        if all(promise.attribute_free and promise.counts_alone for promise in promises):
            return
        columns = list(dict.fromkeys([*fitted.quasi_identifiers, *fitted.sensitive]))
        columns += [] if fitted.unit is None else [fitted.unit]
        ours, theirs = fitted.given.frame_of(columns), data.given.frame_of(columns)
        new = np.flatnonzero(_is_new(ours, theirs) & (classes >= 0))
        if not len(new):
            return
        both = Microdata(
            pd.concat([ours, theirs.iloc[new]], ignore_index=True),
            roles={name: fitted.roles[name] for name in columns},
            kinds={name: fitted.domain[name].kind for name in fitted.sensitive},
            hierarchies={name: tree for name, tree in fitted.hierarchies.items() if name in fitted.sensitive},
            sensitive_values=fitted.sensitive_values,
            unit=fitted.unit,
        )
        partition = Partition(np.concatenate((self.release.partition.group, classes[new])))
        for promise in promises:
            for one in promise.checks(both):
                levels = one.levels(partition)
                failing = np.flatnonzero(~one.holds(levels))
                if len(failing):
                    level = levels[failing[0]]
                    raise ReleaseError(
                        f"These rows may not be published beside those that were fitted: {promise.label()} would fail "
                        f"in {counted(len(failing), 'group')}, one of which would have "
                        f"{promise.reached_text(level, f'{level:.4g}', one.attribute)}. Fit with all rows instead."
                    )


def _require_generalized(release: Release, algorithm: Algorithm) -> None:
    """Raise ParameterError for a method whose release is no function of the quasi-identifiers."""
    recodings = release.fragments[0].recodings
    known = release.data.quasi_identifiers
    is_fit = (
        len(release.fragments) == 1
        and all(isinstance(recodings.get(name), Generalized) for name in known)
        and not any(isinstance(recoding, Distorted) for recoding in recodings.values())
        and all(isinstance(recoding, Exact) for name, recoding in recodings.items() if name not in known)
    )
    if not is_fit:
        raise ParameterError(
            f"{algorithm.title} does not recode known values group by group, so there is nothing to apply to other "
            "rows; choose a method that generalizes, such as Mondrian, LocalRecoding, OptimalRecoding or Incognito."
        )


def _with_equal_rows_together(release: Release, algorithm: Algorithm) -> Release:
    """The release with rows of equal quasi-identifiers in one class: that which had most of them.

    Where a class then breaks a promise, classes are joined until all hold.
    """
    data = release.data
    key = dense_key((data.codes[name] for name in data.quasi_identifiers), data.n_rows, is_sorted=True)
    combination, group, counts = occurring_pairs(key, release.partition.group)
    if len(combination) == int(key.max()) + 1:
        return release
    order = np.lexsort((group, -counts, combination))
    _, first = np.unique(combination[order], return_index=True)
    moved = group[order][first][key]
    kept, dense = np.unique(moved, return_inverse=True)
    partition = Partition(dense.astype(np.int32))
    recodings = {
        name: recoding.chosen(partition, kept)
        if isinstance(recoding, Generalized)
        else replace(recoding, partition=partition)
        for name, recoding in release.fragments[0].recodings.items()
    }
    suppressed = None
    if release.suppressed_group is not None:
        place = np.flatnonzero(kept == release.suppressed_group)
        suppressed = int(place[0]) if len(place) else None
    together = replace(
        release, fragments=(Fragment(release.fragments[0].name, partition, recodings),), suppressed_group=suppressed
    )
    promises = algorithm.promises(data)
    if broken(together, promises):
        together = replace(with_joined_groups(together, promises), notes=release.notes)
        failing = broken(together, promises)
        if failing:
            raise ReleaseError(
                f"Rows with the same known values cannot share a group here: {failing[0].sentence} Ask for less."
            )
    return together


def _known_codes(fitted: Domain, other: Domain) -> Codes:
    """The fitted code of each value of another table's domain; -1 for values that did not occur."""
    codes = np.empty(len(other), dtype=np.int32)
    for code, value in enumerate(other):
        try:
            codes[code] = fitted.code_of(value)
        except DataError:
            codes[code] = -1
    return codes


def _holding(region: Generalized, values: Domain, known: Codes, hierarchy: Hierarchy | None) -> Bools:
    """Whether the regions of the classes hold the values of another table, bool (values, classes)."""
    domain = region.domain
    n_classes = len(region.low)
    inside = np.zeros((len(values), n_classes), dtype=np.bool_)
    seen = known >= 0
    if region.offsets is not None and region.members is not None:
        of_code = np.zeros((len(domain), n_classes), dtype=np.bool_)
        of_code[region.members, owners(np.diff(region.offsets))] = True
        inside[seen] = of_code[known[seen]]
        return inside
    codes = known[seen, np.newaxis]
    inside[seen] = (region.low <= codes) & (codes <= region.high)
    for place in np.flatnonzero(~seen).tolist():
        inside[place] = _holding_new(region, values[place], hierarchy)
    return inside


def _holding_new(region: Generalized, value: Any, hierarchy: Hierarchy | None) -> Bools:
    """Whether the regions of the classes hold a value that did not occur, bool (classes,)."""
    domain, tree = region.domain, region.domain.tree
    nowhere = np.zeros(len(region.low), dtype=np.bool_)
    if region.node is not None and tree is not None:
        path = () if hierarchy is None or value is None else hierarchy.path_of(value) or ()
        holds = np.array([label == ROOT or label in path for label in tree.labels], dtype=np.bool_)
        if domain.kind is Kind.NUMERIC and value is not None:
            for node in distinct(region.node).tolist():
                holds[node] |= _label_holds(domain, node, value)
        return holds[region.node]
    if domain.kind is not Kind.NUMERIC or value is None:
        return nowhere
    try:
        above, below = bisect_left(domain.values, value), bisect_right(domain.values, value) - 1
    except TypeError:  # a date with a zone beside one without, for instance
        raise DataError(
            f"'{domain.name}' holds {quoted(value)}, which has no place among the values that were fitted; give the "
            "column the type that it had."
        ) from None
    # The missing value has the last code and is no number: a range that holds it ends one before.
    last = (
        np.where(region.high == domain.missing_code, region.high - 1, region.high)
        if domain.has_missing
        else region.high
    )
    return (region.low <= below) & (above <= last)


def _label_holds(domain: Domain, node: int, value: Any) -> bool:
    """Whether a number lies in the range that a node's label says: `20-29`, or `[20, 30)` without its upper bound."""
    bounds = label_bounds(domain, node)
    if bounds is None or bounds[0] is None:
        return False
    low, high = bounds
    tree = domain.tree
    is_open = tree is not None and tree.labels[node].endswith(")")
    return bool(low <= value < high if is_open else low <= value <= high)


def _masked(values: pd.Series[Any], at: Int64, left_out: Bools) -> pd.Series[Any]:
    taken = values.take(at).reset_index(drop=True)
    return taken.mask(left_out) if left_out.any() else taken


def _is_new(ours: pd.DataFrame, theirs: pd.DataFrame) -> Bools:
    """Whether each of their rows is one more than ours has of its kind, bool (n_theirs,)."""
    both = pd.concat([ours, theirs], ignore_index=True)
    codes = [factorized(both[name])[0] for name in both]
    key = dense_key(codes, len(both))
    had = np.bincount(key[: len(ours)], minlength=int(key.max()) + 1)
    rank = pd.Series(key[len(ours) :]).groupby(key[len(ours) :]).cumcount().to_numpy()
    return rank >= had[key[len(ours) :]]
