"""The control of the foreground-knowledge attack: what the same attack gets where there is nothing to learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan, sqrt
from typing import Any

import numpy as np

from anoncore.base.errors import AnonymizationError, CancelledError
from anoncore.base.number import Number
from anoncore.base.progress import Progress, silent
from anoncore.base.random_numbers import generator
from anoncore.base.score import Score
from anoncore.kernels.arrays import Int64
from anoncore.release.partition import Partition
from anoncore.release.release import Release, ReleaseMethod

Interval = tuple[float, float]

CONFIDENCE = 0.95
SHUFFLED = (
    "The same share where nothing was to be learned: {attribute} shuffled over all people before the method runs."
)
DEALT = (
    "The method that made the release is not known, so for the control the secrets were dealt anew over its groups: "
    "each got those of another group of its size."
)
FAILED = (
    "For the control the secrets were dealt anew over the groups of the release, because the method failed on a "
    "shuffled secret: "
)


def shuffled_release(
    release: Release, attribute: str, seed: int, progress: Progress = silent
) -> tuple[Release, Int64 | None, str]:
    """A release in which nothing ties the secret to what is known of people; whose secret each row has; and a note.

    The secret is shuffled over all people, and the method that made the release is run on that table with a seed of its
    own: then every row has its own secret (None), and the note is empty. Where the method is not known, or cannot do
    so, the secrets are dealt anew over the groups of the release itself, int64 (n_rows,), as the note says.
    """
    method, note = release.algorithm, DEALT
    if method is not None:
        try:
            return _seeded(method, seed).anonymize(release.data.with_shuffled(attribute, seed), progress), None, ""
        except CancelledError:
            raise
        except AnonymizationError as error:
            note = FAILED + str(error)
    return release, dealt_over_groups(release.partition, seed), note


def _seeded(method: ReleaseMethod, seed: int) -> ReleaseMethod:
    """The method with this seed for all that it draws, so that the control is the same each time."""
    changed: dict[str, object] = {}
    for name in type(method).model_fields:
        value = getattr(method, name)
        if name == "seed":
            changed[name] = seed
        elif isinstance(value, ReleaseMethod):
            changed[name] = _seeded(value, seed)
    return method.replace(**changed) if changed else method


def dealt_over_groups(partition: Partition, seed: int) -> Int64:
    """Whose secret each row gets, int64 (n_rows,), where groups exchange theirs with groups of their size.

    Inside a group the secrets are dealt at random. A group whose size no other group has exchanges with the one that
    follows in the order of sizes, as far as that reaches.
    """
    rng = generator(seed)
    sizes = partition.sizes
    takers = np.lexsort((rng.random(len(sizes)), sizes))
    givers = np.lexsort((rng.random(len(sizes)), sizes))
    alone = np.flatnonzero(np.bincount(sizes)[sizes[takers]] == 1)
    if len(alone) > 1:
        givers[alone] = np.roll(givers[alone], 1)
    return _rows_of(partition, takers, givers, rng)


def _rows_of(partition: Partition, takers: Int64, givers: Int64, rng: np.random.Generator) -> Int64:
    """For the rows of `takers` in turn, the rows of `givers` in turn, those of each group in random order."""
    ordered = np.concatenate([partition.rows(int(group)) for group in takers])
    place = np.empty(partition.n_groups, np.int64)
    place[givers] = np.arange(len(givers))
    from_whom = np.lexsort((rng.random(partition.n_rows), place[partition.group]))
    source = np.empty(partition.n_rows, np.int64)
    source[ordered] = from_whom
    return source


def beside_control(breach: Number, excess: str) -> tuple[Number, Number]:
    """The numbers of what an attack gets on shuffled secrets, and of what it gets above that, in these words."""
    name = breach.name.removesuffix("-breach")
    control = replace(
        breach,
        name=f"{name}-control",
        title=f"{breach.title} by chance",
        template=SHUFFLED,
        baseline="",
        short="By chance",
    )
    above = replace(
        breach,
        name=f"{name}-excess",
        title=f"{breach.title} above chance",
        template=excess,
        bounds=(-1.0, 1.0),
        baseline="0: what the attack gets on shuffled secrets.",
        short="Above chance",
    )
    return control, above


@dataclass(frozen=True)
class Excess:
    """A share beside the shares of its control draws: their mean, what lies above it, and 95% intervals.

    All are NaN where there are no draws.
    """

    control: float
    excess: float
    control_interval: Interval
    excess_interval: Interval

    def scores(self, control: Number, excess: Number, words: Mapping[str, str]) -> dict[str, Any]:
        """The fields of a result that say so."""
        return {
            "control": Score(self.control, control, words=words),
            "excess": Score(self.excess, excess, baseline=0.0, words=words),
            "control_interval": self.control_interval,
            "excess_interval": self.excess_interval,
        }

    @classmethod
    def of(cls, share: float, draws: Sequence[float], n_people: int) -> Excess:
        """Compare a share of `n_people` with those of the draws.

        How far draws lie apart says how far one more would lie from their mean, by Student's distribution: the interval
        of the excess holds 0 in 95% of all tables whose secret is shuffled. People of one draw hang together, so they
        vary at least as much as if each were breached by a coin of their own.
        """
        if len(draws) == 0 or np.isnan(share):
            return cls(nan, nan, (nan, nan), (nan, nan))
        from scipy.special import stdtrit

        n_draws, mean = len(draws), float(np.mean(draws))
        smoothed = (mean * n_people * n_draws + 1) / (n_people * n_draws + 2)
        by_people = smoothed * (1 - smoothed) / n_people
        variance = max(float(np.var(draws, ddof=1)) if n_draws > 1 else 0.0, by_people)
        wide = float(stdtrit(max(n_draws - 1, 1), (1 + CONFIDENCE) / 2)) * sqrt(variance)
        of_mean, of_excess = wide * sqrt(1 / n_draws), wide * sqrt(1 + 1 / n_draws)
        excess = share - mean
        return cls(
            mean,
            excess,
            (max(mean - of_mean, 0.0), min(mean + of_mean, 1.0)),
            (max(excess - of_excess, -1.0), min(excess + of_excess, 1.0)),
        )
