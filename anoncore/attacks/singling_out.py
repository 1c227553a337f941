"""Singling out: can somebody write down a predicate that is true of exactly one person of the released table?"""

from __future__ import annotations

from collections.abc import Callable
from math import nan

import numpy as np

from anoncore.attacks.control_figures import AttackNumbers, Figures, Interval, Tried, checked_queries, figures
from anoncore.attacks.control_people import People, attacked_attributes, control_of, members_of
from anoncore.attacks.linked_records import Records
from anoncore.attacks.rows_counted import rows_counted
from anoncore.attacks.success_among_more import SuccessAmongMore
from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.base.extras import imported
from anoncore.base.number import measure
from anoncore.base.random_numbers import generator
from anoncore.kernels.arrays import Bools, Codes, Int64, record
from anoncore.kernels.grouping import owners
from anoncore.kernels.guessing import Regions, count_inside, records_inside
from anoncore.privacy.published import published_key
from anoncore.release.population import regions, sets_from
from anoncore.release.release import Release
from anoncore.table.domain import Domain
from anoncore.table.microdata import Microdata, content_order

SINGLING_OUT = AttackNumbers.of(
    "singling-out",
    "Singling out",
    "Share of the adversary's predicates that are true of exactly one person",
    "How many of the predicates that the adversary is sure of are true of exactly one person in the table.",
    "How many of the published records that were tried gave a predicate true of exactly one person in the table.",
    "about 37%, (1 - 1/n)^(n - 1): a predicate that is true of any one of n people with the probability 1/n.",
)
ATTEMPTS = 50
"""Predicates that are tried for each one that is wanted."""


@record
class SinglingOut(Figures):
    """How often a predicate is true of exactly one person of the table, and of exactly one of people who are not in it.

    Attributes
    ----------
    members : Score
        Share of right guesses about people who are in the table, beside what guessing without the release gets.
    control : Score
        The same about people who are not in it; NaN without a control part.
    difference : Score
        How much more often guesses are right about people in the table: what only the release tells of them. NaN
        without a control part.
    precision, recall : Score
        How many predicates are right, and how many of the published records that were tried gave one that is.
    members_interval, control_interval, difference_interval : tuple of float
        95% intervals, of all adversaries at once: that several were tried is allowed for.
    adversary : str
        The best adversary: the one with the largest lower end of the interval of the difference, without a control part
        of that of the success.
    adversaries : DataFrame
        A line per adversary, with the figures above and the ends of their intervals.
    beats_guessing : bool
        Whether the success is surely above that of guessing.
    notes : tuple of str
        What to know of the numbers, in sentences.
    attributes : tuple of str
        The attributes that predicates are about.
    n_predicates : int
        Predicates of the best adversary.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": range(20, 60), "zip": np.random.default_rng(0).permutation(40)})
    >>> data = Microdata(people, roles=dict.fromkeys(people.columns, "quasi-identifier"))
    >>> members, others = data.split(control=0.5, seed=1)
    >>> raw = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(members)
    >>> found = attacks.singling_out(raw, control=others)
    >>> float(found.members), found.beats_guessing
    (1.0, True)
    """

    attributes: tuple[str, ...]
    n_predicates: int


@record
class _Predicates:
    """Predicates as regions, and how many records were tried to make them."""

    regions: Regions
    tried: int

    def __len__(self) -> int:
        return len(self.regions.low)

    def counts(self, people: People) -> Int64:
        """Of how many people each is true, int64 (n_predicates,)."""
        if not len(self):
            return np.zeros(0, np.int64)
        weight = np.ones(len(people), np.int64)
        return count_inside(people.positions, weight, self.regions)


