"""Coarsened cells: how many cells no longer say one value."""

from __future__ import annotations

import numpy as np

from anoncore.base.number import Number, measure
from anoncore.base.score import Score
from anoncore.release.release import Release

COARSENED_CELLS = Number(
    name="coarsened-cells",
    title="Coarsened cells",
    template="Share of the published quasi-identifier cells that stand for more than one value.",
    family="cost",
    source="Samarati, IEEE TKDE 2001",
    form="share",
    unit="share of cells",
    higher_is_better=False,
    bounds=(0.0, 1.0),
    baseline="0: the original table, where every cell is exact.",
)


@measure(COARSENED_CELLS)
def coarsened_cells(release: Release) -> Score:
    """Count the quasi-identifier cells that stand for more than one value, however many values these are.

    Parameters
    ----------
    release : Release
        The release that is judged.

    Returns
    -------
    Score
        The share of the cells, from 0 (all exact) to 1 (none is).

    Raises
    ------
    ReleaseError
        Where the rows of the release are nobody's.

    Notes
    -----
    Assumes: a cell is either of use or not; how wide it is does not matter.
    Cost: O(n) per quasi-identifier for n rows.
    Use: readers need exact cells and leave out all others.
    Avoid: coarse cells are of use too; see `information_loss`.

    References
    ----------
    Samarati, IEEE TKDE 2001: minimal distortion, one unit per generalized cell.

    Examples
    --------
    The ages 20 and 22 become a range, those of 30 stay.

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> data = Microdata(pd.DataFrame({"age": [20, 22, 30, 30]}), {"age": "quasi-identifier"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> float(utility.coarsened_cells(release))
    0.5
    """
    release.require_people("Whether a cell is coarser is told by the row that it was made of")
    known = set(release.data.require_quasi_identifiers())
    shares = []
    for fragment in release.fragments:
        for name in known.intersection(fragment.attributes):
            low, high = fragment.recodings[name].bounds()
            shares.append(np.mean(low != high))
    return Score(float(np.mean(shares)) if shares else 0.0, COARSENED_CELLS, baseline=0.0)
