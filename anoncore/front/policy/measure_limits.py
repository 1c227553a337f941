"""Limits of measures, judged: the number that a release has, beside the one that a policy allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from math import isnan

from anoncore import attacks
from anoncore.attacks.control_figures import Figures
from anoncore.attacks.strongest import AIMS
from anoncore.base.errors import AnonymizationError, CancelledError, DataError, ParameterError, ReleaseError
from anoncore.base.number import REGISTERED, Number
from anoncore.base.progress import Progress, silent
from anoncore.base.shared_work import Cache
from anoncore.base.texts import listing
from anoncore.front.policy.judgement import JudgedRule, Status
from anoncore.front.policy.sections import Limit
from anoncore.front.policy.wording import number_text
from anoncore.kernels.arrays import record
from anoncore.measures.criteria import BREACH_R, CRITERIA, scores_in, value_of
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata

STRONGEST = {f"strongest-{aim}": aim for aim in AIMS}
"""The numbers that rank attacks, which also tell which attacks were not tried."""
BESIDE_CONTROL = ("-control", "-difference")
"""How numbers end that there are only beside people who are not in the release."""
NOBODYS = "the rows of this table are nobody's"
NO_SECRET = "no column is tagged secret"
NO_CONTROL = "it needs people who are not in the release, and none were given as control"


@record
class Judged:
    """A release that is judged, with what rules are judged on: its secrets, and people who are not in it."""

    release: Release
    secrets: tuple[str, ...]
    control: Microdata | None
    cache: Cache
    progress: Progress = silent


def judged_limit(key: str, rule: str, number: Number, limit: Limit, judged: Judged) -> Iterator[JudgedRule]:
    """A limit of a measure on a release: a line, or one for every secret of a measure that is about a secret."""
    about: Sequence[str | None] = [None]
    if is_of_secret(number):
        about = judged.secrets
    asked = f"{limit.words} {number_text(number, limit.value)}"
    if not about:
        yield JudgedRule(key, rule, None, asked, "", "not measured", reason=NO_SECRET, limit=limit.value)
    for attribute in about:
        try:
            measured = _measured(number, attribute, judged)
        except CancelledError:
            raise
        except AnonymizationError as error:
            yield JudgedRule(key, rule, attribute, asked, "", "not measured", reason=str(error), limit=limit.value)
            continue
        status, reason = measured.judged(number, limit)
        reached = number_text(number, measured.value)
        yield JudgedRule(key, rule, attribute, asked, reached, status, (), reason, limit.value, measured.value)


def is_of_secret(number: Number) -> bool:
    """Whether a measure is told of one secret; what the strongest attack on other things gets is told once."""
    parameter = signature(REGISTERED[number.measured_by].function).parameters.get("attribute")
    needs = parameter is not None and parameter.default is parameter.empty
    return number.of_attribute or (needs and number.name not in STRONGEST)


@dataclass(frozen=True)
class Measured:
    """A number, what has to be known of it, and the 95% interval of one that was estimated from draws."""

    value: float
    told: str = ""
    interval: tuple[float, float] | None = None

    def judged(self, number: Number, limit: Limit) -> tuple[Status, str]:
        """Whether it keeps a limit: not for sure where its interval goes beyond the limit."""
        if not limit.keeps(self.value):
            return "broken", self.told
        if self.interval is None or all(limit.keeps(end) for end in self._beyond(limit)):
            return "kept", self.told
        low, high = (number_text(number, round(end, 4)) for end in self.interval)
        return "not measured", f"the 95% interval, {low} to {high}, goes beyond the limit: it takes more people to tell"

    def _beyond(self, limit: Limit) -> tuple[float, ...]:
        ends = self.interval or ()
        return ends[1:] if limit.at_most is not None else ends[:1]


def _measured(number: Number, attribute: str | None, judged: Judged) -> Measured:
    """The number and what has to be known of it. Raises AnonymizationError where it cannot be measured."""
    if judged.release.is_synthetic and "synthetic" not in number.release_forms:
        raise ReleaseError(NOBODYS)
    if number.name in STRONGEST:
        return _strongest(number, attribute, judged)
    if number.name in CRITERIA:
        return Measured(value_of(judged.release, number.name, attribute, judged.cache))
    return _told(number, attribute, judged)


def _strongest(number: Number, attribute: str | None, judged: Judged) -> Measured:
    if not judged.secrets:
        raise DataError(NO_SECRET)
    aim, about = STRONGEST[number.name], attribute or judged.secrets[0]

    def tried(release: Release) -> attacks.Strongest:
        return attacks.strongest(
            release, about, BREACH_R, control=judged.control, aims=(aim,), progress=judged.progress
        )

    found = judged.cache(f"policy: strongest attack on {aim} of {about}", tried)
    attack = getattr(found, aim)
    if attack is None:
        raise DataError(f"no attack on {aim} applies to this release")
    names = [name.replace("_", " ") for name in found.not_tried]
    return Measured(float(attack.gain), f"not tried: {', '.join(names)}" if names else "")


def _told(number: Number, attribute: str | None, judged: Judged) -> Measured:
    """The number as the function tells it that measures it, with its usual arguments."""
    measuring = REGISTERED[number.measured_by]
    if measuring.first_parameter != "release":
        raise ReleaseError("it measures several releases together")
    parameters = signature(measuring.function).parameters
    lacks_control = "control" in parameters and judged.control is None
    if lacks_control and number.name.endswith(BESIDE_CONTROL):
        raise DataError(NO_CONTROL)
    given: dict[str, object] = {}
    if "attribute" in parameters and attribute is not None:
        given["attribute"] = attribute
    if "control" in parameters and judged.control is not None:
        given["control"] = judged.control
    if "progress" in parameters:
        given["progress"] = judged.progress
    lacking = [
        name
        for place, (name, one) in enumerate(parameters.items())
        if place and one.default is one.empty and name not in given
    ]
    if lacking:
        raise ParameterError(f"it needs {listing(lacking)}, which a policy does not say")
    function = measuring.function
    result = judged.cache(f"policy: {number.measured_by} of {attribute}", lambda release: function(release, **given))
    for score in scores_in(result):
        if score.name == number.name and getattr(score, "attribute", None) in (None, attribute):
            if not isnan(score):
                interval = getattr(result, f"{number.name.rpartition('-')[2]}_interval", None)
                return Measured(float(score), interval=interval if isinstance(result, Figures) else None)
            raise DataError(NO_CONTROL if lacks_control else "it has no number here")
    raise DataError("a release of this form has no such number")
