"""Anatomy: bucketization into groups of l different sensitive values."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Seed
from anoncore.algorithms.bucketization.bucketization import Bucketization, bucketized_release, only_sensitive
from anoncore.base.progress import Progress, part_of
from anoncore.kernels.anatomy import Pairs, deal, exchange_rows, expect
from anoncore.kernels.arrays import Codes, Int64
from anoncore.kernels.grouping import occurring_pairs, put_at, starts_of
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata, SensitiveValues

MOST_ROUNDS = 60
"""Exchanges that are tried for every row at most."""
LEAST_GAINED = 2e-4
"""Share of the rows, as a mean over the attributes, that a round must bring right for another one to follow."""


def exchanged(
    data: Microdata, partition: Partition, attribute: str, rng: np.random.Generator, progress: Progress
) -> Partition:
    """The buckets after rows of equal sensitive values have changed places, which lowers the two-way error.

    All values of a bucket stay as they are but those of the quasi-identifiers, so that whatever its sensitive values
    promise is kept. In each round an exchange with a random row of the same sensitive value is tried for every row; it
    stays where the joint frequencies of the quasi-identifiers and the sensitive attribute, as a reader expects them,
    come nearer to the table's. Rounds are repeated until they bring next to nothing.
    """
    ordered = data.canonical_order[rng.permutation(data.n_rows)]
    row = ordered[np.argsort(partition.group[ordered], kind="stable")]
    codes = np.column_stack([data.codes[name] for name in data.quasi_identifiers])
    sensitive = data.codes[attribute]
    pairs = _pairs(data, codes, sensitive)
    value, bucket, starts = sensitive[row], partition.group[row], partition.starts.astype(np.int64)
    before, first = expect(pairs, codes, starts, value, row), row.copy()
    enough = LEAST_GAINED * codes.size
    for number in range(MOST_ROUNDS):
        progress(number / MOST_ROUNDS, f"Exchanging rows of equal values, round {number + 1}")
        if exchange_rows(pairs, codes, starts, value, bucket, row, _partners(value, rng)) <= enough:
            break
    # The sums were kept from exchange to exchange; what is published is judged by sums made anew.
    if expect(pairs, codes, starts, value, row) <= before:
        row = first
    return Partition(put_at(row, bucket))


def _partners(value: Codes, rng: np.random.Generator) -> Int64:
    """For every place another one with the same value, at random, int64 (n_rows,)."""
    by_value = np.argsort(value, kind="stable")
    shuffled = rng.permutation(len(value))
    return put_at(by_value, shuffled[np.argsort(value[shuffled], kind="stable")])


def _pairs(data: Microdata, codes: Codes, sensitive: Codes) -> Pairs:
    """The pairs of a value of a quasi-identifier and a sensitive value that occur, and how often."""
    begin = starts_of(len(data.domain[name]) for name in data.quasi_identifiers)
    found = [occurring_pairs(codes[:, a], sensitive) for a in range(codes.shape[1])]
    number = np.concatenate([begin[a] + one for a, (one, _, _) in enumerate(found)])
    true = np.concatenate([counts for _, _, counts in found]).astype(np.float64)
    start = starts_of(np.bincount(number, minlength=begin[-1]))
    value = np.concatenate([other for _, other, _ in found]).astype(np.int32)
    return Pairs(begin[:-1], start, value, true, np.zeros(len(true)))


DEALT_BY_CHANCE = (
    "Groups are dealt by sensitive values and by chance, and the quasi-identifiers play no part. If two people of a "
    "group had each other's value, the same groups would be dealt with the same probability, so knowing the method "
    "tells nothing about which of them has which."
)


class Anatomy(Bucketization):
    """Publishes quasi-identifiers and the sensitive attribute in two exact tables, joined by buckets of l or l + 1
    rows.

    Rows are sorted by sensitive value. As long as l values are left, one random row of each of the l most frequent
    values makes a bucket. Each row that is left over joins a random bucket that lacks its value, where possible one
    that no other such row has joined. So the values of a bucket are all different. No value may have more than n / l
    rows.

    With `refine`, rows of the same sensitive value then change places between buckets. Such an exchange stays where it
    brings what a reader expects of the quasi-identifiers and the sensitive attribute nearer to the table. The sensitive
    values of every bucket stay as they are, and with them the promise; the two-way error is never larger than without.

    Notes
    -----
    Assumes: the adversary reasons bucket by bucket; that a person is in the table is no secret; one sensitive
      attribute, none of whose values has more than n / l rows.
    Cost: O(n log m) for n rows and m sensitive values, after the rows are put in order once; with `refine`
      O(d l n log m) more in each of a few dozen rounds, for d quasi-identifiers.
    Use: exact quasi-identifiers matter most, such as for counts over several of them.
    Avoid: readers may learn from all buckets at once (ForegroundSafe guards against that), or membership must stay
      hidden.

    References
    ----------
    Xiao and Tao, Anatomy, VLDB 2006, section 4; foreground-knowledge paper, section 5.

    Examples
    --------
    Of six people three have the flu, so that every bucket has one of them:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Anatomy
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu", "cold"] * 3})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Anatomy(l=2, seed=0).anonymize(data)
    >>> [fragment.attributes for fragment in release.fragments]
    [('age',), ('disease',)]
    >>> release.partition.histogram(data.codes["disease"], size=2).tolist()
    [[1, 1], [1, 1], [1, 1]]
    """

    name = "anatomy"
    title = "Anatomy"
    source = "Xiao and Tao, VLDB 2006, section 4"
    summary = "Keeps every value exact but cuts the link: people and sensitive values are only matched group by group."
    minimality = Minimality(
        Openness.DEPENDS,
        f"{DEALT_BY_CHANCE} With `refine` that no longer holds: which people of a value are in a group then depends "
        "on who has which value.",
    )

    refine: Annotated[
        bool,
        Field(
            title="Refine",
            description="Afterwards exchange people who have the same value, as long as more pairs of values are kept.",
        ),
    ] = False
    seed: Seed = None

    @property
    def minimality_here(self) -> Minimality:
        """Not open unless rows are exchanged for what they have in their quasi-identifiers."""
        return self.minimality if self.refine else Minimality(Openness.NOT_OPEN, DEALT_BY_CHANCE)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        name = only_sensitive(data, self.title)
        progress(0.2, "Dealing rows into groups")
        rng = np.random.default_rng(self.seed)
        partition = Partition(self._buckets(data, rng))
        if self.refine:
            partition = exchanged(data, partition, name, rng, part_of(progress, 0.3, 0.95))
        return bucketized_release(self, data, name, partition)

    def _buckets(self, data: Microdata, rng: np.random.Generator) -> Codes:
        """Bucket of every row. Rows are shuffled from content order, so a seed gives the same for any row order."""
        view = data.sensitive_view(only_sensitive(data, self.title))
        rows = data.canonical_order[rng.permutation(data.n_rows)]
        codes = _own_values(view.codes[rows], view)
        counts = np.bincount(codes)
        by_value = np.argsort(codes, kind="stable")
        dealt = deal(by_value, counts, self.l, rng.permutation(len(counts)), rng.random(data.n_rows))
        return put_at(rows, dealt)


def _own_values(codes: Codes, view: SensitiveValues) -> Int64:
    """Sensitive codes in which each row that needs no protection is a value of its own."""
    own = codes.astype(np.int64)
    if view.unique >= 0:
        free = np.flatnonzero(codes == view.unique)
        own[free] = view.size - 1 + np.arange(len(free))
    return own
