"""How far each group's distribution of an attribute lies from the table's."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.number import measure
from anoncore.kernels.arrays import Floats
from anoncore.privacy.check import published_levels
from anoncore.privacy.published import fragments_of, publishing_fragment
from anoncore.release.release import Release
from anoncore.requirements import TCloseness
from anoncore.requirements.t_closeness import GROUNDS, Ground

Combine = Literal["largest", "euclidean"]
COMBINE: tuple[Combine, ...] = get_args(Combine)


@measure(title="Earth mover's distance")
@checked
def emd(release: Release, attribute: str, ground: Ground = "ordered", fragment: str | None = None) -> Floats:
    """Earth mover's distance of each group's published distribution from that of the original table.

    A distance of 0 says that the group looks like the table, 1 that all its mass has to move the whole way.

    Parameters
    ----------
    release : Release
        The release whose groups are measured.
    attribute : str
        The sensitive attribute whose distribution is compared.
    ground : {"ordered", "interval", "equal", "hierarchical"}
        How far apart two values are: steps along the order, difference of numbers, 1 for any two, or by their lowest
        common node.
    fragment : str, optional
        Name of the fragment whose groups are measured; by default the first that publishes the attribute.

    Returns
    -------
    ndarray of float, shape (n_groups,)
        The distance of each group, from 0 to 1.

    Raises
    ------
    ParameterError
        For an unknown ground distance or fragment.
    DataError
        For a hierarchical distance of an attribute without a hierarchy.
    ReleaseError
        Where the attribute's single values are not published.

    Notes
    -----
    Assumes: the adversary knows the distribution of the original table.
    Cost: O(m) per group for m values, with a hierarchy the number of its nodes.
    Use: it matters how much a class tells beyond the whole table.
    Avoid: beliefs come from several buckets: see `posterior_emd`.

    References
    ----------
    Li et al., t-closeness, ICDE 2007; t-closeness dissertation, section 3.6.

    Examples
    --------
    In the table 2 of 6 people have the flu, in the first class 2 of 3 and in the second nobody: a third moves in each.

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> privacy.emd(release, "disease", ground="equal").round(3).tolist()
    [0.333, 0.333]
    """
    release.require_people("The distance is that of groups of people from the table")
    if ground not in GROUNDS:
        raise ParameterError(f"There is no ground distance {ground!r}; there is {', '.join(GROUNDS)}.")
    (check,) = TCloseness(t=1.0, ground=ground, attribute=attribute).checks(release.data)
    return published_levels(release, publishing_fragment(release, attribute, fragment), check)


@measure()
@checked
def closeness(release: Release, ground: Ground = "ordered", combine: Combine = "largest") -> float:
    """One distance of the release from the table over all its sensitive attributes.

    Of each attribute the distance of the group that lies farthest from the table counts (see `emd`), whichever group
    that is. These distances are made one.

    Parameters
    ----------
    release : Release
        The release that is measured.
    ground : {"ordered", "interval", "equal", "hierarchical"}
        How far apart two values are, as in `emd`; the same for all attributes.
    combine : {"largest", "euclidean"}
        `largest`: the largest distance of any attribute, which is the smallest t that every group keeps in each of
        them: what a requirement promises. `euclidean`: the root of the sum of their squares, by which figure 5.1 of the
        t-closeness dissertation compares partitions; with n attributes it lies between the largest and sqrt(n) times
        the largest.

    Returns
    -------
    float
        The distance: 0 where every group looks like the table in all attributes, at most 1 for `largest` and sqrt(n)
        for `euclidean`.

    Raises
    ------
    ParameterError
        For an unknown ground distance or way to combine.
    DataError
        For a table without sensitive attributes, and a ground distance that an attribute does not have.
    ReleaseError
        Where single values of a sensitive attribute are not published.

    Notes
    -----
    Assumes: the adversary knows the distribution of each attribute in the original table.
    Cost: that of `emd` for each sensitive attribute and each fragment that publishes it.
    Use: partitions are to be compared by one number, or t is looked for that all attributes keep.
    Avoid: combinations of sensitive values matter: attributes are measured one by one.

    References
    ----------
    t-closeness dissertation, section 5.5 (the text calls it the distance formula).

    Examples
    --------
    Two classes of two. Pay 1 to 4 has three steps; the class of 1 and 2 has 1/2, 1, 1, 1 of its people up to each value
    and the table 1/4, 1/2, 3/4, 1, so that (1/4 + 1/2 + 1/4) / 3 = 1/3 separates them. In each class all are ill or
    none, in the table half: 1/2. The root of 1/9 + 1/4 is 0.601.

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 43, 44], "pay": [1, 2, 3, 4], "ill": [0, 0, 1, 1]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "pay": "sensitive", "ill": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> round(privacy.closeness(release), 3), round(privacy.closeness(release, combine="euclidean"), 3)
    (0.5, 0.601)
    """
    if combine not in COMBINE:
        raise ParameterError(f"Distances are combined as {' or '.join(COMBINE)}, not {combine!r}.")
    if not release.data.sensitive:
        raise DataError("The table has no sensitive attribute, so that there is no distance; give one the role.")
    farthest = [
        max(float(emd(release, name, ground, one.name).max()) for one in fragments_of(release, name))
        for name in release.data.sensitive
    ]
    return float(np.hypot.reduce(farthest)) if combine == "euclidean" else max(farthest)
