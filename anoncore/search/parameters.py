"""The parameters of a method by name: as columns of a table of candidates, and as the label of one of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anoncore.algorithms import Algorithm
from anoncore.base.model import Model, as_plain

LEVELS = frozenset(["k", "l", "t", "c", "v", "other_t", "size"])
"""Fields that tell how strong a promise is: a label names them also where they are left at their defaults."""


def parameters(algorithm: Algorithm) -> dict[str, Any]:
    """Every parameter of a method with its value, defaults included, without seeds.

    Parameters
    ----------
    algorithm : Algorithm
        The method.

    Returns
    -------
    dict of str to object
        Numbers, truths and texts; None where a parameter is not set. A name is that of the method or requirement and
        that of its field, such as `mondrian.split` and `k-anonymity.k`. Where a method demands the same requirement
        twice, the name of the second has a number. Lists and tables are written as JSON.

    Examples
    --------
    >>> from anoncore.algorithms import Anatomy
    >>> from anoncore.search.parameters import parameters
    >>> parameters(Anatomy(l=3))
    {'anatomy.l': 3, 'anatomy.refine': False}
    """
    return {name: value for name, value, _ in _fields(algorithm)}


def method_label(algorithm: Algorithm, varying: Sequence[str] = ()) -> str:
    """A method with the parameters that matter: its levels, those that were set, and those that vary among several.

    Parameters
    ----------
    algorithm : Algorithm
        The method.
    varying : sequence of str
        Names of `parameters` that are told in any case.

    Returns
    -------
    str
        One line, in the words of a recipe.

    Examples
    --------
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity, TCloseness
    >>> from anoncore.search.parameters import method_label
    >>> method_label(Mondrian(requirements=[KAnonymity(k=5), TCloseness(t=0.2)], split="loss"))
    'mondrian (split = loss, k-anonymity k = 5, t-closeness t = 0.2)'
    """
    told: dict[str, list[str]] = {}
    for name, value, is_usual in _fields(algorithm):
        owner, _, field = name.rpartition(".")
        if value is not None and (not is_usual or field in LEVELS or name in varying):
            told.setdefault(owner, []).append(f"{field} = {value}")
    own = told.pop(algorithm.name, [])
    parts = [*own, *(f"{owner} {' '.join(fields)}" for owner, fields in told.items())]
    return f"{algorithm.name} ({', '.join(parts)})" if parts else algorithm.name


def varying_parameters(algorithms: Sequence[Algorithm]) -> tuple[str, ...]:
    """The parameters that have different values in methods of the same kind.

    Parameters
    ----------
    algorithms : sequence of Algorithm
        The methods.

    Returns
    -------
    tuple of str
        Names as in `parameters`.

    Examples
    --------
    >>> from anoncore.algorithms import Anatomy
    >>> from anoncore.search.parameters import varying_parameters
    >>> varying_parameters([Anatomy(l=2), Anatomy(l=3)])
    ('anatomy.l',)
    """
    seen: dict[tuple[str, str], set[str]] = {}
    for algorithm in algorithms:
        for name, value in parameters(algorithm).items():
            seen.setdefault((algorithm.name, name), set()).add(repr(value))
    return tuple(dict.fromkeys(name for (_, name), values in seen.items() if len(values) > 1))


def _fields(model: Model, owner: str = "") -> Iterator[tuple[str, Any, bool]]:
    """Name, value and whether that is the default, of each field and of the models inside; requirements come last."""
    owner = owner or model.name
    requirements: Sequence[Any] = ()
    for field, info in type(model).model_fields.items():
        value = getattr(model, field)
        if field == "seed":
            continue
        if field == "requirements":
            requirements = value
            continue
        is_usual = not info.is_required() and value == info.get_default(call_default_factory=True)
        if isinstance(value, Model):
            yield f"{owner}.{field}", value.name, is_usual
            yield from _fields(value, f"{owner}.{field}.{value.name}")
        else:
            yield f"{owner}.{field}", _one_value(value), is_usual
    inside = "" if owner == model.name else f"{owner}."
    count: dict[str, int] = {}
    for requirement in requirements:
        count[requirement.name] = number = count.get(requirement.name, 0) + 1
        yield from _fields(requirement, f"{inside}{requirement.name}{f' {number}' if number > 1 else ''}")


def _one_value(value: Any) -> Any:
    """A value that fits into a cell."""
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(as_plain(value, complete=True), ensure_ascii=False) if value else None
    return value
