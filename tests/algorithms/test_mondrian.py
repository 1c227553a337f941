"""Mondrian against a plain twin, its guarantees, and its figures on Adult."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import AnonymizationError, CancelledError, DataError, Hierarchy, InfeasibleError, Microdata, Release
from anoncore.algorithms import Mondrian
from anoncore.release.partition import Partition
from anoncore.requirements import (
    BetaLikeness,
    CheckSet,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    Requirement,
    TCloseness,
    VarianceDiversity,
)
from tests.shared_data import FOLDER, needs

from .plain_mondrian import PlainMondrian, Row

ADULT = FOLDER / "adult.csv"
needs_adult = needs("adult.csv")

QUASI = ["age", "town", "job"]
REQUIREMENTS: list[tuple[Requirement, ...]] = [
    (KAnonymity(k=1),),
    (KAnonymity(k=3),),
    (DistinctDiversity(l=2, attribute="illness"),),
    (FrequencyDiversity(l=1.5, attribute="illness"), KAnonymity(k=2)),
    (EntropyDiversity(l=1.7, attribute="illness"),),
    (RecursiveDiversity(c=2.0, l=2, attribute="illness"),),
    (BetaLikeness(beta=0.8, attribute="illness"), KAnonymity(k=2)),
    (TCloseness(t=0.3, ground="equal", attribute="illness"), KAnonymity(k=2)),
    (TCloseness(t=0.25, ground="ordered", attribute="pay"),),
    (VarianceDiversity(v=1.5, attribute="pay"), DistinctDiversity(l=2, attribute="illness")),
]


TREE = Hierarchy.from_nested({"low": ["u", "v"], "high": {"odd": ["w", "x"], "even": ["y"]}})
ROLES = {**dict.fromkeys(QUASI, "quasi-identifier"), "illness": "sensitive", "pay": "sensitive", "*": "insensitive"}


@st.composite
def people(draw: st.DrawFn, several_rows: bool = False) -> Microdata:
    """A small table; `several_rows`: of people of whom some have several rows, so that people are counted."""
    n = draw(st.integers(1, 28))
    numbers = st.one_of(st.none(), st.integers(0, 6)) if draw(st.booleans()) else st.integers(0, 6)
    columns = {
        "age": draw(st.lists(numbers, min_size=n, max_size=n)),
        "town": draw(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=n, max_size=n)),
        "job": draw(st.lists(st.sampled_from(["u", "v", "w", "x", "y"]), min_size=n, max_size=n)),
        "illness": draw(st.lists(st.sampled_from(["flu", "cold", "gout"]), min_size=n, max_size=n)),
        "pay": draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)),
        "shoe": draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)),
    }
    columns["age"] = pd.array(columns["age"], dtype="Int64")
    hierarchies = {"job": TREE} if draw(st.booleans()) else {}
    if several_rows:
        columns["who"] = draw(st.lists(st.integers(0, 2 * n // 3), min_size=n, max_size=n))
    unit = "who" if several_rows else None
    return Microdata(pd.DataFrame(columns), roles=ROLES, hierarchies=hierarchies, unit=unit)


def crowd(n: int, seed: int, hierarchies: dict[str, Hierarchy]) -> Microdata:
    """Many people with few values, some of them rare."""
    rng = np.random.default_rng(seed)
    values = {"age": list(range(7)), "town": list("abc"), "job": list("uvwxy"), "illness": ["flu", "cold", "gout"]}
    columns = {
        name: rng.choice(options, n, p=rng.dirichlet(np.full(len(options), 0.7)))
        for name, options in {**values, "pay": list(range(5))}.items()
    }
    return Microdata(pd.DataFrame(columns), roles=ROLES, hierarchies=hierarchies)


def content(data: Microdata) -> list[Row]:
    """The rows as codes; where people are counted, the person comes last."""
    names = [*data.quasi_identifiers, *data.sensitive, *data.insensitive]
    columns = [data.codes[name].tolist() for name in names]
    return list(zip(*columns, *([] if data.people is None else [data.people.tolist()]), strict=True))


def classes(release: Release) -> Counter[tuple[tuple[int, ...], ...]]:
    rows = content(release.data)
    return Counter(
        tuple(sorted(rows[row] for row in release.partition.rows(group))) for group in range(release.partition.n_groups)
    )


def allowed_rows(requirements: Sequence[Requirement], data: Microdata) -> Callable[[list[Row]], bool]:
    """Whether rows of codes satisfy the requirements as one group."""
    names = [*data.quasi_identifiers, *data.sensitive, *data.insensitive]

    def allowed(rows: list[Row]) -> bool:
        group = Partition(np.zeros(len(rows), dtype=np.int32))
        for check in CheckSet(requirements, data).checks:
            if data.people is not None:
                check = replace(check, people=np.array([row[-1] for row in rows], dtype=np.int32))
            codes = None
            if check.values is not None:
                codes = np.array([row[names.index(check.values.attribute)] for row in rows], dtype=np.int32)
            if not check.holds(check.levels(group, codes))[0]:
                return False
        return True

    return allowed


def plain_twin(model: Mondrian, data: Microdata) -> PlainMondrian:
    names = [*data.quasi_identifiers, *data.sensitive, *data.insensitive]
    place = names.index(model.target) if model.target else 0
    positions = data.domain[names[place]].positions
    return PlainMondrian(
        [data.domain[name] for name in data.quasi_identifiers],
        allowed_rows(model.requirements, data),
        model.split,
        model.strict,
        model.min_gain,
        target=lambda row: float(positions[row[place]]),
    )


def feasible(model: Mondrian, data: Microdata) -> bool:
    try:
        model.validate_data(data)
    except InfeasibleError:
        return False
    return True


@pytest.mark.slow
@settings(max_examples=40)
@given(
    data=people(),
    requirements=st.sampled_from(REQUIREMENTS),
    split=st.sampled_from([("median", None), ("infogain", "shoe"), ("regression", "shoe"), ("loss", None)]),
    strict=st.booleans(),
)
def test_the_classes_are_those_of_the_plain_algorithm(data, requirements, split, strict):
    model = Mondrian(requirements=requirements, split=split[0], target=split[1], strict=strict)
    if not feasible(model, data):
        with pytest.raises(InfeasibleError):
            model.anonymize(data)
        return
    expected = Counter(tuple(sorted(group)) for group in plain_twin(model, data).groups(content(data)))
    assert classes(model.anonymize(data)) == expected


@pytest.mark.slow
@settings(max_examples=30)
@given(
    data=people(several_rows=True),
    requirements=st.sampled_from(REQUIREMENTS),
    split=st.sampled_from([("median", None), ("infogain", "shoe"), ("regression", "shoe"), ("loss", None)]),
    strict=st.booleans(),
)
def test_the_classes_are_those_of_the_plain_algorithm_where_people_are_counted(data, requirements, split, strict):
    model = Mondrian(requirements=requirements, split=split[0], target=split[1], strict=strict)
    if not feasible(model, data):
        return
    twin = plain_twin(model, data)
    expected = twin.groups(content(data))
    if twin.all_allowed(expected):
        assert classes(model.anonymize(data)) == Counter(tuple(sorted(group)) for group in expected)


@pytest.mark.slow
@pytest.mark.parametrize("hierarchies", [{}, {"job": TREE}], ids=["flat", "tree"])
@pytest.mark.parametrize("requirements", REQUIREMENTS, ids=lambda found: found[0].name)
def test_many_rows_of_few_codes_are_cut_like_those_of_the_plain_algorithm(requirements, hierarchies):
    compared = 0
    for seed in range(6):
        data = crowd(400, seed, hierarchies)
        model = Mondrian(requirements=requirements, split="loss")
        if feasible(model, data):
            expected = Counter(tuple(sorted(group)) for group in plain_twin(model, data).groups(content(data)))
            assert classes(model.anonymize(data)) == expected
            compared += 1
    assert compared


@pytest.mark.slow
@pytest.mark.parametrize("hierarchies", [{}, {"job": TREE}], ids=["flat", "tree"])
@pytest.mark.parametrize("k", [3, 200])
def test_nodes_of_thousands_of_rows_are_cut_like_those_of_the_plain_algorithm(k, hierarchies):
    """What a node hands down to its sides is read only where there are more than two thousand rows."""
    data = crowd(3_000, 1, hierarchies)
    model = Mondrian(requirements=(KAnonymity(k=k),))
    expected = Counter(tuple(sorted(group)) for group in plain_twin(model, data).groups(content(data)))
    assert classes(model.anonymize(data)) == expected


@settings(max_examples=20)
@given(
    data=people(),
    requirements=st.sampled_from(REQUIREMENTS),
    split=st.sampled_from(["median", "loss"]),
    strict=st.booleans(),
)
def test_no_allowable_cut_remains(data, requirements, split, strict):
    model = Mondrian(requirements=requirements, split=split, strict=strict)
    if not feasible(model, data):
        return
    twin = plain_twin(model, data)
    for rows in classes(model.anonymize(data)):
        for a in range(len(QUASI)):
            assert not any(twin.all_allowed(sides) for sides in twin.cuts(list(rows), a))


@settings(max_examples=25)
@given(data=people(), seed=st.integers(0, 99), split=st.sampled_from(["median", "loss"]), strict=st.booleans())
def test_row_order_and_index_labels_do_not_matter(data, seed, split, strict):
    model = Mondrian(requirements=[KAnonymity(k=2)], split=split, strict=strict)
    if not feasible(model, data):
        return
    order = np.random.default_rng(seed).permutation(data.n_rows)
    shuffled = data.frame.iloc[order].set_index(np.zeros(data.n_rows, dtype=int))
    again = Microdata(shuffled, roles=data.roles, hierarchies=data.hierarchies)
    published, other = (model.anonymize(table).tables()["release"] for table in (data, again))
    pd.testing.assert_frame_equal(published, other)


@settings(max_examples=20)
@given(data=people(), split=st.sampled_from(["median", "loss"]), strict=st.booleans())
def test_regions_hold_their_rows_and_strict_ones_do_not_overlap(data, split, strict):
    model = Mondrian(requirements=[KAnonymity(k=2)], split=split, strict=strict, recoding="regions")
    if not feasible(model, data):
        return
    release = model.anonymize(data)
    cells = {name: release.recoding(name) for name in QUASI}
    volume = 0
    for group in range(release.partition.n_groups):
        rows = release.partition.rows(group)
        for name, cell in cells.items():
            assert cell.low[group] <= data.codes[name][rows].min()
            assert data.codes[name][rows].max() <= cell.high[group]
        volume += np.prod([int(cell.sizes[group]) for cell in cells.values()])
    whole = np.prod([len(data.domain[name]) for name in QUASI])
    if strict and not data.hierarchies:
        assert volume == whole
    if strict:
        assert volume <= whole


def table(**columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame(columns)


def test_worked_example_by_hand():
    # Widths relative to the domain: both 1, so age (first) is cut at its median 4 of 1 1 2 | 4 5 9: 3 rows each.
    # Left: town is wide (a, b): cut a | b leaves 1 row, not allowable; age 1 1 | 2 leaves 1 row. Right likewise.
    frame = table(age=[1, 1, 2, 4, 5, 9], town=["a", "b", "b", "a", "a", "b"])
    data = Microdata(frame, roles={"age": "quasi-identifier", "town": "quasi-identifier"})
    release = Mondrian(requirements=[KAnonymity(k=2)], strict=True).anonymize(data)
    assert release.partition.group.tolist() == [0, 0, 0, 1, 1, 1]
    published = release.tables()["release"]
    assert published["age"].tolist() == ["1-2"] * 3 + ["4-9"] * 3
    assert published["town"].tolist() == ["{a, b}"] * 6
    with_two = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    assert with_two.partition.sizes.tolist() == [3, 3]


def test_a_value_shared_by_more_than_half_is_cut_only_when_not_strict():
    frame = table(age=[3, 3, 3, 3, 3, 7])
    data = Microdata(frame, roles={"age": "quasi-identifier"})
    assert Mondrian(requirements=[KAnonymity(k=3)], strict=True).anonymize(data).partition.n_groups == 1
    release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    assert sorted(release.recoding("age").group_texts) == ["3", "3-7"]


def test_information_gain_keeps_the_class_and_falls_back_to_the_median():
    # The class changes at age 2; the median is at 5. With a smallest gain of 1 bit no cut is good enough.
    frame = table(age=[1, 2, 3, 4, 5, 6, 7, 8], label=["no", "no", *["yes"] * 6])
    data = Microdata(frame, roles={"age": "quasi-identifier", "*": "insensitive"})
    model = Mondrian(requirements=[KAnonymity(k=2)], split="infogain", target="label")
    assert {"1-2"} < set(model.anonymize(data).recoding("age").group_texts)
    coarse = model.replace(min_gain=1.0, requirements=(KAnonymity(k=4),))
    assert set(coarse.anonymize(data).recoding("age").group_texts) == {"1-4", "5-8"}


def test_regression_cuts_where_the_number_jumps():
    frame = table(age=[1, 2, 3, 4, 5, 6], pay=[10.0, 11.0, 90.0, 91.0, 92.0, 93.0])
    data = Microdata(frame, roles={"age": "quasi-identifier", "*": "insensitive"})
    release = Mondrian(requirements=[KAnonymity(k=2)], split="regression", target="pay").anonymize(data)
    assert set(release.recoding("age").group_texts) == {"1-2", "3-4", "5-6"}


def test_a_hierarchy_is_cut_into_the_children_of_a_node():
    tree = Hierarchy.from_nested({"Asian": ["Chinese", "Indian"], "European": ["Greek", "French"]})
    frame = table(nationality=["Chinese", "Chinese", "Indian", "Greek", "French", "French"])
    data = Microdata(frame, roles={"nationality": "quasi-identifier"}, hierarchies={"nationality": tree})
    release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    assert set(release.recoding("nationality").group_texts) == {"Asian", "European"}
    finest = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(data)
    assert set(finest.recoding("nationality").group_texts) == {"Chinese", "Indian", "Greek", "French"}


def test_errors_name_the_cause_and_the_nearest_value():
    frame = table(age=[1, 2, 3, 4], illness=["flu", "flu", "flu", "gout"])
    data = Microdata(frame, roles={"age": "quasi-identifier", "illness": "sensitive"})
    with pytest.raises(InfeasibleError, match="k = 9 is not possible") as caught:
        Mondrian(requirements=[KAnonymity(k=9)]).anonymize(data)
    assert caught.value.nearest == 4
    with pytest.raises(InfeasibleError, match="'illness'") as caught:
        Mondrian(requirements=[DistinctDiversity(l=3)]).anonymize(data)
    assert caught.value.nearest == 2
    with pytest.raises(InfeasibleError, match="choose c more than 3 ") as caught:
        Mondrian(requirements=[RecursiveDiversity(c=3.0, l=2)]).anonymize(data)
    assert Mondrian(requirements=[RecursiveDiversity(c=caught.value.nearest, l=2)]).anonymize(data)
    with pytest.raises(InfeasibleError, match="no c is large enough") as caught:
        Mondrian(requirements=[RecursiveDiversity(c=3.0, l=3)]).anonymize(data)
    assert caught.value.nearest is None
    with pytest.raises(DataError, match="needs a target"):
        Mondrian(requirements=[KAnonymity(k=1)], split="infogain").validate_data(data)
    with pytest.raises(DataError, match="no attribute 'salary'"):
        Mondrian(requirements=[KAnonymity(k=1)], split="infogain", target="salary").anonymize(data)
    with pytest.raises(DataError, match="not numeric"):
        Mondrian(requirements=[KAnonymity(k=1)], split="regression", target="illness").anonymize(data)
    with pytest.raises(DataError, match="quasi-identifier"):
        Mondrian().anonymize(Microdata(frame))
    with pytest.raises(AnonymizationError, match="sensitive"):
        Mondrian(requirements=[EntropyDiversity(l=1.5)]).anonymize(Microdata(frame, roles={"age": "quasi-identifier"}))


def test_progress_can_cancel_the_run():
    data = Microdata(table(age=list(range(50_000))), roles={"age": "quasi-identifier"})
    seen: list[float] = []

    def stop(fraction: float, text: str) -> None:
        seen.append(fraction)
        if fraction > 0.04:
            raise CancelledError(text)

    with pytest.raises(CancelledError):
        Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data, progress=stop)
    assert max(seen) < 0.95


def test_many_rows_in_parallel_give_the_same_classes_as_one_task(monkeypatch):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({name: rng.integers(0, size, 60_000) for name, size in (("x", 1000), ("y", 7), ("z", 90))})
    data = Microdata(frame, roles=dict.fromkeys("xyz", "quasi-identifier"))
    model = Mondrian(requirements=[KAnonymity(k=20)])
    parallel = model.anonymize(data).partition.group
    monkeypatch.setattr("anoncore.algorithms.mondrian.SMALL_TASK", 10**9)
    np.testing.assert_array_equal(model.anonymize(data).partition.group, parallel)


@needs_adult
def test_information_loss_on_adult_is_within_the_known_bounds():
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
    frame = pd.read_csv(ADULT).head(30_162)
    folder = ADULT.parent / "hierarchies"
    orders = {
        name: Hierarchy.from_table(
            pd.read_csv(folder / f"adult_hierarchy_{name}.csv", header=None, keep_default_na=False)
        ).leaves
        for name in names
        if name != "age"
    }
    data = Microdata(frame, roles=dict.fromkeys(names, "quasi-identifier"), orders=orders)
    for k, bound in ((5, 0.016), (10, 0.031)):
        release = Mondrian(requirements=[KAnonymity(k=k)], split="loss").anonymize(data)
        assert release.partition.sizes.min() >= k
        cells = np.zeros(data.n_rows)
        for name in names:
            values = frame[name].groupby(release.partition.group)
            width = values.max() - values.min() if name == "age" else values.nunique() - 1
            whole = frame[name].max() - frame[name].min() if name == "age" else frame[name].nunique() - 1
            cells += (width / whole).to_numpy()[release.partition.group]
        assert cells.mean() / len(names) <= bound
