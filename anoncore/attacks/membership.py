"""Membership disclosure: can the adversary tell who is in the table of a sliced release?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from math import prod

import numpy as np
import pandas as pd

from anoncore.attacks.join_likelihood import JoinLikelihood, join_likelihood
from anoncore.attacks.rows_counted import rows_counted
from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.base.number import BUCKETS, RISK, Number, measure
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Floats, Int64, Words, record
from anoncore.kernels.grouping import starts_of
from anoncore.kernels.membership import ColumnValues, count_pairs, count_tuples, draw_tuples, matching_buckets
from anoncore.privacy.published import Cells, published_key
from anoncore.release.form import form_of
from anoncore.release.overlap import links
from anoncore.release.recoding import Generalized, GroupValues
from anoncore.release.release import Release

FAKE_TUPLES = Number(
    name="fake-tuples",
    title="Fake tuples",
    template="Tuples that match a group although they are not in the table; they hide those that are.",
    family="adversary",
    source="Li et al., Slicing, 2009, section 5",
    form="count",
    unit="tuples",
    higher_is_better=True,
    bounds=(0.0, None),
    baseline="0: the original table, where only members match.",
    release_forms=BUCKETS,
)
MEMBERSHIP_BELIEF = replace(
    RISK,
    name="membership-belief",
    title="Belief in membership",
    template="Share of the different tuples matching a group that are in the table: how sure a match makes.",
    source="Li et al., Slicing, 2009, section 5",
    unit="share of tuples",
    baseline="the share of all combinations of values that are in the table: a combination taken blindly.",
    release_forms=BUCKETS,
    is_slow=True,
)
CLASSES = ("at most 10", "11 to 20", "more than 20")
UP_TO = (10, 20)
FINER_CLASSES = ("1", "2", "3 to 5", "6 to 10", "11 to 20", "21 to 50", "51 to 100", "more than 100")
FINER_UP_TO = (1, 2, 5, 10, 20, 50, 100)
MOST_PAIRS = 1_000_000_000
"""Tuples of two columns in all buckets together, above which they are estimated."""
MOST_TUPLES = 20_000_000
"""The same of more than two columns, where each tuple takes longer to count."""
MOST_WORDS = 32_000_000
"""Words of 64 bits, a bit per bucket, that may say which values the buckets show: 256 MB."""


@record
class Membership(Result):
    """The tuples that match at least one bucket: those of the table, and fake ones that hide them.

    Attributes
    ----------
    attributes : tuple of str
        The attributes that the adversary looks up.
    fake : Score
        Number of fake tuples.
    belief : Score
        Share of the table's tuples among all different tuples that match: how sure an adversary is who takes a match
        for a member. Its baseline is a random combination of the attributes' values.
    exact : bool
        Whether the tuples were counted rather than estimated.
    confidence : float
        Confidence of the bounds; 1 where the tuples were counted.
    interval : tuple of float
        Lower and upper bound of the number of fake tuples; twice that number where it was counted.
    histogram : DataFrame
        By number of matching buckets (at most 10, 11 to 20, more than 20) the `original` rows and the `fake` tuples,
        with bounds `low` and `high` of the latter.
    finer : DataFrame
        Both numbers in smaller classes, without bounds.
    matching_buckets : ndarray of int64, shape (n_rows,)
        Number of buckets that match each original row.
    method : str
        How the numbers were found, in a sentence.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> found = attacks.membership(release)
    >>> float(found.fake), found.exact, found.matching_buckets.tolist()
    (2.0, True, [2, 2, 2, 2, 2, 2])
    """

    attributes: tuple[str, ...]
    fake: Score
    belief: Score
    exact: bool
    confidence: float
    interval: tuple[float, float]
    histogram: pd.DataFrame
    finer: pd.DataFrame
    matching_buckets: Int64
    method: str


@measure(MEMBERSHIP_BELIEF, FAKE_TUPLES)
@checked
def membership(
    release: Release,
    attributes: Collection[str] | None = None,
    exact: bool | None = None,
    draws: int = 100_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Membership | JoinLikelihood:
    """How well fake tuples hide who is in the table of a sliced release.

    A tuple consists of one published value per column. A bucket matches it if it shows every one of the values; columns
    that overlap must agree. A fake tuple matches a bucket but is not in the table. Of the quasi-identifiers alone,
    which are what an adversary can look up, bucketization yields no fake tuple.

    The tuples are counted where their number allows. Else they are estimated without bias from random tuples: a bucket
    is drawn in proportion to its number of tuples, one of these is drawn, and it weighs 1 / number of buckets that
    match it. The bounds then hold with at least the given confidence for every table (empirical Bernstein bound).

    Parameters
    ----------
    release : Release
        A release of columns that share buckets. Fragments that are generalized on their own are judged by
        `join_likelihood`, to which the other parameters mean nothing.
    attributes : collection of str, optional
        The attributes that are looked up; by default all that are published.
    exact : bool, optional
        Whether the tuples are counted or estimated; by default they are counted if there are at most 10^9 pairs (two
        columns) or 2 * 10^7 tuples in all buckets together.
    draws : int
        Random tuples of an estimate.
    confidence : float
        Confidence of the bounds of an estimate, between 0 and 1.
    seed : int
        Makes an estimate repeatable.

    Returns
    -------
    Membership or JoinLikelihood
        The fake tuples and the belief in membership; the likelihoods of membership for fragments with groups of their
        own.

    Raises
    ------
    ReleaseError
        For an attribute that is not published or published by region, where no fragments can be joined.
    ParameterError
        For a number out of range, or where more tuples are to be counted than can be.

    Notes
    -----
    Assumes: the adversary looks up values and takes a tuple that fits a bucket for a member.
    Cost: exact: every pair of column values in a bucket (two columns) or every tuple; else `draws` random tuples.
    Use: that somebody is in the table is a secret.
    Avoid: one table is published with regions: see `region_membership`.

    References
    ----------
    Li et al., slicing, sections 5 and 6.3; Karp and Luby, FOCS 1983; Maurer and Pontil, COLT 2009, theorem 4.

    Examples
    --------
    The bucket with one person of each nation and disease also shows the tuples (J, gout) and (A, flu), which nobody
    has:

    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> found = attacks.membership(release)
    >>> float(found.fake), float(found.belief)
    (2.0, 0.5)
    """
    release.require_people("This attack looks for the group that may hold a person's row")
    _check_parameters(draws, confidence)
    if form_of(release) == "own partitions":
        return join_likelihood(release)
    table = _Table.of(release, attributes)
    if exact is None:
        exact = table.is_countable
    if exact:
        fake, finer, method = _counted(table)
    else:
        fake, finer, method = _estimated(table, draws, confidence, seed)
    matching = table.matching[table.signature]
    middle, low, high = fake
    histogram = pd.DataFrame(
        {"original": _by_class(np.bincount(matching)), "fake": middle[:3], "low": low[:3], "high": high[:3]},
        index=pd.Index(CLASSES, name="matching buckets"),
    )
    total = (float(middle[3]), float(low[3]), float(high[3]))
    return Membership(
        attributes=table.attributes,
        fake=Score(total[0], FAKE_TUPLES, baseline=0.0),
        belief=_belief_score(table, release, total[0]),
        exact=exact,
        confidence=1.0 if exact else confidence,
        interval=total[1:],
        histogram=histogram,
        finer=pd.DataFrame(
            {"original": _by_class(np.bincount(matching), FINER_UP_TO), "fake": finer},
            index=pd.Index(FINER_CLASSES, name="matching buckets"),
        ),
        matching_buckets=matching,
        method=" ".join((method, *rows_counted(release))),
    )


def _counted(table: _Table) -> tuple[Floats, Floats, str]:
    """Count every fake tuple.

    Gives the numbers by class and in all, float (3, 4), whose lines (number, low, high) are equal; the numbers by finer
    class; and a sentence that says how they were found.
    """
    counts = table.count()
    fake = np.array([np.append(_by_class(counts), counts.sum())] * 3, np.float64)
    finer = _by_class(counts, FINER_UP_TO).astype(np.float64)
    return fake, finer, f"All {int(fake[0, 3]):,} fake tuples were counted."


def _estimated(table: _Table, draws: int, confidence: float, seed: int) -> tuple[Floats, Floats, str]:
    """Estimate what `_counted` counts from tuples that are drawn at random from the buckets."""
    fake, finer = table.estimate(draws, confidence, np.random.default_rng(seed))
    drawn = f"Estimated from {draws:,} random tuples of the groups"
    return fake, finer, f"{drawn}; the bounds hold with a confidence of {confidence:.0%}."


@record
class _Table:
    """The columns' values by bucket, and the different tuples of the table.

    `originals` int64 (n_signatures, n_columns) are these tuples, ascending; `matching` (n_signatures,) says how many
    buckets match each, and `signature` (n_rows,) which of them each row has.
    """

    attributes: tuple[str, ...]
    columns: ColumnValues
    sizes: Int64
    originals: Int64
    signature: Int64
    matching: Int64

    @classmethod
    def of(cls, release: Release, attributes: Collection[str] | None) -> _Table:
        wanted = _wanted(release, attributes)
        release.require_linked(wanted)
        fragments = [fragment for fragment in release.fragments if wanted & set(fragment.attributes)]
        through = links([wanted & set(fragment.attributes) for fragment in fragments])
        order = [0, *(link.column for link in through)]
        keys = [published_key(fragments[number], wanted) for number in order]
        cells = [Cells.of(release.partition, key) for key in keys]
        shared = [
            (order.index(link.parent), published_key(fragments[link.column], link.attributes))
            if link.attributes
            else (-1, np.zeros(release.data.n_rows, np.int64))
            for link in through
        ]
        originals, signature = np.unique(np.column_stack(keys), axis=0, return_inverse=True)
        columns = _column_values(cells, keys, shared, release.partition.n_groups)
        return cls(
            attributes=tuple(name for name in release.attributes if name in wanted),
            columns=columns,
            sizes=np.array([int(key.max()) + 1 for key in keys]),
            originals=originals,
            signature=signature.ravel(),
            matching=matching_buckets(columns, originals),
        )

    @property
    def products(self) -> Floats:
        """Number of tuples of each bucket, whether or not the columns agree on what they share, float (n_buckets,)."""
        product: Floats = np.prod(np.diff(self.columns.bucket_start, axis=1).astype(np.float64), axis=0)
        return product

    @property
    def is_countable(self) -> bool:
        """Whether counting takes seconds at most."""
        most = MOST_PAIRS if len(self.sizes) == 2 else MOST_TUPLES
        return bool(self.products.sum() <= most) and prod(self.sizes.tolist()) < 2**63

    def count(self) -> Int64:
        """Number of fake tuples for each number of matching buckets, from 0 on."""
        matching_tuples = count_pairs(self.columns) if len(self.sizes) == 2 else self._count_many()
        original = np.bincount(self.matching, minlength=len(matching_tuples))
        fake: Int64 = np.pad(matching_tuples, (0, len(original) - len(matching_tuples))) - original
        return fake

    def _count_many(self) -> Int64:
        if prod(self.sizes.tolist()) >= 2**63 or self.products.sum() > MOST_PAIRS:
            raise ParameterError(
                f"The groups have about {self.products.sum():.2g} tuples, too many to count; leave `exact` empty."
            )
        lead = int(np.argmax(self.sizes))
        others = self.products / np.diff(self.columns.bucket_start[lead])
        first = self.columns.first[lead]
        starts = self.columns.value_start[first : first + self.sizes[lead] + 1]
        listed = np.add.reduceat(others[self.columns.bucket[starts[0] : starts[-1]]], starts[:-1] - starts[0])
        return count_tuples(self.columns, lead, self.sizes, round(listed.max()))

    def estimate(self, draws: int, confidence: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Estimated fake tuples with their bounds, by class and in all, float (3, 4); estimates by finer class (8,)."""
        products = self.products
        up_to = np.cumsum(products) / products.sum()
        matching, is_original = draw_tuples(
            self.columns, up_to, rng.random((draws, len(self.sizes) + 1)), self.originals
        )
        weight = np.divide(1.0, matching, out=np.zeros(draws), where=(matching > 0) & ~is_original)
        class_of = np.searchsorted(UP_TO, matching)
        weights = np.column_stack([*(np.where(class_of == number, weight, 0.0) for number in range(3)), weight])
        # A tuple weighs 1 / its matching buckets, so the classes of more buckets have smaller largest weights.
        largest = np.array([1.0, 1 / (UP_TO[0] + 1), 1 / (UP_TO[1] + 1), 1.0])
        # Theorem 4 of Maurer and Pontil, with half of 1 - confidence for either bound.
        logarithm = np.log(4 / (1 - confidence))
        mean = weights.mean(axis=0)
        margin = np.sqrt(2 * weights.var(axis=0, ddof=1) * logarithm / draws)
        margin += 7 * largest * logarithm / (3 * (draws - 1))
        bounds: Floats = products.sum() * np.array([mean, np.maximum(mean - margin, 0.0), mean + margin])
        finer = np.bincount(np.searchsorted(FINER_UP_TO, matching), weight, minlength=len(FINER_CLASSES)) / draws
        return bounds, products.sum() * finer


