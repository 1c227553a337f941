"""k-anonymity."""

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field

from anoncore.kernels.compiler import level_function
from anoncore.requirements.requirement import Comparison, Requirement


@level_function
def group_size(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """People of the group."""
    return float(size)


class KAnonymity(Requirement):
    """Every group has at least k people, so that a person hides among k - 1 others.

    Every row is another person, unless the table says whose row it is (`Microdata.unit`): then a person's rows count
    once.

    Notes
    -----
    Assumes: the adversary knows a person's quasi-identifiers, maybe that the person is in the table, and nothing about
      sensitive values.
    Cost: O(1) for a group.
    Use: identities must be hidden; as the base of every other requirement.
    Avoid: alone, where sensitive values are published: all people of a group may have the same.

    References
    ----------
    Samarati and Sweeney 1998; LeFevre and DeWitt, Rothko (TR 1590), section 1.1.

    Examples
    --------
    >>> from anoncore import Microdata
    >>> from anoncore.requirements import KAnonymity
    >>> import pandas as pd
    >>> from anoncore import Partition
    >>> (check,) = KAnonymity(k=2).checks(Microdata(pd.DataFrame({"age": [21, 22, 44]})))
    >>> levels = check.levels(Partition([0, 0, 1]))
    >>> levels.tolist(), check.holds(levels).tolist()
    ([2.0, 1.0], [True, False])
    """

    name = "k-anonymity"
    title = "k-anonymity"
    source = "Samarati and Sweeney 1998; LeFevre and DeWitt 2007, section 1.1"
    comparison = Comparison.AT_LEAST
    level = group_size
    level_name = "size"
    parameter = "k"
    fewest_people = "k"
    attribute_free = True
    monotone_for_people = True

    k: Annotated[int, Field(ge=1, title="k", description="Smallest number of people in a group.")] = 5


def largest_k(requirements: Iterable[Requirement], least: int = 0) -> int:
    """The largest k that requirements ask for; `least` where they ask for no more."""
    return max([least, *(one.k for one in requirements if isinstance(one, KAnonymity))])
