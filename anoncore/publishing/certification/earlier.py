"""Earlier releases that a certificate names, because people who are in both are protected by neither alone."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from anoncore.base.texts import listing
from anoncore.publishing.certification.entries import Entry

ABOUT = (
    "People who are in this release and in the earlier one are known by what both tell together. Neither certificate "
    "says anything about that."
)
MEASURED = (
    "People who are in this release and in the earlier one are known by what both tell together. It was measured with "
    "both original tables, supposing that the releases were made independently and that nobody's value changed."
)


class Together(Entry):
    """What two releases tell together about a sensitive attribute of the people in both, and the worse one alone.

    `few` is the share of these people with fewer than l possible values, `largest` the surest belief about any of them.
    """

    attribute: str
    l: float = Field(ge=1)
    few: float = Field(ge=0, le=1)
    few_alone: float = Field(ge=0, le=1)
    largest: float = Field(ge=0, le=1)
    guessing: float = Field(ge=0, le=1)

    @property
    def sentence(self) -> str:
        """The figures for people."""
        return (
            f"{self.few:.1%} of them have fewer than {self.l:g} possible values of '{self.attribute}' (by one release "
            f"alone {self.few_alone:.1%}), and the surest belief is {self.largest:.1%} (guessing {self.guessing:.1%})"
        )


class Earlier(Entry):
    """An earlier release: the hash of its tables, when it was certified, what it promised, and what was measured.

    `people` counts those in both tables, found by the columns `by` (the labels of the rows where there are none);
    these and `together` are missing where the earlier release itself was not at hand.
    """

    sha256: str
    made: str
    promised: list[str]
    about: str
    by: list[str] | None = None
    people: int | None = Field(default=None, ge=0)
    together: list[Together] | None = None

    def measured(self, by: Sequence[str], people: int, together: Sequence[Together]) -> Earlier:
        """The entry with what both releases tell together."""
        figures = {"by": [*by], "people": people, "together": [*together]}
        return self.model_copy(update={"about": MEASURED, **figures})

    @property
    def sentence(self) -> str:
        """What the files of one release do not show, for people."""
        promised = f", which promised {', '.join(self.promised)}" if self.promised else ""
        return (
            f"What this release and the earlier one of {self.made[:10]} (SHA-256 {self.sha256[:12]} …){promised} tell "
            f"together about people who are in both: that takes both original tables."
            + (f" Whoever made the release measured: {self.figures}" if self.figures else "")
        )

    @property
    def figures(self) -> str:
        """What was measured, as a sentence; nothing where nothing was."""
        if self.people is None:
            return ""
        shared = f"{self.people:,} people are in both tables" + (f" by {listing(self.by)}" if self.by else "")
        return "; ".join([shared, *(one.sentence for one in self.together or ())]) + "."
