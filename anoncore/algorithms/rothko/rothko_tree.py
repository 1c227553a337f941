"""RothkoTree: Mondrian from counts, for tables that do not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator

from anoncore.algorithms.mondrian import Mondrian
from anoncore.algorithms.rothko.rothko import Rothko
from anoncore.algorithms.rothko.rows import Rows
from anoncore.algorithms.rothko.setting import Counters, Part, Setting
from anoncore.algorithms.rothko.tree_growth import tree_parts
from anoncore.base.errors import DataError
from anoncore.release.openness import Minimality, Openness
from anoncore.requirements import VarianceDiversity
from anoncore.table.microdata import Microdata


class RothkoTree(Rothko):
    """Mondrian (strict) for tables larger than memory, with cuts chosen from frequency sets.

    While a part of the table is larger than memory, one scan per level of the partition tree counts every value of an
    attribute in every open node, with the class (infogain) and the sensitive values (diversity, t-closeness) beside it.
    The partition is the one that `Mondrian(strict=True)` gives. The splits regression and loss and variance diversity
    cannot be used, because the counts that they need are as large as the table.

    Notes
    -----
    Assumes: the counts of an attribute's values, with the class and the sensitive values, fit in the frontier's memory
      for at least one node.
    Cost: rows read |R| (h + p + 1) and written |R| p times for p divisions and h = ceil(log2(|R| / memory rows)) levels
      (section 4).
    Use: a table does not fit in memory and the very partition of Mondrian is wanted.
    Avoid: the table fits in memory (Mondrian); several scans are too slow (RothkoSampling); the split or requirement
      needs more than counts.

    References
    ----------
    LeFevre and DeWitt, Rothko (TR 1590), section 2.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian, RothkoTree
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier"})
    >>> release = RothkoTree(requirements=[KAnonymity(k=2)], memory_rows=3).anonymize(data)
    >>> release.partition.group.tolist()
    [0, 0, 0, 1, 1, 1]
    >>> in_memory = Mondrian(requirements=[KAnonymity(k=2)], strict=True).anonymize(data)
    >>> in_memory.partition.group.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    name = "rothko-tree"
    title = "Rothko (tree)"
    summary = "Mondrian for tables larger than memory: finds the very same groups from counts, with several scans."
    minimality = Minimality(
        Openness.DEPENDS,
        "Its groups are those of Mondrian with `strict`: readers know that every cut of a group that was left "
        "whole would have broken a requirement. With l-diversity or t-closeness that tells about the sensitive "
        "values; with k-anonymity alone cuts depend on sizes, which everybody can count.",
    )

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError for a split or requirement whose counts would be as large as the table."""
        reason = unsuited(self)
        if reason is not None:
            raise DataError(f"{reason}; use RothkoSampling, or Mondrian where the table fits in memory.")
        super().validate_data(data)

    def parts(self, setting: Setting, rows: Rows) -> Iterator[Part]:
        """The parts of the rows that fit in memory or are one class."""
        return tree_parts(setting, rows, setting.region)

    def account(self, counters: Counters) -> str:
        """Scans and divisions."""
        return (
            f"The groups are those of Mondrian with strict cuts; found in {counters.scans:,} scans and "
            f"{counters.repartitions:,} divisions of the rows."
        )


def unsuited(model: Mondrian) -> str | None:
    """Why frequency sets do not serve an algorithm, or None where they do."""
    if model.split in ("regression", "loss"):
        return f"The split '{model.split}' needs counts as large as the table"
    if any(isinstance(requirement, VarianceDiversity) for requirement in model.requirements):
        return "Variance diversity needs counts of every number beside every value, as large as the table"
    return None