@measure(*SINGLING_OUT.all, title="Singling out")
@checked
def singling_out(
    release: Release,
    control: Microdata | None = None,
    n_queries: int = 2_000,
    n_attributes: int = 3,
    seed: int = 0,
) -> SinglingOut:
    """How often somebody who reads a release writes down a predicate that is true of exactly one person of the table.

    A predicate is a condition on values, such as "age at least 80, sex f, postcode 12345". Whoever finds one that is
    true of one person only has singled that person out, without knowing who it is. The same predicates are counted
    among people who are not in the table: as many as these single out are a matter of chance. Four adversaries write
    predicates, each from what is published alone:

    - rules from the release: whatever stands once in a published table, with all its cells.
    - several attributes: the cells of a random record in a few attributes, numbers as "at least" above the median and
      "at most" below it, if no other published record fits (anonymeter's multivariate attack).
    - one attribute: a value that is published once, or beyond the smallest or largest one (its univariate attack).
    - learned model: a randomized tree of scikit-learn that separates the published records, with a value of each range
      or set drawn at random; leaves with one record are predicates.

    All but the first link the fragments at random within what links them. If the control part is larger than the
    table, it is thinned out, exactly. If it is smaller, its success among as many people as the table has is estimated,
    with an interval that holds however likely each predicate is: with 2,000 predicates about ±8 points for a table
    twice as large, and ±13 for one four times as large. With fewer predicates it is wider.

    Parameters
    ----------
    release : Release
        The release that the adversaries read.
    control : Microdata, optional
        People who are not in the release, drawn as those were who are in it; see `Microdata.split`.
    n_queries : int
        Most predicates of an adversary.
    n_attributes : int
        Attributes of a predicate of the second adversary, at least 1.
    seed : int
        Says which records and attributes are drawn.

    Returns
    -------
    SinglingOut
        The success on both, their difference with intervals, and every adversary.

    Raises
    ------
    DataError
        For a control part that lacks attributes.
    ParameterError
        For numbers out of range, or a control part that is the released table.

    Notes
    -----
    Assumes: nothing but the release is known.
    Cost: predicates times people of the table.
    Use: somebody asks for the first question of the Article 29 Working Party.
    Avoid: a known person is looked for: see `reidentification`.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnadi, A unified framework for quantifying privacy risk in synthetic data, PETS
    2023; Cohen and Nissim, Towards formalizing the GDPR's notion of singling out, PNAS 2020 (the guess of 37%); Article
    29 Working Party, Opinion 05/2014; Newcombe, Statistics in Medicine 1998 (interval of the difference).

    Examples
    --------
    Every raw row singles somebody out; no published row does that nine others equal:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": range(20, 60), "zip": np.random.default_rng(0).permutation(40)})
    >>> data = Microdata(people, roles=dict.fromkeys(people.columns, "quasi-identifier"))
    >>> members, others = data.split(control=0.5, seed=1)
    >>> for k in (1, 10):
    ...     release = Mondrian(requirements=[KAnonymity(k=k)]).anonymize(members)
    ...     found = attacks.singling_out(release, control=others)
    ...     print(found.adversaries.loc["rules from the release", "recall"])
    1.0
    0.0
    """
    n_queries = checked_queries(n_queries)
    if n_attributes < 1:
        raise ParameterError(f"A predicate is about at least 1 attribute, not {n_attributes}.")
    names = attacked_attributes(release, None)
    rng = generator(seed)
    groups = [_sorted(members_of(release, names, None, rng))]
    if control is not None:
        groups.append(_sorted(control_of(release, control, names, None, rng)))
    notes = list(rows_counted(release))
    made = {"rules from the release": _by_rules(release, names, n_queries, rng)}
    try:
        records = Records.of(release, names, rng)
    except ReleaseError as error:
        notes.append(f"The other adversaries have no records: {error}")
    else:
        made["several attributes"] = _of_several(records, min(n_attributes, len(names)), n_queries, rng)
        made["one attribute"] = _of_one(records, n_queries, rng)
        made["learned model"] = _learned(records, n_queries, seed, rng)
    n_people = release.data.n_rows
    tried = []
    for adversary, predicates in made.items():
        right = int((predicates.counts(groups[0]) == 1).sum())
        number = len(predicates)
        other, interval = nan, None
        if control is not None and number:
            other, interval = _success_among(predicates.counts(groups[1]), control.n_rows, n_people)
        tried.append(
            Tried(
                adversary,
                right / number if number else 0.0,
                number,
                other,
                number if control is not None else 0,
                right / number if number else nan,
                right / predicates.tried if predicates.tried else 0.0,
                interval,
            )
        )
    if control is not None and control.n_rows < n_people:
        notes.append(
            f"The table has {n_people:,} people and the control part {control.n_rows:,}. How many predicates are true "
            f"of one of {n_people:,} people who are not in the table cannot be counted then. It is estimated, and the "
            "intervals are as wide as that makes them. With a control part as large as the table all is counted."
        )
    if not any(len(one) for one in made.values()):
        notes.append("Nothing stands once in what is published, so no adversary has a predicate to try.")
    guess = (1 - 1 / n_people) ** (n_people - 1)
    best = figures(SINGLING_OUT, tried, guess, {}, notes)
    return SinglingOut(**vars(best), attributes=names, n_predicates=len(made[best.adversary]))


def _sorted(people: People) -> People:
    """The people in an order in which neighbours are alike, so that `count_inside` reads few of them per region."""
    columns = [column + 1 for column in people.below.T]
    return people.some(content_order(columns, [int(column.max()) + 1 for column in columns]))


def _everything(domains: list[Domain], number: int) -> tuple[Codes, Codes]:
    """Regions without a condition: also values that lie beyond those of the table are in them."""
    low = np.full((number, len(domains)), -1, np.int32)
    return low, np.tile(np.array([len(domain) for domain in domains], np.int32), (number, 1))


