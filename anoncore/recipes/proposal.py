"""A first recipe for a table, with a reason beside every line: roles, kinds, hierarchies and a method to begin with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from anoncore.algorithms import Mondrian
from anoncore.base.texts import value_text
from anoncore.base.toml import dumps
from anoncore.recipes.recipe import FORMAT, Recipe
from anoncore.recipes.source import HierarchySpec, Source, written
from anoncore.requirements import FrequencyDiversity, KAnonymity, Requirement, TCloseness
from anoncore.table.domain import Kind
from anoncore.table.hierarchy_defaults import GRID, SHARES, neighbour_hierarchy
from anoncore.table.hierarchy_proposals import USUAL_GROUPS, HierarchyForm, fitting_forms, usual_width
from anoncore.table.microdata import Microdata, Role
from anoncore.table.suggestions import suggest

USUAL_K, LEAST_K, FEWEST_CLASSES = 10, 2, 10
"""k of a table with many rows, the least there is, and the classes that a small table should still have."""
USUAL_L, USUAL_T = 2.0, 0.3
USUAL_SHIFT = 30
"""Days by which dates are shifted at most: a month hides the day of the week and of the month."""
VAGUE = frozenset([HierarchyForm.FREQUENCY, HierarchyForm.LETTER])
"""Forms of groups that tell a reader less than the set of their values."""
MEASURES = ("privacy.profile", "utility.two_way_error", "attacks.reidentification")


@dataclass(frozen=True)
class Proposal:
    """A recipe with the reasons for what stands in it.

    Attributes
    ----------
    recipe : Recipe
        What is proposed. It decides on no column to be published as it is.
    reasons : mapping of str to str
        Why each column has its role, or may be published as it is, in a sentence.
    spare : mapping of str to HierarchySpec
        Hierarchies that only methods need which publish nodes of hierarchies: the proposed one cuts numbers where it
        loses least, and publishes a few categories as a set rather than as `other`.
    unit : str or None
        The column that seems to say whose row it is, where its values repeat.
    n_rows : int
        Rows of the table.
    dates : tuple of str
        Its columns of dates.
    """

    recipe: Recipe
    reasons: Mapping[str, str]
    spare: Mapping[str, HierarchySpec]
    unit: str | None
    n_rows: int
    dates: tuple[str, ...]

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """What the method has to keep."""
        return tuple(getattr(self.recipe.algorithm, "requirements", ()))

    @property
    def text(self) -> str:
        """The recipe as TOML with the reasons as comments."""
        return "\n".join(_lines(self)) + "\n"


def propose(source: Source, frame: pd.DataFrame) -> Proposal:
    """A first recipe for a table that was read already.

    Names of columns and counts only tell where to look first: what an adversary may know, people have to say.

    Parameters
    ----------
    source : Source
        Where the table came from.
    frame : DataFrame
        The table.

    Returns
    -------
    Proposal
        A recipe that runs, if the table has a column that others may know of a person.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore.recipes.proposal import propose
    >>> from anoncore.recipes.source import Source
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44] * 10, "diagnosis": ["flu", "cold"] * 20})
    >>> found = propose(Source(path="people.csv"), people)
    >>> found.recipe.roles, [one.label() for one in found.recipe.algorithm.requirements]
    ({'age': 'quasi-identifier', 'diagnosis': 'sensitive'}, ['k-anonymity (k = 4)', 'frequency l-diversity (l = 2.0)'])
    """
    suggestions = suggest(frame)
    data = Microdata(frame, {one.attribute: one.role for one in suggestions})
    forms = {name: recipe_forms(data, name)[:1] for name in data.quasi_identifiers}
    hierarchies = {name: hierarchy_of_form(data, name, one) for name, first in forms.items() for one in first}
    kinds = {name: data.domain[name].kind for name in (*data.quasi_identifiers, *data.sensitive)}
    # Postal codes have no distances, also where a program read them as numbers.
    kinds |= {name: Kind.NOMINAL for name, first in forms.items() if HierarchyForm.PREFIX in first}
    spare = {
        name: spec
        for name, spec in hierarchies.items()
        if kinds[name] is Kind.NUMERIC or not VAGUE.isdisjoint(forms[name])
    }
    recipe = Recipe(
        source=source,
        # To publish a column as it is takes a decision, which a guess is not; all other roles protect.
        roles={one.attribute: one.role.value for one in suggestions if one.role is not Role.INSENSITIVE},
        kinds={name: kind.value for name, kind in kinds.items()},
        hierarchies={name: spec for name, spec in hierarchies.items() if name not in spare},
        algorithm=Mondrian(requirements=usual_requirements(data), split="loss"),
        measures=MEASURES,  # type: ignore[arg-type]  # names are turned into measures
    )
    reasons = {one.attribute: one.reason for one in suggestions}
    dates = tuple(name for name in data.attributes if data.domain[name].is_date)
    return Proposal(recipe, reasons, spare, data.repeated_identifier, data.n_rows, dates)


def hierarchy_of_form(data: Microdata, attribute: str, form: HierarchyForm) -> HierarchySpec:
    """The entry of a recipe that makes the usual hierarchy of a form.

    Parameters
    ----------
    data : Microdata
        The table.
    attribute : str
        Name of the attribute, which the form fits; see `fitting_forms`.
    form : HierarchyForm
        How its values are grouped.

    Returns
    -------
    HierarchySpec
        Every number that the form takes is written out.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, Role
    >>> from anoncore.recipes.proposal import hierarchy_of_form
    >>> from anoncore.table.hierarchy_proposals import HierarchyForm
    >>> data = Microdata(pd.DataFrame({"zip": ["80331", "80333", "20095"]}), {"zip": "quasi-identifier"})
    >>> hierarchy_of_form(data, "zip", HierarchyForm.PREFIX).prefix
    (4, 3, 2, 1)
    """
    domain = data.require_domain(attribute)
    if form is HierarchyForm.CALENDAR:
        has_times = any(pd.Timestamp(value) != pd.Timestamp(value).normalize() for value in domain.values)
        days: tuple[Any, ...] = ("day",) if has_times else ()
        return HierarchySpec(calendar=(*days, "month", "quarter", "year", "decade"))
    if form is HierarchyForm.PREFIX:
        longest = max(len(value_text(value)) for value in domain.values)
        return HierarchySpec(prefix=tuple(range(longest - 1, 0, -1)))
    if form is HierarchyForm.GRID:
        return HierarchySpec(grid=GRID)
    if form is HierarchyForm.FREQUENCY:
        return HierarchySpec(rare=SHARES)
    if form is HierarchyForm.LETTER:
        return HierarchySpec(first_letter=True)
    if form is HierarchyForm.NEIGHBOURS:
        return HierarchySpec.of(neighbour_hierarchy(domain.values))
    if form is HierarchyForm.WIDTH:
        return HierarchySpec(width=usual_width(domain))
    return HierarchySpec(quantiles=USUAL_GROUPS)


def hierarchy_line(attribute: str, spec: HierarchySpec) -> str:
    """The line of a recipe that gives an attribute its hierarchy.

    Parameters
    ----------
    attribute : str
        Name of the attribute.
    spec : HierarchySpec
        Its hierarchy.

    Returns
    -------
    str
        A line for the table `[hierarchies]`.

    Examples
    --------
    >>> from anoncore.recipes.proposal import hierarchy_line
    >>> from anoncore.recipes.source import HierarchySpec
    >>> hierarchy_line("zip code", HierarchySpec(prefix=(3, 2)))
    '"zip code" = { prefix = [3, 2] }'
    """
    return _entry(attribute, written(spec))


def recipe_forms(data: Microdata, attribute: str) -> tuple[HierarchyForm, ...]:
    """The forms that fit an attribute and can stand in a recipe, the best first.

    Parameters
    ----------
    data : Microdata
        The table.
    attribute : str
        Name of the attribute.

    Returns
    -------
    tuple of HierarchyForm
        None for an attribute of which only people know what belongs together.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, Role
    >>> from anoncore.recipes.proposal import recipe_forms
    >>> people = pd.DataFrame({"born": pd.to_datetime(["1987-03-01", "1991-11-30"])})
    >>> data = Microdata(people, {"born": "quasi-identifier"})
    >>> [form.value for form in recipe_forms(data, "born")]
    ['calendar']
    """
    domain = data.require_domain(attribute)
    # Intervals in a recipe are those of numbers; dates are grouped by the calendar.
    return tuple(one for one in fitting_forms(domain) if one is not HierarchyForm.QUANTILES or not domain.is_date)


def usual_requirements(data: Microdata) -> tuple[Requirement, ...]:
    """What is asked where nobody says what: k-anonymity, and for each sensitive attribute what its values allow.

    k is 10, and smaller where a table of few people would have fewer than ten classes. No value of a sensitive category
    has more than half of a class; where one has more than half of the table, and for numbers, classes are t-close.

    Parameters
    ----------
    data : Microdata
        The table.

    Returns
    -------
    tuple of Requirement
        k-anonymity first.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.recipes.proposal import usual_requirements
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44] * 10, "pay": [900, 1100, 1200, 3000] * 10})
    >>> data = Microdata(people, {"age": "quasi-identifier", "pay": "sensitive"})
    >>> [requirement.label() for requirement in usual_requirements(data)]
    ['k-anonymity (k = 4)', 't-closeness (t = 0.3, ground = ordered)']
    """
    asked: list[Requirement] = [KAnonymity(k=max(LEAST_K, min(USUAL_K, data.n_people // FEWEST_CLASSES)))]
    several = len(data.sensitive) > 1
    for name in data.sensitive:
        attribute = name if several else None
        domain = data.domain[name]
        if domain.kind is Kind.NUMERIC:
            asked.append(TCloseness(t=USUAL_T, ground="ordered", attribute=attribute))
            continue
        diverse = FrequencyDiversity(l=USUAL_L, attribute=attribute)
        checks = [check for check in diverse.checks(data) if check.attribute == name]
        # What the table as one class fails, no classes keep.
        if all(check.holds(np.array([check.table_level(data.n_rows)]))[0] for check in checks):
            asked.append(diverse)
        else:
            asked.append(TCloseness(t=USUAL_T, ground="equal", attribute=attribute))
    return tuple(asked)


MEANINGS = {
    "k-anonymity": "every person hides among at least k - 1 others",
    "frequency-diversity": "nobody can be more than 1/l sure of a value",
    "t-closeness": "no group is farther than t from the whole table",
}


def _lines(found: Proposal) -> Iterator[str]:
    recipe = found.recipe
    yield "# A first recipe, proposed by names and counts. Read every line: what others may know of a person, only you"
    yield f"# can say. The table has {found.n_rows:,} rows and {len(found.reasons):,} columns."
    yield f"format = {FORMAT}"
    yield f"measures = {_value(list(MEASURES))}"
    if found.unit is not None:
        yield ""
        yield f"# {found.unit!r} seems to say whose row it is, and its values repeat. If so, count people, not rows:"
        yield f"# {_entry('unit', found.unit)}"
        if found.dates:
            yield "# All dates of a person may be shifted by one random number of days; the time between them stays:"
            yield f"# {_entry('dates', {one: {'shift': USUAL_SHIFT, 'by': found.unit} for one in found.dates})}"
    yield ""
    yield dumps({"source": written(recipe.source)}).rstrip()
    yield ""
    yield "# identifier: never published. quasi-identifier: others may know it, so it is coarsened. sensitive: what"
    yield "# nobody should learn. insensitive: published as it is. A column without a line is left out. That one may be"
    yield "# published as it is, only you can decide: then remove the # before its line."
    yield "[roles]"
    for name, reason in found.reasons.items():
        if name in recipe.roles:
            yield f"{_entry(name, recipe.roles[name])}  # {reason}"
        else:
            yield f"# {_entry(name, Role.INSENSITIVE.value)}  # guess: {reason}"
    if recipe.kinds:
        yield ""
        yield "# numeric: has distances. ordinal: has an order. nominal: has neither, as a postal code in digits."
        yield "[kinds]"
        yield from (_entry(name, kind) for name, kind in recipe.kinds.items())
    if recipe.hierarchies or found.spare:
        yield ""
        yield "# Which values belong together. `anoncore hierarchy` shows what each line makes of the values."
        yield "[hierarchies]"
        yield from (hierarchy_line(name, spec) for name, spec in recipe.hierarchies.items())
        if found.spare:
            yield "# Mondrian cuts these where it loses least. Methods that publish nodes of hierarchies need a line:"
            yield from (f"# {hierarchy_line(name, spec)}" for name, spec in found.spare.items())
    yield ""
    yield "# `anoncore algorithms` and `anoncore requirements` list what else there is."
    yield "[algorithm]"
    yield _entry("name", recipe.algorithm.name)
    yield _entry("split", "loss")
    yield "requirements = ["
    for one in found.requirements:
        yield f"    {_value(one.to_dict(complete=True))},  # {MEANINGS[one.name]}"
    yield "]"


def _entry(name: str, value: Any) -> str:
    """One line `name = value` of TOML."""
    key = dumps({name: 0}).rpartition(" = ")[0]
    return f"{key} = {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_entry(str(name), one) for name, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    return dumps({"value": value}).rstrip("\n").partition(" = ")[2]
