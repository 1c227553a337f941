"""The table itself as a release that changes nothing: what it gives away, and what every release is told against."""

from __future__ import annotations

from anoncore.release.partition import Partition
from anoncore.release.recoding import Exact
from anoncore.release.release import Fragment, Release, ReleaseMethod
from anoncore.table.microdata import Microdata


def unchanged(data: Microdata, method: ReleaseMethod | None = None) -> Release:
    """The table as if it was published as it is, but for columns that name people.

    Parameters
    ----------
    data : Microdata
        The table, with at least one quasi-identifier.
    method : ReleaseMethod, optional
        What stands for the method of the release.

    Returns
    -------
    Release
        One fragment with every attribute exact; rows with the same quasi-identifiers are a group.

    Raises
    ------
    DataError
        Where no attribute is tagged as quasi-identifier.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.release.unchanged import unchanged
    >>> people = pd.DataFrame({"age": [44, 21, 44], "disease": ["cold", "flu", "flu"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> unchanged(data).partition.group.tolist()
    [1, 0, 1]
    """
    partition = Partition.alike([data.codes[name] for name in data.require_quasi_identifiers()])
    recodings = {name: Exact(data.domain[name], partition, data.codes[name]) for name in data.attributes}
    return Release(data, (Fragment("release", partition, recodings),), method)
