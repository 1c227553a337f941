"""The adversary of the foreground-knowledge attack: what they rely on and what counts as a breach."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

from anoncore.attacks.foreground.control import shuffled_release
from anoncore.attacks.foreground.mining import Target, Unreliable
from anoncore.attacks.foreground.sampled_sets import SetList, set_list
from anoncore.attacks.foreground.solver import Solver
from anoncore.base.errors import ParameterError
from anoncore.base.progress import Progress, silent
from anoncore.kernels.rounding import ACCUMULATED
from anoncore.release.release import Release

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Errors that are tried where none is asked for, from the paper's on. A larger one relies on rarer signatures."""


def minimum_signature_rows(epsilon: float, sigma: float) -> float:
    """J: rows that a signature needs so that its share errs by more than epsilon with a chance of at most sigma.

    Source: theorem 1 (Toivonen, VLDB 1996).
    """
    return log(2 / sigma) / (2 * epsilon**2)


@dataclass(frozen=True)
class Adversary:
    """Who makes the attack: which secret they are after, how they learn, and when they believe.

    The fields are the parameters of `foreground_knowledge`, and which `share` of all people is here, where a release is
    a sample of another one: the adversary has all of them to learn from.
    """

    attribute: str
    r: float
    sigma: float
    unreliable: Unreliable = "overall"
    solver: Solver = "fixed-point"
    max_size: int | None = None
    at_least: bool = False
    seed: int = 0
    share: float = 1.0

    def check(self, epsilon: float | None, draws: int) -> None:
        """Raise ParameterError where nobody learns and believes so."""
        if not self.r >= 1:
            raise ParameterError(f"r must be at least 1, so that 1 / r is a probability, not {self.r}.")
        if (epsilon is not None and not epsilon > 0) or not 0 < self.sigma <= 1:
            raise ParameterError(
                f"epsilon must be above 0 and sigma above 0 and at most 1; given were {epsilon} and {self.sigma}."
            )
        if self.max_size is not None and self.max_size < 1:
            raise ParameterError(f"max_size is the number of attributes in a set, at least 1, not {self.max_size}.")
        if draws < 0:
            raise ParameterError(f"draws is how often the secret is shuffled for the control, at least 0, not {draws}.")
        if draws == 0 and epsilon is None:
            raise ParameterError(
                "Without a control no epsilon can be chosen by what lies above it; give epsilon, or draws of at least "
                "1."
            )
        if self.seed < 0:
            raise ParameterError(f"The seed must be at least 0, not {self.seed}.")

    @property
    def limit(self) -> float:
        """The belief above which somebody is breached; with `at_least` a belief of 1 / r itself is a breach."""
        return (1 - ACCUMULATED) / (1 + ACCUMULATED) / self.r if self.at_least else 1 / self.r

    @property
    def words(self) -> dict[str, str]:
        """What scores say of the secret and of r."""
        return {"attribute": f"'{self.attribute}'", "r": f"{self.r:g}"}

    def known(self, release: Release) -> tuple[str, ...]:
        """The attributes that are known of people. Raises DataError where there is no quasi-identifier."""
        return tuple(name for name in release.data.require_quasi_identifiers() if name != self.attribute)

    def minimum_rows(self, epsilon: float) -> float:
        """Rows here of a signature from which on it is relied on, see `minimum_signature_rows`."""
        return minimum_signature_rows(epsilon, self.sigma) * self.share

    def listed(self, release: Release, epsilon: float, whole: Release | None = None) -> SetList:
        """The attribute sets that tell something; of a sample, those of the `whole` release."""
        of_whole = None if whole is None else replace(self, share=1.0).listed(whole, epsilon)
        asked = self.known(release), self.minimum_rows(epsilon), self.max_size, self.seed
        return set_list(release.data, *asked, of_whole)

    def target(self, release: Release) -> Target:
        """What is attacked in a release."""
        return Target.of(release, self.attribute, self.unreliable)

    def control(self, release: Release, draw: int = 0, progress: Progress = silent) -> tuple[Target, str]:
        """What is attacked where nothing is to be learned (see `shuffled_release`); and a note, or an empty text."""
        control, source, note = shuffled_release(release, self.attribute, self.seed + draw, progress)
        return Target.of(control, self.attribute, self.unreliable, source), note
