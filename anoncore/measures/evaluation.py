"""Measures by name: what a recipe or a command line may ask of a release."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from anoncore import attacks, privacy, utility
from anoncore.base.errors import AnonymizationError, ParameterError
from anoncore.base.texts import listing, quoted
from anoncore.base.toml import plain
from anoncore.release.release import Release
from anoncore.requirements import REQUIREMENTS

Function = Callable[..., object]


def _collected() -> dict[str, Function]:
    """Every public function of the three packages whose first parameter is the release."""
    found: dict[str, Function] = {}
    for package in (privacy, utility, attacks):
        short = package.__name__.rpartition(".")[2]
        for name in getattr(package, "__all__", ()):
            function = getattr(package, name)
            if inspect.isfunction(function) and next(iter(inspect.signature(function).parameters), "") == "release":
                found[f"{short}.{name}"] = function
    return found


MEASURES: Mapping[str, Function] = MappingProxyType(_collected())
"""All measures by the name of their package and function, e.g. `utility.information_loss`."""
_TITLES: Mapping[str, str] = MappingProxyType(
    {
        "attacks.posterior_emd": "Distance of beliefs",
        "attacks.region_membership": "Membership by regions",
        "attacks.reidentification": "Re-identification",
        "attacks.sensitive_posterior": "Beliefs about people",
        "privacy.check": "Violations",
        "privacy.emd": "Earth mover's distance",
        "privacy.guarantees": "Promised and reached",
        "privacy.joins": "Joins of fragments",
        "privacy.pair_levels": "Joins of all pairs of classes",
        "privacy.personal_guarantees": "Promises about people",
        "privacy.profile": "Levels of all groups",
        "privacy.require_safe_joins": "Safe joins or an error",
        "privacy.transport": "Mass that moves",
        "privacy.unsafe_pairs": "Unsafe pairs of classes",
        "privacy.worst_joins": "Classes with the worst joins",
        "utility.rmse": "Root mean squared error",
    }
)
"""Titles of measures whose name says little to people who do not program."""


def title_of(name: str) -> str:
    """Tell how people call a measure.

    Parameters
    ----------
    name : str
        A name of `MEASURES`, such as `privacy.emd`.

    Returns
    -------
    str
        Its title, such as `Earth mover's distance`.
    """
    return _TITLES.get(name, name.partition(".")[2].replace("_", " ").capitalize())


@dataclass(frozen=True)
class Measure:
    """A measure and the arguments it is asked with, besides the release.

    Arguments are plain values; requirements are given as their `to_dict`. Raises ParameterError for a measure that does
    not exist and for arguments that it does not take.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name not in MEASURES:
            raise ParameterError(f"There is no measure {quoted(self.name)}; there is {listing(list(MEASURES), 40)}.")
        object.__setattr__(self, "arguments", plain(self.arguments, self.name))
        self._call_arguments()

    @property
    def label(self) -> str:
        """The measure with its arguments, e.g. `privacy.emd(attribute='salary')`."""
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.name}({arguments})" if arguments else self.name

    def evaluate(self, release: Release, progress: Callable[[float, str], None] | None = None) -> object:
        """The result on a release. Raises what the measure raises, its label before the message."""
        given = self._call_arguments()
        if progress is not None and "progress" in inspect.signature(MEASURES[self.name]).parameters:
            given["progress"] = progress
        try:
            return MEASURES[self.name](release, **given)
        except AnonymizationError as error:
            error.args = (f"{self.label}: {error}", *error.args[1:])
            raise

    def _call_arguments(self) -> dict[str, Any]:
        function = MEASURES[self.name]
        parameters = dict(list(inspect.signature(function).parameters.items())[1:])
        unknown = [name for name in self.arguments if name not in parameters]
        if unknown:
            raise ParameterError(
                f"{self.name} takes no {listing(unknown)}; it takes {listing(list(parameters)) or 'nothing'}."
            )
        lacking = [
            name for name, item in parameters.items() if item.default is item.empty and name not in self.arguments
        ]
        if lacking:
            raise ParameterError(f"{self.name} needs {listing(lacking)}.")
        hints = typing.get_type_hints(function)
        return {name: self._argument(name, value, hints.get(name, Any)) for name, value in self.arguments.items()}

    def _argument(self, name: str, value: Any, hint: Any) -> Any:
        if name == "requirements" and isinstance(value, list):
            value = [REQUIREMENTS.build(item) if isinstance(item, dict) else item for item in value]
        try:
            # A model brings its own configuration and refuses another one, so anything else gets it around a tuple.
            adapter = TypeAdapter(tuple[hint], config=ConfigDict(arbitrary_types_allowed=True))
            return adapter.validate_python((value,))[0]
        except ValidationError as error:
            reason = error.errors()[0]["msg"].replace("Input should be", "should be", 1)
            raise ParameterError(f"{self.name}: {name} {reason}, not {quoted(value)}.") from None
