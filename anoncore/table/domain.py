"""The values of one attribute, in order, with their codes and their text, and as the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import DataError
from anoncore.base.showing import Lines, Shown
from anoncore.base.texts import MISSING_TEXT, counted, is_missing, listing, quoted, value_text
from anoncore.base.typed_values import Key, value_key
from anoncore.kernels.arrays import Floats, Int32, record
from anoncore.kernels.attributes import CATEGORY, HIERARCHY, NUMBER, Attributes
from anoncore.kernels.grouping import starts_of
from anoncore.table.axis import Axis, axis_of_dates, axis_of_numbers

KindName = Literal["numeric", "ordinal", "nominal"]
"""The kinds of attributes as texts."""
Stored = pd.api.extensions.ExtensionArray | npt.NDArray[Any]


@record
class Tree(Shown):
    """A hierarchy over the codes of one domain: node 0 is the root, and every node is an interval of codes.

    Attributes
    ----------
    labels : tuple of str, length n_nodes
        Label of each node.
    first, last : ndarray of int32, shape (n_nodes,)
        First and last code of each node, both included.
    parent : ndarray of int32, shape (n_nodes,)
        Node above; -1 at the root.
    level : ndarray of int32, shape (n_nodes,)
        Lowest level of the hierarchy at which the node's values are one group; 0 at a leaf.
    children : ndarray of int32, shape (n_nodes - 1,)
        Nodes sorted by parent: those below node v are `children[child_start[v]:child_start[v + 1]]`.
    child_start : ndarray of int32, shape (n_nodes + 1,)
        Where the children of each node begin.
    leaf : ndarray of int32, shape (n_codes,)
        Node of each single code.
    height : int
        Level of the root.
    """

    labels: tuple[str, ...]
    first: Int32
    last: Int32
    parent: Int32
    level: Int32
    children: Int32
    child_start: Int32
    leaf: Int32
    height: int

    def common_ancestor(self, low: Int32, high: Int32) -> Int32:
        """The lowest node that holds all codes from `low` to `high`, both of shape (n,), for each pair of them."""
        node = self.leaf[low]
        while True:
            outside = self.last[node] < high
            if not outside.any():
                return node
            node = np.where(outside, self.parent[node], node).astype(np.int32)

    def node_over(self, low: int, high: int) -> int:
        """The lowest node that holds all codes from `low` to `high`."""
        return int(self.common_ancestor(np.array([low]), np.array([high]))[0])

    def children_of(self, node: int) -> Int32:
        """The nodes right below a node, by ascending codes."""
        return self.children[self.child_start[node] : self.child_start[node + 1]]


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
@record
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

    @property
    def ground(self) -> Literal["ordered", "equal"]:
        """The ground distance that fits the values: ordered for numbers and ordinal values, else equal."""
        return "equal" if self.kind is Kind.NOMINAL else "ordered"

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
    def member_texts(self) -> npt.NDArray[np.object_]:
        """The published text of every code as a member of a set, object (size,)."""
        return np.array([*map(_member_text, self.texts.tolist())], dtype=object)

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
    return "{" + ", ".join(domain.member_texts[codes]) + "}"


def _member_text(text: str) -> str:
    """A category as a member of a set: in quotes where a comma or brace of its own would mislead the reader."""
    if any(mark in text for mark in ',{}"'):
        return '"' + text.replace('"', '""') + '"'
    return text


def kernel_attributes(domains: Sequence[Domain]) -> Attributes:
    """Lay out the domains of the attributes that a search may split."""
    form, position, leaf = [], [], []
    first, last, parent, child_start, children = [], [], [], [], []
    begun = 0  # children of the trees that are laid out already
    for domain in domains:
        tree = domain.tree
        position.append(domain.steps)
        leaf.append(np.zeros(len(domain), dtype=np.int32) if tree is None else tree.leaf)
        if tree is None:
            form.append(NUMBER if domain.kind is Kind.NUMERIC else CATEGORY)
            child_start.append(np.array([begun], dtype=np.int64))
            continue
        form.append(HIERARCHY)
        first.append(tree.first)
        last.append(tree.last)
        parent.append(tree.parent)
        child_start.append(tree.child_start.astype(np.int64) + begun)
        children.append(tree.children)
        begun += len(tree.children)
    n_nodes = [0 if domain.tree is None else len(domain.tree.labels) for domain in domains]
    none = np.zeros(0, dtype=np.int32)
    spans = [
        domain.extent if domain.tree is None and domain.kind is Kind.NUMERIC else float(len(domain) - 1)
        for domain in domains
    ]
    return Attributes(
        form=np.array(form, dtype=np.int64),
        span=np.array(spans, dtype=np.float64),
        code_start=starts_of(len(domain) for domain in domains),
        position=np.concatenate(position),
        leaf=np.concatenate(leaf),
        node_start=starts_of(n_nodes),
        first=np.concatenate([*first, none]),
        last=np.concatenate([*last, none]),
        parent=np.concatenate([*parent, none]),
        child_start=np.concatenate(child_start),
        children=np.concatenate([*children, none]),
    )
