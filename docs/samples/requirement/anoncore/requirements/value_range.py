"""The range of a numeric sensitive attribute in every group."""

from typing import Annotated, Any

import numpy as np
from numba import carray
from pydantic import Field

from anoncore.base.errors import DataError
from anoncore.kernels.compiler import level_function
from anoncore.requirements.diversity import Attribute
from anoncore.requirements.requirement import Comparison, Floats, Requirement
from anoncore.table.domain import Kind
from anoncore.table.microdata import Microdata, SensitiveValues


@level_function
def value_range(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """Largest known number of the group minus the smallest; 0 where none is known."""
    values = carray(counts, length)
    numbers = carray(reference, length)
    low, high = np.inf, -np.inf
    for value in range(length):
        if values[value] > 0 and not np.isnan(numbers[value]):
            low, high = min(low, numbers[value]), max(high, numbers[value])
    return max(high - low, 0.0)


class RangeDiversity(Requirement):
    """The numbers of a sensitive attribute span at least e in every group.

    The unit of e is that of the attribute. Missing values do not count. A union of two groups spans at least what
    either does, so it is monotone under merging.

    Notes
    -----
    Assumes: knowing a number nearly is as bad as knowing it.
    Cost: O(m) for a group and m different numbers.
    Use: a sensitive number shall not be told to within a narrow range.
    Avoid: one far value would do, because it makes the range large though all others are alike.

    References
    ----------
    Zhang, Koudas, Srivastava and Yu, ICDE 2007, (k, e)-anonymity.

    Examples
    --------
    >>> from anoncore.requirements import RangeDiversity
    >>> RangeDiversity(e=1_000).label()
    'range diversity (e = 1000.0)'
    """

    name = "range-diversity"
    title = "range diversity"
    source = "Zhang et al., ICDE 2007"
    comparison = Comparison.AT_LEAST
    level = value_range
    level_name = "range"
    parameter = "e"

    e: Annotated[float, Field(ge=0, allow_inf_nan=False, title="e", description="Smallest range in a group.")]
    attribute: Attribute = None

    def reference(self, data: Microdata, values: SensitiveValues) -> Floats:
        """The number of each code, NaN for missing."""
        domain = data.domain[values.attribute]
        if domain.kind is not Kind.NUMERIC or values.unique >= 0:
            raise DataError(f"'{values.attribute}' has no single numbers to protect; choose a numeric attribute.")
        numbers = domain.positions.copy()
        if domain.missing_code is not None:
            numbers[domain.missing_code] = np.nan
        return numbers
