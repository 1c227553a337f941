"""Which attacks whoever made a release tried on it, and what they got: a claim, as it takes the original table."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from anoncore.attacks.strongest import Strongest
from anoncore.base.texts import share_text
from anoncore.publishing.certification.entries import Entry

AttackName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z_]{0,40}$")]
"""The function of an attack in `anoncore.attacks`."""


class TriedAttack(Entry):
    """What an attack got, of what that is a share, what its control got, and what the control is."""

    attack: AttackName
    aim: Literal["identity", "attribute", "membership"]
    share: float = Field(ge=0, le=1)
    measured: str
    control: float = Field(ge=0, le=1)
    compared_with: str


class TriedAttacks(Entry):
    """The attacks that were tried on one attribute, in which a belief above 1 / r gives a value away.

    `tried` has the strongest attack of each aim before the others with this aim, and `not_tried` why others were not.
    Where `is_estimate`, the attacks gave first answers only.
    """

    attribute: str
    r: float = Field(ge=1)
    tried: list[TriedAttack]
    not_tried: dict[AttackName, str]
    is_estimate: bool

    @classmethod
    def of(cls, measured: Strongest) -> TriedAttacks:
        """The entry of what was measured."""
        tried = [
            TriedAttack(
                attack=attack.name,
                aim=attack.aim,
                share=attack.share,
                measured=attack.measured,
                control=attack.control,
                compared_with=attack.compared_with,
            )
            for attack in measured.tried
        ]
        return cls(
            attribute=measured.attribute_name,
            r=measured.r,
            tried=tried,
            not_tried=measured.not_tried,
            is_estimate=measured.is_estimate,
        )

    @property
    def sentence(self) -> str:
        """What the strongest attack of each aim got, for people; in words that no certificate can choose."""
        strongest: dict[str, TriedAttack] = {}
        for attack in self.tried:
            strongest.setdefault(attack.aim, attack)
        gains = [
            f"on {aim}, {_words(attack.attack)} got {share_text(attack.share)} and its control "
            f"{share_text(attack.control)}"
            for aim, attack in strongest.items()
        ]
        not_tried = f"; not tried: {', '.join(map(_words, self.not_tried))}" if self.not_tried else ""
        estimated = ", estimated only" if self.is_estimate else ""
        return (
            f"What attacks get from the release takes the original table. Whoever made it tried {len(self.tried)} "
            f"attacks on '{self.attribute}' with r = {self.r:g}{estimated}: {'; '.join(gains) or 'none applied'}"
            f"{not_tried}."
        )


def _words(name: str) -> str:
    return name.replace("_", " ")
