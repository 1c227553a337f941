"""Algorithms with parameters in ranges: what a sweep tries, and what a search has to choose from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.base.arguments import checked
from anoncore.base.random_numbers import fresh_seed
from anoncore.search.keeping import with_level
from anoncore.table.microdata import Microdata

Ranges = Mapping[str, Mapping[str, Sequence[float]]]
"""Per algorithm's name the values of each of its axes, e.g. {"mondrian": {"k": [5, 10], "t": [0.2]}}."""


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
    return _with_seeds(algorithm, lambda seed: fresh_seed() if seed is None else seed + turn)


def seeded(algorithm: Algorithm, seed: int | None = None) -> Algorithm:
    """The algorithm with a seed where it draws at random and has none, so that its release can be made again.

    An algorithm inside it gets one as well. Without `seed` each gets a fresh one.
    """
    given = fresh_seed if seed is None else lambda: seed
    return _with_seeds(algorithm, lambda own: given() if own is None else own)


def is_drawn_from(algorithm: Algorithm, wanted: Algorithm) -> bool:
    """Whether an algorithm is the wanted one, with any seeds where that has none."""
    if type(algorithm) is not type(wanted) or len(algorithm.seeds) != len(wanted.seeds):
        return False
    given = iter(algorithm.seeds)

    def own_or_given(own: int | None) -> int | None:
        seed = next(given)
        return seed if own is None else own

    return algorithm == _with_seeds(wanted, own_or_given)


def _with_seeds(algorithm: Algorithm, new: Callable[[int | None], int | None]) -> Algorithm:
    changes: dict[str, Any] = {}
    for name in type(algorithm).model_fields:
        value = getattr(algorithm, name)
        if isinstance(value, Algorithm):
            changes[name] = _with_seeds(value, new)
        elif name == "seed":
            changes[name] = new(value)
    return algorithm.replace(**changes) if changes else algorithm
