"""The values of one attribute, in order, with their codes and their text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import DataError
from anoncore.base.showing import Lines, Shown, counted
from anoncore.base.texts import MISSING_TEXT, is_missing, listing, quoted, value_text
from anoncore.base.typed_values import Key, value_key
from anoncore.kernels.arrays import Floats, Int32
from anoncore.table.axis import Axis, axis_of_dates, axis_of_numbers
from anoncore.table.tree import Tree

KindName = Literal["numeric", "ordinal", "nominal"]
"""The kinds of attributes as texts."""
Stored = pd.api.extensions.ExtensionArray | npt.NDArray[Any]


class Kind(StrEnum):
    """How the values of an attribute relate to each other.

    Attributes
    ----------
    NUMERIC : str
        `"numeric"`: numbers or dates, of which ranges are made.
    ORDINAL : str
        `"ordinal"`: categories with a rank, such as degrees.
    NOMINAL : str
        `"nominal"`: categories without a rank, such as towns.

    Examples
    --------
    >>> from anoncore import Kind
    >>> [kind.value for kind in Kind]
    ['numeric', 'ordinal', 'nominal']
    """

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"


@checked_methods
@dataclass(frozen=True, eq=False)
class Domain(Shown, Sequence[Any]):
    """The values of one attribute that occur in the table, in the attribute's order.

    It is a sequence: `domain[code]` is the value of a code, and `len(domain)` the number of codes. A missing value has
    the last code and reads as None.

    Attributes
    ----------
    name : str
        Name of the attribute.
    kind : Kind
        How its values relate.
    values : tuple
        The values without the missing one, ascending or in the order that was given.
    has_missing : bool
        Whether some row has no value.
    tree : Tree or None
        The hierarchy over the codes, if there is one.
    stored : array of the column's type, shape (size,), or None
        One cell per code as the table holds it.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> people = pd.DataFrame({"town": ["Ulm", "Bonn", None, "Ulm"]})
    >>> domain = Microdata(people, {"town": "quasi-identifier"}).domain["town"]
    >>> list(domain)
    ['Bonn', 'Ulm', None]
    >>> domain.code_of("Ulm"), domain.missing_code
    (1, 2)
    """

    name: str
    kind: Kind
    values: tuple[Any, ...]
    has_missing: bool = False
    tree: Tree | None = None
    stored: Stored | None = None
    """One cell per code as the table holds it, with the column's type."""

    def _headline(self) -> str:
        return f"Domain of '{self.name}': {self._inline()}"

    def _inline(self) -> str:
        missing = ", some cells missing" if self.has_missing else ""
        tree = ", with a hierarchy" if self.tree is not None else ""
        return f"{self.kind.value}, {counted(len(self.values), 'value')}{missing}{tree}"

    def _lines(self) -> Lines:
        return []

    @property
    def missing_code(self) -> int | None:
        """Code of the missing value, or None where nothing is missing."""
        return len(self.values) if self.has_missing else None

    @cached_property
    def is_date(self) -> bool:
        """Whether the numbers are points in time."""
        return bool(self.values) and isinstance(self.values[0], pd.Timestamp)

    @cached_property
    def axis(self) -> Axis:
        """Where the numbers or dates lie, without the missing one; a category lies at its rank."""
        if self.kind is not Kind.NUMERIC:
            return axis_of_numbers(range(len(self.values)))
        return axis_of_dates(self.values) if self.is_date else axis_of_numbers(self.values)

    @cached_property
    def steps(self) -> Floats:
        """Where each code lies in the steps of the axis, float (size,), for widths, means and distances.

        Numbers are subtracted exactly before they become steps, so that neighbours stay apart whatever their size.
        Missing lies one mean step above the largest value, so that a group that mixes missing with values counts as
        wide.
        """
        return self._with_missing(self.axis.steps)

    @property
    def extent(self) -> float:
        """Distance from the first to the last code in steps; 0 for a constant attribute."""
        return float(self.steps[-1] - self.steps[0])

    @cached_property
    def shares(self) -> Floats:
        """Where each code lies between the first (0) and the last (1), float (size,); 0 for a constant attribute."""
        return (self.steps - self.steps[0]) / (self.extent or 1.0)

    def _with_missing(self, numbers: Floats) -> Floats:
        if not self.has_missing:
            return numbers
        if not len(numbers):
            return np.zeros(1)
        step = (numbers[-1] - numbers[0]) / (len(numbers) - 1) if len(numbers) > 1 else 1.0
        return np.append(numbers, numbers[-1] + step)

    @cached_property
    def positions(self) -> Floats:
        """Where each code lies on the attribute's axis as readers see it, float (size,), for drawing.

        A number lies at its value (a date at its day), a category at its rank, and missing one mean step above the
        largest value. Large numbers that a double cannot tell apart may share a position; what compares or subtracts
        takes `steps`. Numbers that are all equal in double precision lie at their ranks.
        """
        if self.kind is not Kind.NUMERIC:
            return np.arange(len(self), dtype=np.float64)
        if self.is_date:
            numbers = np.array([value.timestamp() / 86_400 for value in self.values], dtype=np.float64)
        else:
            numbers = np.array(self.values, dtype=np.float64)
        numbers = self._with_missing(numbers)
        told_apart = len(self) == 1 or numbers[-1] > numbers[0]
        return numbers if told_apart else np.arange(len(self), dtype=np.float64)

    @property
    def span(self) -> float:
        """Distance from the first to the last code in the attribute's unit (days for dates); 0 for a constant one.

        A single number has no steps, and missing lies one unit above it, as in `positions`.
        """
        return self.extent * (float(self.axis.unit) if len(self.values) > 1 else 1.0)

    def code_of(self, value: Any) -> int:
        """The code of a value.

        Parameters
        ----------
        value : object
            The value; None and NaN ask for the missing one.

        Returns
        -------
        int
            Its code.

        Raises
        ------
        DataError
            Where the value does not occur.
        """
        if is_missing(value):
            if self.missing_code is None:
                raise DataError(f"'{self.name}' has no missing values.")
            return self.missing_code
        try:
            code = self._codes.get(value_key(value))
        except TypeError:
            code = None
        if code is None:
            raise DataError(f"'{self.name}' has no value {quoted(value)}; it has {listing(self.values)}.")
        return code

    def text(self, code: int) -> str:
        """The text that stands in a release for a single value.

        Parameters
        ----------
        code : int
            Code of the value.

        Returns
        -------
        str
            Its text, e.g. `21`; that of a missing value is the same for every attribute.
        """
        return MISSING_TEXT if code == self.missing_code else value_text(self.values[code])

    @cached_property
    def texts(self) -> npt.NDArray[np.object_]:
        """The published text of every code, object (size,)."""
        ends = self.values[:1] + self.values[-1:]
        # The values of a domain of whole numbers are all of one type.
        text = str if ends and all(type(end) is int for end in ends) else value_text
        return np.array([*map(text, self.values), *[MISSING_TEXT] * self.has_missing], dtype=object)

    @cached_property
    def decoded(self) -> Stored:
        """The value of every code, an array (size,) of the column's type; `decoded.take(codes)` decodes codes."""
        if self.stored is not None:
            return self.stored
        array = np.empty(len(self), dtype=object)
        for code, value in enumerate(self):
            array[code] = value
        return array

    @cached_property
    def _codes(self) -> dict[Key, int]:
        return {value_key(value): code for code, value in enumerate(self.values)}

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index = index % len(self)
        return None if index == self.missing_code else self.values[index]

    def __len__(self) -> int:
        return len(self.values) + self.has_missing


def set_text(domain: Domain, codes: Int32) -> str:
    """Text of the set of the values of the codes, e.g. {a, b}."""
    return "{" + ", ".join(_member_text(domain.text(int(code))) for code in codes) + "}"


def _member_text(text: str) -> str:
    """A category as a member of a set: in quotes where a comma or brace of its own would mislead the reader."""
    if any(mark in text for mark in ',{}"'):
        return '"' + text.replace('"', '""') + '"'
    return text
