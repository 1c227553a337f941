"""The breach of the foreground-knowledge attack from some of its attribute sets, with an interval."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import comb
from weakref import WeakKeyDictionary

import numpy as np

from anoncore.attacks.foreground.attack import check_adversary, minimum_signature_rows
from anoncore.attacks.foreground.mining import Target, Unreliable, attack_sets, breach_limit
from anoncore.attacks.foreground.sets import Signatures, levels, signatures_of
from anoncore.attacks.foreground.solver import FULL, Precision, Solver
from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError
from anoncore.base.estimate import Estimate
from anoncore.kernels.arrays import Bools, Codes, Floats
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.release.release import Release
from anoncore.table.domain import Domain
from anoncore.table.microdata import Microdata

QUICK_ROWS = 5_000_000
"""Rows in small groups that are attacked in some tenths of a second, over all attribute sets."""
HEAVY_GROUPS = 2_500.0
"""People of their group with their value, times people of their group, at which a row takes twice as long."""
SIZES = tuple(sorted(size * 2**power for power in range(12) for size in (24, 32)))
"""Numbers of attribute sets that are drawn, so that releases of one table share their samples. From fewer than that one
cannot tell how much the others add.
"""
SEARCHED_ROWS = 60_000
"""Rows of which the frequent attribute sets are listed; of a larger table they are a random sample."""
MOST_LISTED = 4_000
"""Attribute sets that are listed at most; larger ones are not looked for where they could be more."""
MOST_LISTS = 4
"""Lists of the attribute sets of one table that are kept."""
TOWARDS_MOST = 0.25
"""Weight of the upper bound in what is added for the sets that are left out; see `_extended`."""
STANDARD_ERRORS = 2.2
ROUGHLY = Precision(tolerance=1e-6, most_steps=1_000)
"""Shares that no longer move in the sixth decimal. Fewer steps save little and leave out who is given away at the end:
where groups are large, shares move slowly for a long time.
"""
SMALLEST_MARGIN = 0.002
"""A share of the people so small that a few sets may hold it which no sample shows."""


@dataclass(frozen=True, kw_only=True)
class ForegroundEstimate(Estimate):
    """The share of breached people that the whole foreground-knowledge attack will find, from some attribute sets.

    Attributes
    ----------
    value : float
        The best guess at the recall of the whole attack.
    low, high : float
        The interval that holds it; `low` is at least the share of the people whom the drawn attribute sets give away.
    confidence : float
        Share of the cases in which the interval holds it.
    how : str
        How many attribute sets were drawn, in a few words.
    baseline : float
        The same share for an adversary who takes every possible world for equally likely.
    n_sets : int
        Attribute sets that were attacked with.
    n_all : int
        Attribute sets that the whole attack goes through; of a large table, as far as a sample of its rows tells.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> found = attacks.foreground_knowledge_estimate(release, "disease", epsilon=0.4)
    >>> found.how, found.n_sets, found.n_all
    ('from all attribute sets', 1, 1)
    """

    baseline: float
    n_sets: int
    n_all: int


@checked
def foreground_knowledge_estimate(
    release: Release,
    attribute: str,
    r: float = 2.0,
    epsilon: float = 0.01,
    sigma: float = 0.9,
    unreliable: Unreliable = "overall",
    solver: Solver = "fixed-point",
    max_size: int | None = None,
    seed: int = 0,
    progress: Callable[[float, str], None] | None = None,
    at_least: bool = False,
) -> ForegroundEstimate:
    """Estimate the breach that `foreground_knowledge` finds, from the attack with some of its attribute sets.

    The sets are drawn evenly from the list of all sets, sorted by size. Whoever one of them gives away is given away by
    the whole attack too; only the shares are learned to five or six decimals here. How many more people the other
    sets give away lies between two bounds, which follow from how many of them one drawn set gives away, and how many
    two: a weighted geometric mean of both bounds is added. The interval reaches 2.2 standard errors to both sides, by
    the jackknife over the sets. How many sets are drawn follows from the rows and the groups alone. Where all of them
    are quick, the attack is the whole one.

    Parameters
    ----------
    release : Release
        The release that the adversary reads.
    attribute : str
        The sensitive attribute whose value is guessed.
    r : float
        A breach is a belief above 1 / r; at least 1.
    epsilon : float
        Error that the adversary accepts in what they learn, above 0.
    sigma : float
        Chance of a larger error, above 0 and at most 1.
    unreliable : {"overall", "uniform", "group"}
        Share of x that people with rare signatures are taken to have: the overall share, 1/2, or that in their group.
    solver : {"fixed-point", "newton"}
        How the shares are found.
    max_size : int, optional
        Most attributes in a set; by default all.
    seed : int
        Draws the sets, and the rows of a large table by which they are listed.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop the attack.
    at_least : bool
        Count a belief of exactly 1 / r as a breach too.

    Returns
    -------
    ForegroundEstimate
        The estimate with its interval, and the sets that it is from.

    Raises
    ------
    ReleaseError
        For fragments with partitions of their own, or an attribute that is generalized.
    DataError
        Without quasi-identifiers, or for an attribute that is not sensitive.
    ParameterError
        For a number out of range.

    Notes
    -----
    Assumes: sets of attributes that are left out give away about as many people as those that are drawn.
    Cost: that of `foreground_knowledge` with about 5,000,000 / n of its attribute sets for n rows, and at least 24.
    Use: a first answer is needed at once, and the exact one follows.
    Avoid: the number is published; see `foreground_knowledge`.

    References
    ----------
    Chao and Lin, Nonparametric Lower Bounds for Species Richness and Shared Species Richness under Sampling without
    Replacement, Biometrics 68, 2012.

    Examples
    --------
    A table with so few attribute sets is attacked with all of them, and the number is exact:

    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> found = attacks.foreground_knowledge_estimate(release, "disease", epsilon=0.4)
    >>> found.low, found.value, found.high, found.is_exact
    (1.0, 1.0, 1.0, True)
    """
    release.require_people("Foreground knowledge is turned against the group that holds a person's row")
    check_adversary(r, epsilon, sigma, max_size, unreliable, solver)
    names = tuple(name for name in release.data.require_quasi_identifiers() if name != attribute)
    target = Target.of(release, attribute, unreliable)
    limit = breach_limit(r, at_least)
    guess = target.figures(*target.random_worlds(), limit)[0]
    if seed < 0:
        raise ParameterError(f"The seed must be at least 0, not {seed}.")
    listed = _list_of(release.data, names, minimum_signature_rows(epsilon, sigma), max_size, seed)
    cost = _cost(target)
    is_whole = listed.n_all * cost <= QUICK_ROWS or target.n_needing == 0
    affordable = [size for size in SIZES if size * cost <= QUICK_ROWS]
    sample = listed.drawn(len(listed.sets) if is_whole else max(affordable, default=SIZES[0]))
    in_order = target.needs[target.partition.order]
    breached = np.empty((len(sample.sets), target.n_needing), dtype=np.bool_)
    precision = FULL if is_whole else ROUGHLY
    for place, (done, (_, found)) in enumerate(attack_sets(sample.shared_out(), target, limit, solver, precision)):
        breached[place] = lies_above(found.own[in_order], limit, ACCUMULATED)
        if progress is not None:
            progress(done, f"{place + 1:,} of {sample.n_all:,} attribute sets learned")
    if is_whole or not sample.sets:
        value = guess if not sample.sets or target.n_needing == 0 else float(breached.any(axis=0).mean())
        return _told(value, value, value, guess, sample)
    return _told(*interval(breached, sample.n_all), guess, sample)


def _cost(target: Target) -> float:
    """What the attack with one set costs, in rows of small groups: large groups have more possible worlds."""
    people = target.partition.sizes[target.published.group]
    return target.partition.n_rows + float((target.published.n * people).sum()) / HEAVY_GROUPS


def _told(value: float, low: float, high: float, baseline: float, sample: _Sample) -> ForegroundEstimate:
    """The estimate in words, and what it is from."""
    n_sets = len(sample.sets)
    return ForegroundEstimate(
        value=value,
        low=low,
        high=high,
        confidence=1.0 if low == high else 0.95,
        how="from all attribute sets"
        if n_sets == sample.n_all
        else f"from {n_sets:,} of {sample.n_all:,} attribute sets",
        baseline=baseline,
        n_sets=n_sets,
        n_all=sample.n_all,
    )


def interval(breached: Bools, n_all: int) -> tuple[float, float, float]:
    """How many people all `n_all` sets give away: the best guess, and the ends of its interval, as shares.

    `breached` bool (n_sets, n_people) tells whom each of the drawn sets gives away. The variance is that of the
    jackknife: what the guess would be without one of the sets.
    """
    n_sets, n_people = breached.shape
    times = breached.sum(axis=0)
    counts = np.bincount(times, minlength=n_sets + 1) / n_people
    value = _extended(counts, n_sets, n_all)
    without = np.empty(n_sets)
    for place, given in enumerate(breached):
        moved = np.bincount(times[given], minlength=n_sets + 1) / n_people
        left = (counts - moved)[:-1] + moved[1:]
        without[place] = _extended(left, n_sets - 1, n_all - 1)
    left_out = 1 - n_sets / n_all
    error = np.sqrt(left_out * (n_sets - 1) / n_sets * ((without - without.mean()) ** 2).sum())
    margin = STANDARD_ERRORS * float(error) + SMALLEST_MARGIN
    return value, max(value - margin, 1 - float(counts[0])), min(value + margin, 1.0)


def _extended(counts: Floats, n_sets: int, n_all: int) -> float:
    """The share of the people whom any of `n_all` sets gives away, by how many of `n_sets` sets drawn from them do.

    `counts` float (n_sets + 1,): shares of the people by the number of drawn sets that give them away. The others are
    at least as many as Chao and Lin's bound says. They are at most as many as if each of those whom exactly one drawn
    set gives away were given away by that set alone.
    """
    if n_sets == n_all:
        return float(1 - counts[0])
    drawn = n_sets / n_all
    once, twice = float(counts[1]), float(counts[2:3].sum())
    often = 2 * twice * n_sets / max(n_sets - 1, 1) + once * drawn / (1 - drawn)
    least = once**2 / often if often > 0 else 0.0
    most = once * (1 - drawn) / drawn
    return min(float(1 - counts[0] + least ** (1 - TOWARDS_MOST) * most**TOWARDS_MOST), 1.0)


@dataclass(frozen=True, eq=False)
class _Sample:
    """Attribute sets that are drawn, with the smallest codes that hold their classes, and how many there are in all."""

    sets: tuple[Signatures, ...]
    n_all: int

    def shared_out(self) -> Iterator[tuple[float, Signatures]]:
        """Each set as the attack takes it, with the share of the sets that are then done."""
        for done, one in enumerate(self.sets, start=1):
            yield done / len(self.sets), Signatures(one.attributes, one.classes.astype(np.int32), one.rows, one.values)


@dataclass(frozen=True, eq=False)
class _SomeRows:
    """Some rows of a table, by their codes."""

    n_rows: int
    codes: Mapping[str, Codes]
    domain: Mapping[str, Domain]


class _List:
    """The attribute sets of a table with a frequent signature, and samples of them.

    `n_all` is how many there are, at most where not all are listed.
    """

    def __init__(
        self, data: Microdata, names: tuple[str, ...], minimum_rows: float, max_size: int | None, seed: int
    ) -> None:
        rng = np.random.default_rng(seed)
        self.sets, self.n_all = _listed(data, names, minimum_rows, max_size, rng)
        self._data = weakref.ref(data)
        self._minimum_rows = minimum_rows
        self._start = float(rng.random())
        self._samples: dict[int, _Sample] = {}

    def drawn(self, n_sets: int) -> _Sample:
        """So many sets from evenly distributed places of the list, or all where there are fewer."""
        wanted = min(n_sets, len(self.sets))
        with _lock:
            if wanted not in self._samples:
                self._samples[wanted] = self._sample(wanted)
            return self._samples[wanted]

    def _sample(self, n_sets: int) -> _Sample:
        data = self._data()
        assert data is not None, "a list is asked for by its table"
        places = ((np.arange(n_sets) + self._start) * len(self.sets) / max(n_sets, 1)).astype(np.int64)
        signatures = [signatures_of(data, self.sets[place], self._minimum_rows) for place in places]
        found = tuple(_small(one) for one in signatures if one is not None)
        # Of a large table, some sets that are listed have no frequent signature, as the drawn ones show.
        return _Sample(found, max(round(self.n_all * len(found) / max(n_sets, 1)), len(found)))


_lists: WeakKeyDictionary[Microdata, OrderedDict[tuple[object, ...], _List]] = WeakKeyDictionary()
_lock = threading.RLock()


def _list_of(data: Microdata, names: tuple[str, ...], minimum_rows: float, max_size: int | None, seed: int) -> _List:
    """The list of a table's attribute sets, which is the same for all its releases and therefore kept."""
    key = (names, minimum_rows, max_size, seed)
    # One release makes the list, and the others wait for it instead of making it a second time.
    with _lock:
        kept = _lists.setdefault(data, OrderedDict())
        if key not in kept:
            kept[key] = _List(data, *key)
        kept.move_to_end(key)
        while len(kept) > MOST_LISTS:
            kept.popitem(last=False)
        return kept[key]


