"""t-closeness under the ordered, the interval, the equal and the hierarchical ground distance."""

from typing import Annotated, Any, Literal, get_args

import numpy as np
from numba import carray
from pydantic import Field

from anoncore.base.errors import DataError
from anoncore.kernels.arrays import Floats
from anoncore.kernels.compiler import level_function
from anoncore.kernels.rounding import fits_word, product_difference
from anoncore.requirements.diversity import Attribute
from anoncore.requirements.requirement import Comparison, Requirement
from anoncore.table.microdata import Microdata, SensitiveValues

Ground = Literal["ordered", "interval", "equal", "hierarchical"]
GROUNDS: tuple[Ground, ...] = get_args(Ground)


@level_function
def earth_movers_distance(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """The distance of the group's distribution from the table's: sum over edges of weight * |mass that crosses the
    edge|.

    Every ground distance here is that of a path or a tree, each of whose edges separates an interval of codes from the
    rest. `reference` holds the table's rows per value, the number of edges, then first code, last code and weight of
    each edge.
    """
    values = carray(counts, length)
    n_edges = int(carray(reference, length + 1)[length])
    numbers = carray(reference, length + 1 + 3 * n_edges)
    # Where one person may have several rows, the pairs of a person and a value are counted.
    # In units of 1 / (total * n_rows) the surplus is a whole number, so that what cancels leaves nothing behind. With
    # running sums the counts in any interval of codes are differences of two of them.
    held, of_table = np.empty(length + 1, np.int64), np.empty(length + 1, np.int64)
    held[0], of_table[0] = 0, 0
    for value in range(length):
        held[value + 1] = held[value] + values[value]
        of_table[value + 1] = of_table[value] + np.int64(numbers[value])
    total, n_rows = held[length], of_table[length]
    fits = fits_word(total, n_rows)
    distance = 0.0
    for edge in range(n_edges):
        begin = length + 1 + 3 * edge
        first, last = int(numbers[begin]), int(numbers[begin + 1])
        distance += numbers[begin + 2] * product_difference(
            held[last + 1] - held[first], n_rows, of_table[last + 1] - of_table[first], total, fits
        )
    return distance / total / n_rows


def ground_reference(data: Microdata, values: SensitiveValues, ground: Ground) -> Floats:
    """The reference numbers of `earth_movers_distance` for one attribute and ground distance: the table's rows per
    value, the number of edges, and first code, last code and weight of each.

    The ordered distance follows the attribute's own order, given or sorted; the interval distance goes by where the
    values lie (see `Domain.steps`: categories at their ranks, missing one mean step above the largest value). Where
    only some values need protection, they and the others are two values one step apart. Raises DataError where a
    hierarchical distance has no hierarchy.
    """
    counts = values.counts
    if values.unique >= 0 or values.size == 1:
        edges = _equal_edges(values.size)
    elif ground == "hierarchical":
        edges = _tree_edges(data, values.attribute)
    elif ground == "ordered":
        edges = [(0, code, 1 / (values.size - 1)) for code in range(values.size - 1)]
    elif ground == "interval":
        domain = data.domain[values.attribute]
        gaps = np.diff(domain.steps) / (domain.extent or 1.0)
        edges = [(0, code, float(gap)) for code, gap in enumerate(gaps)]
    else:
        edges = _equal_edges(values.size)
    flat = [float(number) for edge in edges for number in edge]
    return np.array([*counts, float(len(edges)), *flat], np.float64)


def _equal_edges(size: int) -> list[tuple[int, int, float]]:
    # A star with a leaf per value, half a step from its middle: any two values are one step apart.
    return [(code, code, 0.5) for code in range(size)]


def _tree_edges(data: Microdata, attribute: str) -> list[tuple[int, int, float]]:
    tree = data.domain[attribute].tree
    if tree is None:
        raise DataError(f"'{attribute}' has no hierarchy for the hierarchical distance; add one, or use 'equal'.")
    edges = []
    for node in range(1, len(tree.labels)):
        rise = tree.level[tree.parent[node]] - tree.level[node]
        edges.append((int(tree.first[node]), int(tree.last[node]), rise / (2 * tree.height)))
    return edges


class TCloseness(Requirement):
    """The distribution of the sensitive values in every group is at most t away from that of the whole table.

    The distance is the earth mover's: the least mass times way that turns one distribution into the other. How far
    apart two values are is the ground distance. `ordered`: steps along the attribute's order / (m - 1). `interval`:
    the difference of two numbers / that of the largest and the smallest, so that values which do not occur count as
    way; without gaps both are alike. `equal`: 1 between any two values. `hierarchical`: height of the lowest common
    ancestor / height of the tree. The distance is
    convex, so the union of two t-close groups is t-close.

    Where one person may have several rows (`Microdata.unit`), the distributions are those of the different pairs of a
    person and a value, in the group and in the table.

    What t says of ratios of belief: with the distance `equal` a value with the share p of the table has at most p + t
    of a group, so the belief in it grows by a factor of at most 1 + t / p, which is large for a rare value, and it may
    vanish. Only if the distance were the largest ratio of the probabilities of any values, and at most
    exp(epsilon / 2), what two groups make an adversary believe would differ by a factor of at most exp(epsilon), as
    with epsilon-differential privacy of the secret. `BetaLikeness` bounds the factor by which beliefs grow.

    Notes
    -----
    Assumes: the adversary knows the distribution of the whole table; only what a group adds to it counts as a loss of
      privacy.
    Cost: O(m) for a group and m sensitive values, with a hierarchy the number of its nodes.
    Use: values are similar in meaning (salaries, related diseases) or the table is skewed, so that l-diversity says
      little.
    Avoid: groups are meant to differ from the table, as with regions to be compared: closeness is what hides that.

    References
    ----------
    Li et al., t-closeness, ICDE 2007; t-closeness dissertation, sections 3.6 and 5.5
    (whose figures measure over equally spaced values of which some do not occur: `interval`). On ratios of belief:
    Domingo-Ferrer and Soria-Comas, Knowledge-Based Systems 74, 2015.

    Examples
    --------
    Each salary has 1/4 of the table. In the first group 10 and 20 have 1/4 too much each, which moves on by two of the
    three steps: 2 * 1/4 * 2/3 = 1/3. Groups of a low and a high salary are closer:

    >>> import pandas as pd
    >>> from anoncore import Microdata, Partition
    >>> from anoncore.requirements import TCloseness
    >>> data = Microdata(pd.DataFrame({"salary": [10, 20, 30, 40]}), roles={"salary": "sensitive"})
    >>> (check,) = TCloseness(t=0.2, ground="ordered").checks(data)
    >>> check.levels(Partition([0, 0, 1, 1])).round(3).tolist()
    [0.333, 0.333]
    >>> check.levels(Partition([0, 1, 1, 0])).round(3).tolist()
    [0.167, 0.167]

    The interval distance tells a far value from a near one:

    >>> data = Microdata(pd.DataFrame({"salary": [10, 20, 30, 110]}), roles={"salary": "sensitive"})
    >>> (check,) = TCloseness(t=0.2, ground="interval").checks(data)
    >>> check.levels(Partition([0, 1, 1, 0])).round(3).tolist()
    [0.225, 0.225]
    """

    name = "t-closeness"
    title = "t-closeness"
    source = "Li et al. 2007; t-closeness dissertation, section 3.6"
    comparison = Comparison.AT_MOST
    level = earth_movers_distance
    level_name = "EMD"
    parameter = "t"
    monotone_under_suppression = False

    t: Annotated[float, Field(ge=0, le=1, title="t", description="Largest distance from the table, 0 to 1.")] = 0.2
    ground: Annotated[Ground, Field(title="Ground distance", description="How far apart two sensitive values are.")] = (
        "equal"
    )
    attribute: Attribute = None

    def reference(self, data: Microdata, values: SensitiveValues) -> Floats:
        """The table's rows per value and the edges of the ground distance."""
        whole = values if data.whole is None else data.whole.sensitive_view(values.attribute)
        return ground_reference(data, whole, self.ground)
