"""Levels of k, l, c and t asked of any method: which of them it takes over, and what it leaves unpromised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, get_args

from anoncore.algorithms import ALGORITHMS, Algorithm, AttackSafe, Slicing, Suppression
from anoncore.base.arguments import checked
from anoncore.base.errors import AnonymizationError, InfeasibleError, ParameterError
from anoncore.base.texts import listing
from anoncore.requirements import FrequencyDiversity, KAnonymity, RecursiveDiversity, Requirement, TCloseness
from anoncore.requirements.t_closeness import Ground
from anoncore.table.microdata import Microdata

LEVELS: Mapping[str, type[Requirement]] = MappingProxyType({"k": KAnonymity, "l": FrequencyDiversity, "t": TCloseness})
"""The requirement that a level stands for where a method takes requirements: l bounds every belief by 1/l."""
Levels = Mapping[str, float]
"""What is asked of every group, by axis: at least k people, no belief above 1/l, at most t from the table. With a c, l
and c together ask for recursive (c, l)-diversity instead.
"""
PROMISES = frozenset(["k", "l", "t", "other_t", "requirements"])
"""Parameters of methods that say what is promised."""
USUAL_L = 2.0
"""The l of recursive (c, l)-diversity where only a c is asked for: the second most frequent value counts."""


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
        changes["requirements"] = (*others, *requirements_at(axis, value, data, attribute))
    else:
        raise ParameterError(f"{algorithm.title} has no '{axis}' to vary; it has {listing(axes(type(algorithm)))}.")
    return algorithm.replace(**changes)


def requirements_at(axis: str, value: float, data: Microdata, attribute: str | None = None) -> tuple[Requirement, ...]:
    """The requirements that a level of k, l or t stands for.

    A t of secrets with different ground distances is one requirement for each secret, by the distance that fits it.
    Every other level is one requirement.
    """
    if axis == "k":
        return (KAnonymity(k=int(value)),)
    if axis == "l":
        return (FrequencyDiversity(l=float(value), attribute=attribute),)
    is_mixed = attribute is None and len({data.require_domain(name).ground for name in data.sensitive}) > 1
    return tuple(
        TCloseness(t=float(value), ground=usual_ground(data, name), attribute=name)
        for name in (data.sensitive if is_mixed else [attribute])
    )


def usual_ground(data: Microdata, attribute: str | None) -> Ground:
    """Ordered where the sensitive attribute has an order (without an attribute: where all of them do), else equal."""
    names = [attribute] if attribute is not None else list(data.sensitive)
    return "equal" if any(data.require_domain(name).ground == "equal" for name in names) else "ordered"


def asked(levels: Levels, more: Sequence[Requirement], data: Microdata) -> tuple[Requirement, ...]:
    """The requirements that levels of k, l, c and t stand for, and further ones.

    l, c and t say something about sensitive attributes, so they stand for nothing where none is tagged.
    """
    meant = {axis: value for axis, value in levels.items() if axis == "k" or data.sensitive}
    c, l = meant.pop("c", None), meant.get("l", USUAL_L)
    found = [
        requirement
        for axis, value in meant.items()
        if c is None or axis != "l"
        for requirement in requirements_at(axis, value, data)
    ]
    if c is not None:
        found.insert("k" in meant, RecursiveDiversity(c=c, l=int(l)))
    return (*found, *more)


def keeping(
    name: str,
    fields: Mapping[str, Any],
    levels: Levels,
    more: Sequence[Requirement],
    data: Microdata,
    left_out: float = 0.0,
) -> Algorithm:
    """The method of that name with these fields of its own, and as much of what is asked as it can take over.

    A level that is a parameter of the method itself is set there. A method that takes requirements takes all others,
    but slicing no k, since that of its buckets does not hide who somebody is.
    `left_out` is the share of the rows that may be left out by a method where that makes sense (`can_leave_out`).
    Raises ParameterError where nothing is asked of a method that needs requirements, or a value is out of range.
    """
    if name in (AttackSafe.name, Suppression.name):
        wrapper = AttackSafe(**fields) if name == AttackSafe.name else Suppression(**fields)
        inner = {field: getattr(wrapper.method, field) for field in type(wrapper.method).model_fields}
        return wrapper.replace(method=keeping(wrapper.method.name, inner, levels, more, data))
    if left_out and can_leave_out(name):
        if "max_suppression" in ALGORITHMS[name].model_fields:
            fields = {**fields, "max_suppression": left_out}
        else:
            return Suppression(method=keeping(name, fields, levels, more, data), max_suppression=left_out)
    kind = ALGORITHMS[name]
    own = dict(levels)
    if "requirements" in kind.model_fields:
        # A level that is a parameter promises more than the requirement does: the l of slicing is one of every person.
        own = {axis: value for axis, value in levels.items() if axis in kind.model_fields}
        # And k in its buckets promises less: people are found by what is published of them, which slicing leaves exact.
        left = {*own, "k"} if kind is Slicing else {*own}
        if "c" in levels:
            # What is asked of l together with c is no parameter of a method, also where its own l is.
            left -= {"l"}
        wanted = asked({axis: value for axis, value in levels.items() if axis not in left}, more, data)
        needs_some = bool(kind.model_fields["requirements"].get_default(call_default_factory=True))
        if needs_some and not wanted:
            raise ParameterError(f"{kind.title} needs something to keep; ask for k, l or t.")
        fields = {**fields, "requirements": wanted}
    algorithm = kind(**fields)
    for axis, value in own.items():
        if axis in axes(kind) and (axis == "k" or data.sensitive):
            algorithm = with_level(algorithm, axis, value, data)
    return algorithm


def can_leave_out(name: str) -> bool:
    """Whether rows can be left out of the releases of the method of that name, so that the others lose less."""
    kind = ALGORITHMS[name]
    return kind.family == Suppression.family or "max_suppression" in kind.model_fields


def possible_instead(algorithm: Algorithm, data: Microdata) -> Algorithm | None:
    """The algorithm with the parameters that its own error offers, where it keeps what was asked; else None.

    Only parameters that nobody asked for may change, such as the columns of a sliced table: a lower level is another
    promise.
    """
    try:
        algorithm.validate_data(data)
    except InfeasibleError as error:
        return None if PROMISES & set(error.instead or ()) else offered_instead(algorithm, data, error)
    except AnonymizationError:
        return None
    return None


def promises_alike(algorithm: Algorithm, other: Algorithm) -> bool:
    """Whether two algorithms differ at most in what `possible_instead` may change: they are one method, and promise the
    same.
    """
    names = PROMISES & set(type(algorithm).model_fields)
    return type(algorithm) is type(other) and all(getattr(algorithm, name) == getattr(other, name) for name in names)


def offered_instead(algorithm: Algorithm, data: Microdata, error: InfeasibleError) -> Algorithm | None:
    """The algorithm with the parameters that its error offers, where the table can satisfy these; else None."""
    if not error.instead:
        return None
    try:
        changed = algorithm.replace(**error.instead)
        changed.validate_data(data)
    except AnonymizationError:
        return None
    return changed


def _is_number(annotation: Any) -> bool:
    kinds = [annotation, *get_args(annotation)]
    return int in kinds or float in kinds


def _is_whole(annotation: Any) -> bool:
    return int in [annotation, *get_args(annotation)]
