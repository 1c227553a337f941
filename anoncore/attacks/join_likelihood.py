"""Membership disclosure where fragments have groups of their own: how likely a person's record is in their join."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.number import RISK, Number, measure
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.kernels.grouping import dense_key
from anoncore.privacy.common_attribute import common_attribute, expected_counts
from anoncore.release.release import Fragment, Release

LIKELIHOOD_LARGEST = replace(
    RISK,
    name="membership-likelihood-largest",
    title="Largest likelihood of membership",
    template="Share of the joined rows that fit a person, of the person for whom it is largest.",
    source="Zakerzadeh, Aggarwal and Barker, vertical fragmentation, section 5.1",
    unit="probability",
    baseline="1 / combinations of groups: a group of each fragment that is drawn at random.",
    release_forms=("own partitions",),
    short="Largest likelihood",
)
LIKELIHOOD_MEAN = replace(
    LIKELIHOOD_LARGEST,
    name="membership-likelihood-mean",
    title="Mean likelihood of membership",
    template="Share of the joined rows that fit a person, on average over all people of the table.",
    short="Mean likelihood",
)
UNMATCHED = Number(
    name="unmatched",
    title="People without a match",
    template="Share of the people whose groups join to no row, as class values were changed.",
    family="adversary",
    source="Zakerzadeh, Aggarwal and Barker, vertical fragmentation, section 5.1",
    form="share",
    unit="share of people",
    bounds=(0.0, 1.0),
    baseline="0: the join of the original class values, where everyone has a row.",
    release_forms=("own partitions",),
    short="Without a match",
)


@record
class JoinLikelihood(Result):
    """How likely the join of the fragments holds each person's record.

    Attributes
    ----------
    common : str
        The attribute on which the fragments are joined.
    likelihood : ndarray of float, shape (n_rows,)
        The likelihood of each person, in original row order.
    joined : ndarray of float, shape (n_rows,)
        Rows in the join of each person's classes, expected ones where classes publish sets of values.
    total : float
        Rows in the join of the whole fragments, most of them fake.
    largest : Score
        The likelihood of the person for whom it is largest, beside that of a random class of each fragment.
    mean : Score
        The likelihood on average over all people, beside the same.
    unmatched : Score
        Share of the people whose classes join to no row, because class values were changed.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import VerticalFragmentation
    >>> people = pd.DataFrame({"age": [21, 22, 41, 42], "zip": list("ABBA"), "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"})
    >>> method = VerticalFragmentation(k=2, attribute_fragments=[["age"], ["zip"]], enforce="naive")
    >>> release = method.anonymize(data)
    >>> found = attacks.join_likelihood(release)
    >>> found.common, found.total, found.joined.tolist()
    ('disease', 8.0, [0.0, 4.0, 0.0, 4.0])
    """

    common: str
    likelihood: Floats
    joined: Floats
    total: float
    largest: Score
    mean: Score
    unmatched: Score


@measure(LIKELIHOOD_LARGEST, LIKELIHOOD_MEAN, UNMATCHED)
@checked
def join_likelihood(release: Release) -> JoinLikelihood:
    """How likely the join of the fragments holds the record of a person whose class in each fragment is known.

    It is the number of rows in the join of the person's classes, divided by the number of rows in the join of the whole
    fragments: the chance that a random row of the join is one that fits the person. It is computed from the rows that
    each class has of each common value; the join itself, with up to n^m rows, is never made. Groups of a fragment that
    publish equal ranges of the quasi-identifiers are one class, as nobody can tell them apart. Where a class publishes
    the set of its values, all ways to fill its other rows count as equally likely, and both numbers are expected ones.

    Parameters
    ----------
    release : Release
        A release of fragments with partitions of their own.

    Returns
    -------
    JoinLikelihood
        The likelihood of every person, its largest and its mean.

    Raises
    ------
    ReleaseError
        Where the fragments have no common attribute.

    Notes
    -----
    Assumes: the adversary knows a person's class in every fragment and joins the fragments on their common attribute.
    Cost: O(n v) for n people and v common values, never with the joined rows.
    Use: fragments have partitions of their own and share an attribute.
    Avoid: the fragments share their buckets: see `membership`.

    References
    ----------
    Zakerzadeh, Aggarwal and Barker, vertical fragmentation, section 5.1.

    Examples
    --------
    The method gave both people of a class the same disease, so the whole join has 2 * 2 rows of flu and 2 * 2 of cold.
    The second person is in a class of cold by age and by zip code: 4 of the 8 rows fit them. The first is in a class of
    cold by age and of flu by zip code, which join to nothing:

    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import VerticalFragmentation
    >>> people = pd.DataFrame({"age": [21, 22, 41, 42], "zip": list("ABBA"), "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"})
    >>> method = VerticalFragmentation(k=2, attribute_fragments=[["age"], ["zip"]], enforce="naive")
    >>> release = method.anonymize(data)
    >>> attacks.join_likelihood(release).likelihood.tolist()
    [0.0, 0.5, 0.0, 0.5]
    """
    release.require_people("Joins find the rows of one person in several tables")
    common = common_attribute(release)
    known = [name for name in release.data.quasi_identifiers if name != common]
    release.require_linked(known)
    counts = [expected_counts(fragment, common) for fragment in release.fragments]
    of_person = np.ones((release.data.n_rows, counts[0].shape[1]))
    n_classes = []
    for fragment, counts_of_groups in zip(release.fragments, counts, strict=True):
        class_of_group = _classes(fragment, known)
        n_classes.append(int(class_of_group.max()) + 1)
        counts_of_classes = np.zeros((n_classes[-1], counts_of_groups.shape[1]))
        np.add.at(counts_of_classes, class_of_group, counts_of_groups)
        of_person *= counts_of_classes[class_of_group[fragment.partition.group]]
    joined: Floats = of_person.sum(axis=1)
    total = float(np.prod([counts_of_groups.sum(axis=0) for counts_of_groups in counts], axis=0).sum())
    likelihood = joined / total if total > 0 else np.zeros(len(joined))
    baseline = 1 / prod(n_classes)
    return JoinLikelihood(
        common=common,
        likelihood=likelihood,
        joined=joined,
        total=total,
        largest=Score(likelihood.max(), LIKELIHOOD_LARGEST, baseline=baseline),
        mean=Score(likelihood.mean(), LIKELIHOOD_MEAN, baseline=baseline),
        unmatched=Score((joined == 0).mean(), UNMATCHED, baseline=0.0),
    )


def _classes(fragment: Fragment, known: Sequence[str]) -> Int64:
    """Class of each group, int64 (n_groups,): groups with equal cells are one; where rows differ, each is its own."""
    n_groups = fragment.partition.n_groups
    columns: list[Codes] = []
    for name in known:
        if name in fragment.recodings:
            content = fragment.recodings[name].group_content()
            if content is None:
                return np.arange(n_groups)
            columns += content
    return dense_key(columns, n_groups)
