"""l-diversity in its four definitions: distinct, frequency, entropy, recursive (c, l).

`counts` are the people of a group with each value and `size` are its people. Where one person may have several rows
(`Microdata.unit`), a person counts with each of their values, so that the counts add up to the pairs of a person and a
value, which may be more than the people. A group of fewer than l people is never l-diverse, however many values it has.
"""

from typing import Annotated, Any

import numpy as np
from numba import carray
from pydantic import Field

from anoncore.kernels.arrays import Floats
from anoncore.kernels.compiler import inner_kernel, level_function
from anoncore.requirements.requirement import Comparison, Requirement
from anoncore.table.microdata import Microdata, SensitiveValues

Attribute = Annotated[
    str | None,
    Field(title="Sensitive attribute", description="Attribute to protect; empty: every sensitive attribute."),
]


@level_function
def distinct_values(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """The number of different values in the group, or that of its people where these are fewer."""
    values = carray(counts, length)
    distinct = 0
    for value in range(length):
        if value == unique:
            distinct += values[value]
        elif values[value] > 0:
            distinct += 1
    return float(min(distinct, size))


@level_function
def inverse_share(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """1 divided by the share of the group's people who have its most frequent value."""
    values = carray(counts, length)
    largest = 0
    for value in range(length):
        count = min(values[value], 1) if value == unique else values[value]
        largest = max(largest, count)
    return size / largest if largest > 0 else 0.0


@level_function
def effective_values(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """exp(entropy) of the group: the number of equally frequent values that would be as diverse; at most its people."""
    values = carray(counts, length)
    total = values.sum()
    # The entropy is log n - (sum of c log c) / n for counts c; rows that each are a value of their own add nothing. The
    # sum carries along what each addition rounds off (Kahan), so that its error does not grow with the values.
    summed, lost = 0.0, 0.0
    for value in range(length):
        if value != unique and values[value] > 1:
            term = values[value] * np.log(values[value]) - lost
            after = summed + term
            lost = (after - summed) - term
            summed = after
    effective = np.exp(np.log(total) - summed / total)
    return effective if total == size else min(effective, float(size))


@inner_kernel
def largest_counts(values: Any, unique: int, n: int) -> Any:
    """The n largest counts in descending order, int64 (n,); rows of the value `unique` each count as a value."""
    top = np.zeros(n, np.int64)
    for value in range(len(values)):
        count, repeats = values[value], 1
        if value == unique:
            count, repeats = min(count, 1), min(values[value], n)
        # Each count moves up to its rank by exchanges.
        for _ in range(repeats):
            rising = count
            for rank in range(n):
                if rising > top[rank]:
                    top[rank], rising = rising, top[rank]
    return top


@level_function
def recursive_ratio(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """x_1 / (x_l + ... + x_m) with the counts x in descending order; infinite below l values or l people."""
    values = carray(counts, length)
    l = int(carray(reference, 1)[0])
    if l <= 1:
        return 0.0
    if size < l:
        return np.inf
    top = largest_counts(values, unique, l - 1)
    tail = values.sum() - top.sum()
    return top[0] / tail if tail > 0 else np.inf


class DistinctDiversity(Requirement):
    """Every group has at least l different sensitive values.

    Where one person may have several rows (`Microdata.unit`), a group also needs at least l people.

    Notes
    -----
    Assumes: every value is as likely as any other to the adversary, who knows no frequencies.
    Cost: O(m) for a group and m sensitive values.
    Use: a plain rule is wanted that everybody can check by counting.
    Avoid: one value may dominate a group: frequency, entropy or recursive diversity bound that.

    References
    ----------
    Machanavajjhala et al., l-diversity, ICDE 2006, section 4 (the plainest instance).

    Examples
    --------
    The first group has flu and cold, the second only flu:

    >>> import pandas as pd
    >>> from anoncore import Microdata, Partition
    >>> from anoncore.requirements import DistinctDiversity
    >>> data = Microdata(pd.DataFrame({"disease": ["flu", "cold", "flu", "flu"]}), roles={"disease": "sensitive"})
    >>> (check,) = DistinctDiversity(l=2).checks(data)
    >>> check.levels(Partition([0, 0, 1, 1])).tolist()
    [2.0, 1.0]
    """

    name = "distinct-diversity"
    title = "distinct l-diversity"
    source = "Machanavajjhala et al. 2006"
    comparison = Comparison.AT_LEAST
    level = distinct_values
    monotone_for_people = True
    level_name = "different values"
    parameter = "l"
    fewest_people = "l"

    l: Annotated[
        int, Field(ge=1, title="l", description="Smallest number of different sensitive values in a group.")
    ] = 2
    attribute: Attribute = None

    def reached_text(self, level: float, text: str, attribute: str | None) -> str:
        """How many different values a group has."""
        of = "" if attribute is None else f" of '{attribute}'"
        return f"{text} different {'value' if level == 1 else 'values'}{of}"


class FrequencyDiversity(Requirement):
    """No sensitive value has more than 1/l of a group's rows.

    Where one person may have several rows (`Microdata.unit`), at most 1/l of a group's people have any value at all.

    Notes
    -----
    Assumes: the adversary believes each value as often as it occurs in the group.
    Cost: O(m) for a group and m sensitive values.
    Use: nobody shall be believed to have any value with more than 1 / l; also where only some values need protection.
    Avoid: the table's own share of a value is above 1 / l, or the values of a group mean nearly the same: see
      t-closeness.

    References
    ----------
    Wong et al. 2006, (alpha, k)-anonymity with alpha = 1/l; Xiao and Tao, Anatomy, VLDB 2006, definition 2.

    Examples
    --------
    In the first group no disease has more than 1/2 of the rows, in the second flu has 2/3:

    >>> import pandas as pd
    >>> from anoncore import Microdata, Partition
    >>> from anoncore.requirements import FrequencyDiversity
    >>> diseases = ["flu", "cold", "flu", "flu", "HIV"]
    >>> data = Microdata(pd.DataFrame({"disease": diseases}), roles={"disease": "sensitive"})
    >>> (check,) = FrequencyDiversity(l=2).checks(data)
    >>> check.levels(Partition([0, 0, 1, 1, 1])).tolist()
    [2.0, 1.5]
    """

    name = "frequency-diversity"
    title = "frequency l-diversity"
    source = "Xiao and Tao 2006, definition 2"
    comparison = Comparison.AT_LEAST
    level = inverse_share
    level_name = "1 / largest share"
    parameter = "l"
    # A value's share is at least one row.
    fewest_people = "l"

    l: Annotated[
        float, Field(ge=1, allow_inf_nan=False, title="l", description="No value has more than 1/l of a group.")
    ] = 2.0
    attribute: Attribute = None

    def reached_text(self, level: float, text: str, attribute: str | None) -> str:
        """In what share of a group its commonest value is."""
        value = "value" if attribute is None else f"'{attribute}'"
        return f"no {value} that is protected" if np.isinf(level) else f"its commonest {value} in 1 of {text}"

    def asked_text(self, text: str) -> str:
        """In what share of a group its commonest value may be at most."""
        return f"at most 1 of {text}"


class EntropyDiversity(Requirement):
    """The entropy of the sensitive values in every group is at least log l; l need not be a whole number.

    Where one person may have several rows (`Microdata.unit`), the entropy is that of the different pairs of a person
    and a value, and a group also needs at least l people.

    Notes
    -----
    Assumes: all values count alike, frequent ones as much as rare ones.
    Cost: O(m) for a group and m sensitive values.
    Use: a group should be diverse as a whole, not only in its most frequent value.
    Avoid: the table has one very frequent value: its own entropy bounds l.

    References
    ----------
    Machanavajjhala et al., l-diversity, ICDE 2006, definition 4.1.

    Examples
    --------
    Two equally frequent values are worth 2; shares of 2/3 and 1/3 are worth (3/2)^(2/3) * 3^(1/3) = 1.89:

    >>> import pandas as pd
    >>> from anoncore import Microdata, Partition
    >>> from anoncore.requirements import EntropyDiversity
    >>> diseases = ["flu", "cold", "flu", "flu", "HIV"]
    >>> data = Microdata(pd.DataFrame({"disease": diseases}), roles={"disease": "sensitive"})
    >>> (check,) = EntropyDiversity(l=1.9).checks(data)
    >>> levels = check.levels(Partition([0, 0, 1, 1, 1]))
    >>> levels.round(2).tolist(), check.holds(levels).tolist()
    ([2.0, 1.89], [True, False])
    """

    name = "entropy-diversity"
    title = "entropy l-diversity"
    source = "Machanavajjhala et al. 2006, definition 4.1"
    comparison = Comparison.AT_LEAST
    level = effective_values
    level_name = "exp(entropy)"
    parameter = "l"
    # The entropy of n rows is at most log n.
    fewest_people = "l"

    l: Annotated[
        float, Field(ge=1, allow_inf_nan=False, title="l", description="Smallest exp(entropy) of a group.")
    ] = 2.0
    attribute: Attribute = None


class RecursiveDiversity(Requirement):
    """The most frequent value of a group is less than c times as frequent as all from the l-th most frequent on.

    With the counts x of a group's values in descending order, recursive (c, l)-diversity asks for x_1 < c (x_l + ... +
    x_m). (c, 1) always holds.

    Where one person may have several rows (`Microdata.unit`), the counts are those of different people, and for an l
    above 1 a group also needs at least l people.

    Notes
    -----
    Assumes: the adversary can rule out some values; l - 2 of them are borne.
    Cost: O(m l) for a group and m sensitive values.
    Use: background knowledge that rules out values is feared, or one frequent value makes entropy too strict.
    Avoid: readers want a bound that can be told in one number.

    References
    ----------
    Machanavajjhala et al. 2006, definition 4.2; Rothko (TR 1590), section 1.1.

    Examples
    --------
    Three of the five have the flu, and the others count 2 together, so that the ratio is 3 / 2:

    >>> import pandas as pd
    >>> from anoncore import Microdata, Partition
    >>> from anoncore.requirements import RecursiveDiversity
    >>> diseases = ["flu", "flu", "flu", "cold", "HIV"]
    >>> data = Microdata(pd.DataFrame({"disease": diseases}), roles={"disease": "sensitive"})
    >>> (check,) = RecursiveDiversity(c=2, l=2).checks(data)
    >>> levels = check.levels(Partition([0, 0, 0, 0, 0]))
    >>> levels.tolist(), check.holds(levels).tolist()
    ([1.5], [True])
    """

    name = "recursive-diversity"
    title = "recursive (c, l)-diversity"
    source = "Machanavajjhala et al. 2006, definition 4.2; LeFevre and DeWitt 2007, section 1.1"
    comparison = Comparison.BELOW
    level = recursive_ratio
    level_name = "x1 / (xl + ... + xm)"
    beyond = "too few people or different values{of}, so that no c is large enough"
    parameter = "c"
    # Below l different values nothing is left on the right side of the definition.
    fewest_people = "l"

    c: Annotated[
        float, Field(gt=0, allow_inf_nan=False, title="c", description="The largest count is below c times the tail.")
    ] = 3.0
    l: Annotated[int, Field(ge=1, title="l", description="The tail begins at the l-th most frequent value.")] = 2
    attribute: Attribute = None

    def reference(self, data: Microdata, values: SensitiveValues) -> Floats:
        """The number l, which the level function needs."""
        return np.array([float(self.l)])