def _wanted(release: Release, attributes: Collection[str] | None) -> set[str]:
    wanted = set(release.attributes if attributes is None else attributes)
    unknown = sorted(wanted - set(release.attributes))
    if unknown or not wanted:
        raise ReleaseError(f"The release does not publish {listing(unknown)}; it has {listing(release.attributes)}.")
    regional = [name for name in sorted(wanted) if isinstance(release.recoding(name), Generalized | GroupValues)]
    if regional:
        raise ReleaseError(
            f"Membership is measured where values are published as they are, but {listing(regional)} is generalized."
        )
    return wanted


def _check_parameters(draws: int, confidence: float) -> None:
    if draws < 2:
        raise ParameterError(f"An estimate needs at least 2 draws, not {draws}.")
    if not 0 < confidence < 1:
        raise ParameterError(f"The confidence lies between 0 and 1, not at {confidence}.")


def _column_values(
    cells: list[Cells], keys: list[Int64], shared: list[tuple[int, Int64]], n_groups: int
) -> ColumnValues:
    """Lay the columns out for the kernels.

    `shared` has an entry for every column except the first: the column that it must agree with (-1: none), and for each
    row the number of what they must agree on.
    """
    starts = starts_of(len(one) for one in cells)
    sizes = [int(key.max()) + 1 for key in keys]
    by_value = [np.argsort(one.value, kind="stable") for one in cells]
    counts = np.concatenate([np.bincount(one.value) for one in cells])
    own, asked, asked_sizes = [np.zeros(sizes[0], np.int64)], [np.zeros(0, np.int64)], [0, 0]
    for column, (parent, agreed) in enumerate(shared, start=1):
        own.append(_of_value(keys[column], agreed))
        asked.append(_of_value(keys[max(parent, 0)], agreed))
        asked_sizes.append(len(asked[-1]))
    first = starts_of(sizes)[:-1]
    return ColumnValues(
        bucket_start=np.array([start + one.starts for one, start in zip(cells, starts, strict=False)]),
        value=np.concatenate([one.value for one in cells]),
        first=first,
        value_start=starts_of(counts),
        bucket=np.concatenate([one.group[order] for one, order in zip(cells, by_value, strict=True)]),
        parent=np.array([-1, *(parent for parent, _ in shared)], np.int64),
        own=np.concatenate(own),
        asked_first=np.cumsum(asked_sizes)[: len(cells)],
        asked=np.concatenate(asked),
        shown=_shown(
            np.concatenate([one.value + begin for one, begin in zip(cells, first, strict=True)]),
            np.concatenate([one.group for one in cells]),
            sum(sizes),
            n_groups,
        ),
    )


