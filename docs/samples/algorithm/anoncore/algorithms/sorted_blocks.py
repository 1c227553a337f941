"""Sorted blocks: rows in the order of their quasi-identifiers, cut into blocks of k."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Algorithm, generalized_release
from anoncore.base.progress import Progress
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import KAnonymity, Requirement
from anoncore.table.microdata import Microdata


class SortedBlocks(Algorithm):
    """Sort the rows by their quasi-identifiers, then let every k neighbours be a class.

    The first quasi-identifier counts most, so put the one that readers need most in the first column.

    Notes
    -----
    Assumes: neighbours in the order are alike in all quasi-identifiers, which holds for few of them.
    Cost: O(n log n) for n rows.
    Use: a plain yardstick is wanted that every method should beat.
    Avoid: there are more than a few quasi-identifiers; see `Mondrian`.

    References
    ----------
    Ghinita, Karras, Kalnis and Mamoulis, VLDB 2007, section 4: classes of k along one order.

    Examples
    --------
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import SortedBlocks
    >>> import pandas as pd
    >>> data = Microdata(pd.DataFrame({"age": [30, 20, 31, 22]}), {"age": "quasi-identifier"})
    >>> SortedBlocks(k=2).anonymize(data).tables()["release"]["age"].tolist()
    ['20-22', '20-22', '30-31', '30-31']
    """

    name = "sorted-blocks"
    title = "Sorted blocks"
    source = "Ghinita et al., VLDB 2007, section 4"
    family = "generalization"
    summary = "Sorts people by what is known of them and lets neighbours be a class."
    minimality = Minimality(
        Openness.DEPENDS,
        "Classes follow the order of the quasi-identifiers and the number of rows alone; only people who agree in all "
        "quasi-identifiers and are divided between two classes are divided by the order of their other values.",
    )

    k: Annotated[int, Field(ge=1, title="k", description="Fewest rows in a class.")] = 5

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """k-anonymity."""
        return (KAnonymity(k=self.k),)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        progress(0.1, "Sorting the rows")
        n_classes = data.n_rows // self.k
        group = np.empty(data.n_rows, dtype=np.int32)
        # Sizes differ by at most one row, so the rest of the division makes no class too small.
        group[data.canonical_order] = np.arange(data.n_rows) * n_classes // data.n_rows
        return generalized_release(self, data, Partition(group))
