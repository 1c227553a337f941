"""The sections of a policy file: who receives the release, its levels, limits of measures, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from types import MappingProxyType
from typing import Annotated, Literal, Protocol, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from anoncore.base.number import Number
from anoncore.base.texts import listing, nearest, quoted
from anoncore.base.toml_reading import Line
from anoncore.kernels.rounding import ACCUMULATED, reaches, stays_within
from anoncore.measures.criteria import NUMBERS
from anoncore.measures.evaluation import MEASURES
from anoncore.requirements.requirement import Requirement
from anoncore.search.keeping import asked
from anoncore.table.microdata import Microdata

Recipient = Literal["open", "contract", "enclave"]
RECIPIENTS: Mapping[Recipient, str] = MappingProxyType(
    {
        "open": "Anybody can have the release, as often as they like, and nothing can be taken back.",
        "contract": "Known readers receive the release, who are bound by a contract not to look for anybody.",
        "enclave": "Readers work with the release where it lies; what they take with them is looked at before.",
    }
)
"""Who receives the release (ISO/IEC 27559:2022, 6.2), and what that means."""
LARGEST_K = 2**31 - 1
MOST_NUMBERED = 24
"""Measures that a message lists."""


def _told(text: str) -> str:
    if not text:
        raise ValueError("it is empty")
    return text


Name = Annotated[Line, AfterValidator(_told)]
Share = Annotated[float, Field(strict=True, gt=0, le=1)]


class Section(BaseModel):
    """A section of a policy, with no other keys than its own."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Context(Section):
    """Who receives the release. It is no rule: it says for whom the rules are meant."""

    recipient: Annotated[Recipient | None, Field(description="Who receives the release.")] = None

    @property
    def sentence(self) -> str:
        """What the recipient means, in a sentence; empty where nobody said who it is."""
        return "" if self.recipient is None else RECIPIENTS[self.recipient]


class Levels(Section):
    """What every group has to keep, as the board asks it."""

    k: Annotated[
        int | None,
        Field(strict=True, ge=1, le=LARGEST_K, description="Fewest people in a group, among whom one hides."),
    ] = None
    l: Annotated[
        float | None,
        Field(strict=True, ge=1, description="No secret value has more than 1 / l of a group; with c, the l of both."),
    ] = None
    t: Annotated[
        float | None,
        Field(strict=True, ge=0, le=1, description="Largest distance of a group from the table in a secret."),
    ] = None
    c: Annotated[
        float | None, Field(strict=True, gt=0, description="The c of recursive (c, l)-diversity, with l or l = 2.")
    ] = None
    largest_belief: Annotated[
        Share | None, Field(description="How sure an adversary may be at most of anybody's secret value.")
    ] = None

    @model_validator(mode="after")
    def _whole_l_beside_c(self) -> Self:
        if self.c is not None and self.l is not None and (self.l < 2 or not self.l.is_integer()):
            raise ValueError(f"l beside c is a whole number of at least 2, not {self.l:g}")
        return self

    @property
    def of_groups(self) -> dict[str, float]:
        """The levels that are requirements of groups, by axis: k, l, t and c."""
        return {axis: value for axis in ("k", "l", "t", "c") if (value := getattr(self, axis)) is not None}

    def requirements(self, data: Microdata) -> dict[str, Requirement]:
        """The requirement that each level stands for, by its key; l belongs to c where there is one.

        Levels of secrets stand for nothing where no column is tagged secret.
        """
        found: dict[str, Requirement] = {}
        levels = self.of_groups
        for axis, value in levels.items():
            if axis == "l" and "c" in levels:
                continue
            together = {"c": value, "l": levels["l"]} if axis == "c" and "l" in levels else {axis: value}
            if requirements := asked(together, (), data):
                found[axis] = requirements[0]
        return found


