"""Algorithms with parameters in ranges: what a sweep tries, and what a search has to choose from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any, get_args

from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError
from anoncore.base.random_numbers import fresh_seed
from anoncore.base.texts import listing
from anoncore.requirements import FrequencyDiversity, KAnonymity, Requirement, TCloseness
from anoncore.requirements.t_closeness import Ground
from anoncore.table.domain import Kind
from anoncore.table.microdata import Microdata

LEVELS: Mapping[str, type[Requirement]] = MappingProxyType({"k": KAnonymity, "l": FrequencyDiversity, "t": TCloseness})
"""The requirement that a level stands for where a method takes requirements: l bounds every belief by 1/l."""
Ranges = Mapping[str, Mapping[str, Sequence[float]]]
"""Per algorithm's name the values of each of its axes, e.g. {"mondrian": {"k": [5, 10], "t": [0.2]}}."""


@checked
def axes(kind: type[Algorithm]) -> tuple[str, ...]:
    """The parameters of a method that can be varied: its numeric fields, and k, l and t where it takes requirements.

    Parameters
    ----------
    kind : type of Algorithm
        The method.

    Returns
    -------
    tuple of str
        Names of the axes, without that of a seed.

    Examples
    --------
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.search import axes
    >>> axes(Mondrian)[:3]
    ('k', 'l', 't')
    """
    fields = kind.model_fields
    names = list(LEVELS) if "requirements" in fields else []
    names += [name for name, info in fields.items() if name != "seed" and _is_number(info.annotation)]
    if "other_t" in names:
        names[names.index("other_t")] = "t"
    return tuple(dict.fromkeys(names))


def with_level(
    algorithm: Algorithm, axis: str, value: float, data: Microdata, attribute: str | None = None
) -> Algorithm:
    """The algorithm with one of its `axes` at a value.

    `attribute` is the sensitive attribute that l and t are about where requirements name it (None: every one). The
    ground distance of t is the one that fits: ordered for numbers and ordinal values, else equal. Raises ParameterError
    for an axis that the method does not have and for a value out of range.
    """
    fields = type(algorithm).model_fields
    changes: dict[str, Any] = {}
    if axis == "t" and "ground" in fields:
        changes["ground"] = usual_ground(data, attribute)
    if axis == "t" and "other_t" in fields:
        changes |= {"t": {}, "other_t": value}
    elif axis in fields and _is_number(fields[axis].annotation):
        changes[axis] = int(value) if _is_whole(fields[axis].annotation) else float(value)
    elif "requirements" in fields and axis in LEVELS:
        others = [other for other in getattr(algorithm, "requirements", ()) if not isinstance(other, LEVELS[axis])]
        changes["requirements"] = (*others, requirement(axis, value, data, attribute))
    else:
        raise ParameterError(f"{algorithm.title} has no '{axis}' to vary; it has {listing(axes(type(algorithm)))}.")
    return algorithm.replace(**changes)


def requirement(axis: str, value: float, data: Microdata, attribute: str | None = None) -> Requirement:
    """The requirement that a level of k, l or t stands for."""
    if axis == "k":
        return KAnonymity(k=int(value))
    if axis == "l":
        return FrequencyDiversity(l=float(value), attribute=attribute)
    return TCloseness(t=float(value), ground=usual_ground(data, attribute), attribute=attribute)


def usual_ground(data: Microdata, attribute: str | None) -> Ground:
    """Ordered where the sensitive attribute has an order (without an attribute: where all of them do), else equal."""
    names = [attribute] if attribute is not None else list(data.sensitive)
    nominal = any(data.domain[name].kind is Kind.NOMINAL for name in names)
    return "equal" if nominal else "ordered"


@checked
def candidates(ranges: Ranges, data: Microdata, attribute: str | None = None) -> tuple[Algorithm, ...]:
    """Algorithms at every combination of the values that each method's axes are given.

    A method without values stands for itself. A method that draws at random gets a seed of its own, so that its release
    can be made again.

    Parameters
    ----------
    ranges : mapping of str to mapping of str to sequence of float
        By name of the method, the values of each of its axes.
    data : Microdata
        The table, whose kinds of attributes decide which ground distance t has.
    attribute : str, optional
        The sensitive attribute that l and t are about; by default every one.

    Returns
    -------
    tuple of Algorithm
        The combinations, method by method.

    Raises
    ------
    ParameterError
        For an unknown method, axis or value.

    Examples
    --------
    Two values of k with one of t make two candidates:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.search import candidates
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> for algorithm in candidates({"mondrian": {"k": [2, 3], "t": [0.5]}}, data):
    ...     print([requirement.label() for requirement in algorithm.requirements])
    ['k-anonymity (k = 2)', 't-closeness (t = 0.5, ground = equal)']
    ['k-anonymity (k = 3)', 't-closeness (t = 0.5, ground = equal)']
    """
    return tuple(
        algorithm for name, values in ranges.items() for algorithm in _combinations(name, values, data, attribute)
    )


def _combinations(
    name: str, values: Mapping[str, Sequence[float]], data: Microdata, attribute: str | None
) -> Iterator[Algorithm]:
    method = blank(name)
    used = {axis: list(dict.fromkeys(chosen)) for axis, chosen in values.items() if len(chosen)}
    for levels in product(*used.values()):
        algorithm = method
        for axis, level in zip(used, levels, strict=True):
            algorithm = with_level(algorithm, axis, level, data, attribute)
        yield seeded(algorithm)


def blank(name: str) -> Algorithm:
    """An algorithm at its defaults and without requirements, so that only the levels that are set count."""
    kind = ALGORITHMS[name]
    fields: dict[str, Any] = {"requirements": ()} if "requirements" in kind.model_fields else {}
    return kind(**fields)


def redrawn(algorithm: Algorithm, turn: int) -> Algorithm:
    """The algorithm with other seeds, for each turn others, and so those inside it; the same where none draws."""
    changes: dict[str, Any] = {}
    for name in type(algorithm).model_fields:
        value = getattr(algorithm, name)
        if isinstance(value, Algorithm):
            changes[name] = redrawn(value, turn)
        elif name == "seed":
            changes[name] = fresh_seed() if value is None else value + turn
    return algorithm.replace(**changes) if changes else algorithm


def seeded(algorithm: Algorithm, seed: int | None = None) -> Algorithm:
    """The algorithm with a seed where it draws at random and has none, so that its release can be made again.

    An algorithm inside it gets one as well. Without `seed` each gets a fresh one.
    """
    changes: dict[str, Any] = {}
    for name in type(algorithm).model_fields:
        value = getattr(algorithm, name)
        if isinstance(value, Algorithm):
            changes[name] = seeded(value, seed)
        elif name == "seed" and value is None:
            changes[name] = fresh_seed() if seed is None else seed
    return algorithm.replace(**changes) if changes else algorithm


def _is_number(annotation: Any) -> bool:
    kinds = [annotation, *get_args(annotation)]
    return int in kinds or float in kinds


def _is_whole(annotation: Any) -> bool:
    return int in [annotation, *get_args(annotation)]
