"""The registry of measures: functions that measure releases, and all that is said of the numbers they tell."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from string import Formatter
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from anoncore.base.errors import ParameterError

Family = Literal["protection", "adversary", "cost"]
Form = Literal["share", "count", "number"]
ReleaseForm = Literal["generalization", "bucketization", "slicing", "own partitions", "synthetic"]
Bounds = tuple[float | None, float | None]
Function = Callable[..., Any]
F = TypeVar("F", bound=Function)

EVERY_FORM: tuple[ReleaseForm, ...] = ("generalization", "bucketization", "slicing", "own partitions")
"""The forms whose rows are those of people."""
ALSO_SYNTHETIC: tuple[ReleaseForm, ...] = (*EVERY_FORM, "synthetic")
ONE_PARTITION: tuple[ReleaseForm, ...] = ("generalization", "bucketization", "slicing")
BUCKETS: tuple[ReleaseForm, ...] = ("bucketization", "slicing")
USUAL_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "attribute": "the sensitive attribute",
        "classifier": "classifier",
        "common": "the common attribute",
        "counted": "People",
        "group": "group",
        "l": "2",
        "queries": "10,000 random queries",
        "r": "2",
        "target": "the target",
        "threshold": "0.2",
    }
)
"""What stands in a meaning where no release is at hand: general words, and the defaults of parameters."""


@dataclass(frozen=True)
class Number:
    """All that is said of a number about a release, whatever its value is.

    A function that measures a release makes its scores of such an entry, and `measure` registers both; pages, commands
    and reports read the words from there.

    Attributes
    ----------
    name : str
        The name in commands, recipes and files, such as `information-loss`.
    title : str
        The name for people, such as `Information loss`.
    template : str
        One sentence that says what the number is. Words in braces are filled in for a release; in general they are
        those of `USUAL_WORDS`.
    family : {"protection", "adversary", "cost"}
        Whether it says what the release protects, what an adversary gets, or what the release costs.
    source : str
        Who defined it.
    form : {"share", "count", "number"}
        How it is written: as a percentage, as a whole number, or with decimals.
    unit : str
        What it counts; empty for a plain number.
    higher_is_better : bool or None
        The direction for the one who publishes; None where neither is better.
    bounds : tuple of float or None
        The smallest and largest value there can be; None where there is no bound.
    baseline : str
        What the value is compared with and how that is obtained, as the rest of a sentence that begins with `The
        baseline is`; empty where there is no such value.
    release_forms : tuple of str
        The forms of a release that can have the number, see `anoncore.release.form.form_of`.
    documented_by : str
        The requirement or measure under which the reference explains it; by default the function that tells it.
    of_attribute : bool
        Whether it is about one sensitive attribute.
    is_slow : bool
        Whether it may take seconds on a large table.
    short : str
        A shorter title for narrow columns; by default the title.

    Raises
    ------
    ValueError
        If the template has a word in braces that `USUAL_WORDS` does not have.

    Examples
    --------
    >>> from anoncore.base import Number
    >>> share = Number(
    ...     name="known-share",
    ...     title="Known share",
    ...     template="Share of the people whose value of {attribute} is known.",
    ...     family="adversary",
    ...     source="Nobody, 2000",
    ...     form="share",
    ...     higher_is_better=False,
    ... )
    >>> share.meaning
    'Share of the people whose value of the sensitive attribute is known.'
    >>> share.text(0.25), share.better(0.25, 0.5)
    ('25.0%', True)
    """

    name: str
    title: str
    template: str
    family: Family
    source: str
    form: Form = "number"
    unit: str = ""
    higher_is_better: bool | None = None
    bounds: Bounds = (None, None)
    baseline: str = ""
    release_forms: tuple[ReleaseForm, ...] = EVERY_FORM
    documented_by: str = ""
    of_attribute: bool = False
    is_slow: bool = False
    short: str = ""

    def __post_init__(self) -> None:
        unknown = {word for _, word, _, _ in Formatter().parse(self.template) if word} - set(USUAL_WORDS)
        if unknown:
            raise ValueError(f"The meaning of {self.name} has no usual word for {', '.join(sorted(unknown))}.")

    @property
    def measured_by(self) -> str:
        """The name of the registered function that tells it, such as `utility.information_loss`."""
        return next(name for name, one in REGISTERED.items() if any(number.name == self.name for number in one.numbers))

    @property
    def label(self) -> str:
        """The title, or the shorter one where there is one."""
        return self.short or self.title

    @property
    def meaning(self) -> str:
        """The sentence that says what the number is, of any release."""
        return self.meaning_of({})

    def meaning_of(self, words: Mapping[str, str]) -> str:
        """Fill words of one release into the sentence that says what the number is.

        Parameters
        ----------
        words : mapping of str to str
            What stands for the words in braces; for those that are left out, the usual ones do.

        Returns
        -------
        str
            The sentence.

        Examples
        --------
        >>> from anoncore.measures import NUMBERS
        >>> NUMBERS["average-group-size"].meaning_of({"group": "bucket"})
        'Rows of a bucket on average.'
        """
        return self.template.format_map({**USUAL_WORDS, **words})

    def better(self, value: float, other: float) -> bool:
        """Tell whether one value is better than another for the one who publishes.

        Parameters
        ----------
        value : float
            The number of one release.
        other : float
            The same number of another release.

        Returns
        -------
        bool
            Whether `value` is better; equal values are not.
        """
        return value > other if self.higher_is_better else value < other

    def text(self, value: float) -> str:
        """Write a value of the number as people read it.

        Parameters
        ----------
        value : float
            The number of a release.

        Returns
        -------
        str
            A percentage, a whole number, or a number with three decimals, by `form`.
        """
        if self.form == "share":
            return f"{value:.1%}"
        return f"{value:,.0f}" if self.form == "count" else f"{value:,.3f}"


RISK = Number(
    name="",
    title="",
    template="",
    family="adversary",
    source="",
    form="share",
    unit="share of people",
    higher_is_better=False,
    bounds=(0.0, 1.0),
)
"""What most numbers of attacks have in common: shares of people, the fewer the better. `replace` makes them of it."""
COST = replace(RISK, family="cost", unit="share of rows")
"""The same of what a release costs."""


@dataclass(frozen=True)
class Measuring:
    """A registered function: what it is called by people, the numbers that it tells, and its first parameter, which is
    `release`, or `releases` of a function that measures several together.
    """

    function: Function
    title: str
    numbers: tuple[Number, ...]
    first_parameter: str


REGISTERED: dict[str, Measuring] = {}
"""Every function that `measure` registered, by its name; `anoncore.measures` has what is read from it."""


def measure(*numbers: Number, title: str = "") -> Callable[[F], F]:
    """Register a function that measures a release, with the numbers that it tells.

    Recipes, the command line, the board, reports and the reference have it from then on, by the name of its package and
    its own, such as `utility.information_loss`. Its first parameter is the release, or `releases` where it measures
    several together; its docstring is what people read, its annotations are what arguments are checked against.

    Parameters
    ----------
    *numbers : Number
        What stands in its result as scores.
    title : str
        How people call it; by default as its number is called where it tells one, else its name in words.

    Returns
    -------
    callable
        The decorator, which gives the function back as it is.

    Raises
    ------
    ParameterError
        By the decorator, where a function of another module has this name, or another function tells a number of one
        of these names.

    Examples
    --------
    >>> from anoncore.base.number import REGISTERED
    >>> REGISTERED["utility.information_loss"].title
    'Information loss'
    """

    def register(function: F) -> F:
        package = function.__module__.removeprefix("anoncore.").partition(".")[0]
        usual = numbers[0].title if len(numbers) == 1 else function.__name__.replace("_", " ").capitalize()
        name = f"{package}.{function.__name__}"
        known = REGISTERED.get(name)
        if known is not None and known.function.__module__ != function.__module__:
            raise ParameterError(
                f"{function.__module__} and {known.function.__module__} both have a measure '{name}'; rename one."
            )
        of_others = [number for other, one in REGISTERED.items() if other != name for number in one.numbers]
        clashes = sorted({number.name for number in numbers} & {number.name for number in of_others})
        if clashes:
            raise ParameterError(f"Another measure tells a number '{clashes[0]}'; give that of {name} another name.")
        first = next(iter(inspect.signature(function).parameters))
        REGISTERED[name] = Measuring(function, title or usual, numbers, first)
        return function

    return register
