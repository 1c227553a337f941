"""How well a release keeps the association between pairs of attributes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError, ParameterError, ReleaseError
from anoncore.base.number import ALSO_SYNTHETIC, Number
from anoncore.base.score import Score
from anoncore.base.shared_work import shared
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata
from anoncore.utility.bins import cut
from anoncore.utility.contingency import PairTable, original_counts, released_counts

INTERVALS = 10

ASSOCIATION_ERROR = Number(
    name="association-error",
    title="Association error",
    template="How far the association (phi squared) of two attributes is from that in the original, on average.",
    family="cost",
    source="Cramer, 1946",
    measured_by="utility.association_error",
    unit="phi squared",
    higher_is_better=False,
    bounds=(0.0, 1.0),
    baseline="0: the original table.",
    release_forms=ALSO_SYNTHETIC,
    is_slow=True,
)


class AssociationError(Score):
    """How far the association of two attributes in the release is from that in the original table, on average.

    It is the mean absolute difference of phi squared over all pairs of published attributes, from 0 (all kept) to 1.

    Attributes
    ----------
    original : DataFrame
        Phi squared of every pair in the original table, attributes by attributes.
    released : DataFrame
        The same in the release.
    difference : DataFrame
        Released minus original.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 20, 60, 60], "disease": ["flu", "flu", "cold", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> error = utility.association_error(Mondrian(requirements=[KAnonymity(k=4)]).anonymize(data))
    >>> float(error), float(error.difference.loc["age", "disease"])
    (1.0, -1.0)
    """

    original: pd.DataFrame
    released: pd.DataFrame
    difference: pd.DataFrame


@checked
def association(data: Microdata, intervals: int = INTERVALS) -> pd.DataFrame:
    """How closely every two attributes of the original table go together: phi squared, from 0 (independent) to 1.

    phi^2(A, B) is the sum over all pairs of values of (f_ij - f_i f_j)^2 / (f_i f_j), divided by min(d_A, d_B) - 1,
    where f are shares of rows and d numbers of values. It is 0 where an attribute is constant. Identifiers have none.

    Parameters
    ----------
    data : Microdata
        The table.
    intervals : int
        Intervals of equal width into which numbers are cut, at least 2; empty ones do not count.

    Returns
    -------
    DataFrame
        Phi squared of every pair, attributes by attributes.

    Raises
    ------
    ParameterError
        For fewer than 2 intervals.
    DataError
        For a table that has only identifiers.

    References
    ----------
    Li et al., slicing, section 4.1.

    Examples
    --------
    All young people have the flu and all old ones a cold:

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 20, 60, 60], "disease": ["flu", "flu", "cold", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> utility.association(data)
             age  disease
    age      1.0      1.0
    disease  1.0      1.0
    """
    _check_intervals(intervals)
    if not data.attributes:
        raise DataError("The table has only identifiers; association needs attributes that may be published.")
    # Slicing asks for it again and again while it looks for columns; whoever gets it may write into it.
    return shared(
        data,
        ("association", intervals),
        lambda: _frame(original_counts(data, cut(data, data.attributes, intervals))),
    ).copy()


@checked
def association_error(release: Release, intervals: int = INTERVALS) -> AssociationError:
    """How well a release keeps the associations between attributes: the mean of |phi^2 released - phi^2 original|.

    The mean is over all pairs of published attributes. `association` defines phi squared; in the release it comes from
    the rows that are expected for each pair of values.

    Parameters
    ----------
    release : Release
        The release that is judged.
    intervals : int
        Intervals of equal width into which numbers are cut, at least 2.

    Returns
    -------
    AssociationError
        The mean difference, with the phi squared of every pair before and after.

    Raises
    ------
    ReleaseError
        If fewer than two attributes are published.
    ParameterError
        For fewer than 2 intervals.

    Notes
    -----
    Assumes: numbers are compared in intervals; a reader takes values of a region for equally likely and fragments for
      independent inside a group.
    Cost: one table of counts per pair of attributes.
    Use: readers look for relations between attributes.
    Avoid: one relation alone counts: then look at the map of pairs, or at `classification`.

    References
    ----------
    Li et al., slicing, section 4.1 (phi squared); Cramer, 1946.

    Examples
    --------
    All young people have the flu and all old ones a cold. Two classes, young and old, keep that; one class of all loses
    it:

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 20, 60, 60], "disease": ["flu", "flu", "cold", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> float(utility.association_error(Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)))
    0.0
    >>> float(utility.association_error(Mondrian(requirements=[KAnonymity(k=4)]).anonymize(data)))
    1.0
    """
    _check_intervals(intervals)
    names = release.attributes
    if len(names) < 2:
        raise ReleaseError("The release publishes fewer than two attributes; association needs a pair.")
    cells = cut(release.data, names, intervals)
    original, released = _frame(original_counts(release.data, cells)), _frame(released_counts(release, cells))
    difference = released - original
    pairs = np.abs(difference.to_numpy())[np.triu_indices(len(names), 1)]
    return AssociationError(
        float(pairs.mean()),
        ASSOCIATION_ERROR,
        baseline=0.0,
        original=original,
        released=released,
        difference=difference,
    )


def _check_intervals(intervals: int) -> None:
    if intervals < 2:
        raise ParameterError(f"Numbers are cut into at least 2 intervals, not {intervals}.")


def _frame(table: PairTable) -> pd.DataFrame:
    """Phi squared of every pair; 1 of an attribute with itself."""
    names = list(table.names)
    values = _phi_squared(table)
    np.fill_diagonal(values, 1.0)
    return pd.DataFrame(values, index=names, columns=names)


def _phi_squared(table: PairTable) -> npt.NDArray[np.float64]:
    """sum f_ij^2 / (f_i f_j) - 1, the same as the definition's sum, divided by min(d) - 1."""
    begins, sizes = table.starts[:-1], np.diff(table.starts)
    margin = np.repeat(np.add.reduceat(table.counts, begins, axis=1), sizes, axis=1)
    expected = margin * margin.T
    terms = np.divide(np.square(table.counts), expected, out=np.zeros_like(expected), where=expected > 0)
    sums = np.add.reduceat(np.add.reduceat(terms, begins, axis=0), begins, axis=1)
    most = np.minimum.outer(sizes, sizes) - 1
    phi = np.divide(sums - 1, most, out=np.zeros_like(sums), where=most > 0)
    return np.clip(phi, 0.0, 1.0)
