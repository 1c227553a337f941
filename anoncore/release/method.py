"""What a release knows of the algorithm that made it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from anoncore.base.model import Model
from anoncore.table.microdata import Microdata

if TYPE_CHECKING:
    from anoncore.release.release import Release


class ReleaseMethod(Model):
    """The side of an algorithm that a release shows to those who judge it: its names, its parameters, its promises.

    Algorithms make releases, so a release cannot name their class. It names what it needs of them instead. Requirements
    judge partitions and lie above the release too, which is why promises have no closer type here.
    """

    family: ClassVar[str]
    """How it protects, for people: generalization, bucketization, ..."""
    group_word: ClassVar[str] = "equivalence class"
    """What the method calls a group."""
    summary: ClassVar[str]
    """One plain sentence for people who choose a method."""

    @abstractmethod
    def promises(self, data: Microdata) -> tuple[Any, ...]:
        """The requirements that every release of this method satisfies."""

    def personal_guarantees(self, release: Release) -> tuple[Any, ...]:
        """What it promises about people rather than groups, measured in its release; by default nothing."""
        return ()
