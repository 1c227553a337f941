"""The least information loss that is possible: a bound that no release with classes of at least k rows is below."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isnan
from time import perf_counter
from typing import Any

import numpy as np

from anoncore.base.arguments import checked, checked_methods
from anoncore.base.compile_time import CompileTime, recorded
from anoncore.base.errors import InfeasibleError, ParameterError
from anoncore.base.progress import Progress, silent
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Bools, Floats, Int32, Int64, record
from anoncore.kernels.cheapest_boxes import UNIT, search_boxes
from anoncore.kernels.grouping import starts_of
from anoncore.table.microdata import Microdata
from anoncore.utility.box_rows import DistinctRows

MOST_BOXES = 2_000
"""Boxes that are looked at for one row; what is left then counts as possible, which makes the bound lower."""
SLACK = UNIT >> 17
"""Excess that is not looked for, which every price is lowered by: less than 0.00001 of a cell."""
LEADERS_AT_ONCE = 16
"""Rows that the kernel searches at most before progress is told and the time is looked at."""
SECONDS_AT_ONCE = 0.2
"""Seconds that such a part of the rows shall take, about."""
BOXES_AT_ONCE = 10_000
"""Boxes that are looked at for such a part, where these are counted, about."""
LARGEST_RESULT = 2**20
"""Rows of sets that the kernel may return at once."""
PRICE_STEPS = 400
"""Steps in which prices move before they are proven anew."""
BALANCE = 20.0
"""Steps of shares against steps of prices: the ratio of how far both have to go, of tables with a few values."""
LARGEST_POOL = 2**24
"""Rows in known sets above which sets that no longer matter are forgotten."""
WAY_OF_MEAN, WAY_OF_OWN = 0.5, 0.2
"""How far a price moves in a round: so much of the mean price and of itself. Farther away it takes longer to prove."""
SHORTEST_WAY = 1e-3
"""Part of the first ways below which prices no longer move."""
LEAST_NEW = 1e-4
"""Part of the rows that must be in a set that was not known before, for another round to follow."""


@checked_methods
@record
class LeastLoss(Result):
    """A loss that no release is below, and the prices that prove it.

    Attributes
    ----------
    k : int
        Fewest rows of a class.
    bound : float
        No generalization with classes of at least k rows has a smaller information loss.
    certified : bool
        Whether the prices were compared with every class that they could break. It is so of every bound that is given:
        of rows that were not compared, because the time was up, only what is plain without a search counts.
    least_box : float
        The bound that the cheapest class around each row gives alone.
    seconds : float
        How long it took, without compiling.
    prices : ndarray of float, shape (n_rows,)
        What each row has to lose: in any class of k rows the prices have no larger mean than the loss of its cells. The
        mean of all of them is the bound, but for rounding.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46]})
    >>> least = utility.least_loss(Microdata(people, roles={"age": "quasi-identifier"}), k=3)
    >>> round(least.bound, 6), least.prices.round(6).mean().item(), least.certified
    (0.08, 0.08, True)
    """

    k: int
    bound: float
    certified: bool
    least_box: float
    seconds: float
    prices: Floats

    def _headline(self) -> str:
        return f"Least information loss for groups of {self.k:,}: {self.bound:.6g}"


@checked
def least_loss(data: Microdata, k: int, seconds: float = 20.0, progress: Progress | None = None) -> LeastLoss:
    """Prove how little information any generalization with classes of at least k rows can lose.

    The bound holds for every release of one table in which each row shares its cells with at least k - 1 others, made
    by any method and whatever else it promises: further requirements, such as l-diversity or t-closeness, and counting
    people instead of rows leave fewer releases. Rows that are suppressed altogether may be fewer than k. Attributes
    with a hierarchy are published as its nodes, numbers as ranges, others as sets.

    First it is the mean over the rows of what the cheapest k rows around each lose. Then every row gets a price, as
    high as possible in sum while k rows of any class never cost more than they lose. Prices come from a linear program
    over the classes that are known to be cheap and are lowered until an exhaustive search finds no class that breaks
    them; so the bound does not depend on how well the program was solved. More time makes it higher, never wrong.

    Parameters
    ----------
    data : Microdata
        The table.
    k : int
        Fewest rows of a class, at least 1.
    seconds : float
        Time to use at most, about; less where nothing more is to be gained.
    progress : callable, optional
        `progress(share done, text)` is called as the work goes on; it may raise CancelledError.

    Returns
    -------
    LeastLoss
        The bound, and the prices that prove it.

    Raises
    ------
    DataError
        For a table without a quasi-identifier.
    ParameterError
        For a k below 1, or seconds below 0.
    InfeasibleError
        Where there are fewer than k people.

    Notes
    -----
    Assumes: the release generalizes; methods that publish exact values, change values or draw up tables of their own
      can lose less, and so can vertical fragments with classes of their own.
    Cost: O(m log m + m c d) for m different rows, d attributes and c rows that may share a class with one; then a
      round of prices takes about as long again. Tables in which most rows differ in costly attributes have few.
    Use: somebody asks how far a release is from the best possible one.
    Avoid: the loss of one release is asked: see `information_loss`.

    References
    ----------
    Duality of set partitioning: Dantzig and Wolfe, Operations Research 1960; first-order method for the master program:
    Chambolle and Pock, Journal of Mathematical Imaging and Vision 2011. The proof is in the documentation.

    Examples
    --------
    The least that classes of three lose is what Mondrian reaches:

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> float(utility.information_loss(release)), round(utility.least_loss(data, k=3).bound, 6)
    (0.08, 0.08)
    """
    if k < 1:
        raise ParameterError(f"k should be greater than or equal to 1, not {k}.")
    if isnan(seconds) or seconds < 0:
        raise ParameterError(f"seconds should be greater than or equal to 0, not {seconds}.")
    data.require_quasi_identifiers()
    if k > data.n_people:
        raise InfeasibleError(
            f"k = {k:,} is not possible: the table has {data.n_people:,} {data.people_word}; choose k at most "
            f"{data.n_people:,}.",
            nearest=data.n_people,
        )
    with recorded() as compiling:
        clock = Clock(seconds, compiling, progress or silent)
        rows = DistinctRows.of(data)
        search = PriceSearch(rows, k, clock)
        search.compare_boxes()
        least_box = search.bound
        search.raise_prices()
    prices = search.prices[rows.number] / (UNIT * rows.n_cells)
    return LeastLoss(k, search.bound, True, least_box, clock.used, prices)


class Clock:
    """The seconds that were used, without compiling, and whom that is told."""

    at_once = SECONDS_AT_ONCE

    def __init__(self, most: float, compiling: CompileTime, progress: Progress) -> None:
        self.most, self.compiling, self.progress = most, compiling, progress
        self.begin = perf_counter()

    @property
    def used(self) -> float:
        """Seconds so far."""
        return max(perf_counter() - self.begin - self.compiling.seconds, 0.0)

    def count(self, n_boxes: int) -> None:
        """Hear of boxes that were looked at, which is not what this clock counts."""

    def is_over(self, text: str) -> bool:
        """Whether the time is up; tells how much of it is."""
        used = self.used
        self.progress(min(used / self.most, 1.0) if self.most > 0 else 1.0, text)
        return used >= self.most


class BoxClock(Clock):
    """Counts boxes instead of seconds, so that a search ends with the same prices on every machine."""

    at_once = BOXES_AT_ONCE

    def __init__(self, most: float, progress: Progress) -> None:
        super().__init__(most, CompileTime(), progress)
        self.n_boxes = 0

    @property
    def used(self) -> float:
        """Boxes so far."""
        return self.n_boxes

    def count(self, n_boxes: int) -> None:
        """Add boxes that were looked at."""
        self.n_boxes += n_boxes


@dataclass(eq=False)
class RowSets:
    """Sets of k rows: `members` of one after the other, each `copies` times, how many they are, k times their loss."""

    members: Int32
    copies: Int32
    sizes: Int64
    limits: Int64

    def chosen(self, which: Bools) -> RowSets:
        """Some of the sets."""
        in_chosen = np.repeat(which, self.sizes)
        return RowSets(self.members[in_chosen], self.copies[in_chosen], self.sizes[which], self.limits[which])

    def __add__(self, other: RowSets) -> RowSets:
        return RowSets(
            np.concatenate([self.members, other.members]),
            np.concatenate([self.copies, other.copies]),
            np.concatenate([self.sizes, other.sizes]),
            np.concatenate([self.limits, other.limits]),
        )


@dataclass(eq=False)
class PriceSearch:
    """Prices that no class breaks, and the sets by which higher ones are looked for.

    `prices` int64 (m,) of the different rows, in `UNIT` per cell.
    """

    rows: DistinctRows
    k: int
    clock: Clock
    prices: Int64 = field(init=False)
    sets: RowSets = field(init=False)
    shares: Floats = field(init=False)

    def __post_init__(self) -> None:
        n_rows = len(self.rows.boxes.amounts)
        self.prices, self.shares = self.rows.least_steps(self.k), np.zeros(0)
        none = np.zeros(0, np.int32)
        self.sets = RowSets(none, none, np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._known: set[int] = set()
        # A random word per row: the sum over a set tells it from others.
        self._words = np.random.default_rng(5).integers(0, 2**64, n_rows, dtype=np.uint64)

    @property
    def bound(self) -> float:
        """The mean loss per cell that the prices prove; one unit more than the error covers the doubles of the sum."""
        amounts = self.rows.boxes.amounts
        mean = float(amounts @ (self.prices / UNIT)) / int(amounts.sum())
        return max(mean - (self.rows.error + 1) / UNIT, 0.0) / self.rows.n_cells

    def compare_boxes(self) -> None:
        """Give every row the price of the cheapest box around it, as far as the time goes."""
        n_rows, done, most_boxes = len(self.prices), 0, MOST_BOXES
        no_prices, begin = np.zeros(n_rows, np.int64), self.clock.used
        # In parts in a random order, so that those that are reached in time are like the others.
        starts = np.random.default_rng(5).permutation(np.arange(0, n_rows, LEADERS_AT_ONCE))
        order = np.concatenate([np.arange(start, min(start + LEADERS_AT_ONCE, n_rows)) for start in starts])
        for leaders in self._parts(order, "Comparing the cheapest groups"):
            excess, sets = self._searched(leaders, no_prices, no_prices, False, most_boxes)
            self.prices[leaders] = -excess // self.k
            self._learn(sets)
            done += len(leaders)
            per_row = (self.clock.used - begin) / done
            time_left = (self.clock.most - self.clock.used) / max(per_row * (n_rows - done), 1e-9)
            most_boxes = int(min(max(MOST_BOXES * time_left, 1), MOST_BOXES))

    def raise_prices(self) -> None:
        """Move the prices up by what is known, lower them until they are proven, and so on while the bound rises."""
        way, took = 1.0, 0.0
        # A round takes no less time than the one before it, and one that does not end proves nothing.
        while way > SHORTEST_WAY and self.prices.any() and self.clock.used + took < self.clock.most:
            n_known, begin = len(self._known), self.clock.used
            prices = self._proven(self._moved(way))
            if prices is None:
                break
            if self.rows.boxes.amounts @ (prices - self.prices) > 0:
                self.prices = prices
            else:
                way /= 2
            if len(self._known) - n_known <= LEAST_NEW * len(prices):
                break
            took = self.clock.used - begin

    def _parts(self, order: Int64, text: str) -> Iterator[Int64]:
        """Rows in parts that take about equally long, until the time is up."""
        most = max(min(LEADERS_AT_ONCE, LARGEST_RESULT // self.k), 1)
        start, size = 0, most
        while start < len(order) and not self.clock.is_over(text):
            begin = self.clock.used
            yield order[start : start + size]
            start += size
            per_row = (self.clock.used - begin) / size
            size = int(min(max(self.clock.at_once / max(per_row, 1e-9), 1), most))

    def _searched(
        self, leaders: Int64, prices: Int64, ranks: Int64, is_priced: bool, most_boxes: int
    ) -> tuple[Int64, RowSets]:
        """Search around some rows; returns what no excess is above, and the sets that were found."""
        n = len(leaders)
        excess, sizes, losses = (np.zeros(n, np.int64) for _ in range(3))
        members, copies = (np.zeros((n, self.k), np.int32) for _ in range(2))
        n_boxes = search_boxes(
            self.rows.boxes, leaders, self.k, prices, ranks, is_priced, SLACK if is_priced else 0, most_boxes,
            excess, sizes, losses, members, copies,
        )  # fmt: skip
        self.clock.count(n_boxes)
        is_member = np.arange(self.k) < sizes[:, None]
        sets = RowSets(members[is_member], copies[is_member], sizes, losses * self.k)
        return excess, sets.chosen(sizes > 0)

    def _learn(self, sets: RowSets) -> None:
        """Add the sets that are not known yet."""
        if not len(sets.sizes):
            return
        words = self._words[sets.members] * sets.copies.astype(np.uint64)
        is_new = np.zeros(len(sets.sizes), np.bool_)
        for at, key in enumerate(np.add.reduceat(words, np.cumsum(sets.sizes) - sets.sizes).tolist()):
            is_new[at] = key not in self._known
            self._known.add(key)
        self.sets += sets.chosen(is_new)

    def _moved(self, way: float) -> Int64:
        """Prices that are higher in sum and that hardly any known set breaks, not far from the proven ones."""
        boxes, sets = self.rows.boxes, self.sets
        shares = np.append(self.shares, np.zeros(len(sets.sizes) - len(self.shares)))
        # scipy.sparse is slow to import, and only this needs it.
        from scipy.sparse import csr_array

        parts = sets.copies.astype(np.float64), sets.members, starts_of(sets.sizes)
        table = csr_array(parts, (len(sets.sizes), len(self.prices)))
        mean = float(np.average(self.prices, weights=boxes.amounts))
        reach = way * (WAY_OF_MEAN * mean + WAY_OF_OWN * np.abs(self.prices))
        # Rows that are suppressed lose all there is, however few they are, so that no price may be higher.
        highest = np.minimum(self.prices + reach, self.rows.n_cells * UNIT)
        # Enough equal rows lose nothing.
        highest[boxes.amounts >= self.k] = 0.0
        lowest = np.minimum(self.prices - reach, highest)
        amounts, ends = boxes.amounts.astype(np.float64), (lowest / UNIT, highest / UNIT)
        prices, self.shares = _mean_of_steps(table, sets.limits / UNIT, amounts, *ends, self.prices / UNIT, shares)
        if len(sets.members) > LARGEST_POOL:
            matters = self.shares > 0
            self.sets, self.shares = sets.chosen(matters), self.shares[matters]
        return np.minimum(np.floor(prices * UNIT), highest).astype(np.int64)

    def _proven(self, prices: Int64) -> Int64 | None:
        """The prices, lowered until no class breaks them; None where the time is up before."""
        order = np.argsort(prices, kind="stable")
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order))
        done, found = 0, []
        for leaders in self._parts(order, "Proving the prices"):
            found.append(self._searched(leaders, prices, ranks, True, MOST_BOXES)[1])
            done += len(leaders)
        for sets in found:
            self._learn(sets)
        return prices if done == len(order) else None


def _mean_of_steps(
    table: Any, limits: Floats, amounts: Floats, lowest: Floats, highest: Floats, prices: Floats, shares: Floats
) -> tuple[Floats, Floats]:
    """Prices that are as high as possible in sum while hardly any set costs more than its limit, and the sets' shares.

    `table` (n_sets, n_rows) says how often a set has each row, of which there are `amounts`. Prices move up where too
    few sets hold a row, and the share of a set in the whole moves up where its rows cost too much (PDHG, Chambolle and
    Pock 2011). The means over all steps are nearer the goal than the last one. They are nearly right, and that is
    enough: prices are lowered afterwards until they are proven.
    """
    turned = table.T.tocsr()
    price_step, share_step = 1 / (BALANCE * np.maximum(turned.sum(axis=1), 1.0)), BALANCE / table.sum(axis=1)
    price, share = np.clip(prices, lowest, highest), shares
    mean_price, mean_share = np.zeros_like(price), np.zeros_like(share)
    for _ in range(PRICE_STEPS):
        before, price = price, np.clip(price + price_step * (amounts - turned @ share), lowest, highest)
        share = np.maximum(share + share_step * (table @ (2 * price - before) - limits), 0.0)
        mean_price += price / PRICE_STEPS
        mean_share += share / PRICE_STEPS
    return mean_price, mean_share
