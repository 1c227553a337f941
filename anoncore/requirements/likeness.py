"""beta-likeness: a bound on how much more frequent any sensitive value is in a group than in the table."""

from typing import Annotated, Any

import numpy as np
from numba import carray
from pydantic import Field

from anoncore.kernels.arrays import Floats
from anoncore.kernels.compiler import level_function
from anoncore.kernels.rounding import fits_word, product_difference, stays_within
from anoncore.requirements.diversity import Attribute
from anoncore.requirements.requirement import Comparison, Requirement
from anoncore.table.microdata import Microdata, SensitiveValues


@level_function
def largest_gain(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """The smallest beta that the group satisfies; infinite where some gain (q - p) / p is above -ln p.

    `reference` holds the table's people per value and their number in all.
    """
    values, of_table = carray(counts, length), carray(reference, length + 1)
    people = int(of_table[length])
    fits = fits_word(size, people)
    largest = 0.0
    for value in range(length):
        expected = int(of_table[value])
        # Only gains count, and what needs no protection gains nothing.
        if value == unique or np.float64(values[value]) * people <= np.float64(expected) * size:
            continue
        if expected == 0:
            return np.inf
        gain = product_difference(values[value], people, expected, size, fits) / expected / size
        if not stays_within(gain, np.log(people / expected)):
            return np.inf
        largest = max(largest, gain)
    return largest


class BetaLikeness(Requirement):
    """No sensitive value gains more than beta of its share of the table in any group.

    A value with share p in the table may have the share q in a group where (q - p) / p <= min(beta, -ln p). So beta = 1
    lets a value be twice as frequent at most. The second bound is for frequent values, of which beta alone would allow
    any share: no group can be sure of a value that the table is not sure of. A value may become rarer without limit.
    The share of a value in a union of two groups lies between its shares in both, so it is monotone under merging.

    Where only some values need protection, only the gain of these counts. Where one person may have several rows
    (`Microdata.unit`), the shares are those of the people who have the value at all.

    Notes
    -----
    Assumes: the adversary knows the distribution of the whole table; every value counts by itself, however alike some
      are.
    Cost: O(m) for a group and m sensitive values.
    Use: rare values need the same relative protection as frequent ones, which t-closeness does not give them.
    Avoid: learning that somebody does not have a value is a breach too, or very rare values make all groups large: a
      value that n people have needs a group with as many times fewer.

    References
    ----------
    Cao and Karras, Publishing microdata with a robust privacy guarantee, PVLDB 5(11), 2012, definition 3 (enhanced
    beta-likeness).

    Examples
    --------
    Half of the table has flu, a quarter HIV. In the second group 2 of 4 have HIV, which is a gain of 1:

    >>> import pandas as pd
    >>> from anoncore import Microdata, Partition
    >>> from anoncore.requirements import BetaLikeness
    >>> diseases = ["flu", "flu", "cold", "cold", "flu", "flu", "HIV", "HIV"]
    >>> data = Microdata(pd.DataFrame({"disease": diseases}), roles={"disease": "sensitive"})
    >>> (check,) = BetaLikeness(beta=0.5).checks(data)
    >>> levels = check.levels(Partition([0, 0, 0, 0, 1, 1, 1, 1]))
    >>> levels.tolist(), check.holds(levels).tolist()
    ([1.0, 1.0], [False, False])
    >>> check.levels(Partition([0, 0, 0, 1, 1, 1, 0, 1])).tolist()
    [0.0, 0.0]
    """

    name = "beta-likeness"
    title = "beta-likeness"
    source = "Cao and Karras, PVLDB 2012, definition 3"
    comparison = Comparison.AT_MOST
    level = largest_gain
    level_name = "largest gain"
    beyond = "a value{of} that gains more than -ln of its share, so that no beta is large enough"
    parameter = "beta"
    monotone_under_suppression = False

    beta: Annotated[
        float,
        Field(ge=0, allow_inf_nan=False, title="beta", description="Largest relative gain of a value's share."),
    ] = 1.0
    attribute: Attribute = None

    def reference(self, data: Microdata, values: SensitiveValues) -> Floats:
        """The table's people per value, and their number in all."""
        whole = data if data.whole is None else data.whole
        counts = (values if whole is data else whole.sensitive_view(values.attribute)).counts
        return np.array([*counts, counts.sum() if whole.people is None else whole.n_people], np.float64)
