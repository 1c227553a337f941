"""Where one person may have several rows, every method keeps its promises to people or refuses."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, InfeasibleError, Microdata, Partition, privacy
from anoncore.algorithms import ALGORITHMS, Mask, Microaggregation, Mondrian, Sabre
from anoncore.algorithms.base import generalized_release
from anoncore.kernels.compiler import level_function
from anoncore.requirements import (
    Comparison,
    DistinctDiversity,
    FrequencyDiversity,
    KAnonymity,
    Requirement,
    TCloseness,
)
from tests.properties.published import content
from tests.properties.subjects import build, subjects

some = settings(max_examples=12)


@level_function
def odd_rows(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """1 for an odd number of rows, 0 for an even one."""
    return float(size % 2)


ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}
WANTED = {
    "k": (KAnonymity(k=3),),
    "k and distinct": (KAnonymity(k=2), DistinctDiversity(l=2)),
    "frequency": (FrequencyDiversity(l=2),),
    "closeness": (KAnonymity(k=2), TCloseness(t=0.4)),
}
FREE = [name for name, method in ALGORITHMS.items() if "requirements" in method.model_fields]
REFUSING = {name for name, method in ALGORITHMS.items() if method.counts_rows}


@st.composite
def visits(draw: st.DrawFn) -> pd.DataFrame:
    """Six to 40 rows of at most so many people; some people come often, others once."""
    n = draw(st.integers(6, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_people = draw(st.integers(2, n))
    who = rng.integers(0, n_people, n)
    own_age = rng.integers(0, 9, n_people)
    return pd.DataFrame(
        {
            "who": [f"patient {person}" for person in who],
            "age": own_age[who] + rng.integers(0, 2, n),
            "town": rng.choice(list("UVW"), n),
            "illness": rng.choice(list("abcd"), n),
        }
    )


def released(algorithm, frame):
    try:
        return algorithm.anonymize(Microdata(frame, ROLES, unit="who"))
    except (InfeasibleError, DataError):
        return None


def as_seen(release):
    """The rows in classes of equal published quasi-identifiers, as a reader of the one table has them."""
    (fragment,) = release.fragments
    cells = pd.DataFrame({name: fragment.recodings[name].texts() for name in release.data.quasi_identifiers})
    return Partition(cells.groupby(list(cells)).ngroup().to_numpy())


def check_as_seen(release, promises):
    """Every promise holds for the classes that a reader tells apart."""
    seen, codes = as_seen(release), release.published_codes("illness")
    for promise in promises:
        for condition in promise.checks(release.data):
            of_values = None
            if condition.attribute is not None:
                of_values = release.data.sensitive_view(condition.attribute, codes).codes
            assert condition.holds(condition.levels(seen, of_values)).all(), promise.label()


def check_people(release, frame, promises):
    """Count people with pandas, from the rows' groups and what is published of them."""
    if len(release.fragments) == 1 and "illness" in release.attributes:
        check_as_seen(release, promises)
    frame = frame.assign(illness=release.recoding("illness").texts())
    for name, table in release.tables().items():
        assert "who" not in table.columns, name
        assert not any(str(cell).startswith("patient") for cell in table.to_numpy().ravel())
    for fragment in release.fragments:
        groups = frame.groupby(fragment.partition.group)
        people = groups["who"].nunique()
        assert (privacy.profile(release).fragments[0].size == people).all()
        for promise in promises:
            if isinstance(promise, KAnonymity):
                assert people.min() >= promise.k
            if isinstance(promise, DistinctDiversity):
                assert groups["illness"].nunique().min() >= promise.l
                assert people.min() >= promise.l
            if isinstance(promise, FrequencyDiversity):
                most = [part.groupby("illness")["who"].nunique().max() for _, part in groups]
                assert (np.array(most) * promise.l <= people.to_numpy() + 1e-9).all()
    assert privacy.check(release, promises) == ()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=1))
@given(frame=visits())
@some
def test_every_method_keeps_its_promises_to_people_or_refuses(name, parameters, frame):
    algorithm = build(name, parameters)
    release = released(algorithm, frame)
    if release is None:
        return
    if name in REFUSING:
        assert frame["who"].is_unique
    check_people(release, frame, algorithm.promises(release.data))


@pytest.mark.slow
@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("name", FREE)
@given(frame=visits())
@some
def test_methods_that_take_any_requirement_keep_it_for_people(name, wanted, frame):
    release = released(ALGORITHMS[name](requirements=WANTED[wanted]), frame)
    if release is not None:
        check_people(release, frame, WANTED[wanted])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=0))
@given(frame=visits(), order=st.permutations(range(40)))
@settings(max_examples=10)
def test_the_order_of_rows_does_not_matter(name, parameters, frame, order):
    algorithm = build(name, parameters)
    release = released(algorithm, frame)
    again = released(algorithm, frame.iloc[[row for row in order if row < len(frame)]])
    assert (release is None) == (again is None)
    if release is not None:
        assert content(release) == content(again)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=1))
