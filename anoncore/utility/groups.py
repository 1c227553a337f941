"""Measures of the group sizes alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError
from anoncore.base.number import Number, measure
from anoncore.base.score import Score
from anoncore.privacy.published import fragments_of
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements.k_anonymity import largest_k

DISCERNIBILITY = Number(
    name="discernibility",
    title="Discernibility",
    template="Sum of the squared sizes of the groups: how many pairs of rows can no longer be told apart.",
    family="cost",
    source="Bayardo and Agrawal, ICDE 2005",
    form="count",
    unit="pairs of rows",
    higher_is_better=False,
    bounds=(1.0, None),
    baseline="the number of rows: the original table, where every row is a group of its own.",
)
AVERAGE_GROUP_SIZE = Number(
    name="average-group-size",
    title="Average group size",
    template="Rows of a {group} on average.",
    family="cost",
    source="LeFevre et al., ICDE 2006",
    unit="rows",
    higher_is_better=False,
    bounds=(1.0, None),
    baseline="1: the original table, where every row is a group of its own.",
    short="Average size",
)


class GroupScore(Score):
    """A measure of group sizes; where fragments have partitions of their own, the mean over the fragments.

    Attributes
    ----------
    per_fragment : dict of str to float
        The measure by name of the fragment; a shared partition is listed once, under its first fragment.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> utility.discernibility(release).per_fragment
    {'release': 18.0}
    """

    per_fragment: dict[str, float]


class AverageGroupSize(GroupScore):
    """The mean number of rows per group, as it is and compared with the size that was asked for.

    Attributes
    ----------
    k : int or None
        The smallest size that was asked for, where it is known.
    normalised : float or None
        C_AVG, which is rows / groups / k: at best 1. None where no k is known.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> size = utility.average_group_size(release, k=2)
    >>> float(size), size.normalised
    (3.0, 1.5)
    """

    k: int | None
    normalised: float | None


@measure(DISCERNIBILITY)
@checked
def discernibility(release: Release) -> GroupScore:
    """Sum over the groups of their size squared: each row costs the number of rows it cannot be told apart from.

    It runs from n, where every row stands alone, to n squared, where all are one group.

    Parameters
    ----------
    release : Release
        The release that is judged.

    Returns
    -------
    GroupScore
        The sum, in pairs of rows; where fragments have partitions of their own, the mean over the fragments.

    Notes
    -----
    Assumes: each row costs the size of its group, however wide its values are.
    Cost: O(g) for g groups.
    Use: large groups are to weigh more than small ones.
    Avoid: methods with exact values are compared with generalizing ones.

    References
    ----------
    Bayardo and Agrawal, ICDE 2005.

    Examples
    --------
    Two classes of three rows each cost 3^2 + 3^2:

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> float(utility.discernibility(release))
    18.0
    """
    release.require_people("The size of a group counts the people in it")
    n = release.data.n_rows
    per_fragment = _per_fragment(release, lambda partition: float(np.square(partition.sizes).sum()))
    return GroupScore(
        float(np.mean(list(per_fragment.values()))),
        DISCERNIBILITY,
        bounds=(float(n), float(n) ** 2),
        baseline=float(n),
        per_fragment=per_fragment,
    )


@measure(AVERAGE_GROUP_SIZE)
@checked
def average_group_size(release: Release, k: int | None = None) -> AverageGroupSize:
    """Rows per group, and the same divided by k, which says how far the groups exceed the size asked for.

    Parameters
    ----------
    release : Release
        The release that is judged.
    k : int, optional
        Smallest size asked for, at least 1; by default that of the release's algorithm.

    Returns
    -------
    AverageGroupSize
        The mean size in rows, and C_AVG.

    Raises
    ------
    ParameterError
        For k below 1.

    Notes
    -----
    Assumes: a group is what cannot be told apart, however wide its values are.
    Cost: O(1) per partition.
    Use: groups are to be compared with the size that was asked for.
    Avoid: methods with exact values are compared with generalizing ones: a group costs nothing of the kind there.

    References
    ----------
    LeFevre et al., Mondrian, ICDE 2006, section 4 (C_AVG).

    Examples
    --------
    Six rows are in two classes, and k = 3 was asked for:

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> size = utility.average_group_size(release)
    >>> float(size), size.normalised
    (3.0, 1.0)
    """
    release.require_people("The size of a group counts the people in it")
    if k is not None and k < 1:
        raise ParameterError(f"k must be at least 1, not {k}.")
    k = k or largest_k(release.promises) or None
    per_fragment = _per_fragment(release, lambda partition: partition.n_rows / partition.n_groups)
    mean = float(np.mean(list(per_fragment.values())))
    return AverageGroupSize(
        mean,
        AVERAGE_GROUP_SIZE,
        bounds=(1.0, float(release.data.n_rows)),
        baseline=1.0,
        per_fragment=per_fragment,
        k=k,
        normalised=mean / k if k is not None else None,
    )


def _per_fragment(release: Release, measure: Callable[[Partition], float]) -> dict[str, float]:
    fragments = fragments_of(release, None)
    return {fragment.name: measure(fragment.partition) for fragment in fragments}