class Limit(Section):
    """How large or small a measure may be at most or has to be at least."""

    at_most: Annotated[float | None, Field(strict=True, description="The largest value that is kept.")] = None
    at_least: Annotated[float | None, Field(strict=True, description="The smallest value that is kept.")] = None
    decimals: Annotated[
        int | None,
        Field(
            strict=True,
            ge=1,
            le=12,
            description="Decimals to which the value is rounded before it is compared, where the source of the rule "
            "rounds: 0.09 then stands for 1/11. By default it is not rounded.",
        ),
    ] = None

    @model_validator(mode="after")
    def _some_limit(self) -> Self:
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError("write either at_most or at_least with a number, such as { at_most = 0.09 }")
        return self

    @property
    def value(self) -> float:
        """The limit itself."""
        return float(self.at_least if self.at_most is None else self.at_most)  # type: ignore[arg-type]

    @property
    def words(self) -> str:
        """The direction in words."""
        return "at least" if self.at_most is None else "at most"

    def keeps(self, value: float) -> bool:
        """Whether a value keeps the limit."""
        value = value if self.decimals is None else round(value, self.decimals)
        return bool((reaches if self.at_most is None else stays_within)(value, self.value, ACCUMULATED))

    def group_size(self) -> int:
        """Fewest people of a group in which a chance of one in as many keeps the limit, which is above 0."""
        size = max(1, ceil(1 / (self.value + (0 if self.decimals is None else 0.5 * 10.0**-self.decimals))) - 1)
        while not self.keeps(1 / size):
            size += 1
        return size


class Refuse(Section):
    """What must not be published at all."""

    columns: Annotated[tuple[Name, ...], Field(description="Columns that must not be published.")] = ()
    free_text: Annotated[
        bool, Field(strict=True, description="Whether columns of free text are refused, which may name people.")
    ] = False
    identifiers: Annotated[
        Literal["safe-harbor"] | None,
        Field(description="A list of kinds of identifiers that must not be published: that of HIPAA's safe harbor."),
    ] = None

    @field_validator("columns", mode="after")
    @classmethod
    def _each_once(cls, columns: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(columns))

    @property
    def refuses(self) -> bool:
        """Whether anything is refused."""
        return bool(self.columns) or self.free_text or self.identifiers is not None


def measure_named(name: str) -> Number:
    """The measure of that name. Raises ValueError for one that does not exist."""
    if name in NUMBERS:
        return NUMBERS[name]
    told = [number.name for number in NUMBERS.values() if number.measured_by == name]
    if name in MEASURES and told:
        raise ValueError(f"risks: {quoted(name)} tells several numbers; name one of them, such as {listing(told, 6)}")
    close = nearest(name, list(NUMBERS))
    meant = "there is" if close is None else f"did you mean {quoted(close)}? There is"
    raise ValueError(f"risks: there is no measure {quoted(name)}; {meant} {listing(list(NUMBERS), MOST_NUMBERED)}")


def require_fitting(number: Number, limit: Limit) -> None:
    """Require that a limit can be one of that measure. Raises ValueError for one that cannot."""
    low, high = number.bounds
    if (low is not None and limit.value < low) or (high is not None and limit.value > high):
        least = "any number" if low is None else f"{low:g}"
        most = "no end" if high is None else f"{high:g}"
        raise ValueError(f"risks.{number.name} goes from {least} to {most}, and {limit.value:g} lies outside of that")
    wrong = "at_most" if number.higher_is_better else "at_least"
    if number.family != "cost" and number.higher_is_better is not None and getattr(limit, wrong) is not None:
        right = "at_least" if number.higher_is_better else "at_most"
        better = "larger" if number.higher_is_better else "smaller"
        raise ValueError(f"risks.{number.name}: what is {better} protects better, so write {right} in place of {wrong}")


class Rules(Protocol):
    """What a policy asks, for the files that say it in words and judge by it."""

    @property
    def name(self) -> str:
        """What the policy is called."""

    @property
    def source(self) -> str:
        """Who made the rules."""

    @property
    def context(self) -> Context:
        """Who receives the release."""

    @property
    def levels(self) -> Levels:
        """What every group has to keep."""

    @property
    def risks(self) -> dict[str, Limit]:
        """Limits by the name of a measure."""

    @property
    def refuse(self) -> Refuse:
        """What must not be published at all."""
