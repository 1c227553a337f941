"""What an attack gains over guessing, and how sure that is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anoncore.kernels.arrays import Floats
from anoncore.kernels.grouping import distinct
from anoncore.kernels.rounding import ACCUMULATED, reaches

DEVIATIONS = 1.96
"""Standard deviations on either side of a mean that a 95% interval has."""


def right_guesses(
    belief: Floats, truth: npt.NDArray[np.integer], line: npt.NDArray[np.integer] | None = None
) -> Floats:
    """The chance that the likeliest of m values is the true one, where one of several equally likely ones is taken.

    `belief` float (n_lines, m), `truth` (n,) the true values, `line` int (n,) which line is about each of them, by
    default each its own; the chances are float (n,).
    """
    line = np.arange(len(truth)) if line is None else line
    likeliest = reaches(belief, belief.max(axis=1, keepdims=True), ACCUMULATED)
    chance: Floats = likeliest[line, truth] / likeliest.sum(axis=1)[line]
    return chance


def interval_of_mean(gain: Floats, group: npt.NDArray[np.integer]) -> tuple[float, float]:
    """The 95% interval of a mean gain, as if the groups were drawn from many; all there can be for one group.

    `gain` float (n,) are what an attack gains in single cases, each from -1 to 1, and `group` (n,) their groups.
    """
    mean = float(gain.mean())
    of_group = np.bincount(group, gain - mean)
    n_groups = len(distinct(group))
    if n_groups < 2:
        return (-1.0, 1.0)
    deviation = float(np.sqrt((of_group**2).sum() * n_groups / (n_groups - 1))) / len(gain)
    return (max(mean - DEVIATIONS * deviation, -1.0), min(mean + DEVIATIONS * deviation, 1.0))
