"""How far each group's distribution of an attribute lies from the table's."""

from __future__ import annotations

from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError
from anoncore.kernels.arrays import Floats
from anoncore.privacy.check import published_levels
from anoncore.privacy.published import publishing_fragment
from anoncore.release.release import Release
from anoncore.requirements import TCloseness
from anoncore.requirements.t_closeness import GROUNDS, Ground


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
