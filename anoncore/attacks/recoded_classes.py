"""The classes of a locally recoded table as its readers see them: each at its own levels of the hierarchies."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from anoncore.base.errors import ReleaseError
from anoncore.base.texts import quoted
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, Words, record
from anoncore.kernels.grouping import grouped_rows, owners, runs_from
from anoncore.privacy.cell_knowledge import CellKnowledge
from anoncore.release.population import regions
from anoncore.release.release import Release
from anoncore.table.hierarchy_levels import Levels

TIE = 1e-12
"""Losses that differ by less count as equal."""


@record
class RecodedClasses:
    """Classes that were made one after the other, each at the lowest combination of levels where k rows were left.

    Attributes
    ----------
    k : int
        The fewest rows that became a class.
    levels : tuple of Levels
        The hierarchy of each quasi-identifier.
    sizes : ndarray of int64, shape (n_classes,)
        Rows of each class.
    low, high : ndarray of int32, shape (n_classes, n_attributes)
        The lowest and the highest code that a class's cell allows.
    set_start : ndarray of int64, shape (n_classes, n_attributes + 1)
        The codes of a class's cell that is a set are `members[set_start[c, a]:set_start[c, a + 1]]`; others have none.
    members : ndarray of int32
        The codes of all sets.
    state : ndarray of int64, shape (n_classes, n_attributes)
        The lowest level of each hierarchy at which a class's values are one group.
    takes_all : ndarray of bool, shape (n_classes,)
        Whether a class took all rows that fitted it at its levels and had no class yet, and its own rows fitted no
        earlier class.
    is_capped : ndarray of bool, shape (n_classes,)
        Whether the rows of a class were tried at all finer levels, where they were fewer than k.
    least_added : tuple of ndarray of float, shape (n_levels, n_levels), or None
        For each attribute the least loss that a value has more at one level (column) than at another (row); None where
        it is not known by which loss the combinations of levels were tried.
    """

    k: int
    levels: tuple[Levels, ...]
    sizes: Int64
    low: Codes
    high: Codes
    set_start: Int64
    members: Codes
    state: Int64
    takes_all: Bools
    is_capped: Bools
    least_added: tuple[Floats, ...] | None

    @classmethod
    def of(cls, release: Release, k: int | None) -> RecodedClasses:
        """The classes of a release by a method that says what its cells tell, or by local recoding elsewhere with `k`.

        Raises ReleaseError where neither is known, and where the cells are not those of one hierarchy each.
        """
        known = _method_knowledge(release, k)
        names, partition = release.data.quasi_identifiers, release.partition
        levels = tuple(Levels.of(release.data.domain[name]) for name in names)
        first = partition.first_rows
        recodings = [release.recoding(name) for name in names]
        for name, recoding in zip(names, recodings, strict=True):
            low, high = recoding.bounds()
            same = first[partition.group]
            if not ((low == low[same]).all() and (high == high[same]).all()):
                raise ReleaseError(
                    f"Refinement counts the rows behind the cells of a group, and rows of one group differ in "
                    f"{quoted(name)}."
                )
        low, high, start, members = regions([(recoding, first) for recoding in recodings])
        state = np.column_stack(
            [
                _state(name, hierarchy, low[:, a], high[:, a])
                for a, (name, hierarchy) in enumerate(zip(names, levels, strict=True))
            ]
        )
        takes_all, is_capped = known.applies.copy(), known.applies.copy()
        if release.algorithm is None:
            # Rows that another program suppressed may have been left over before all combinations were tried.
            is_capped &= (state < [hierarchy.height for hierarchy in levels]).any(axis=1)
        # Readers see classes that publish the same as one.
        _, box = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True)
        open_boxes = np.isin(box.reshape(-1), box.reshape(-1)[~known.applies])
        takes_all &= ~open_boxes
        is_capped &= ~open_boxes
        sizes = partition.sizes.astype(np.int64)
        if (sizes[is_capped] < known.all_below).any():
            raise ReleaseError(
                f"Some group has {int(sizes[is_capped].min()):,} rows, and local recoding with k = {known.all_below} "
                "makes none with fewer than k; give the k that it was made with."
            )
        least_added = None
        if known.by_loss:
            least_added = tuple((axis.loss[None, :] - axis.loss[:, None]).min(axis=2) for axis in levels)
        return cls(known.all_below, levels, sizes, low, high, start, members, state, takes_all, is_capped, least_added)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.sizes)

    @cached_property
    def n_combinations(self) -> Int64:
        """How many combinations of values the cells of each class allow, int64 (n_classes,)."""
        in_sets = np.diff(self.set_start, axis=1)
        widths = np.where(in_sets > 0, in_sets, self.high.astype(np.int64) - self.low + 1)
        return np.minimum(widths.astype(np.float64).prod(axis=1), 2.0**62).astype(np.int64)

    def combinations(self, number: int) -> Codes:
        """All combinations of values that the cells of a class allow, int32 (n_combinations, n_attributes)."""
        axes = [self._allowed(number, a) for a in range(len(self.levels))]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes)).astype(np.int32)

    def _allowed(self, number: int, attribute: int) -> Codes:
        members = self.members[self.set_start[number, attribute] : self.set_start[number, attribute + 1]]
        if len(members):
            return members
        return np.arange(self.low[number, attribute], self.high[number, attribute] + 1, dtype=np.int32)

    @cached_property
    def _words(self) -> tuple[Words, ...]:
        """A random word for every code of every attribute, the same each time, because the words decide nothing."""
        rng = np.random.default_rng(23)
        return tuple(rng.integers(0, 2**64, len(hierarchy.domain), dtype=np.uint64) for hierarchy in self.levels)

    def key(self, codes: Codes, state: Int64) -> Words:
        """A word for what combinations of values, int32 (n, n_attributes), are at a combination of levels.

        That two different ones have the same word has a probability of 2^-64.
        """
        key = np.zeros(len(codes), np.uint64)
        for words, hierarchy, level, own in zip(self._words, self.levels, state, codes.T, strict=True):
            key += words[hierarchy.first[level][own]]
        return key

    @cached_property
    def class_words(self) -> Words:
        """A random word for every class, as for every code."""
        return np.random.default_rng(29).integers(0, 2**64, self.n_classes, dtype=np.uint64)

    def is_later(self, of_class: Int64, state: Int64) -> Bools:
        """Whether classes were made after a combination of levels had been tried, whatever the values of the table."""
        own = self.state[of_class]
        if self.least_added is None:
            return np.logical_and((own >= state).all(axis=1), (own > state).any(axis=1))
        added = np.sum([least[state[a], own[:, a]] for a, least in enumerate(self.least_added)], axis=0)
        differs = own != state
        first = np.argmax(differs, axis=1)
        is_lower_first = differs.any(axis=1) & (state[first] < own[np.arange(len(own)), first])
        is_later: Bools = (added > TIE) | ((added > -TIE) & is_lower_first)
        return is_later

    def _states_of(self, chosen: Bools) -> Iterator[tuple[Int64, Int64]]:
        """Every combination of levels at which chosen classes stand, and these classes."""
        classes = np.flatnonzero(chosen)
        if not len(classes):
            return
        states, number = np.unique(self.state[classes], axis=0, return_inverse=True)
        order, ends = grouped_rows(number.reshape(-1))
        for i, state in enumerate(states):
            yield state, classes[order[ends[i] : ends[i + 1]]]

    def taken(self, codes: Codes, of_class: Int64) -> Bools:
        """Whether an earlier class took all rows with these values, so that none can be in this class."""
        taken = np.zeros(len(codes), np.bool_)
        for state, takers in self._states_of(self.takes_all):
            later = np.flatnonzero(self.takes_all[of_class] & ~taken & self.is_later(of_class, state))
            taken[later] = np.isin(self.key(codes[later], state), self.key(self.low[takers], state))
        return taken

    def covering(self, codes: Codes) -> tuple[Int64, Int64]:
        """The classes whose cells allow combinations of values: pairs of both, int64 (n_pairs,) each."""
        combinations, of_class = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for state, classes in self._states_of(np.ones(self.n_classes, np.bool_)):
            wanted, offered = self.key(codes, state), self.key(self.low[classes], state)
            order = np.argsort(offered, kind="stable")
            begin = np.searchsorted(offered[order], wanted, side="left")
            n_fitting = np.searchsorted(offered[order], wanted, side="right") - begin
            combinations.append(owners(n_fitting))
            of_class.append(classes[order[runs_from(begin, n_fitting)]])
        combination, of_pair = np.concatenate(combinations), np.concatenate(of_class)
        fits = self._in_cells(codes[combination], of_pair)
        return combination[fits], of_pair[fits]

    def _in_cells(self, codes: Codes, of_class: Int64) -> Bools:
        """Whether the values are among those of the classes' cells, which may be less than a node of a hierarchy."""
        fits: Bools = np.logical_and(
            (codes >= self.low[of_class]).all(axis=1), (codes <= self.high[of_class]).all(axis=1)
        )
        for a, hierarchy in enumerate(self.levels):
            width = self.set_start[:, a + 1] - self.set_start[:, a]
            if not width.any():
                continue
            size = len(hierarchy.domain)
            listed = owners(width) * size + self.members[runs_from(self.set_start[:, a], width)]
            fits &= (width[of_class] == 0) | np.isin(of_class * size + codes[:, a], listed)
        return fits


