"""Earlier releases that a certificate names, because people who are in both are protected by neither alone."""

from __future__ import annotations

from collections.abc import Sequence

from anoncore.publishing.certification.entries import Asked, Entry

ABOUT = (
    "People who are in this release and in the earlier one are known by what both tell together. Neither certificate "
    "says anything about that."
)


class Earlier(Entry):
    """An earlier release: the hash of its tables, when it was certified, and what it promised."""

    sha256: str
    made: str
    promised: list[str]
    about: str

    @classmethod
    def named(cls, sha256: str, made: str, requirements: Sequence[Asked]) -> Earlier:
        """The entry of a release by what stands in its certificate."""
        return cls(sha256=sha256, made=made, promised=[one.label for one in requirements], about=ABOUT)

    @property
    def sentence(self) -> str:
        """What the files of one release do not show, for people."""
        promised = f", which promised {', '.join(self.promised)}" if self.promised else ""
        return (
            f"What this release and the earlier one of {self.made[:10]} (SHA-256 {self.sha256[:12]} …){promised} tell "
            "together about people who are in both: that takes both original tables."
        )
