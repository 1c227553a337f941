"""The unit in which numbers are written does not matter: every method makes the same classes and says the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, InfeasibleError, Microdata, attacks, privacy, utility
from anoncore.algorithms import ALGORITHMS
from anoncore.algorithms.cut_order import widest_first
from anoncore.kernels.attributes import widest
from anoncore.requirements import KAnonymity, TCloseness, VarianceDiversity
from tests.properties.subjects import build, subjects

some = settings(max_examples=6)
ROLES = {"age": "quasi-identifier", "income": "quasi-identifier", "town": "quasi-identifier", "debt": "sensitive"}
UNITS = [(f"e{power}", 10) for power in (-9, -6, -3, -1, 1, 3, 6, 9)] + [(power, 2) for power in (-30, -7, 5, 30)]
VARIANCE = 6


def written(number, unit):
    """A whole number as it is written in another unit."""
    power, base = unit
    return float(f"{number}{power}") if base == 10 else number * 2.0**power


@st.composite
def people(draw):
    n_rows = draw(st.integers(4, 24))

    def column(largest):
        return draw(st.lists(st.integers(0, largest), min_size=n_rows, max_size=n_rows))

    debt = [number % 9 for number in column(40)]
    towns = [f"town {number}" for number in column(2)]
    return {"age": column(10), "income": column(20), "town": towns, "debt": debt}


def table(columns, unit=None):
    frame = {
        name: cells if unit is None or name == "town" else [written(cell, unit) for cell in cells]
        for name, cells in columns.items()
    }
    return Microdata(pd.DataFrame(frame), ROLES)


def classes(algorithm, data):
    """Groups and regions of every fragment, or the kind of refusal."""
    try:
        release = algorithm.anonymize(data)
    except (DataError, InfeasibleError) as error:
        return type(error).__name__, None
    found = [
        (
            fragment.partition.group.tolist(),
            {name: [side.tolist() for side in recoding.bounds()] for name, recoding in fragment.recodings.items()},
        )
        for fragment in release.fragments
    ]
    return found, release


def in_unit(name, parameters, unit):
    """The algorithm with its thresholds in the unit of the numbers."""
    fields = dict(parameters)
    if "requirements" in ALGORITHMS[name].model_fields and "requirements" not in fields:
        fields["requirements"] = (KAnonymity(k=2), VarianceDiversity(v=v_of(unit)))
    return build(name, fields)


def v_of(unit):
    power, base = unit or ("e0", 10)
    return float(f"{VARIANCE}e{2 * int(power[1:])}") if base == 10 else VARIANCE * 4.0**power


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=1))
@given(columns=people(), unit=st.sampled_from(UNITS))
@some
def test_every_method_makes_the_same_classes_in_every_unit(name, parameters, columns, unit):
    expected, release = classes(in_unit(name, parameters, None), table(columns))
    found, other = classes(in_unit(name, parameters, unit), table(columns, unit))
    assert found == expected
    if release is not None and other is not None:
        assert utility.information_loss(other) == pytest.approx(float(utility.information_loss(release)), rel=1e-12)
        judged = [
            [not privacy.check(one, [requirement]) for requirement in (VarianceDiversity(v=v), TCloseness(t=0.2))]
            for one, v in ((release, v_of(None)), (other, v_of(unit)))
            if any(fragment.recodings.get("debt") is not None for fragment in one.fragments)
        ]
        assert judged[0] == judged[-1]


@given(columns=people(), unit=st.sampled_from(UNITS), split=st.sampled_from(["regression", "loss", "infogain"]))
@some
def test_splits_by_a_target_are_the_same_in_every_unit(columns, unit, split):
    fields = {"split": split, "target": None if split == "loss" else "debt"}
    mondrian = build("mondrian", fields)
    assert classes(mondrian, table(columns, unit))[0] == classes(mondrian, table(columns))[0]


def test_people_of_a_population_fit_where_doubles_are_too_coarse():
    large = [2**60, 2**60 + 10, 2**60 + 20, 2**60 + 30]
    data = Microdata(pd.DataFrame({"x": large}), {"x": "quasi-identifier"})
    release = build("mondrian", {}).anonymize(data)
    people = Microdata(pd.DataFrame({"x": [*large, 2**60 + 5, 2**60 + 15, 2**60 + 16]}), {"x": "quasi-identifier"})
    assert attacks.reidentification(release, population=people).population_size.tolist() == [3, 3, 2, 2]


CLOSE = {
    "mondrian": {"requirements": (KAnonymity(k=2),)},
    "slicing": {"l": 2, "sensitive_column_size": 1},
    "stack-and-deal": {"k": 2, "seed": 1},
    "microaggregation": {"k": 2, "t": 0.3, "seed": 1},
    "sabre": {"t": 0.9, "seed": 1},
    "sensitive-space-fragmentation": {"other_t": 0.9, "k": 2, "seed": 1},
    "rothko-tree": {"requirements": (KAnonymity(k=2),)},
    "vertical-fragmentation": {"k": 2, "enforce": "dependency", "t": 0.4, "ground": "equal", "seed": 1},
    "local-recoding": {"requirements": (KAnonymity(k=2),)},
    "optimal-recoding": {"requirements": (KAnonymity(k=2),), "max_suppression": 0.5},
}


def close_groups(name, seed, unit, **fields):
    """The groups of 16 people, two for each of eight numbers that lie a millionth apart."""
    # So close together, the numbers round differently in every unit, and so do their distances.
    draw = np.random.default_rng(seed)
    ranks, steps = draw.permutation(np.arange(16) % 8), draw.permutation(np.arange(16) % 8)
    frame = pd.DataFrame(
        {"pay": [(1_000_001 + step) / 1e6 / unit for step in steps], "rank": ranks, "illness": list("abcdefgh") * 2}
    )
    known = {"pay": "quasi-identifier", "rank": "quasi-identifier", "illness": "sensitive"}
    release = build(name, CLOSE[name] | fields).anonymize(Microdata(frame, known))
    return [pd.factorize(fragment.partition.group)[0].tolist() for fragment in release.fragments]


@pytest.mark.parametrize("name", CLOSE)
@pytest.mark.parametrize("seed", range(0, 40, 8))
def test_equal_distances_of_numbers_that_lie_close_together_are_equal_in_every_unit(name, seed):
    expected = close_groups(name, seed, 1)
    assert all(close_groups(name, seed, unit) == expected for unit in (1e9, 1e6, 1000))


@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_the_tree_cuts_like_mondrian_where_attributes_are_equally_wide(seed):
    # The tree never divides people who have the same number.
    expected = close_groups("mondrian", seed, 1, strict=True)
    assert all(close_groups("rothko-tree", seed, unit) == expected for unit in (1, 1000, 1e6))


@given(st.lists(st.sampled_from([0.0, 0.25, 0.25 * (1 - 1e-12), 0.5, 0.5 * (1 + 1e-13), 1.0]), max_size=8))
def test_attributes_are_ordered_as_the_kernel_picks_them(widths):
    left, picked = np.array(widths), []
    while left.any():
        picked.append(widest.py_func(left))
        left[picked[-1]] = 0.0
    assert widest_first(widths) == picked