@given(frame=visits())
@settings(max_examples=5)
def test_a_unit_that_numbers_the_rows_gives_the_release_without_unit(name, parameters, frame):
    algorithm = build(name, parameters)
    own = released(algorithm, frame.assign(who=[f"patient {row}" for row in range(len(frame))]))
    try:
        plain = algorithm.anonymize(Microdata(frame.drop(columns="who"), ROLES))
    except (InfeasibleError, DataError):
        plain = None
    assert (own is None) == (plain is None)
    if own is not None:
        assert content(own) == content(plain)


@pytest.mark.parametrize("name", sorted(REFUSING))
def test_methods_that_count_rows_refuse_before_any_work(name):
    frame = pd.DataFrame({"who": [1, 1, 2, 3] * 5, "age": range(20), "town": "U", "illness": list("abcd") * 5})
    data = Microdata(frame, ROLES, unit="who")
    for ask in (ALGORITHMS[name]().validate_data, ALGORITHMS[name]().anonymize):
        with pytest.raises(DataError, match=r"cannot count people: .*'who' says that 20 rows are those of 3 people"):
            ask(data)


@pytest.mark.parametrize(
    ("method", "who", "age", "illness"),
    [
        (Sabre(t=0.15, k=2, seed=0), "51531000", "00010100", "cbccbacb"),
        (Sabre(t=0.3, k=2, seed=0), "512414303", "121211222", "accccabab"),
        (Microaggregation(t=0.2, k=2, seed=0), "10045233", "22202020", "acccacac"),
        (
            Mask(k=3, l=2, seed=0),
            "1822em1f7e7cajia34j6i51l5143",
            "2222101202211223002202102202",
            "ddcdabbddddabadcdabcbbcccdda",
        ),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_classes_with_equal_cells_are_one_class_to_a_reader(method, who, age, illness):
    # Each made several classes with equal cells, which together broke what each of them kept.
    frame = pd.DataFrame({"who": [*who], "age": [int(one) for one in age], "illness": [*illness]})
    release = method.anonymize(Microdata(frame, {"age": "quasi-identifier", "illness": "sensitive"}, unit="who"))
    check_as_seen(release, method.promises(release.data))
    assert release.partition.n_groups == as_seen(release).n_groups


class OddClasses(Requirement):
    """A requirement that two classes keep each and together do not: an odd number of rows."""

    name: ClassVar[str] = "odd"
    title: ClassVar[str] = "odd"
    comparison: ClassVar[Comparison] = Comparison.AT_LEAST
    level: ClassVar[Any] = odd_rows
    level_name: ClassVar[str] = "odd rows"
    parameter: ClassVar[str] = "o"
    attribute_free: ClassVar[bool] = True
    monotone_under_merging: ClassVar[bool] = False

    o: int = 1


class Pairs(Mondrian):
    """Classes of one row each, which say all the same."""

    def promises(self, data):
        return (OddClasses(),)

    def _release(self, data, progress):
        partition = Partition(np.arange(data.n_rows))
        return generalized_release(self, data, partition)


def test_equal_classes_are_one_also_without_a_unit_where_joining_may_break_a_requirement():
    # 1, 1 and 2, 2, 2: two classes to a reader, the first of two rows; with all five rows in one class it is odd.
    data = Microdata(pd.DataFrame({"age": [1, 1, 2, 2, 2]}), {"age": "quasi-identifier"})
    release = Pairs().anonymize(data)
    assert release.partition.sizes.tolist() == [5]
    single = Microdata(pd.DataFrame({"age": [1, 2, 2, 2]}), {"age": "quasi-identifier"})
    assert Pairs().anonymize(single).partition.sizes.tolist() == [1, 3]


def test_one_patient_with_ten_visits_is_one_person():
    frame = pd.DataFrame({"who": ["A"] * 10 + ["B", "C"], "age": [30] * 10 + [50, 60]})
    mondrian = ALGORITHMS["mondrian"](requirements=[KAnonymity(k=2)])
    plain = mondrian.anonymize(Microdata(frame, {"age": "quasi-identifier", "who": "identifier"}))
    assert plain.partition.sizes.tolist() == [10, 2]
    release = mondrian.anonymize(Microdata(frame, {"age": "quasi-identifier"}, unit="who"))
    assert release.partition.sizes.tolist() == [12]
    (k,) = privacy.profile(release).scores
    assert (float(k), k.unit) == (3.0, "people")
    assert k.meaning == "People of the smallest group: every person hides among at least so many."
    (violation,) = privacy.check(release, [KAnonymity(k=4)])
    assert violation.sentence.startswith("Group 0 (3 people in 12 rows) has size 3, but")