def _shown(value: Int64, bucket: Int64, n_values: int, n_groups: int) -> Words:
    """One bit for each value and bucket, set where the bucket shows the value; empty above `MOST_WORDS`."""
    n_words = n_groups // 64 + 1
    shown = np.zeros((n_values if n_values * n_words <= MOST_WORDS else 0, n_words), np.uint64)
    if len(shown):
        np.bitwise_or.at(shown, (value, bucket // 64), np.uint64(1) << (bucket % 64).astype(np.uint64))
    return shown


def _of_value(key: Int64, of_row: Int64) -> Int64:
    """The entry of `of_row` that all rows of each value have in common, int64 (n_values,)."""
    common = np.empty(int(key.max()) + 1, np.int64)
    common[key] = of_row
    return common


def _by_class(counts: Int64, up_to: tuple[int, ...] = UP_TO) -> Int64:
    """Add up counts by number of matching buckets: one sum up to each of the given numbers, and one beyond the last."""
    padded = np.concatenate((counts, np.zeros(max(up_to[-1] + 2 - len(counts), 0), np.int64)))
    return np.add.reduceat(padded, [0, *(number + 1 for number in up_to)])


def _belief_score(table: _Table, release: Release, fake: float) -> Score:
    n_original = len(table.originals)
    possible = prod(len(release.data.domain[name]) for name in table.attributes)
    baseline = n_original / max(possible, n_original)
    return Score(n_original / (n_original + fake), MEMBERSHIP_BELIEF, baseline=baseline)
