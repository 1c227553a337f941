"""What a certificate claims beside what its files show: seeds, preparations, tried attacks, earlier releases."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, StringConstraints

from anoncore.base.errors import ReleaseError
from anoncore.base.texts import listing, quoted, share_text
from anoncore.publishing.certification.entries import LARGEST, Entry
from anoncore.publishing.certification.finding import Finding, claimed
from anoncore.release.release import ReleaseMethod
from anoncore.table.microdata import Microdata

if TYPE_CHECKING:
    from anoncore.attacks.strongest import Strongest

SEED = "left out: with the seed of a release a reader could undo its random choices"
NO_SEED = "the method makes no random choices"
UNREPEATABLE = "there is none: its random choices come from the system, and nothing can repeat them"
GIVEN = "given by whoever made the release: whoever guesses it can repeat and undo its random choices"
GIVEN_SENTENCE = (
    "The random choices of this release follow from a seed that was given to the method. Whoever guesses that seed can "
    "repeat and undo them; nothing here is about such readers."
)
REFUSED = (
    "There is no certificate for a release whose random choices follow from a seed that was given: whoever guesses the "
    "seed, out of billions in an hour, can undo them. "
)
MOST_NAMED = 30
AttackName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z_]{0,40}$")]
"""The function of an attack in `anoncore.attacks`."""
ABOUT = (
    "People who are in this release and in the earlier one are known by what both tell together. Neither certificate "
    "says anything about that."
)
MEASURED = (
    "People who are in this release and in the earlier one are known by what both tell together. It was measured with "
    "both original tables, supposing that the releases were made independently and that nobody's value changed."
)


def require_drawn_seeds(
    algorithm: ReleaseMethod | None,
    guessable_seed: bool,
    instead: str = "Leave it out, so that one is drawn; or ask for the certificate by name (guessable_seed=True).",
) -> None:
    """Raise ReleaseError for a method with a seed that can be guessed, unless that is wanted.

    `instead` says what to do.
    """
    if algorithm is not None and algorithm.has_guessable_seed and not guessable_seed:
        raise ReleaseError(f"{REFUSED}{instead}")


def seed_entry(algorithm: ReleaseMethod) -> str:
    """What a certificate or a report says of the seed of a method, which it never names."""
    if not algorithm.is_repeatable:
        return UNREPEATABLE
    return GIVEN if algorithm.has_guessable_seed else SEED if algorithm.seeds else NO_SEED


def seed_sentences(algorithm: ReleaseMethod | None) -> tuple[str, ...]:
    """What the certificate of a release with a seed that can be guessed says of it."""
    return (GIVEN_SENTENCE,) if algorithm is not None and algorithm.has_guessable_seed else ()


def seed_findings(seed: str) -> Iterator[Finding]:
    """A claim where readers may know the random choices, by what a certificate says of the seed of its method."""
    if seed == GIVEN:
        yield claimed("seed", f"{GIVEN_SENTENCE} No file shows who can.")
    elif seed not in (SEED, NO_SEED, UNREPEATABLE):
        yield claimed("seed", f"The certificate says of the seed of the random choices: {quoted(seed)}.")


class PreparedColumns(Entry):
    """Columns of dates that were shifted by up to `most_days` days, one number per person, and columns of pseudonyms
    that were made with a key.
    """

    shifted: list[str]
    most_days: int | None = Field(ge=1, lt=LARGEST)
    pseudonyms: list[str]

    @classmethod
    def of(cls, data: Microdata, published: Collection[str]) -> PreparedColumns | None:
        """The entry of a table; None where nothing of it was prepared and is published."""
        shifted = [name for name in (data.shifts.columns if data.shifts is not None else ()) if name in published]
        pseudonyms = [data.pseudonym] if data.pseudonym is not None and data.pseudonym in published else []
        most = data.shifts.most if data.shifts is not None and shifted else None
        return cls(shifted=shifted, most_days=most, pseudonyms=pseudonyms) if shifted or pseudonyms else None

    @property
    def columns(self) -> list[str]:
        """All of the columns, whose content is not that of the original table."""
        return [*self.shifted, *self.pseudonyms]

    @property
    def findings(self) -> Iterator[Finding]:
        """What is claimed, in words that no certificate can choose."""
        if self.shifted:
            days = "an unknown number of" if self.most_days is None else f"up to {self.most_days:,}"
            shifted = f"Dates shifted by {days} days per person: {listing(self.shifted, MOST_NAMED)}."
            yield claimed("shifted dates", f"{shifted} How far they were shifted, the files do not show.")
        if self.pseudonyms:
            yield claimed(
                "pseudonyms",
                f"Pseudonyms made with a key: {listing(self.pseudonyms, MOST_NAMED)}. The files do not show how they "
                "were made, who has the key, or which other release has the same.",
            )


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
        fields = [name for name in TriedAttack.model_fields if name != "attack"]
        return cls(
            attribute=measured.attribute_name,
            r=measured.r,
            tried=[
                TriedAttack(attack=one.name, **{name: getattr(one, name) for name in fields}) for one in measured.tried
            ],
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
            f"attacks on {quoted(self.attribute)} with r = {self.r:g}{estimated}: {'; '.join(gains) or 'none applied'}"
            f"{not_tried}."
        )


def _words(name: str) -> str:
    return name.replace("_", " ")


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
            f"{self.few:.1%} of them have fewer than {self.l:g} possible values of {quoted(self.attribute)} (by one "
            f"release alone {self.few_alone:.1%}), and the surest belief is {self.largest:.1%} (guessing "
            f"{self.guessing:.1%})"
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
        return self.model_copy(update={"about": MEASURED, "by": [*by], "people": people, "together": [*together]})

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


def earlier_findings(after: Sequence[Earlier]) -> Iterator[Finding]:
    """A claim for every earlier release that a certificate names, in words that it cannot choose."""
    for one in after:
        measured = f" Whoever made the release measured: {one.figures}" if one.figures else ""
        yield claimed(
            "earlier release",
            f"This release comes after one of {quoted(one.made[:10])} (SHA-256 {quoted(one.sha256[:12])} …). What both "
            f"tell together about people who are in both, no file shows.{measured}",
        )
