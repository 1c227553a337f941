"""Choosing k: the release that loses least of privacy and information together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from anoncore.algorithms.base import Algorithm
from anoncore.algorithms.closeness.locality import Multiplicity
from anoncore.algorithms.closeness.stack_and_deal import StackAndDeal
from anoncore.base.arguments import checked, checked_methods
from anoncore.base.errors import InfeasibleError, ParameterError
from anoncore.base.progress import Progress
from anoncore.base.showing import Result, picture
from anoncore.kernels.arrays import Floats, Int64, record
from anoncore.release.release import Release
from anoncore.requirements import TCloseness
from anoncore.requirements.t_closeness import Ground
from anoncore.table.microdata import Microdata
from anoncore.utility import information_loss

MOST_TRIED = 30
"""Values of k that are tried at most when none are given; of more they are a selection in equal ratios."""


@checked_methods
@record
class Choice(Result):
    """What one release for each k gives away and what it loses, and their mean C = alpha t + (1 - alpha) i.

    Attributes
    ----------
    alpha : float
        Weight of the privacy loss, from 0 to 1.
    k : ndarray of int64, shape (n_tried,)
        The values of k that were tried.
    t : ndarray of float, shape (n_tried,)
        Privacy loss: the largest EMD of any class in any sensitive attribute, from 0 to 1.
    information_loss : ndarray of float, shape (n_tried,)
        Information loss i, from 0 to 1.
    n_classes : ndarray of int64, shape (n_tried,)
        Classes of each release.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.search import choose_k
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> choice = choose_k(data, ks=[2, 6])
    >>> choice.k.tolist(), choice.n_classes.tolist(), choice.cost.round(2).tolist(), choice.best
    ([2, 6], [3, 1], [0.33, 0.5], 2)
    """

    alpha: float
    k: Int64
    t: Floats
    information_loss: Floats
    n_classes: Int64

    def _headline(self) -> str:
        return f"Choice of k: {self.best} costs least of {len(self.k):,} values"

    def frame(self) -> pd.DataFrame:
        """What each k gives away, loses and costs.

        Returns
        -------
        DataFrame
            A line per k that was tried: `k`, `t`, `information_loss`, `cost` and `n_classes`.
        """
        losses = {"t": self.t, "information_loss": self.information_loss, "cost": self.cost}
        return pd.DataFrame({"k": self.k, **losses, "n_classes": self.n_classes})

    def plot(self) -> Any:
        """Draw what each k gives away, loses and costs.

        Returns
        -------
        plotly.graph_objects.Figure
            The picture.

        Raises
        ------
        AnonymizationError
            Where Plotly is not installed.
        """
        lines = {
            "t": "largest distance t",
            "information_loss": "information loss",
            "cost": "weighted sum of both",
        }
        drawn = self.frame().rename(columns=lines)
        across, upwards = "k: fewest rows in a group", "share (0 to 1)"
        return picture(
            drawn, title=self._headline(), across=across, upwards=upwards, kind="line", x="k", y=list(lines.values())
        )

    @cached_property
    def cost(self) -> Floats:
        """C of every k."""
        return self.alpha * self.t + (1 - self.alpha) * self.information_loss

    @property
    def best(self) -> int:
        """The k of least cost, the smallest of several."""
        return int(self.k[int(np.argmin(self.cost))])

    def weighted(self, alpha: float) -> Choice:
        """The same losses with another weight.

        Parameters
        ----------
        alpha : float
            Weight of the privacy loss, from 0 to 1.

        Returns
        -------
        Choice
            The losses with their new mean.

        Raises
        ------
        ParameterError
            For an alpha outside 0 to 1.
        """
        return Choice(_share(alpha), self.k, self.t, self.information_loss, self.n_classes)


@checked
def choose_k(
    data: Microdata,
    alpha: float = 0.5,
    ks: Sequence[int] | None = None,
    algorithm: Algorithm | None = None,
    ground: Ground | None = None,
    progress: Progress | None = None,
) -> Choice:
    """Release the table for each k, and weigh what each release gives away against what it loses.

    Parameters
    ----------
    data : Microdata
        The table.
    alpha : float
        Weight of the privacy loss, from 0 to 1; the information loss has the rest.
    ks : sequence of int, optional
        The values of k that are tried. By default 2 to l, the number of different sensitive values (or combinations of
        values) that occur, at most the number of rows; 30 of them if there are more.
    algorithm : Algorithm, optional
        A method with a field k; by default Stack & Deal.
    ground : {"ordered", "interval", "equal", "hierarchical"}, optional
        Distance of the sensitive values; by default ordered for numeric and ordinal attributes, equal for others.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop.

    Returns
    -------
    Choice
        Both losses and their mean for every k, and the k of least cost.

    Raises
    ------
    ParameterError
        For an alpha outside 0 to 1, a k below 1, or an algorithm without k.
    InfeasibleError
        Where no k can be tried.

    References
    ----------
    T-closeness dissertation, chapter 6.

    Examples
    --------
    With k = 2 the two people with the flu are dealt to two of three classes; the third, all colds, is 1/3 away from the
    table. One class of six looks like the table but says nothing about age:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.search import choose_k
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> choice = choose_k(data, ks=[2, 6])
    >>> choice.t.round(2).tolist(), choice.information_loss.round(2).tolist(), choice.best
    ([0.33, 0.0], [0.33, 1.0], 2)
    """
    weight = _share(alpha)
    method = algorithm if algorithm is not None else StackAndDeal()
    if "k" not in type(method).model_fields:
        raise ParameterError(f"{method.title} has no k to choose; use a method with the field k.")
    tried = _candidates(data, ks)
    figures = []
    for number, k in enumerate(tried):
        release = method.replace(k=k).anonymize(data, _part_of(progress, number, len(tried), k))
        figures.append(
            (largest_distance(release, ground), float(information_loss(release)), release.partition.n_groups)
        )
    t, loss, classes = (np.array(column) for column in zip(*figures, strict=True))
    return Choice(weight, np.array(tried, np.int64), t, loss, classes.astype(np.int64))


def _part_of(progress: Progress | None, number: int, count: int, k: int) -> Progress | None:
    """The progress of one release as that of the whole search."""
    if progress is None:
        return None
    return lambda done, text: progress((number + done) / count, f"k = {k:,}: {text}")


@checked
def largest_distance(release: Release, ground: Ground | None = None) -> float:
    """The largest EMD of any class of a release in any sensitive attribute.

    Distances are those of the original values in the release's groups.

    Parameters
    ----------
    release : Release
        A release of one fragment or with a shared partition.
    ground : {"ordered", "interval", "equal", "hierarchical"}, optional
        How far apart two values are; by default ordered for numeric and ordinal attributes, equal for nominal ones.

    Returns
    -------
    float
        The distance, from 0 to 1.

    Raises
    ------
    ReleaseError
        Where fragments have partitions of their own.

    Examples
    --------
    In the table 2 of 6 people have the flu, in the first class 2 of 3:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> from anoncore.search import largest_distance
    >>> round(largest_distance(release), 3)
    0.333
    """
    largest = 0.0
    for name in release.data.require_sensitive():
        distance = ground if ground is not None else release.data.domain[name].ground
        (check,) = TCloseness(t=1.0, ground=distance, attribute=name).checks(release.data)
        largest = max(largest, float(check.levels(release.partition).max()))
    return largest


@checked
def tried_values(least: int, most: int) -> list[int]:
    """Every k from the least to the most, or 30 of them spread in proportion.

    Parameters
    ----------
    least : int
        The smallest k, at least 1.
    most : int
        The largest k.

    Returns
    -------
    list of int
        The values of k, ascending.

    Raises
    ------
    ParameterError
        For a range that is empty or begins below 1.

    Examples
    --------
    >>> from anoncore.search import tried_values
    >>> tried_values(2, 6)
    [2, 3, 4, 5, 6]
    """
    if not 1 <= least <= most:
        raise ParameterError(f"k should run from 1 or more upwards, not from {least} to {most}.")
    if most - least < MOST_TRIED:
        return list(range(least, most + 1))
    return [int(k) for k in np.unique(np.geomspace(least, most, MOST_TRIED).round())]


@checked
def largest_k(data: Microdata) -> int:
    """The largest k that is worth a try: how many sensitive values (or combinations of values) occur.

    Parameters
    ----------
    data : Microdata
        The table.

    Returns
    -------
    int
        The number of values, at most the number of rows.

    Raises
    ------
    InfeasibleError
        Where there is only one value.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.search import largest_k
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> largest_k(data)
    2
    """
    most = min(len(Multiplicity.of(data).cells), data.n_rows)
    if most < 2:
        raise InfeasibleError("There is no k to choose: the sensitive attributes have only one value.")
    return most


def _candidates(data: Microdata, ks: Sequence[int] | None) -> list[int]:
    if ks is None:
        return tried_values(2, largest_k(data))
    if len(ks) == 0 or min(ks) < 1:
        raise ParameterError("ks should name at least one k, and none below 1.")
    return sorted({int(k) for k in ks})


def _share(alpha: float) -> float:
    if not 0 <= alpha <= 1:
        raise ParameterError(f"alpha should lie between 0 and 1, not {alpha!r}.")
    return float(alpha)
