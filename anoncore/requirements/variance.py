"""Variance diversity of a numeric sensitive attribute."""

from typing import Annotated, Any

import numpy as np
from numba import carray
from pydantic import Field

from anoncore.base.errors import DataError
from anoncore.kernels.arrays import Floats
from anoncore.kernels.compiler import level_function
from anoncore.kernels.rounding import squared_deviations
from anoncore.requirements.diversity import Attribute
from anoncore.requirements.requirement import Comparison, Requirement
from anoncore.table.domain import Kind
from anoncore.table.microdata import Microdata, SensitiveValues


@level_function
def population_variance(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """The variance of the group's known numbers, divided by their count; 0 where none is known."""
    values = carray(counts, length)
    numbers = carray(reference, 1 + 2 * length)
    known, squares = squared_deviations(values, numbers[1 : 1 + length], numbers[1 + length :])
    # The unit comes last, so that squares of small numbers keep their digits.
    return squares / known * numbers[0] * numbers[0] if known > 0 else 0.0


class VarianceDiversity(Requirement):
    """The variance of a numeric sensitive attribute is at least v in every group.

    The variance is that of the group's known numbers, divided by their count, so v has the attribute's unit squared.
    Missing values are left out. The variance of a union of two groups is at least the smaller of theirs.

    Notes
    -----
    Assumes: knowing a number nearly is as bad as knowing it; the sensitive attribute is numeric.
    Cost: O(m) for a group and m different numbers.
    Use: a sensitive number shall not be told to within a narrow range.
    Avoid: the numbers are skewed: one far value makes the variance large though all others are alike.

    References
    ----------
    Rothko (TR 1590), section 1.1 and appendix.

    Examples
    --------
    10 and 20 lie 5 away from their mean, 30 and 32 only 1:

    >>> import pandas as pd
    >>> from anoncore import Microdata, Partition
    >>> from anoncore.requirements import VarianceDiversity
    >>> data = Microdata(pd.DataFrame({"salary": [10, 20, 30, 32]}), roles={"salary": "sensitive"})
    >>> (check,) = VarianceDiversity(v=4).checks(data)
    >>> levels = check.levels(Partition([0, 0, 1, 1]))
    >>> levels.tolist(), check.holds(levels).tolist()
    ([25.0, 1.0], [True, False])
    """

    name = "variance-diversity"
    title = "variance diversity"
    source = "LeFevre and DeWitt 2007, section 1.1 and appendix"
    comparison = Comparison.AT_LEAST
    level = population_variance
    level_name = "variance"
    parameter = "v"

    v: Annotated[float, Field(ge=0, allow_inf_nan=False, title="v", description="Smallest variance in a group.")]
    attribute: Attribute = None

    def reference(self, data: Microdata, values: SensitiveValues) -> Floats:
        """The unit of the numbers, then the number of each code in it as two doubles, NaN for missing."""
        domain = data.domain[values.attribute]
        if domain.kind is not Kind.NUMERIC:
            raise DataError(
                f"'{values.attribute}' is not numeric; variance diversity needs a numeric sensitive attribute."
            )
        if values.unique >= 0:
            raise DataError(
                f"Only {values.labels[0]} of '{values.attribute}' need protection, as one value; variance diversity "
                "protects the numbers themselves: drop sensitive_values of the attribute."
            )
        axis, missing = domain.axis, [np.nan] * domain.has_missing
        return np.concatenate([[float(axis.unit)], axis.steps, missing, axis.rest, missing])
