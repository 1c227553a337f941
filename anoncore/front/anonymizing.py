"""A release of a table in one call."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from itertools import chain
from typing import Any

from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError
from anoncore.base.progress import Progress
from anoncore.base.texts import no_such
from anoncore.front.named_columns import Names, roles_of
from anoncore.measures.promise_marks import is_promised
from anoncore.recipes.proposal import USUAL_T, usual_requirements
from anoncore.release.release import Release
from anoncore.requirements import KAnonymity, Requirement
from anoncore.search.keeping import LEVELS, axes, keeping, possible_instead, requirements_at
from anoncore.table.domain import Kind
from anoncore.table.given_table import given_table
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.microdata import OTHERS, Microdata, Role


@checked
def anonymize(
    frame: Any,
    known: str | Sequence[str],
    secret: str | Sequence[str] = (),
    *,
    k: int | None = None,
    l: float | None = None,
    t: float | None = None,
    method: str = "mondrian",
    identifier: str | Sequence[str] = (),
    unit: str | None = None,
    insensitive: str | Sequence[str] = (),
    kinds: Mapping[str, Kind | str] | None = None,
    orders: Mapping[str, Sequence[Any]] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    sensitive_values: Mapping[str, Collection[Any]] | None = None,
    progress: Progress | None = None,
    **fields: Any,
) -> Release:
    """Make a release of a table in which people cannot be found by what others know of them.

    The release has the columns that are named known or secret. All others are left out of it, unless `insensitive` says
    that they are published as they are. Its tables, `release.tables()`, are of the kind that the given table is.

    What nobody says is asked as `anoncore init` proposes it. k is 10, or a tenth of the people where these are fewer
    than 100, but at least 2. Of every secret, no value has more than half of a group (l = 2); a secret of numbers, or
    with a value that more than half of the table have, is kept t-close instead (t = 0.3). A note of the release says
    what was asked for so, and what of it the method does not promise.

    Parameters
    ----------
    frame : DataFrame, LazyFrame, Arrow table or DuckDB relation
        The table, as `Microdata` takes it. It is not changed.
    known : str or sequence of str
        Columns that others may know of a person.
    secret : str or sequence of str
        Columns that nobody must learn.
    k : int, optional
        Fewest people in a group of those who cannot be told apart.
    l : float, optional
        No secret value has more than 1 / l of a group (frequency l-diversity), or what the method itself calls l.
    t : float, optional
        Largest distance of a group from the table in a secret: along the order of values where all secrets have one,
        else with any two values 1 apart.
    method : str
        Name of the method, one of `anoncore.algorithms.ALGORITHMS`.
    identifier : str or sequence of str
        Columns that name people. They are left out like all that are not named, but methods and notes know of them.
    unit : str, optional
        The column that says whose row it is, where one person may have several rows: then people are counted.
    insensitive : str or sequence of str
        Columns that are published as they are, by decision; "*" stands for all that are not named.
    kinds, orders, hierarchies, sensitive_values : mapping, optional
        What `Microdata` takes under these names, by column.
    progress : callable, optional
        Called with the share done, from 0 to 1, and what is being done. It may raise CancelledError to stop.
    **fields
        Fields of the method, such as `split="loss"` of Mondrian, or further `requirements`.

    Returns
    -------
    Release
        What may be published. What it protects is checked before it is returned.

    Raises
    ------
    ParameterError
        For a method, field or column that does not exist, a column that is named twice, and a k, l or t that the method
        does not promise.
    DataError
        For a table that cannot be read, and one that lacks what the method needs.
    InfeasibleError
        Where no release of this table keeps what is asked.

    Notes
    -----
    Assumes: an adversary knows the known columns of every person, and who is in the table.
    Cost: that of the method.
    Use: one table is to be published, with one method.
    Avoid: methods are to be compared, or a release is to be made again later: see `Recipe` and `anoncore.search`.

    Examples
    --------
    >>> import anoncore
    >>> import pandas as pd
    >>> people = pd.DataFrame({"name": list("abcd"), "age": [21, 22, 44, 45], "disease": ["flu", "cold"] * 2})
    >>> release = anoncore.anonymize(people, known="age", secret="disease", k=2)
    >>> print(release.tables()["release"].to_string(index=False))
      age disease
    21-22    cold
    21-22     flu
    44-45    cold
    44-45     flu
    >>> release.notes[-1]
    'Nobody said otherwise, so the usual was asked for: frequency l-diversity (l = 2.0).'
    """
    kind = ALGORITHMS[method]
    for name in fields:
        if name not in kind.model_fields:
            names = [*signature(anonymize).parameters, *kind.model_fields]
            raise ParameterError(no_such(f"parameter of anonymize or field of {kind.title}", name, names))
    further = kind(**fields).requirements if "requirements" in fields else ()  # type: ignore[attr-defined]
    own = {name: value for name, value in fields.items() if name != "requirements"}
    table = given_table(frame)
    data = Microdata(
        table,
        _roles(table.columns, known, secret, identifier, insensitive, unit),
        kinds,
        orders,
        hierarchies,
        sensitive_values,
        unit,
    )
    levels = {axis: value for axis, value in (("k", k), ("l", l), ("t", t)) if value is not None}
    says_secret = bool(levels.keys() & {"l", "t"}) or "other_t" in own
    if says_secret and not data.sensitive:
        raise ParameterError("l and t are about a secret column, and none is named; name it with secret.")
    wanted = {axis: requirements_at(axis, value, data) for axis, value in levels.items()}
    usual = _usual(kind, data, (*chain(*wanted.values()), *further), says_secret)
    algorithm = _method(kind, own, levels, (*further, *usual), data)
    promises = algorithm.promises(data)
    for axis, asked in ((axis, asked) for axis, several in wanted.items() for asked in several):
        if not _is_own(kind, axis) and not is_promised(asked, promises, data):
            raise ParameterError(
                f"{kind.title} does not promise {asked.label()}; leave {axis} out, or choose a method that does, such "
                "as mondrian."
            )
    release = algorithm.anonymize(data, progress)
    return replace(release, notes=(*release.notes, _note(algorithm, usual, promises, data))) if usual else release


def _roles(
    columns: Sequence[str], known: Names, secret: Names, identifier: Names, insensitive: Names, unit: str | None
) -> dict[str, Role | str]:
    """The role of every column that is named, and under `*` that of all others where they are to be published."""
    all_others = OTHERS not in columns and list(insensitive) == [OTHERS]
    named = {
        "known": (known, Role.QUASI_IDENTIFIER),
        "secret": (secret, Role.SENSITIVE),
        "identifier": (identifier, Role.IDENTIFIER),
        "insensitive": (() if all_others else insensitive, Role.INSENSITIVE),
    }
    roles = roles_of(columns, named, unit, str)
    return {**roles, OTHERS: Role.INSENSITIVE} if all_others else {**roles}


def _usual(
    kind: type[Algorithm], data: Microdata, said: Sequence[Requirement], says_secret: bool
) -> tuple[Requirement, ...]:
    """What is usually asked of the table beside what is said, in the form that the method takes."""
    says_k = any(isinstance(asked, KAnonymity) for asked in said)
    says_secret = says_secret or any(not asked.attribute_free for asked in said)
    usual = [each for each in usual_requirements(data) if not (says_k if each.attribute_free else says_secret)]
    if data.sensitive and "t" in axes(kind) and "l" not in axes(kind) and not says_secret:
        usual = [*(each for each in usual if each.attribute_free), *requirements_at("t", USUAL_T, data)]
    return tuple(usual)


def _method(
    kind: type[Algorithm],
    own: Mapping[str, Any],
    wanted: Mapping[str, float],
    more: Sequence[Requirement],
    data: Microdata,
) -> Algorithm:
    """The method with its own fields and as much of what is asked as it takes.

    Where it cannot do so with its usual columns or fragments, it gets those that its error offers.
    """
    by_axis = {axis: asked.threshold for asked in more if (axis := _axis(asked, data)) is not None} | dict(wanted)
    levels = {axis: float(by_axis[axis]) for axis in LEVELS if axis in by_axis}
    of_levels = [asked for axis, level in levels.items() for asked in requirements_at(axis, level, data)]
    others = [asked for asked in more if asked not in of_levels]
    algorithm = keeping(kind.name, own, levels, others, data).replace(**own)
    instead = possible_instead(algorithm, data)
    if instead is None or any(getattr(instead, name) != getattr(algorithm, name) for name in own):
        return algorithm
    return instead


def _axis(asked: Requirement, data: Microdata) -> str | None:
    """The parameter of k, l and t that stands for a requirement, where one does."""
    for axis, kind in LEVELS.items():
        if type(asked) is kind and asked in requirements_at(axis, asked.threshold, data):
            return axis
    return None


def _is_own(kind: type[Algorithm], axis: str) -> bool:
    """Whether k, l or t is a parameter of the method itself, which keeps it by its own definition."""
    return axis in kind.model_fields or f"other_{axis}" in kind.model_fields


def _note(algorithm: Algorithm, usual: Sequence[Requirement], promises: Sequence[Requirement], data: Microdata) -> str:
    """What was asked for although nobody said so, and what of it the method does not promise, in a sentence."""
    lacking = [
        each.label()
        for each in usual
        if not _is_own(type(algorithm), str(_axis(each, data))) and not is_promised(each, promises, data)
    ]
    asked = " and ".join(each.label() for each in usual)
    unpromised = f", of which {algorithm.title} does not promise {' and '.join(lacking)}" if lacking else ""
    return f"Nobody said otherwise, so the usual was asked for: {asked}{unpromised}."