def _method_knowledge(release: Release, k: int | None) -> CellKnowledge:
    """What the method tells of the rows behind a cell. Raises ReleaseError where refinement does not apply."""
    method = release.algorithm
    if method is None:
        if k is None:
            raise ReleaseError(
                "The method of this release is not known; if it is local recoding, such as that of ARX, give its k."
            )
        return CellKnowledge(np.ones(release.partition.n_groups, np.bool_), all_below=k, takes_all=True)
    known = method.cell_knowledge(release)
    if known is None or not (known.takes_all and known.all_below):
        raise ReleaseError(
            "Refinement counts the rows that local recoding refused to make groups of because they were fewer than k. "
            f"{method.title} with these requirements tells no such numbers; what it tells otherwise is measured by "
            "minimality and downcoding."
        )
    assert isinstance(known, CellKnowledge)
    return known


def _state(name: str, levels: Levels, low: Codes, high: Codes) -> Int64:
    """The lowest level at which the values from `low` to `high` of each class are one group."""
    node = levels.tree.common_ancestor(low, high)
    if levels.tree.height > 1 and not ((levels.tree.first[node] == low) & (levels.tree.last[node] == high)).all():
        raise ReleaseError(f"Some cells of {quoted(name)} are no node of its hierarchy, so local recoding made none.")
    return levels.tree.level[node].astype(np.int64)
