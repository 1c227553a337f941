"""Which ready-made hierarchies fit an attribute, and the usual one of each form."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np

from anoncore.base.errors import DataError, ParameterError
from anoncore.base.texts import listing, quoted, value_text
from anoncore.table.column_words import name_words
from anoncore.table.domain import Domain, Kind
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.hierarchy_defaults import (
    COORDINATES,
    calendar_hierarchy,
    frequency_hierarchy,
    grid_hierarchy,
    letter_hierarchy,
    neighbour_hierarchy,
    prefix_hierarchy,
)
from anoncore.table.microdata import Microdata

POSTAL = frozenset(["zip", "zipcode", "plz", "post", "postcode", "postal", "postleitzahl"])
"""Words in the name of a column that holds postal codes."""
COORDINATE = frozenset(["lat", "latitude", "lon", "lng", "long", "longitude", "coordinate", "coordinates", "gps"])
"""Words in the name of a column that holds degrees."""
MOST_DEGREES = 360
LONGEST_CODE = 10
"""Most characters of a code that is grouped by its beginning without being called a postal code."""
FEWEST_NAMES = 27
"""Different texts from which their first letters say something."""
USUAL_GROUPS = 8
"""Intervals of the lowest level that hold about equally many rows."""
FEWEST_JOINED = 3
"""Different values from which joining some of them leaves anything to tell apart."""


class HierarchyForm(StrEnum):
    """How a ready-made hierarchy groups the values of an attribute.

    Attributes
    ----------
    CALENDAR : str
        `"calendar"`: dates by day, month, quarter, year and decade.
    PREFIX : str
        `"prefix"`: codes, such as postal codes, by their first characters.
    GRID : str
        `"grid"`: coordinates by the cell of a grid.
    WIDTH : str
        `"width"`: numbers by intervals of equal width.
    QUANTILES : str
        `"quantiles"`: numbers and dates by intervals of about equally many rows.
    NEIGHBOURS : str
        `"neighbours"`: values of an ordered category with those next to them.
    FREQUENCY : str
        `"frequency"`: the rare values of a category together.
    LETTER : str
        `"letter"`: texts by their first letter.

    Examples
    --------
    >>> from anoncore.table.hierarchy_proposals import HierarchyForm
    >>> HierarchyForm("calendar") is HierarchyForm.CALENDAR
    True
    """

    CALENDAR = "calendar"
    PREFIX = "prefix"
    GRID = "grid"
    WIDTH = "width"
    QUANTILES = "quantiles"
    NEIGHBOURS = "neighbours"
    FREQUENCY = "frequency"
    LETTER = "letter"


def fitting_forms(domain: Domain) -> tuple[HierarchyForm, ...]:
    """The ready-made hierarchies that fit an attribute by its name, its kind and its values, the best first.

    Parameters
    ----------
    domain : Domain
        The values of the attribute.

    Returns
    -------
    tuple of HierarchyForm
        The forms; none for an attribute with a single value, or where only people know what belongs together.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.table.hierarchy_proposals import fitting_forms
    >>> people = pd.DataFrame({"zip": ["80331", "20095"], "born": ["1987-03-01", "1991-11-30"], "sex": ["f", "m"]})
    >>> data = Microdata(people, {"*": "quasi-identifier"})
    >>> [[form.value for form in fitting_forms(data.domain[name])] for name in data.attributes]
    [['prefix'], ['calendar'], []]
    """
    if len(domain.values) < 2:
        return ()
    words = name_words(domain.name)
    if domain.kind is Kind.NUMERIC:
        if domain.is_date:
            return HierarchyForm.CALENDAR, HierarchyForm.QUANTILES
        usual = (HierarchyForm.WIDTH, HierarchyForm.QUANTILES)
        if words & COORDINATE and max(abs(float(domain.values[0])), abs(float(domain.values[-1]))) <= MOST_DEGREES:
            return HierarchyForm.GRID, *usual
        if words & POSTAL and _are_codes(domain, longest=LONGEST_CODE):
            return HierarchyForm.PREFIX, *usual
        return usual
    by_values = {HierarchyForm.CALENDAR: _are_dates, HierarchyForm.GRID: _are_pairs}
    forms = [form for form, fits in by_values.items() if fits(domain)]
    if not forms and (_are_codes(domain, LONGEST_CODE) if words & POSTAL else _look_like_codes(domain)):
        forms.append(HierarchyForm.PREFIX)
    if domain.kind is Kind.ORDINAL and len(domain.values) >= FEWEST_JOINED:
        forms.append(HierarchyForm.NEIGHBOURS)
    if domain.kind is Kind.NOMINAL and not forms and len(domain.values) >= FEWEST_JOINED:
        forms.append(HierarchyForm.FREQUENCY)
        if len(domain.values) >= FEWEST_NAMES and _are_names(domain):
            forms.append(HierarchyForm.LETTER)
    return tuple(forms)


def default_hierarchy(data: Microdata, attribute: str, form: HierarchyForm | str) -> Hierarchy:
    """The usual hierarchy of a form for an attribute.

    Parameters
    ----------
    data : Microdata
        The table.
    attribute : str
        Name of the attribute.
    form : HierarchyForm or str
        How its values are grouped.

    Returns
    -------
    Hierarchy
        Equal for every order of the rows. Missing values join the others at the top, `*`.

    Raises
    ------
    DataError
        Where the table lacks the attribute, or its values do not fit the form, such as texts a calendar.
    ParameterError
        Where there is no such form.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.table.hierarchy_proposals import default_hierarchy
    >>> data = Microdata(pd.DataFrame({"age": [18, 25, 43, 61, 90]}), {"age": "quasi-identifier"})
    >>> default_hierarchy(data, "age", "width").path_of(25)
    ('20-29', '10-29', '10-49', '10-89', '*')
    """
    form, domain = _form(form), data.require_domain(attribute)
    if form is HierarchyForm.CALENDAR:
        return calendar_hierarchy(domain.values)
    if form is HierarchyForm.PREFIX:
        return prefix_hierarchy(domain.values)
    if form is HierarchyForm.GRID:
        return grid_hierarchy(domain.values)
    if form is HierarchyForm.NEIGHBOURS:
        return neighbour_hierarchy(domain.values)
    if form is HierarchyForm.LETTER:
        return letter_hierarchy(domain.values)
    if form is HierarchyForm.WIDTH:
        return Hierarchy.by_width(domain.values, usual_width(domain))
    rows = values_of_rows(data, attribute)
    return Hierarchy.by_quantile(rows, USUAL_GROUPS) if form is HierarchyForm.QUANTILES else frequency_hierarchy(rows)


def values_of_rows(data: Microdata, attribute: str) -> list[Any]:
    """The value of every row that has one."""
    domain = data.require_domain(attribute)
    return [domain.values[code] for code in data.codes[attribute].tolist() if code != domain.missing_code]


def usual_width(domain: Domain) -> float:
    """A round width that makes about ten intervals of an attribute's numbers.

    Parameters
    ----------
    domain : Domain
        The values of a numeric attribute.

    Returns
    -------
    float
        1, 2 or 5 times a power of ten; at least 1 among whole numbers.

    Raises
    ------
    DataError
        Where the attribute has no numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.table.hierarchy_proposals import usual_width
    >>> data = Microdata(pd.DataFrame({"age": [18, 25, 43, 61, 90]}), {"age": "quasi-identifier"})
    >>> usual_width(data.domain["age"])
    10.0
    """
    if domain.kind is not Kind.NUMERIC or domain.is_date or not domain.values:
        raise DataError(f"'{domain.name}' has no numbers, so its values have no intervals of equal width.")
    known = domain.positions[: len(domain.values)]
    span = float(known[-1] - known[0])
    if span <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(span / 10))
    width = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= span / 10)
    return max(float(width), 1.0) if bool((known == np.floor(known)).all()) else float(width)


def _form(form: HierarchyForm | str) -> HierarchyForm:
    try:
        return HierarchyForm(form)
    except ValueError:
        known = listing([one.value for one in HierarchyForm])
        raise ParameterError(f"There is no ready-made hierarchy {quoted(form)}; there is {known}.") from None


def _are_dates(domain: Domain) -> bool:
    try:
        calendar_hierarchy(domain.values)
    except DataError:
        return False
    # 20200305 is a date to a computer only.
    return not any(isinstance(value, str) and "-" not in value for value in domain.values)


def _are_pairs(domain: Domain) -> bool:
    pairs = [COORDINATES.fullmatch(value) if isinstance(value, str) else None for value in domain.values]
    return all(pair and max(abs(float(degrees)) for degrees in pair.groups()) <= MOST_DEGREES for pair in pairs)


def _are_codes(domain: Domain, longest: int) -> bool:
    """Whether the values are short texts or whole numbers from 0, of which the longest has several characters."""
    try:
        prefix_hierarchy(domain.values, [1])
    except DataError:
        return False
    return 1 < max(len(value_text(value)) for value in domain.values) <= longest


def _look_like_codes(domain: Domain) -> bool:
    """Whether the values look like codes whatever they are called: texts of one length, each with a digit."""
    texts = [value for value in domain.values if isinstance(value, str)]
    if len(texts) < len(domain.values) or len({len(text) for text in texts}) > 1:
        return False
    return 3 <= len(texts[0]) <= LONGEST_CODE and all(any(letter.isdigit() for letter in text) for text in texts)


def _are_names(domain: Domain) -> bool:
    return all(isinstance(value, str) and value[:1].isalpha() for value in domain.values)
