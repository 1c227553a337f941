"""Choosing k: the release that loses least of privacy and information together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anoncore.algorithms.base import Algorithm
from anoncore.algorithms.closeness.multiplicity import Multiplicity
from anoncore.algorithms.closeness.stack_and_deal import StackAndDeal
from anoncore.base.errors import InfeasibleError, ParameterError
from anoncore.base.progress import Progress
from anoncore.release.release import Release
from anoncore.requirements import TCloseness
from anoncore.requirements.t_closeness import Ground
from anoncore.table.domain import Kind
from anoncore.table.microdata import Microdata
from anoncore.utility import information_loss

Floats = npt.NDArray[np.float64]
MOST_TRIED = 30
"""Values of k that are tried when none are given; more possible ones are spread in proportion."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Privacy loss t and information loss i of one release per k, and their mean C = alpha t + (1 - alpha) i.

    `k`, `n_classes` int64 and `t`, `information_loss` float, all (number of k tried,); t is the largest EMD of any
    class in any sensitive attribute. Both losses run from 0 to 1, lower is better.
    """

    alpha: float
    k: npt.NDArray[np.int64]
    t: Floats
    information_loss: Floats
    n_classes: npt.NDArray[np.int64]

    @cached_property
    def cost(self) -> Floats:
        """C of every k."""
        return self.alpha * self.t + (1 - self.alpha) * self.information_loss

    @property
    def best(self) -> int:
        """The k of least cost, the smallest of several."""
        return int(self.k[int(np.argmin(self.cost))])

    def weighted(self, alpha: float) -> Choice:
        """The same losses with another weight."""
        return Choice(_share(alpha), self.k, self.t, self.information_loss, self.n_classes)


def choose_k(
    data: Microdata,
    alpha: float = 0.5,
    ks: Sequence[int] | None = None,
    algorithm: Algorithm | None = None,
    ground: Ground | None = None,
    progress: Progress | None = None,
) -> Choice:
    """Release the table for each k and weigh what it gives away against what it loses.

    `ks`: default 2 to l, the number of different sensitive values (or combinations of values) that occur, at most the
    number of rows; 30 of them if there are more. `algorithm`: one with a field k, Stack & Deal if left out. `ground`:
    distance of the sensitive values; if left out, ordered for numeric and ordinal attributes, equal for others. Raises
    ParameterError for an alpha outside 0 to 1, a k below 1, or an algorithm without k; InfeasibleError where no k can
    be tried. Source: t-closeness dissertation, chapter 6.
    """
    weight = _share(alpha)
    method = algorithm if algorithm is not None else StackAndDeal()
    if "k" not in type(method).model_fields:
        raise ParameterError(f"{method.title} has no k to choose; use a method with the field k.")
    tried = _candidates(data, ks)
    found = []
    for place, k in enumerate(tried):
        release = method.replace(k=k).anonymize(data, _part_of(progress, place, len(tried), k))
        found.append((largest_distance(release, ground), float(information_loss(release)), release.partition.n_groups))
    t, loss, classes = (np.array(column) for column in zip(*found, strict=True))
    return Choice(weight, np.array(tried, dtype=np.int64), t, loss, classes.astype(np.int64))


def _part_of(progress: Progress | None, place: int, count: int, k: int) -> Progress | None:
    """The progress of one release as that of the whole search."""
    if progress is None:
        return None
    return lambda done, text: progress((place + done) / count, f"k = {k:,}: {text}")


def largest_distance(release: Release, ground: Ground | None = None) -> float:
    """The largest EMD of any class in any sensitive attribute, taken from the release's partition.

    `ground`: if left out, ordered for numeric and ordinal attributes, equal for nominal ones. Raises ReleaseError where
    fragments have partitions of their own.
    """
    largest = 0.0
    for name in release.data.require_sensitive():
        kind = release.data.domain[name].kind
        distance = ground if ground is not None else "equal" if kind is Kind.NOMINAL else "ordered"
        (check,) = TCloseness(t=1.0, ground=distance, attribute=name).checks(release.data)
        largest = max(largest, float(check.levels(release.partition).max()))
    return largest


def tried_values(least: int, most: int) -> list[int]:
    """Every k from `least` to `most`, or `MOST_TRIED` of them spread in proportion. Raises ParameterError for none."""
    if not 1 <= least <= most:
        raise ParameterError(f"k should run from 1 or more upwards, not from {least} to {most}.")
    if most - least < MOST_TRIED:
        return list(range(least, most + 1))
    return [int(k) for k in np.unique(np.geomspace(least, most, MOST_TRIED).round())]


def largest_k(data: Microdata) -> int:
    """The number l of different sensitive values (or combinations of values) that occur, at most the number of rows.

    Raises InfeasibleError where there is only one.
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
