"""Groups of attributes that an algorithm would choose, and the association that it reads them from."""

from __future__ import annotations

import pandas as pd

from anoncore.kernels.arrays import record


@record
class AttributeProposal:
    """The groups of attributes that an algorithm takes where none are given by hand.

    Attributes
    ----------
    word : str
        What the method calls a group, e.g. `column`.
    groups : tuple of tuple of str
        The attributes of each group.
    centre_word : str
        What the literature calls the attribute that a group is built around.
    centres : tuple of str or None
        That attribute of each group; None where there is no single one.
    association : DataFrame
        The measure for every pair of attributes, symmetric. It may have attributes that are in no group.
    measure : str
        Name of the measure.
    meaning : str
        What a high value tells, in one sentence.
    may_overlap : bool
        Whether an attribute may be put into several groups by hand.
    """

    word: str
    groups: tuple[tuple[str, ...], ...]
    centre_word: str
    centres: tuple[str | None, ...]
    association: pd.DataFrame
    measure: str
    meaning: str
    may_overlap: bool = False