def _by_rules(release: Release, names: tuple[str, ...], n_queries: int, rng: np.random.Generator) -> _Predicates:
    """All cells of rows that no other row of their fragment equals."""
    domains = [release.data.domain[name] for name in names]
    parts = []
    tried = 0
    share = max(1, n_queries // len(release.fragments))
    for fragment in release.fragments:
        key = published_key(fragment, fragment.attributes)
        _, first, count = np.unique(key, return_index=True, return_counts=True)
        alone = first[count == 1]
        # In an order that the original rows have no part in.
        rank = np.empty(len(key), np.int64)
        rank[release.records_order] = np.arange(len(key))
        alone = alone[np.argsort(rank[alone])]
        chosen = alone if len(alone) <= share else rng.choice(alone, share, replace=False)
        tried += round(len(key) * len(chosen) / len(alone)) if len(alone) else len(key)
        parts.append((fragment, chosen))
    number = sum(len(chosen) for _, chosen in parts)
    low, high = _everything(domains, number)
    sizes, members = np.zeros((number, len(names)), np.int64), []
    at = 0
    for fragment, chosen in parts:
        if not len(chosen):
            continue
        axes = [names.index(name) for name in fragment.attributes]
        lows, highs, start, of_sets = regions([(one, chosen) for one in fragment.recodings.values()])
        lines = np.arange(at, at + len(chosen))[:, None]
        low[lines, axes], high[lines, axes] = lows, highs
        sizes[lines, axes] = np.diff(start, axis=1)
        order = np.argsort(axes)
        members += [of_sets[start[line, axis] : start[line, axis + 1]] for line in range(len(chosen)) for axis in order]
        at += len(chosen)
    ends = np.cumsum(sizes).reshape(sizes.shape)
    start = np.column_stack((ends[:, 0] - sizes[:, 0], ends)) if number else np.zeros((0, len(names) + 1), np.int64)
    flat = np.concatenate(members) if members else np.zeros(0, np.int32)
    return _Predicates(Regions(low, high, start, flat.astype(np.int32)), tried)


def _of_several(records: Records, n_used: int, n_queries: int, rng: np.random.Generator) -> _Predicates:
    """The cells of a random record in some attributes, which no other published record fits for certain."""
    distinct, often = records.distinct
    low, high, _, _ = regions([(recoding, rows[distinct]) for recoding, rows in records.cells])
    content = records.content[distinct]
    middle = (low.astype(np.int64) + high) // 2
    medians = np.median(np.repeat(middle, often, axis=0), axis=0)
    n_axes = len(records.names)
    owner = owners(often)
    found: list[tuple[Int64, Int64]] = []
    seen: set[tuple[int, ...]] = set()
    tried = 0
    for _ in range(ATTEMPTS):
        record = owner[rng.integers(0, len(owner), n_queries)]
        axes = np.sort(np.argsort(rng.random((n_queries, n_axes)), axis=1)[:, :n_used], axis=1)
        upwards = middle[record[:, None], axes] > medians[axes]
        counts = records_inside(record, axes, upwards, records.is_number, content, low, high, often)
        for line in range(n_queries):
            tried += 1
            if counts[line] == 1:
                sides = np.where(upwards[line], low[record[line], axes[line]], high[record[line], axes[line]])
                cells = np.where(records.is_number[axes[line]], sides, content[record[line], axes[line]])
                key = (*axes[line].tolist(), *cells.tolist())
                if key not in seen:
                    seen.add(key)
                    found.append((record[line], axes[line]))
            if len(found) == n_queries:
                break
        if len(found) == n_queries:
            break
    if not found:
        return _nothing(records, tried)
    record, axes = np.array([one for one, _ in found]), np.array([one for _, one in found])
    return _conditions(records, distinct[record], axes, middle[record[:, None], axes] > medians[axes], tried)


def _conditions(records: Records, chosen: Int64, axes: Int64, upwards: Bools, tried: int) -> _Predicates:
    """Predicates of the cells of records in some attributes: numbers at least or at most their cell, else in it."""
    lows, highs, start, members = regions([(recoding, rows[chosen]) for recoding, rows in records.cells])
    low, high = _everything(list(records.domains), len(chosen))
    lines = np.arange(len(chosen))[:, None]
    number = records.is_number[axes]
    low[lines, axes] = np.where(number & ~upwards, low[lines, axes], lows[lines, axes])
    high[lines, axes] = np.where(number & upwards, high[lines, axes], highs[lines, axes])
    is_used = np.zeros(low.shape, np.bool_)
    is_used[lines, axes] = ~number
    sizes = np.where(is_used, np.diff(start, axis=1), 0)
    return _Predicates(Regions(low, high, *sets_from(start[:, :-1], sizes, members)), tried)


def _of_one(records: Records, n_queries: int, rng: np.random.Generator) -> _Predicates:
    """A cell that one record has, and the smallest and largest number where one record has it."""
    distinct, often = records.distinct
    low, high, _, _ = regions([(recoding, rows[distinct]) for recoding, rows in records.cells])
    chosen, axes, upwards = [], [], []
    tried = 0
    for axis in range(len(records.names)):
        cells, first, cell = np.unique(records.content[distinct, axis], return_index=True, return_inverse=True)
        count = np.bincount(cell, weights=often, minlength=len(cells))
        tried += len(cells) + 2 * int(records.is_number[axis])
        for place in first[count == 1]:
            if not records.is_number[axis]:
                chosen.append(place)
                axes.append(axis)
                upwards.append(0)
        if records.is_number[axis]:
            for side, up in ((high[:, axis], False), (low[:, axis], True)):
                extreme = np.flatnonzero(side == (side.max() if up else side.min()))
                if often[extreme].sum() == 1:
                    chosen.append(extreme[0])
                    axes.append(axis)
                    upwards.append(int(up))
            for place in first[count == 1]:
                chosen.append(place)
                axes.append(axis)
                upwards.append(2)
    if not chosen:
        return _nothing(records, tried)
    order = np.arange(len(chosen))
    if len(order) > n_queries:
        tried = round(tried * n_queries / len(order))
        order = rng.choice(order, n_queries, replace=False)
    picked, used, way = np.array(chosen)[order], np.array(axes)[order], np.array(upwards)[order]
    found = _conditions(records, distinct[picked], used[:, None], (way == 1)[:, None], tried)
    # A number that stands once is a condition on both sides.
    both = np.flatnonzero(way == 2)
    found.regions.low[both, used[both]] = low[picked[both], used[both]]
    found.regions.high[both, used[both]] = high[picked[both], used[both]]
    return found


def _learned(records: Records, n_queries: int, seed: int, rng: np.random.Generator) -> _Predicates:
    """Leaves with one record, of a tree that separates all records at random, as ranges of codes."""
    trees = imported("sklearn.tree", "Singling out")
    drawn = records.drawn[records.order]
    noise = rng.random(len(drawn))
    tree = trees.ExtraTreeRegressor(random_state=seed).fit(drawn.astype(np.float32), noise).tree_
    low, high = _everything(list(records.domains), tree.node_count)
    # A node stands before those below it.
    for node in range(tree.node_count):
        left, right = tree.children_left[node], tree.children_right[node]
        if left >= 0:
            axis, limit = tree.feature[node], int(np.floor(tree.threshold[node]))
            low[left], high[left], low[right], high[right] = low[node], high[node], low[node], high[node]
            high[left, axis], low[right, axis] = limit, limit + 1
    leaves = np.flatnonzero((tree.children_left < 0) & (tree.n_node_samples == 1))
    tried = len(drawn)
    if len(leaves) > n_queries:
        tried = round(tried * n_queries / len(leaves))
        leaves = rng.choice(leaves, n_queries, replace=False)
    return _of_ranges(low[leaves], high[leaves], tried)


def _nothing(records: Records, tried: int) -> _Predicates:
    return _of_ranges(*_everything(list(records.domains), 0), tried)


def _of_ranges(low: Codes, high: Codes, tried: int) -> _Predicates:
    """Predicates of ranges alone, without sets."""
    no_sets = np.zeros((len(low), low.shape[1] + 1), np.int64)
    return _Predicates(Regions(low, high, no_sets, np.zeros(0, np.int32)), tried)


def _success_among(counts: Int64, size: int, wanted: int) -> tuple[float, Callable[[float], Interval] | None]:
    """Share of predicates that are true of exactly one of `wanted` people, from their counts among `size` people.

    Of as many people or fewer it is exact: a predicate that is true of c people is true of one in a random part of them
    with the hypergeometric probability. Of more people it is estimated, and what gives its interval comes with it.
    """
    if wanted <= size:
        return _alone(counts, size, wanted), None
    estimate = SuccessAmongMore(counts, size, wanted)
    return estimate.share, estimate.interval


def _alone(counts: Int64, size: int, part: int) -> float:
    """The mean chance that a predicate is true of exactly one of a random part of the people."""
    from scipy.special import gammaln

    different, often = np.unique(counts[counts > 0], return_counts=True)
    possible = different <= size - part + 1
    c = different[possible].astype(np.float64)
    logarithm = (
        np.log(c)
        + (gammaln(size - c + 1) - gammaln(part) - gammaln(size - c - part + 2))
        - (gammaln(size + 1) - gammaln(part + 1) - gammaln(size - part + 1))
    )
    return float(np.exp(logarithm) @ often[possible] / len(counts))
