"""The search for the ranges that lose least: every attribute is cut at some points, the same for all rows.

A set of cut points is a node of a tree. Cuts of a node are made in all sets below it, and cuts that are open may be
made. The next open one is made in one of two branches and left out in the other. What every set below loses at least
tells which branches can be left out, and which comes next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from anoncore.algorithms.full_domain.best_first import Found, GroupedTable, Groups, Proven, level_tables
from anoncore.algorithms.full_domain.lattice import Lattice
from anoncore.algorithms.full_domain.refused_levels import TIE
from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64
from anoncore.kernels.grouping import starts_of
from anoncore.kernels.optimal_recoding import least_losses
from anoncore.requirements import CheckSet, Requirement
from anoncore.table.domain import Domain
from anoncore.table.microdata import Microdata

MOST_OFFERED = 16
"""Cuts of an attribute that are tried at each step of the way to the first good set."""


@dataclass(frozen=True, kw_only=True)
class OptimalRanges(Proven):
    """The best ranges that a search found, and how far from the least loss they may be.

    Attributes
    ----------
    attributes : tuple of str
        The quasi-identifiers.
    cuts : tuple of tuple of int
        The codes of each at which a range begins, but for the first one.
    n_cuts : int
        Number of points at which a cut is possible.
    """

    attributes: tuple[str, ...]
    cuts: tuple[tuple[int, ...], ...]
    n_cuts: int


class RangeSearch(GroupedTable):
    """One search of one table; it ends with the best ranges so far once the table was grouped `most_checked` times.

    A set of cuts is bool (n_codes,) over the codes of all attributes: whether a range begins there. All first codes are
    in every set, so that a set of nothing else is one range per attribute.
    """

    def __init__(
        self, data: Microdata, requirements: Sequence[Requirement], max_suppression: float, most_checked: int
    ) -> None:
        lattice = Lattice(data, CheckSet(requirements, data), has_hierarchies=False)
        super().__init__(data, requirements, max_suppression, most_checked, lattice)
        self.domains: tuple[Domain, ...] = tuple(levels.domain for levels in lattice.levels)
        sizes = [len(domain) for domain in self.domains]
        self.begin = starts_of(sizes)
        self.share: Floats = np.concatenate([domain.shares for domain in self.domains])
        self.rows: Int64 = np.concatenate(
            [np.bincount(data.codes[name], minlength=size) for name, size in zip(lattice.names, sizes, strict=True)]
        )
        self.whole = np.zeros(self.begin[-1], np.bool_)
        self.whole[self.begin[:-1]] = True
        self.node = np.ones(len(sizes), np.int64)
        self.bound, self.least_unsure = 0.0, np.inf
        self._waiting: list[tuple[float, int, bytes, bytes]] = []

    def run(self, progress: Progress) -> OptimalRanges:
        """Look at sets of cuts by ascending bound, and at none that cannot lose less than the best one."""
        best = self._least_lost(
            (self._descend, self._branch),
            progress,
            "No ranges satisfy the requirements, not even one range of all values for each attribute; lower the "
            "requirements.",
        )
        bound = min(self.bound, self.least_unsure)
        return OptimalRanges(
            loss=best.loss,
            suppressed=best.suppressed,
            bound=bound if bound < best.loss - TIE else best.loss,
            n_checked=self.n_checked,
            attributes=self.lattice.names,
            cuts=tuple(
                tuple((np.flatnonzero(self.best_cuts[begin:end])[1:]).tolist())
                for begin, end in zip(self.begin[:-1], self.begin[1:], strict=True)
            ),
            n_cuts=int((~self.whole).sum()),
        )

    def _descend(self, progress: Progress) -> None:
        """Begin with ranges that lose little: the cut is made that lowers the loss most, as long as one does."""
        cuts = self.whole
        self._look_at(np.ones_like(cuts), progress)
        found = self._look_at(cuts, progress)
        while not self._is_enough():
            tried = [(self._look_at(_with(cuts, place), progress), place) for place in self._offered(cuts)]
            losses = [np.inf if one is None else one.loss for one, _ in tried]
            best = int(np.argmin(losses)) if losses else -1
            if best < 0 or (found is not None and losses[best] >= found.loss - TIE) or losses[best] == np.inf:
                return
            found, cuts = tried[best][0], _with(cuts, tried[best][1])

    def _offered(self, cuts: Bools) -> list[int]:
        """Points at which a range may be cut next, for each attribute those that leave about equal numbers of rows."""
        offered: list[int] = []
        for begin, end in zip(self.begin[:-1], self.begin[1:], strict=True):
            possible = begin + np.flatnonzero(~cuts[begin:end])
            if len(possible) > MOST_OFFERED:
                mass = np.cumsum(self.rows[possible])
                wanted = mass[-1] * (np.arange(MOST_OFFERED) + 0.5) / MOST_OFFERED
                possible = possible[np.unique(np.searchsorted(mass, wanted))]
            offered += possible.tolist()
        return offered

    def _branch(self, progress: Progress) -> None:
        """Decide one open cut after the other; `bound` is what all sets lose at least that were not looked at."""
        self._push(self.whole, ~self.whole, *self._grouped(self.whole))
        while self._waiting:
            self.bound, _, made_bits, open_bits = self._waiting[0]
            if self.best is not None and (self.bound >= self.best.loss - TIE or self._is_enough()):
                return
            heappop(self._waiting)
            made, is_open = (np.frombuffer(bits, np.bool_) for bits in (made_bits, open_bits))
            place = self._most_lost(made, is_open)
            still_open = is_open.copy()
            still_open[place] = False
            self._push(made, still_open, *self._grouped(made))
            cuts = _with(made, place)
            groups, group = self._grouped(cuts)
            self._judge(cuts, groups, progress)
            self._push(cuts, still_open, groups, group)
        self.bound = np.inf

    def _push(self, made: Bools, is_open: Bools, groups: Groups, group: Codes) -> None:
        """Put a branch on the heap, unless all that is below loses at least as much as the best, or nothing is open."""
        bound = max(self.bound, self._least_below(made | is_open, groups, group))
        if is_open.any() and (self.best is None or bound < self.best.loss - TIE):
            # Of equal bounds, the branch with fewest open cuts comes first: it is nearest to an answer.
            heappush(self._waiting, (bound, int(is_open.sum()), made.tobytes(), is_open.tobytes()))

    def _least_below(self, finest: Bools, groups: Groups, group: Codes) -> float:
        """What every set of cuts loses at least that cuts these groups further, at points of `finest` only.

        Infinite where none can be published. Rows in groups that are too small for any requirement are in such groups
        below too, where they are suppressed. All others lose as much as the narrowest range with enough rows of their
        group, or are suppressed.
        """
        if not self._is_possible(groups):
            return np.inf
        base, (first, last) = self.known[0], self._ends(finest)
        k = max(self.lattice.checks.minimum_rows, 1)
        losses = least_losses(
            base.codes, base.rows, group, len(groups.rows), self.begin[:-1], first, last, self.share, k
        )
        return float(base.rows @ np.minimum(losses, self.top)) / self.n_cells

    def _most_lost(self, made: Bools, is_open: Bools) -> int:
        """The open cut without which the finest ranges would lose most, the first of equal ones."""
        places = np.flatnonzero(is_open)
        cuts = made | is_open
        first, last = self._ends(cuts)
        sums = starts_of(self.rows)
        # Of the ranges on both sides: rows, and by how much each gets wider where they are one.
        attribute = np.searchsorted(self.begin, places, side="right") - 1
        start = self.begin[attribute]
        before, after = first[places - 1] + start, last[places] + start
        rows_before, rows_after = sums[places] - sums[before], sums[after + 1] - sums[places]
        more_before = self.share[after] - self.share[places - 1]
        more_after = self.share[places] - self.share[before]
        return int(places[np.argmax(np.round(rows_before * more_before + rows_after * more_after, 9))])

    def _ends(self, cuts: Bools) -> tuple[Codes, Codes]:
        """The first and the last code of the range that every code is in, both int32 (n_codes,)."""
        starts = np.flatnonzero(cuts)
        lengths = np.diff(np.append(starts, len(cuts)))
        offset = np.repeat(self.begin[:-1], np.diff(self.begin))
        first = np.repeat(starts, lengths) - offset
        return first.astype(np.int32), (np.repeat(starts + lengths, lengths) - 1 - offset).astype(np.int32)

    def set_cuts(self, cuts: Bools) -> None:
        """Let the first level of every attribute stand for these ranges."""
        first, last = self._ends(cuts)
        offset = np.repeat(self.begin[:-1], np.diff(self.begin))
        lost, inner = self.share[last + offset] - self.share[first + offset], self.begin[1:-1]
        exact = (np.arange(len(domain), dtype=np.int32) for domain in self.domains)
        self.first = [np.vstack(pair) for pair in zip(exact, np.split(first, inner), strict=True)]
        self.last = np.split(last, inner)
        self.tables = level_tables(self.first, [np.vstack((np.zeros_like(one), one)) for one in np.split(lost, inner)])

    def _grouped(self, cuts: Bools) -> tuple[Groups, Codes]:
        """The groups of a set of cuts, and which of them each group of exact values is in."""
        self.set_cuts(cuts)
        return self.coarser(self.known[0], self.node)

    def _look_at(self, cuts: Bools, progress: Progress) -> Found | None:
        """Group the table by a set of cuts: what it loses."""
        return self._judge(cuts, self._grouped(cuts)[0], progress)

    def _judge(self, cuts: Bools, groups: Groups, progress: Progress) -> Found | None:
        """What the groups of a set of cuts lose; None where too many rows would be suppressed."""
        progress(0.05 + 0.85 * min(self.n_checked / self.most_checked, 1), f"{self.n_checked:,} sets of ranges tried")
        found = self.found(groups)
        self.least_unsure = min(self.least_unsure, self.unsure.pop(tuple(self.node.tolist()), np.inf))
        if found is not None and (self.best is None or found.loss < self.best.loss - TIE):
            self.best, self.best_cuts = found, cuts
        return found

    def best_groups(self) -> Groups:
        """The groups of the best ranges."""
        return self._grouped(self.best_cuts)[0]


def _with(cuts: Bools, place: int) -> Bools:
    """The cuts and one more."""
    more = cuts.copy()
    more[place] = True
    return more
