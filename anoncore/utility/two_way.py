"""The two-way error: how far the joint frequencies that a reader reconstructs lie from those of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from anoncore.base.arguments import checked
from anoncore.base.errors import ReleaseError
from anoncore.base.number import ALSO_SYNTHETIC, COST, measure
from anoncore.base.score import Score
from anoncore.base.shared_work import cached
from anoncore.kernels.arrays import Codes, Floats, Int64
from anoncore.release.recoding import Exact
from anoncore.release.release import Fragment, Release
from anoncore.table.microdata import Microdata
from anoncore.utility.reconstruction import Reader, paired_attributes, pairs_of

TWO_WAY_ERROR = replace(
    COST,
    name="two-way-error",
    title="Two-way error",
    template=(
        "Share of the rows that lie in the wrong place in a table of two attributes reconstructed from the release, on "
        "average over all pairs."
    ),
    source="total variation distance of two-way margins",
    baseline="0: the original table.",
    release_forms=ALSO_SYNTHETIC,
)
LARGEST_KEPT, MOST_KEPT = 20_000, 1_000
"""Pairs of values of two attributes, and pairs of attributes, up to which those that occur are kept with the table."""
AT_MOST = "How large it can be at most is told by utility.two_way_error_bound."
"""What can be asked where the error itself cannot be told."""


class TwoWayError(Score):
    """Mean distance between the joint frequencies of two attributes in the table and in the release, from 0 to 1.

    Attributes
    ----------
    pairs : DataFrame
        The distance of every pair, attributes by attributes; 0 between an attribute and itself.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Anatomy
    >>> people = pd.DataFrame({"age": [20, 60], "sex": ["f", "m"], "disease": ["flu", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "sex": "quasi-identifier", "disease": "sensitive"})
    >>> utility.two_way_error(Anatomy(l=2).anonymize(data)).pairs
             age  sex  disease
    age      0.0  0.0      0.5
    sex      0.0  0.0      0.5
    disease  0.5  0.5      0.0
    """

    pairs: pd.DataFrame


@measure(TWO_WAY_ERROR)
@checked
def two_way_error(release: Release) -> TwoWayError:
    """How far the joint frequencies that a reader reconstructs from a release lie from those of the table.

    For every pair of published quasi-identifiers and sensitive attributes, the shares of rows with each pair of values
    are compared: the table's with those that a reader expects who takes all values of a region for equally likely, and
    all links between the rows of one group as well. The distance of a pair is the total variation distance, half the
    sum of the absolute differences: the share of rows that would have to move. The error is the mean over the pairs. It
    is an exact expectation, not one random reconstruction, and it means the same for every form of release. Of a
    synthetic table shares of its own rows are taken.

    Parameters
    ----------
    release : Release
        The release that is judged.

    Returns
    -------
    TwoWayError
        The mean distance, from 0 (all pairs kept) to 1 (nothing left), with the distance of every pair.

    Raises
    ------
    ReleaseError
        If fewer than two quasi-identifiers and sensitive attributes are published, and where the original is not given;
        `two_way_error_bound` tells the most that it can be then.

    Notes
    -----
    Assumes: a reader has nothing but the release and knows the domains. They link fragments with groups of their own by
      the first attribute that both publish, rows whose value is left over at random, and take fragments that share none
      for independent.
    Cost: O(n log m) per pair of attributes with m values.
    Use: releases of different forms are to be compared by one cost.
    Avoid: one attribute counts alone: see `information_loss`; one question: see `query_error`, `classification`.

    References
    ----------
    Total variation distance of two-way margins, as in the evaluation of synthetic tables (McKenna et al., Journal of
    Privacy and Confidentiality 2021).

    Examples
    --------
    One class of all four people hides that the young have the flu. A reader expects each of the four combinations once,
    and two of four rows lie in the wrong place:

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 20, 60, 60], "disease": ["flu", "flu", "cold", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> float(utility.two_way_error(Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)))
    0.0
    >>> float(utility.two_way_error(Mondrian(requirements=[KAnonymity(k=4)]).anonymize(data)))
    0.5
    """
    try:
        release.require_original("The two-way error compares with how often values occur together in the original")
    except ReleaseError as error:
        raise ReleaseError(f"{error} {AT_MOST}") from None
    names = paired_attributes(release)
    reader = Reader(release)
    distances = np.zeros((len(names), len(names)))
    for first, second in combinations(range(len(names)), 2):
        distances[[first, second], [second, first]] = _distance(reader, names[first], names[second])
    return error_of_pairs(names, distances)


def error_of_pairs(names: Sequence[str], distances: Floats) -> TwoWayError:
    """The mean of the distances of all pairs, which are given attributes by attributes."""
    pairs = pd.DataFrame(distances, index=list(names), columns=list(names))
    mean = float(distances[np.triu_indices(len(names), 1)].mean())
    return TwoWayError(mean, TWO_WAY_ERROR, baseline=0.0, pairs=pairs)


def _distance(reader: Reader, first: str, second: str) -> float:
    """Total variation distance of the pair's joint frequencies."""
    data = reader.data
    if len(data.domain[first]) < len(data.domain[second]):
        # The sweep goes along the attribute with more values; the sums of the other one are then short.
        first, second = second, first
    together = reader.together(first, second)
    if together is not None and _is_kept(reader.release, together, first, second):
        return 0.0
    x, y, counts = _true_pairs(data, first, second)
    expected = reader.expected(first, second, x, y)
    return distance_of(counts, expected, data.n_rows)


def distance_of(counts: Int64, expected: Floats, n_rows: int) -> float:
    """Total variation distance of the rows that a table has at its pairs of values and of those that are expected."""
    # Both sides have as many rows, so what one has too much lies where the other has too little.
    return max(0.0, 1.0 - float(np.minimum(counts, expected).sum()) / n_rows)


def _true_pairs(data: Microdata, first: str, second: str) -> tuple[Codes, Codes, Int64]:
    """The pairs of values that occur in the table, with the rows of each; all releases of it share them."""
    codes, sizes = (data.codes[first], data.codes[second]), (len(data.domain[first]), len(data.domain[second]))

    def pairs() -> tuple[Codes, Codes, Int64]:
        return pairs_of(*codes)

    is_small = sizes[0] * sizes[1] <= LARGEST_KEPT
    return cached(data, "pairs of values", (first, second), pairs, MOST_KEPT) if is_small else pairs()


def _is_kept(release: Release, fragment: Fragment, first: str, second: str) -> bool:
    """Whether a fragment publishes the original values of both attributes."""
    recodings = (fragment.recodings[first], fragment.recodings[second])
    return all(
        isinstance(recoding, Exact)
        and (recoding.codes is release.data.codes[name] or np.array_equal(recoding.codes, release.data.codes[name]))
        for name, recoding in zip((first, second), recodings, strict=True)
    )
