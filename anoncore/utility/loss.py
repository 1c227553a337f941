"""Information loss: how much wider the published cells are than the values they stand for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.number import COST, measure
from anoncore.base.score import Score
from anoncore.kernels.arrays import Floats
from anoncore.release.reading.published_values import ASSUMED
from anoncore.release.release import Fragment, Release

INFORMATION_LOSS = replace(
    COST,
    name="information-loss",
    title="Information loss",
    template="Share of its domain that a published quasi-identifier's cell covers, on average.",
    source="Xu et al., KDD 2006",
    unit="share of the domain",
    baseline="0: the original table, where every cell is exact.",
)


class InformationLoss(Score):
    """Mean loss of a quasi-identifier cell, from 0 (all exact) to 1 (nothing left).

    Attributes
    ----------
    per_attribute : dict of str to float
        The mean over the rows, by quasi-identifier.
    per_class : ndarray of float, shape (n_groups,), or dict of these
        The mean over the quasi-identifiers in each group; weighted with the group sizes it averages to the score. Where
        fragments have partitions of their own, one such array by name of the fragment, over its quasi-identifiers.
    assumed : str
        What is taken for true where the release was read without its original; else empty.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> loss = utility.information_loss(release)
    >>> loss.per_attribute, loss.per_class.tolist()
    ({'age': 0.08}, [0.08, 0.08])
    """

    per_attribute: dict[str, float]
    per_class: Floats | dict[str, Floats]
    assumed: str


@measure(INFORMATION_LOSS)
@checked
def information_loss(release: Release) -> InformationLoss:
    """How much of its domain a published quasi-identifier cell covers, on average over all cells of every fragment.

    A range of numbers costs (width of the range) / (width of the domain), a set or hierarchy node of categories (its
    values - 1) / (domain size - 1), an exact value 0. A changed number costs its distance from the true one / (width of
    the domain), a changed category 1. A quasi-identifier that is not published costs 1 (0 if it is constant).

    Parameters
    ----------
    release : Release
        The release that is judged.

    Returns
    -------
    InformationLoss
        The mean loss, from 0 (all exact) to 1 (nothing left).

    Raises
    ------
    DataError
        For a table without a quasi-identifier.
    ReleaseError
        Where the release was read from published tables without their original, and these do not tell the domain of a
        quasi-identifier, or whether values were changed.

    Notes
    -----
    Assumes: a cell costs the share of its domain that it covers; all attributes count alike. Without the original also
      what `assumed` says.
    Cost: O(g) per quasi-identifier for g groups.
    Use: generalizing methods are to be compared.
    Avoid: methods with exact values are judged: they lose nothing here; see `query_error` and `association_error`.

    References
    ----------
    Zakerzadeh, Aggarwal and Barker, vertical fragmentation, appendix D.I (I = 1/(n m) sum |upper - lower| / |max -
    min|); Iyengar, KDD 2002, for categories.

    Examples
    --------
    The published ranges 21-23 and 44-46 are 2 years wide, the ages in the table 25 years: 2 / 25.

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> float(utility.information_loss(release))
    0.08
    """
    release.require_people("What a cell loses is told by the row that it was made of")
    names = release.data.require_quasi_identifiers()
    release.require_widths(names)
    cells: dict[str, list[float]] = {name: [] for name in names}
    for fragment in release.fragments:
        for name, loss in _losses(fragment, names).items():
            cells[name].append(float(fragment.partition.sizes @ loss) / release.data.n_rows)
    for name, losses in cells.items():
        if not losses:
            losses.append(_withheld_loss(release, name))
    total = float(np.mean([loss for losses in cells.values() for loss in losses]))
    return InformationLoss(
        total,
        INFORMATION_LOSS,
        baseline=0.0,
        per_attribute={name: float(np.mean(losses)) for name, losses in cells.items()},
        per_class=_per_class(release, names),
        assumed="" if release.data.knows_rows else ASSUMED,
    )


def _losses(fragment: Fragment, names: tuple[str, ...]) -> dict[str, Floats]:
    """Loss per group of the fragment's quasi-identifiers."""
    return {name: fragment.recodings[name].loss() for name in names if name in fragment.recodings}


def _withheld_loss(release: Release, name: str) -> float:
    return 1.0 if len(release.data.domain[name]) > 1 else 0.0


def _per_class(release: Release, names: tuple[str, ...]) -> Floats | dict[str, Floats]:
    if not release.is_shared:
        known = {fragment.name: list(_losses(fragment, names).values()) for fragment in release.fragments}
        return {name: np.mean(losses, axis=0) for name, losses in known.items() if losses}
    losses = [loss for fragment in release.fragments for loss in _losses(fragment, names).values()]
    for name in names:
        if name not in release.attributes:
            losses.append(np.full(release.partition.n_groups, _withheld_loss(release, name)))
    per_class: Floats = np.mean(losses, axis=0)
    return per_class
