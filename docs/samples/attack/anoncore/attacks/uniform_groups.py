"""The homogeneity attack: groups in which everybody has the same sensitive value."""

from __future__ import annotations

from anoncore.base.number import Number, measure
from anoncore.base.score import Score
from anoncore.release.release import Release

UNIFORM_GROUPS = Number(
    name="uniform-groups",
    title="People in uniform groups",
    template="Share of the people whose {group} has a single value of {attribute}, which is then known for certain.",
    family="adversary",
    source="Machanavajjhala et al., ICDE 2006, section 2",
    form="share",
    unit="share of people",
    higher_is_better=False,
    bounds=(0.0, 1.0),
    baseline="1 where the whole table has one value, else 0: what is certain without the release.",
    of_attribute=True,
)


@measure(UNIFORM_GROUPS)
def homogeneity(release: Release, attribute: str) -> Score:
    """Count the people whose sensitive value is certain, because their whole group has it.

    Parameters
    ----------
    release : Release
        The release that the adversary reads.
    attribute : str
        The sensitive attribute that is learned.

    Returns
    -------
    Score
        The share of the people whose value is certain.

    Raises
    ------
    ReleaseError
        Where the rows of the release are nobody's.

    Notes
    -----
    Assumes: the adversary knows which group a person is in, and that the person is in the table.
    Cost: O(n) for n rows.
    Use: certain knowledge alone counts as a breach.
    Avoid: a strong belief is a breach too; see `attribute_disclosure`.

    References
    ----------
    Machanavajjhala et al., l-diversity, ICDE 2006, section 2.

    Examples
    --------
    Both people around 20 have flu; those around 30 differ.

    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 22, 30, 31], "illness": ["flu", "flu", "flu", "gout"]})
    >>> data = Microdata(people, {"age": "quasi-identifier", "illness": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> float(attacks.homogeneity(release, "illness"))
    0.5
    """
    release.require_people("Groups in which all have one value are asked of people")
    partition = release.fragment_of(attribute).partition
    low, high = partition.extent(release.published_codes(attribute))
    certain = partition.sizes[low == high].sum() / partition.n_rows
    alone = float(len(release.data.domain[attribute]) == 1)
    words = {"group": release.group_word, "attribute": f"'{attribute}'"}
    return Score(float(certain), UNIFORM_GROUPS, baseline=alone, words=words)