def _listed(
    data: Microdata, names: tuple[str, ...], minimum_rows: float, max_size: int | None, rng: np.random.Generator
) -> tuple[list[tuple[str, ...]], int]:
    """The attribute sets with a frequent signature, by size, and how many: at most, if some are left out."""
    rows: Microdata | _SomeRows = data
    if data.n_rows > SEARCHED_ROWS:
        some = np.sort(rng.choice(data.n_rows, SEARCHED_ROWS, replace=False))
        rows = _SomeRows(SEARCHED_ROWS, {name: data.codes[name][some] for name in names}, data.domain)
    listed: list[tuple[str, ...]] = []
    largest = len(names) if max_size is None else min(max_size, len(names))
    for size, level in enumerate(levels(rows, names, minimum_rows * rows.n_rows / data.n_rows, max_size), start=1):
        listed += [one.attributes for one in level]
        # A set of the next size has size + 1 subsets of this one, and each of these could grow by any other attribute.
        most_next = len(level) * (len(names) - size) // (size + 1)
        if size < largest and len(listed) + most_next > MOST_LISTED:
            return listed, sum(comb(len(names), number) for number in range(1, largest + 1))
    return listed, len(listed)


def _small(one: Signatures) -> Signatures:
    """The same with classes in as few bytes as they need."""
    return Signatures(one.attributes, one.classes.astype(np.min_scalar_type(len(one))), one.rows, one.values)
