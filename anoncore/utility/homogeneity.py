"""How alike the rows of a group are in one attribute: conditional entropy of a class, RMSE of a number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError
from anoncore.base.number import Bounds, Number, measure
from anoncore.base.score import Score
from anoncore.kernels.arrays import Codes, Floats
from anoncore.kernels.grouping import occurring_pairs
from anoncore.release.partition import Partition
from anoncore.release.recoding import Exact
from anoncore.release.release import Release
from anoncore.table.domain import Kind

CONDITIONAL_ENTROPY = Number(
    name="conditional-entropy",
    title="Conditional entropy",
    template="Uncertainty about {target} that is left when the {group} is known, in bits.",
    family="cost",
    source="LeFevre and DeWitt, Rothko (TR 1590)",
    unit="bits",
    higher_is_better=False,
    bounds=(0.0, None),
    baseline="the entropy of the target in the whole table, when no group is known.",
)
RMSE = Number(
    name="rmse",
    title="Root mean squared error",
    template="Error when the value of {target} in a row is predicted by the mean of its {group}.",
    family="cost",
    source="LeFevre and DeWitt, Rothko (TR 1590)",
    unit="unit of the target",
    higher_is_better=False,
    bounds=(0.0, None),
    baseline="the target's standard deviation in the whole table: the error of its mean.",
    short="RMSE",
)


class TargetScore(Score):
    """A measure of one attribute when the groups are known; the mean over the fragments that publish it.

    Attributes
    ----------
    target : str
        The attribute.
    per_fragment : dict of str to float
        The measure by name of the fragment; fragments with a shared partition count once.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> score = utility.conditional_entropy(release, "disease")
    >>> score.target, list(score.per_fragment)
    ('disease', ['release'])
    """

    target: str
    per_fragment: dict[str, float]


@measure(CONDITIONAL_ENTROPY)
@checked
def conditional_entropy(release: Release, target: str) -> TargetScore:
    """How uncertain a class stays when the group is known: the mean over the rows of the entropy in their group.

    0 means that the group determines the value. The baseline is the entropy in the whole table, when no group is known.
    Values are the published ones, or the original ones where the target is published by region only. A missing value
    counts as a value.

    Parameters
    ----------
    release : Release
        The release that is judged.
    target : str
        The attribute with the class.

    Returns
    -------
    TargetScore
        The conditional entropy in bits.

    Raises
    ------
    ReleaseError
        If the target is not published.

    Notes
    -----
    Assumes: the group is all that a reader uses to tell the class.
    Cost: O(n + g c) for g groups and c classes.
    Use: groups are to be judged for a class label, without a classifier.
    Avoid: the target is a number: see `rmse`.

    References
    ----------
    LeFevre and DeWitt, Rothko (TR 1590), on data quality.

    Examples
    --------
    In the class of the young 2 of 3 have the flu (0.918 bits); all the old have a cold (0 bits):

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> score = utility.conditional_entropy(release, "disease")
    >>> round(score, 3), round(score.baseline, 3)
    (0.459, 0.918)
    """
    release.require_people("How alike the values of a group are is asked of people")
    size = len(release.data.domain[target]) if target in release.data.domain else 1
    return _target_score(
        release,
        target,
        CONDITIONAL_ENTROPY,
        _entropy,
        bounds=(0.0, float(np.log2(size))),
    )


@measure(RMSE)
@checked
def rmse(release: Release, target: str) -> TargetScore:
    """Root mean squared error of a numeric target when each row is predicted by its group's mean.

    It is the root of the mean over the rows of their group's variance (the population variance); rows without a number
    are left out. The baseline is the target's standard deviation in the whole table. Values are the published ones, or
    the original ones where the target is published by region only.

    Parameters
    ----------
    release : Release
        The release that is judged.
    target : str
        The numeric attribute.

    Returns
    -------
    TargetScore
        The error in the unit of the target, in days for a date.

    Raises
    ------
    ReleaseError
        If the target is not published.
    DataError
        If the target is not numeric or holds no number.

    Notes
    -----
    Assumes: a reader predicts the mean of the group.
    Cost: O(n).
    Use: groups are to be judged for a numeric target.
    Avoid: the target is a class: see `conditional_entropy`.

    References
    ----------
    LeFevre and DeWitt, Rothko (TR 1590), on data quality.

    Examples
    --------
    In both classes the ages are one year below, at and above the mean, so the error is the root of 2/3:

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> round(utility.rmse(release, "age"), 3)
    0.816
    """
    release.require_people("How alike the values of a group are is asked of people")
    release.fragment_of(target)
    domain = release.data.domain[target]
    if domain.kind is not Kind.NUMERIC or not domain.values:
        raise DataError(f"'{target}' holds no numbers; the RMSE needs a numeric target, for a class use the entropy.")
    numbers = (domain.steps - domain.steps.mean()) * float(domain.axis.unit)
    if domain.missing_code is not None:
        numbers[domain.missing_code] = np.nan
    return _target_score(
        release,
        target,
        RMSE,
        lambda partition, codes: _rmse(partition, numbers[codes]),
        bounds=(0.0, domain.span),
        unit="days" if domain.is_date else f"unit of {target}",
    )


def _target_score(
    release: Release,
    target: str,
    number: Number,
    measure: Callable[[Partition, Codes], float],
    bounds: Bounds,
    unit: str | None = None,
) -> TargetScore:
    """The mean of a measure of groups and values over the fragments that publish the target, beside that of the table
    as one group.
    """
    release.fragment_of(target)
    measured: dict[str, float] = {}
    for fragment in release.fragments:
        recoding = fragment.recodings.get(target)
        if recoding is not None and not (measured and release.is_shared):
            codes = recoding.codes if isinstance(recoding, Exact) else release.data.codes[target]
            measured[fragment.name] = measure(fragment.partition, codes)
    whole = Partition(np.zeros(release.data.n_rows, np.int32))
    return TargetScore(
        float(np.mean(list(measured.values()))),
        number,
        bounds=bounds,
        unit=unit,
        baseline=measure(whole, release.data.counted_codes(target)),
        words={"target": f"'{target}'"},
        target=target,
        per_fragment=measured,
    )


def _entropy(partition: Partition, codes: Codes) -> float:
    group, _, counts = occurring_pairs(partition.group, codes)
    share = counts / partition.sizes[group]
    return max(0.0, float(-(counts @ np.log2(share)) / partition.n_rows))


def _rmse(partition: Partition, numbers: Floats) -> float:
    known = ~np.isnan(numbers)
    group, values = partition.group[known], numbers[known]
    counts = np.bincount(group, minlength=partition.n_groups)
    means = np.bincount(group, weights=values, minlength=partition.n_groups) / np.maximum(counts, 1)
    return float(np.sqrt(np.square(values - means[group]).mean()))
