"""Measures by name: what a recipe or a command line may ask of a release."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from anoncore import attacks, privacy, utility
from anoncore.base.arguments import checked_methods
from anoncore.base.errors import AnonymizationError, ParameterError
from anoncore.base.number import REGISTERED, Function
from anoncore.base.texts import did_you_mean, listing, quoted
from anoncore.base.toml import plain
from anoncore.release.release import Release
from anoncore.requirements import REQUIREMENTS
from anoncore.table.microdata import Microdata

V = TypeVar("V")


class View(Mapping[str, V]):
    """A mapping that is read anew whenever it is asked, because other packages may have registered something since."""

    def __init__(self, read: Callable[[], dict[str, V]]) -> None:
        self._read = read

    def __getitem__(self, name: str) -> V:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


PACKAGES = tuple(package.__name__.rpartition(".")[2] for package in (privacy, utility, attacks))
"""The packages of anoncore that measure releases, in the order in which their functions are listed."""


def _place(name: str) -> tuple[int, str]:
    """Where a measure stands among all: those of other packages come last."""
    package = name.partition(".")[0]
    return PACKAGES.index(package) if package in PACKAGES else len(PACKAGES), name


def _measures(first_parameter: str) -> dict[str, Function]:
    # What methods count of their own releases is no measure of any release.
    names = (name for name, one in REGISTERED.items() if one.first_parameter == first_parameter)
    return {name: REGISTERED[name].function for name in sorted(names, key=_place) if not name.startswith("algorithms.")}


MEASURES: Mapping[str, Function] = View(lambda: _measures("release"))
"""All measures by the name of their package and function, e.g. `utility.information_loss`."""
MEASURES_OF_SEVERAL: Mapping[str, Function] = View(lambda: _measures("releases"))
"""Measures of several releases together by name; recipes, which make one release, do not ask for them."""


@checked_methods
@dataclass(frozen=True)
class Measure:
    """A measure and the arguments it is asked with, besides the release.

    Attributes
    ----------
    name : str
        A name of `MEASURES`, such as `privacy.emd`.
    arguments : mapping of str to object
        Plain values by the name of the parameter, as a recipe holds them; requirements are given as their `to_dict`, a
        further table as the source that a recipe names, such as `{"path": "town.csv"}`.

    Raises
    ------
    ParameterError
        If there is no such measure, or if it does not take the arguments or needs others.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 21, 60, 61], "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> from anoncore.measures import Measure
    >>> measure = Measure("privacy.emd", {"attribute": "disease", "ground": "equal"})
    >>> measure.label
    "privacy.emd(attribute='disease', ground='equal')"
    >>> measure.evaluate(release).tolist()
    [0.25, 0.25]
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name not in MEASURES:
            names = list(MEASURES)
            meant = did_you_mean(self.name, names)
            raise ParameterError(f"There is no measure {quoted(self.name)}; there is {listing(names, 24)}.{meant}")
        object.__setattr__(self, "arguments", plain(self.arguments, self.name))
        self._call_arguments()

    @property
    def label(self) -> str:
        """The measure with its arguments, e.g. `privacy.emd(attribute='salary')`."""
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.name}({arguments})" if arguments else self.name

    @property
    def tables(self) -> dict[str, Any]:
        """The arguments that name a further table, such as one of the population, by the name of the parameter."""
        hints = typing.get_type_hints(MEASURES[self.name])
        return {name: value for name, value in self.arguments.items() if _is_table(hints.get(name))}

    def evaluate(
        self,
        release: Release,
        progress: Callable[[float, str], None] | None = None,
        read: Callable[[Any], Microdata] | None = None,
    ) -> object:
        """Measure a release.

        Parameters
        ----------
        release : Release
            What is measured.
        progress : callable, optional
            `progress(share done, text)` is called as the work goes on, by measures that report it.
        read : callable, optional
            Reads and tags a further table that the arguments name by its source; a recipe knows how.

        Returns
        -------
        object
            What the function gives.

        Raises
        ------
        AnonymizationError
            What the function raises, with the label of the measure before its message; a ParameterError for a further
            table that nobody can read here.
        """
        given = self._call_arguments()
        for name, source in self.tables.items():
            if read is None:
                raise ParameterError(f"{self.label}: {name} is a table that only a recipe can read; ask in a recipe.")
            given[name] = read(source)
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
        if _is_table(hint):
            if not isinstance(value, Mapping):
                raise ParameterError(
                    f'{self.name}: {name} is a table; name its source, such as {{ path = "{name}.csv" }}, not '
                    f"{quoted(value)}."
                )
            return value
        if name == "requirements" and isinstance(value, list):
            value = [REQUIREMENTS.build(item) if isinstance(item, dict) else item for item in value]
        try:
            # A model brings its own configuration and refuses another one, so anything else gets it around a tuple.
            adapter = TypeAdapter(tuple[hint], config=ConfigDict(arbitrary_types_allowed=True))
            return adapter.validate_python((value,))[0]
        except ValidationError as error:
            reason = error.errors()[0]["msg"].replace("Input should be", "should be", 1)
            raise ParameterError(f"{self.name}: {name} {reason}, not {quoted(value)}.") from None


def _is_table(hint: Any) -> bool:
    """Whether a parameter takes a table of people, perhaps none."""
    return Microdata in (hint, *typing.get_args(hint))
