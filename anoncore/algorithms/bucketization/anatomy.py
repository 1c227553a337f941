"""Anatomy: bucketization into groups of l different sensitive values."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from anoncore.algorithms.base import Algorithm, Seed
from anoncore.algorithms.bucketization.bucketization import bucketized_release, only_sensitive, require_eligible
from anoncore.algorithms.exchanged_rows import exchanged
from anoncore.base.progress import Progress, part_of
from anoncore.kernels.anatomy import deal
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import DistinctDiversity, FrequencyDiversity, Requirement
from anoncore.table.microdata import Microdata, SensitiveValues

DEALT_BY_CHANCE = (
    "Buckets are dealt by sensitive values and by chance, and the quasi-identifiers play no part. If two people of a "
    "bucket had each other's value, the same buckets would be dealt with the same probability, so knowing the method "
    "tells nothing about which of them has which."
)


class Anatomy(Algorithm):
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

    name: ClassVar[str] = "anatomy"
    title: ClassVar[str] = "Anatomy"
    source: ClassVar[str] = "Xiao and Tao, VLDB 2006, section 4"
    family: ClassVar[str] = "bucketization"
    group_word: ClassVar[str] = "bucket"
    summary: ClassVar[str] = (
        "Keeps every value exact but cuts the link: people and sensitive values are only matched bucket by bucket."
    )
    minimality: ClassVar[Minimality] = Minimality(
        Openness.DEPENDS,
        f"{DEALT_BY_CHANCE} With `refine` that no longer holds: which people of a value are in a bucket then depends "
        "on who has which value.",
    )

    l: Annotated[int, Field(ge=2, title="l", description="Different sensitive values in every bucket.")] = 2
    refine: Annotated[
        bool,
        Field(
            title="Refine",
            description="Afterwards exchange people who have the same value, as long as more pairs of values are kept.",
        ),
    ] = False
    seed: Seed = None

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """No value above 1/l of a bucket, and l different ones."""
        attribute = only_sensitive(data, self.title)
        return (
            FrequencyDiversity(l=float(self.l), attribute=attribute),
            DistinctDiversity(l=self.l, attribute=attribute),
        )

    @property
    def minimality_here(self) -> Minimality:
        """Not open unless rows are exchanged for what they have in their quasi-identifiers."""
        return self.minimality if self.refine else Minimality(Openness.NOT_OPEN, DEALT_BY_CHANCE)

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError for other than one sensitive attribute, InfeasibleError for a value above n / l rows."""
        data.require_quasi_identifiers()
        require_eligible(data, only_sensitive(data, self.title), self.l)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        name = only_sensitive(data, self.title)
        progress(0.2, "Dealing rows into buckets")
        rng = np.random.default_rng(self.seed)
        partition = Partition(self._buckets(data, rng))
        if self.refine:
            partition = exchanged(data, partition, name, rng, part_of(progress, 0.3, 0.95))
        return bucketized_release(self, data, name, partition)

    def _buckets(self, data: Microdata, rng: np.random.Generator) -> npt.NDArray[np.int32]:
        """Bucket of every row. Rows are shuffled from content order, so a seed gives the same for any row order."""
        view = data.sensitive_view(only_sensitive(data, self.title))
        rows = data.canonical_order[rng.permutation(data.n_rows)]
        codes = _own_values(view.codes[rows], view)
        counts = np.bincount(codes)
        by_value = np.argsort(codes, kind="stable")
        dealt = deal(by_value, counts, self.l, rng.permutation(len(counts)), rng.random(data.n_rows))
        group = np.empty(data.n_rows, dtype=np.int32)
        group[rows] = dealt
        return group


def _own_values(codes: npt.NDArray[np.int32], view: SensitiveValues) -> npt.NDArray[np.int64]:
    """Sensitive codes in which each row that needs no protection is a value of its own."""
    own = codes.astype(np.int64)
    if view.unique >= 0:
        free = np.flatnonzero(codes == view.unique)
        own[free] = view.size - 1 + np.arange(len(free))
    return own
