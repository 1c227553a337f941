"""What methods share that keep every value exact and cut the link to one sensitive attribute by buckets."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Algorithm
from anoncore.base.errors import DataError, InfeasibleError
from anoncore.release.partition import Partition
from anoncore.release.recoding import Exact
from anoncore.release.release import Fragment, Release
from anoncore.requirements import DistinctDiversity, FrequencyDiversity, Requirement
from anoncore.table.microdata import Microdata


class Bucketization(Algorithm):
    """Buckets in which no value of the one sensitive attribute has more than 1/l of the rows."""

    family = "bucketization"
    group_word = "bucket"

    l: Annotated[int, Field(ge=2, title="l", description="Different sensitive values in every group.")] = 2

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """No value above 1/l of a bucket, and l different ones."""
        name = only_sensitive(data, self.title)
        return FrequencyDiversity(l=float(self.l), attribute=name), DistinctDiversity(l=self.l, attribute=name)

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError for other than one sensitive attribute, InfeasibleError for a value above n / l rows."""
        self.require_countable(data)
        data.require_quasi_identifiers()
        require_eligible(data, only_sensitive(data, self.title), self.l)


def only_sensitive(data: Microdata, title: str, instead: str = "tag the others quasi-identifier or insensitive") -> str:
    """The one attribute to protect. Raises DataError for none or several; `title` is the method's name for people."""
    names = data.require_sensitive()
    if len(names) > 1:
        raise DataError(
            f"{title} protects one sensitive attribute, but {len(names)} are tagged ({', '.join(names)}); {instead}."
        )
    return names[0]


def require_eligible(data: Microdata, attribute: str, l: int) -> None:
    """Raise InfeasibleError where a value has more than n / l rows: too many for buckets that hold it once.

    Of values that need no protection every row counts as a value of its own.
    """
    view = data.sensitive_view(attribute)
    counts = np.bincount(view.codes, minlength=view.size)
    if view.unique >= 0:
        counts[view.unique] = min(counts[view.unique], 1)
    code = int(np.argmax(counts))
    feasible = int(data.n_rows // counts[code])
    if feasible >= l:
        return
    reason = (
        f"l = {l} is not possible: {view.labels[code]!r} has {counts[code]:,} of {data.n_rows:,} rows of "
        f"'{attribute}', and a group holds it at most once"
    )
    if feasible < 2:
        raise InfeasibleError(f"{reason}; no l works, so choose another sensitive attribute or method.")
    raise InfeasibleError(f"{reason}; choose l at most {feasible}.", nearest=feasible)


def bucketized_release(
    algorithm: Algorithm, data: Microdata, attribute: str, partition: Partition, notes: tuple[str, ...] = ()
) -> Release:
    """Two exact fragments that share the partition: all other attributes, and the sensitive one."""
    known = {
        name: Exact(data.domain[name], partition, data.codes[name]) for name in data.attributes if name != attribute
    }
    sensitive = {attribute: Exact(data.domain[attribute], partition, data.codes[attribute])}
    fragments = (Fragment("quasi-identifiers", partition, known), Fragment("sensitive", partition, sensitive))
    return Release(data, fragments, algorithm, notes)
