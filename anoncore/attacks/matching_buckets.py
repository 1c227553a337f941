"""One person in a sliced table: the buckets they may be in, and what each says about their sensitive value."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pandas as pd

from anoncore.attacks.posterior import BucketFactor, bucket_factors
from anoncore.attacks.rows_counted import rows_counted
from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.base.number import measure
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Floats, Int64, record
from anoncore.privacy.published import Cells, Entries, published_key
from anoncore.release.release import Release


@record
class MatchingBuckets(Result):
    """The buckets that one person may be in, and what each of them says about the sensitive value.

    Attributes
    ----------
    row : int
        The person's position in the original table, from 0.
    attribute : str
        The sensitive attribute.
    own : int
        Number of the bucket that the person really is in.
    buckets : DataFrame
        A line per matching bucket, by its number: `size`; under each column's name the share of the bucket's rows whose
        column shows the person's values; `f`, the share of its rows, linked at random, that show all of them; `p`, the
        probability that the person is in it.
    values : DataFrame
        The distribution D(t, B) of the sensitive value in each matching bucket, a column per value.
    probability : Series
        The belief p(t, s) in each value.
    notes : tuple of str
        What to know of the numbers, in sentences: where one person may have several rows, that rows are counted.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> found = attacks.matching_buckets(release, "disease", row=0)
    >>> found.own, found.probability.round(3).to_dict()
    (0, {'flu': 0.833, 'gout': 0.167})
    """

    row: int
    attribute: str
    own: int
    buckets: pd.DataFrame
    values: pd.DataFrame
    probability: pd.Series
    notes: tuple[str, ...] = ()


@measure()
@checked
def matching_buckets(release: Release, attribute: str, row: int) -> MatchingBuckets:
    """Show step by step what the adversary infers about one person from the buckets that the person may be in.

    Parameters
    ----------
    release : Release
        A release of several columns that share their buckets.
    attribute : str
        The sensitive attribute whose value is guessed.
    row : int
        The person's position in the original table, from 0.

    Returns
    -------
    MatchingBuckets
        The matching buckets, how likely the person is in each, and the belief that follows.

    Raises
    ------
    ReleaseError
        For a release whose columns do not share their buckets.
    ParameterError
        For a row that the table lacks.

    Notes
    -----
    Assumes: the adversary knows the quasi-identifiers of one person who is in the table.
    Cost: O(n) per column for one person.
    Use: it is to be seen step by step where a belief in a sliced release comes from.
    Avoid: all people are to be judged: see `attribute_disclosure`.

    References
    ----------
    Li et al., slicing, definitions 5 and 6, section 3.2; `sensitive_posterior` has the probabilities of all people.

    Examples
    --------
    Both people of bucket 0 are from J and one of bucket 1, so the first person is in bucket 0 with 1 / (1 + 1/2) = 2/3:

    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> attacks.matching_buckets(release, "disease", row=0).buckets.round(3)
           size  nation  disease    f      p
    group
    0         2     1.0      1.0  1.0  0.667
    1         2     0.5      1.0  0.5  0.333
    """
    release.require_people("The groups that fit a person are those that may hold their row")
    if not release.is_shared or len(release.fragments) < 2:
        raise ReleaseError("Only releases of several columns that share their groups have matching buckets.")
    if not 0 <= row < release.data.n_rows:
        raise ParameterError(f"The table has rows 0 to {release.data.n_rows - 1:,}, not {row}.")
    release.require_linked(set(release.data.quasi_identifiers) - {attribute})
    domain = release.data.domain[attribute]
    factors = bucket_factors(release, attribute)
    shown = [_Shown.of(release, factor, row) for factor in factors]
    matching = reduce(np.intersect1d, [one.cells.group[one.own] for one in shown])
    mass = np.ones((len(matching), len(domain)))
    columns: dict[str, Floats] = {}
    for factor, one in zip(factors, shown, strict=True):
        share, of_value = one.shares(factor, attribute, len(domain), matching)
        if factor.power > 0:
            columns[factor.fragment.name] = share
        with np.errstate(divide="ignore", invalid="ignore"):
            mass = mass * of_value if factor.power > 0 else np.where(mass > 0, mass / of_value, 0.0)
    degree = mass.sum(axis=1)
    is_possible = degree > 0
    matching, mass, degree = matching[is_possible], mass[is_possible], degree[is_possible]
    index = pd.Index(matching, name=release.group_word)
    probability = degree / degree.sum()
    values = pd.DataFrame(mass / degree[:, None], index=index, columns=pd.Index(domain.texts))
    buckets = {"size": release.partition.sizes[matching]}
    buckets |= {name: share[is_possible] for name, share in columns.items()}
    return MatchingBuckets(
        row=row,
        attribute=attribute,
        own=int(release.partition.group[row]),
        buckets=pd.DataFrame(buckets | {"f": degree, "p": probability}, index=index),
        values=values,
        probability=pd.Series(probability @ values.to_numpy(), index=values.columns, name="p"),
        notes=rows_counted(release),
    )


@record
class _Shown:
    """The cells of a factor, and the numbers of those that show what one row shows, one per bucket that has any."""

    cells: Cells
    own: Int64

    @classmethod
    def of(cls, release: Release, factor: BucketFactor, row: int) -> _Shown:
        key = published_key(factor.fragment, factor.known)
        cells = Cells.of(release.partition, key)
        return cls(cells, np.flatnonzero(cells.value == key[row]))

    def shares(self, factor: BucketFactor, attribute: str, n_codes: int, buckets: Int64) -> tuple[Floats, Floats]:
        """The share of the rows of some buckets with the row's cells, and that share by sensitive value.

        The first is float (n_buckets,); the second is float (n_buckets, m), or (n_buckets, 1) for a factor without the
        sensitive attribute.
        """
        own = self.own[np.isin(self.cells.group[self.own], buckets)]
        share = self.cells.share[own]
        if not factor.is_sensitive:
            return share, share[:, None]
        entries = Entries.of(factor.fragment, self.cells, attribute, n_codes).some(own)
        return share, entries.dense(n_codes) * share[:, None]
