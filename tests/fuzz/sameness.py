"""The same table told otherwise: rows in another order, numbers in another unit. The release must be the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from anoncore import AnonymizationError, Exact, Hierarchy, Microdata, Release, privacy
from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.measures import criteria
from anoncore.requirements import REQUIREMENTS, Requirement, VarianceDiversity
from anoncore.table.domain import Kind
from tests.fuzz.case import Case, RefutedError
from tests.fuzz.exact import LEVELS, check_verdicts
from tests.fuzz.releases import any_algorithm
from tests.fuzz.tables import small_table
from tests.properties.published import content

FACTORS = (1e-9, 1e-6, 1e-3, 1e-1, 10.0, 1e3, 1e6, 1e9)
"""Units of the numbers of a table, from billions to billionths of what they were."""
UNITS = ("s", "ms", "us")
THRESHOLDS = (0.0, 1e-12, 0.05, 0.25, 1 / 3, 0.5, 2 / 3, 1.0, 1.5, 2.0, 3.0, 1e6)


def sameness(case: Case) -> None:
    """One table and algorithm; then the rows in another order, then the numbers in another unit."""
    data = small_table(case)
    algorithm = case.keep("algorithm", _repeatable(any_algorithm(case)))
    asked = case.keep("asked", _requirement(case, data))
    made, refused = _released(algorithm, data)
    rows = case.generator().permutation(data.n_rows)
    again, refused_again = _released(algorithm, _permuted(data, rows))
    if refused != refused_again:
        raise RefutedError(f"rows in another order: {refused!r}, then {refused_again!r}")
    if made is not None and again is not None and content(made) != content(again):
        raise RefutedError("rows in another order make another release")
    factor = case.pick(FACTORS)
    # Thresholds in a number's unit go along with it, so all numbers are told in the new unit, or none.
    factor = case.keep("factor", factor if _fits(data, factor) else 1.0)
    scaled_data = _scaled(data, factor, case.pick(UNITS))
    scaled, refused_scaled = _released(_rescaled(algorithm, factor), scaled_data)
    if (made is None) != (scaled is None):
        raise RefutedError(f"numbers times {factor}: {refused!r}, then {refused_scaled!r}")
    if made is None or scaled is None:
        raise AnonymizationError(refused)
    _compare(made, scaled, factor)
    if asked is not None:
        check_verdicts(made, [asked])
        _compare_verdicts(made, scaled, asked, factor)
    check_verdicts(made, algorithm.promises(data))
    check_verdicts(scaled, scaled.algorithm.promises(scaled_data))


def _released(algorithm: Algorithm, data: Microdata) -> tuple[Release | None, str]:
    try:
        return algorithm.anonymize(data), ""
    except AnonymizationError as error:
        return None, str(error)


def _repeatable(algorithm: Algorithm) -> Algorithm:
    if "seed" not in type(algorithm).model_fields or algorithm.seed is not None:  # type: ignore[attr-defined]
        return algorithm
    return algorithm.model_copy(update={"seed": 11})


def _requirement(case: Case, data: Microdata) -> Requirement | None:
    """A requirement to be judged, often with a threshold that groups reach exactly."""
    kind = REQUIREMENTS[case.pick(list(LEVELS))]
    values: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        if name == "ground":
            values[name] = case.pick(("equal", "ordered", "hierarchical"))
        elif name == "attribute":
            values[name] = case.pick((None, *data.sensitive))
        elif field.annotation is int:
            values[name] = case.pick((1, 2, 3, 5))
        else:
            values[name] = case.pick(THRESHOLDS)
    try:
        requirement = kind(**values)
        requirement.checks(data)
    except AnonymizationError:
        return None
    return requirement


def _permuted(data: Microdata, rows: np.ndarray) -> Microdata:
    frame = data.frame.iloc[rows].set_axis(range(len(rows)))
    return _tagged(data, frame, data.hierarchies)


def _tagged(data: Microdata, frame: pd.DataFrame, hierarchies: Mapping[str, Hierarchy]) -> Microdata:
    kinds = {name: data.domain[name].kind for name in data.attributes}
    return Microdata(frame, data.roles, kinds, hierarchies=hierarchies, sensitive_values=data.sensitive_values)


def _scaled(data: Microdata, factor: float, unit: str) -> Microdata:
    """The table with every number times the factor and every date in another resolution."""
    frame, hierarchies = data.frame.copy(), dict(data.hierarchies)
    for name in data.attributes:
        column = frame[name]
        if data.domain[name].kind is not Kind.NUMERIC:
            continue
        if pd.api.types.is_datetime64_any_dtype(column.dtype):
            frame[name] = column.astype(f"datetime64[{unit}]")
        elif pd.api.types.is_numeric_dtype(column.dtype) and _has_room(column, factor):
            frame[name] = _times(column, factor)
            if name in hierarchies:
                of_value = dict(zip(column.tolist(), frame[name].tolist(), strict=True))
                paths = hierarchies[name].paths
                hierarchies[name] = Hierarchy({of_value[value]: paths[value] for value in of_value if value in paths})
    return _tagged(data, frame, hierarchies)


def _fits(data: Microdata, factor: float) -> bool:
    """Whether all numbers of the table can be told in the other unit."""
    numbers = [data.frame[name] for name in data.attributes if data.domain[name].kind is Kind.NUMERIC]
    return all(_has_room(column, factor) for column in numbers if pd.api.types.is_numeric_dtype(column.dtype))


def _has_room(column: pd.Series, factor: float) -> bool:
    """Whether the products are neither too large nor too small for an exact enough double."""
    sizes = column.abs()[column != 0].dropna().astype(float) * factor
    return bool(((sizes > 1e-100) & (sizes < 1e15)).all())


def _times(column: pd.Series, factor: float) -> pd.Series:
    if factor.is_integer() and pd.api.types.is_integer_dtype(column.dtype):
        return column * int(factor)
    inverse = 1 / factor
    # Dividing by a whole number rounds once; a factor such as 1e-9 is itself rounded already.
    return column / round(inverse) if factor < 1 and math.isclose(inverse, round(inverse)) else column * factor


def _rescaled(algorithm: Algorithm, factor: float) -> Algorithm:
    """Variances are in the attribute's unit squared."""
    fields = algorithm.to_dict()
    return ALGORITHMS.build(_requirements_times(fields, factor))


