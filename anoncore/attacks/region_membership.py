"""Membership disclosure of a generalized table: how many people could stand behind each published region."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from anoncore.attacks.rows_counted import rows_counted
from anoncore.base.arguments import checked
from anoncore.base.errors import ReleaseError
from anoncore.base.number import RISK, measure
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Floats, record
from anoncore.kernels.grouping import dense_key
from anoncore.privacy.published import published_key
from anoncore.release.recoding import Generalized, GroupValues
from anoncore.release.release import Release

REGION_BELIEF_LARGEST = replace(
    RISK,
    name="membership-belief-largest",
    title="Largest belief in membership by regions",
    template=(
        "Share of the value combinations fitting a group that someone in it has, for the person for whom it is largest."
    ),
    source="the analogue for regions of Li et al., Slicing, 2009, section 5",
    unit="share of combinations",
    baseline="the share of all combinations of values that occur in the table: a combination taken blindly.",
    release_forms=("generalization",),
    short="Largest belief",
)
REGION_BELIEF_MEAN = replace(
    REGION_BELIEF_LARGEST,
    name="membership-belief-mean",
    title="Mean belief in membership by regions",
    template="Share of the value combinations fitting a group that someone in it has, on average over all people.",
    short="Mean belief",
)


@record
class RegionMembership(Result):
    """How sure an adversary is who takes a person that fits a published class for a member of the table.

    Attributes
    ----------
    attributes : tuple of str
        The quasi-identifiers that are published.
    belief : ndarray of float, shape (n_rows,)
        For each person, the share of the value combinations fitting their class that somebody in the class really has.
    fitting : ndarray of float, shape (n_rows,)
        For each person, the number of value combinations that fit their class.
    largest : Score
        The belief for the person for whom it is largest, beside the same share of all combinations.
    mean : Score
        The belief on average over all people, beside the same.
    notes : tuple of str
        What to know of the numbers, in sentences: where one person may have several rows, that rows are counted.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 44, 46], "zip": list("ABAB"), "disease": ["flu", "cold", "flu", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> found = attacks.region_membership(release)
    >>> found.fitting.tolist(), found.belief.tolist()
    ([4.0, 4.0, 4.0, 4.0], [0.5, 0.5, 0.5, 0.5])
    """

    attributes: tuple[str, ...]
    belief: Floats
    fitting: Floats
    largest: Score
    mean: Score
    notes: tuple[str, ...] = ()


@measure(REGION_BELIEF_LARGEST, REGION_BELIEF_MEAN, title="Membership by regions")
@checked
def region_membership(release: Release) -> RegionMembership:
    """How well the regions of a generalized table hide who is in it.

    For each class the combinations of quasi-identifier values that fit it are set against those that people in it have:
    the fewer others fit, the surer a match tells that a person is in the table. Only values that occur in the table
    count; a range of numbers holds more, so the real belief is at most this. A class is all records with equal
    published quasi-identifiers, in whatever group. Classes are looked at one by one, also where their regions overlap.

    Parameters
    ----------
    release : Release
        A release of one fragment.

    Returns
    -------
    RegionMembership
        The belief in membership of every person, its largest and its mean.

    Raises
    ------
    ReleaseError
        For a release of several fragments or without quasi-identifiers.

    Notes
    -----
    Assumes: the adversary looks up somebody's quasi-identifiers and takes whoever fits a class for a member; values
      that do not occur in the table are left aside.
    Cost: one pass over the classes, each with the values of its region.
    Use: one generalized table is published and membership is a secret.
    Avoid: buckets with exact values are published: see `membership`.

    References
    ----------
    The analogue for regions of Li et al., slicing, section 5.

    Examples
    --------
    Four combinations fit the class of the two young people (21-22, A or B), of which two are real:

    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 44, 46], "zip": list("ABAB"), "disease": ["flu", "cold", "flu", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> attacks.region_membership(release).belief.tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    release.require_people("This attack looks for the group that may hold a person's row")
    if len(release.fragments) > 1:
        raise ReleaseError("Regions are those of one table, but this release has several fragments; use `membership`.")
    data, fragment = release.data, release.fragments[0]
    names = tuple(name for name in data.quasi_identifiers if name in fragment.recodings)
    if not names:
        raise ReleaseError("The release publishes no quasi-identifier by which members could be recognized.")
    group = fragment.partition.group.astype(np.int64)
    fitting = np.ones(data.n_rows)
    for name in names:
        recoding = fragment.recodings[name]
        if isinstance(recoding, Generalized | GroupValues):
            fitting *= recoding.sizes[group]
    cell = published_key(fragment, names)
    pair = dense_key([cell, *(data.codes[name] for name in names)], data.n_rows)
    _, first = np.unique(pair, return_index=True)
    present = np.bincount(cell[first])[cell].astype(np.float64)
    belief: Floats = present / np.maximum(fitting, present)
    tuples = dense_key([data.codes[name] for name in names], data.n_rows)
    baseline = (int(tuples.max()) + 1) / prod(len(data.domain[name]) for name in names)
    return RegionMembership(
        attributes=names,
        belief=belief,
        fitting=np.maximum(fitting, present),
        largest=Score(belief.max(), REGION_BELIEF_LARGEST, baseline=baseline),
        mean=Score(belief.mean(), REGION_BELIEF_MEAN, baseline=baseline),
        notes=rows_counted(release),
    )