def _requirements_times(value: Any, factor: float) -> Any:
    if isinstance(value, dict):
        changed = {name: _requirements_times(part, factor) for name, part in value.items()}
        if value.get("name") == VarianceDiversity.name:
            changed["v"] = value["v"] * factor**2
        return changed
    return [_requirements_times(part, factor) for part in value] if isinstance(value, list | tuple) else value


def _compare(made: Release, scaled: Release, factor: float) -> None:
    for one, other in zip(made.fragments, scaled.fragments, strict=True):
        if not np.array_equal(_canonical(one.partition.group), _canonical(other.partition.group)):
            raise RefutedError(f"numbers times {factor} make other groups in {one.name}")
        for name, recoding in one.recodings.items():
            twin = other.recodings[name]
            same = all(map(np.array_equal, recoding.bounds(), twin.bounds()))
            if isinstance(recoding, Exact) and isinstance(twin, Exact):
                same = same and np.array_equal(recoding.codes, twin.codes)
            if not same:
                raise RefutedError(f"numbers times {factor} publish {name!r} otherwise")
    quick = [name for name, one in criteria.CRITERIA.items() if not one.is_slow]
    before, after = criteria.evaluate(made, quick), criteria.evaluate(scaled, quick)
    for name in quick:
        first, second = before[name], after[name]
        if isinstance(first, AnonymizationError) or isinstance(second, AnonymizationError):
            if type(first) is not type(second):
                raise RefutedError(f"{name}, numbers times {factor}: {first!r}, then {second!r}")
        elif not math.isclose(first, second, rel_tol=1e-6, abs_tol=1e-9):
            raise RefutedError(f"{name}, numbers times {factor}: {first!r}, then {second!r}")


def _compare_verdicts(made: Release, scaled: Release, asked: Requirement, factor: float) -> None:
    times = asked.model_copy(update={"v": asked.v * factor**2}) if isinstance(asked, VarianceDiversity) else asked
    before, after = privacy.check(made, [asked]), privacy.check(scaled, [times])
    if [(one.fragment, one.group) for one in before] != [(one.fragment, one.group) for one in after]:
        raise RefutedError(f"{asked.label()}, numbers times {factor}: another verdict")


def _canonical(group: np.ndarray) -> np.ndarray:
    """Groups numbered by their first row."""
    first = pd.factorize(group)[0]
    return np.asarray(first)
