"""Local suppression by hand, against the fewest cells there are, and what a suppressed cell counts as."""

from __future__ import annotations

from io import BytesIO
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import AnonymizationError, DataError, Hierarchy, InfeasibleError, Microdata, attacks, privacy, utility
from anoncore.algorithms import ALGORITHMS, Anatomy, Incognito, LocalSuppression, Mondrian, Suppression
from anoncore.publishing import certify, new_key, verify, write_tables
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
)

SDC_MICRO = pd.DataFrame(
    {
        "Key2": [2, 2, 2, 3, 3, 3, 2, 2],
        "Key3": [5, 1, 1, 1, 1, 1, 1, 5],
        "Key4": [1, 1, 1, 5, 4, 1, 5, 1],
    }
)
"""The table `francdat` of sdcMicro, as its documentation prints it; of these keys it suppresses 4 cells for k = 2."""
WANTED = [
    (KAnonymity(k=2),),
    (KAnonymity(k=4),),
    (KAnonymity(k=2), DistinctDiversity(l=2)),
    (FrequencyDiversity(l=2),),
    (EntropyDiversity(l=1.8),),
    (RecursiveDiversity(c=2, l=2),),
    (KAnonymity(k=3), TCloseness(t=0.3)),
]


def tagged(frame, *secret, **more):
    roles = {name: "sensitive" if name in secret else "quasi-identifier" for name in frame}
    return Microdata(frame, roles, kinds=dict.fromkeys(frame, "nominal"), **more)


def n_suppressed(release):
    """Suppressed cells: those that are published as a star."""
    (table,) = release.tables().values()
    return int((table[list(release.data.quasi_identifiers)] == "*").to_numpy().sum())


def published(release):
    """The rows of the published table in order."""
    (table,) = release.tables().values()
    return sorted(tuple(row) for row in table.itertuples(index=False))


def fewest(rows, k):
    """The fewest cells that have to be suppressed, from every way of putting a few rows into classes."""
    everybody, n = (1 << len(rows)) - 1, len(rows)
    cost = {}
    for size in range(k, 2 * k):
        for members in combinations(range(n), min(size, n)):
            differing = sum(len({rows[row][a] for row in members}) > 1 for a in range(len(rows[0])))
            cost[sum(1 << row for row in members)] = len(members) * differing
    best = {0: 0}
    for some in range(1, everybody + 1):
        lowest = some & -some
        ways = [best[some ^ one] + price for one, price in cost.items() if one & lowest and one & some == one]
        best[some] = min(ways, default=10**9)
    return best[everybody]


def test_as_few_cells_as_sdcmicro_on_its_own_table():
    release = LocalSuppression(requirements=[KAnonymity(k=2)]).anonymize(tagged(SDC_MICRO))
    assert n_suppressed(release) == 4
    assert release.notes == ("4 of 24 cells (16.67%) are suppressed, in 4 of 8 rows: Key2 2, Key4 2.",)
    assert published(release) == [
        ("*", "1", "5"),
        ("*", "1", "5"),
        ("2", "1", "1"),
        ("2", "1", "1"),
        ("2", "5", "1"),
        ("2", "5", "1"),
        ("3", "1", "*"),
        ("3", "1", "*"),
    ]


def test_a_star_is_a_value_of_its_own_and_not_any_value():
    # Where a star matches any value, one star is enough: (a, *) is then said to be like (a, 2), and (a, 2) like (a, *).
    # But who knows somebody with (a, 1) finds their row at once: (a, 2) is somebody else. So both rows lose the cell.
    data = tagged(pd.DataFrame({"letter": ["a", "a", "b", "b"], "number": [1, 2, 3, 3]}))
    release = LocalSuppression(requirements=[KAnonymity(k=2)]).anonymize(data)
    assert published(release) == [("a", "*"), ("a", "*"), ("b", "3"), ("b", "3")]
    assert privacy.profile(release).k == 2


def test_somebody_alone_gets_company_from_a_class_that_can_spare_it():
    # Of four rows (x, 1), two are enough for a class, so one loses its number together with the only (x, 2).
    rows = [("x", 1), ("x", 1), ("x", 1), ("x", 1), ("x", 2), ("y", 3), ("y", 3)]
    release = LocalSuppression(requirements=[KAnonymity(k=2)]).anonymize(tagged(pd.DataFrame(rows, columns=["a", "b"])))
    assert published(release) == [("x", "*"), ("x", "*"), *[("x", "1")] * 3, ("y", "3"), ("y", "3")]


def test_no_class_gives_company_that_needs_its_rows():
    rows = [("x", 1), ("x", 1), ("x", 2)]
    release = LocalSuppression(requirements=[KAnonymity(k=2)]).anonymize(tagged(pd.DataFrame(rows, columns=["a", "b"])))
    assert published(release) == [("x", "*")] * 3


def test_weights_choose_which_attribute_loses_its_cells():
    data = tagged(pd.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}))
    for kept, lost in (("a", "b"), ("b", "a")):
        release = LocalSuppression(requirements=[KAnonymity(k=2)], weights={kept: 3}).anonymize(data)
        assert set(release.tables()["release"][lost]) == {"*"}
        assert "*" not in set(release.tables()["release"][kept])


def test_rows_that_cannot_be_like_any_other_are_left_out_with_all_cells():
    data = tagged(pd.DataFrame({"a": [1, 1, 1, 2, 3], "b": [1, 1, 1, 5, 6]}))
    release = LocalSuppression(requirements=[KAnonymity(k=2)]).anonymize(data)
    assert published(release) == [("*", "*"), ("*", "*"), ("1", "1"), ("1", "1"), ("1", "1")]
    assert release.suppressed_rows.tolist() == [False, False, False, True, True]


def test_a_missing_value_is_not_a_suppressed_one():
    data = tagged(pd.DataFrame({"a": [None, None, "x", "y"], "b": ["u", "u", "u", "u"]}))
    release = LocalSuppression(requirements=[KAnonymity(k=2)]).anonymize(data)
    assert published(release) == [("(missing)", "u"), ("(missing)", "u"), ("*", "u"), ("*", "u")]


def test_nothing_is_suppressed_where_nothing_has_to_be():
    data = tagged(pd.DataFrame({"a": [1, 1, 2, 2], "b": [1, 1, 2, 2]}))
    release = LocalSuppression(requirements=[KAnonymity(k=2)]).anonymize(data)
    assert n_suppressed(release) == 0
    assert release.notes == ("No cell is suppressed: every group satisfies the requirements as it is.",)


def small_table(rng):
    """At most eleven rows of a few frequent and some rare values, and a k."""
    n, d, k = int(rng.integers(6, 12)), int(rng.integers(2, 5)), int(rng.integers(2, 4))
    shares = rng.dirichlet(np.full(3, 0.7), size=d)
    return [tuple(int(rng.choice(3, p=shares[a])) for a in range(d)) for _ in range(n)], k


@pytest.mark.slow
def test_never_fewer_cells_than_there_can_be_and_seldom_many_more():
    rng, found, least = np.random.default_rng(11), 0, 0
    for _ in range(40):
        rows, k = small_table(rng)
        release = LocalSuppression(requirements=[KAnonymity(k=k)]).anonymize(tagged(pd.DataFrame(rows)))
        cells, optimum = n_suppressed_codes(release), fewest(rows, k)
        assert cells >= optimum
        found, least = found + cells, least + optimum
    assert found <= 1.1 * least


def n_suppressed_codes(release):
    """Suppressed cells by their regions, which also tells those of attributes that have a single value apart."""
    total = 0
    for name in release.data.quasi_identifiers:
        recoding = release.recoding(name)
        if len(recoding.domain) > 1:
            total += int((recoding.sizes > 1)[recoding.partition.group].sum())
    return total


def household_survey(n=4580, seed=1):
    """People in households as sdcMicro's `testdata` describes them: seven keys with as many values each, rare ones
    among them, and houses whose roof, walls, water and electricity go together.
    """
    rng = np.random.default_rng(seed)
    town = rng.choice([1, 2], n, p=[646 / 4580, 1 - 646 / 4580])
    wealth = rng.normal(size=n) + 0.8 * (town == 2)

    def house(shares, noise):
        score = wealth + noise * rng.normal(size=n)
        return np.searchsorted(np.quantile(score, np.cumsum(shares)[:-1]), score) + 1

    return pd.DataFrame(
        {
            "urbrur": town,
            "roof": house([16 / 4580, 0.06, 0.2, 0.1, 0.64 - 16 / 4580], 0.5),
            "walls": house([50 / 4580, 0.25, 0.75 - 50 / 4580], 0.4),
            "water": house([26 / 4580, 0.02, 0.03, 0.05, 0.1, 0.3, 0.4, 0.1 - 26 / 4580], 0.5),
            "electcon": house([107 / 4580, 0.3, 0.7 - 107 / 4580], 0.4),
            "relat": rng.choice(9, n, p=[0.19, 0.15, 0.42, 0.03, 0.03, 0.1, 0.05, 0.02, 0.01]) + 1,
            "sex": rng.choice([1, 2], n),
        }
    )


def alone(frame, k):
    """Rows whose class is below k as it is: each of them, or everybody who is like them, has to lose a cell."""
    return int((frame.groupby(list(frame))[frame.columns[0]].transform("size") < k).sum())


def test_few_cells_of_a_household_survey():
    people = household_survey()
    houses = people.drop(columns=["relat", "sex"])
    release = LocalSuppression(requirements=[KAnonymity(k=3)]).anonymize(tagged(houses))
    assert n_suppressed(release) < 0.01 * houses.size
    assert n_suppressed(release) <= 1.3 * alone(houses, 3)
    release = LocalSuppression(requirements=[KAnonymity(k=3)]).anonymize(tagged(people))
    assert n_suppressed(release) <= 1.3 * alone(people, 3)
    assert privacy.profile(release).k >= 3


@st.composite
def tables(draw, several_rows=False):
    n, d = draw(st.integers(4, 30)), draw(st.integers(1, 4))
    few = st.sampled_from(["u", "v", "w", "x", None])
    columns = {f"q{a}": draw(st.lists(few, min_size=n, max_size=n)) for a in range(d)}
    columns["ill"] = draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=n, max_size=n))
    roles = dict.fromkeys(columns, "quasi-identifier") | {"ill": "sensitive"}
    if not several_rows:
        return Microdata(pd.DataFrame(columns), roles)
    columns["who"] = draw(st.lists(st.integers(0, n), min_size=n, max_size=n))
    return Microdata(pd.DataFrame(columns), roles | {"who": "identifier"}, unit="who")


def keeps_everything(data, wanted):
    """Whether no class breaks a requirement, every cell is a star or exact, and rows that are published alike are one
    class.
    """
    try:
        release = LocalSuppression(requirements=wanted).anonymize(data)
    except InfeasibleError:
        return
    assert privacy.check(release, wanted) == ()
    names = list(data.quasi_identifiers)
    cells = pd.DataFrame({name: release.recoding(name).texts() for name in names})
    original = pd.DataFrame({name: data.domain[name].texts[data.codes[name]] for name in names})
    assert ((cells == original) | (cells == "*")).to_numpy().all()
    alike = cells.groupby(names).ngroup().to_numpy()
    assert len(set(zip(alike.tolist(), release.partition.group.tolist(), strict=True))) == release.partition.n_groups
    assert len(set(alike.tolist())) == release.partition.n_groups


@settings(max_examples=25)
@given(data=tables(), wanted=st.sampled_from(WANTED))
def test_no_class_breaks_a_requirement(data, wanted):
    keeps_everything(data, wanted)


@pytest.mark.slow
@settings(max_examples=150)
@given(data=tables(), wanted=st.sampled_from(WANTED))
def test_no_class_of_many_tables_breaks_a_requirement(data, wanted):
    keeps_everything(data, wanted)


@settings(max_examples=25)
@given(data=tables(several_rows=True), wanted=st.sampled_from(WANTED[:4]))
def test_no_class_breaks_a_requirement_where_people_are_counted(data, wanted):
    keeps_everything(data, wanted)


def test_many_quasi_identifiers_are_tried_along_one_path():
    # Twelve households of five who agree in 14 attributes, but for one attribute of each person: a class is a household
    # that loses at most five of its 14 attributes.
    rng = np.random.default_rng(5)
    rows = np.repeat(rng.integers(0, 3, (12, 14)), 5, axis=0)
    rows[np.arange(60), rng.integers(0, 14, 60)] = 9
    frame = pd.DataFrame(rows, columns=[f"q{a}" for a in range(14)])
    release = LocalSuppression(requirements=[KAnonymity(k=4)]).anonymize(tagged(frame))
    assert privacy.profile(release).k >= 4
    assert n_suppressed(release) <= 5 / 14 * frame.size


def test_as_the_last_step_after_another_method():
    ages = pd.DataFrame({"age": [21, 22, 23, 31, 32, 45, 46], "town": ["u", "u", "u", "u", "u", "v", "v"]})
    data = Microdata(
        ages,
        dict.fromkeys(ages, "quasi-identifier"),
        hierarchies={"age": Hierarchy.by_width(ages["age"], width=10)},
    )
    tens = Incognito(requirements=[KAnonymity(k=2)])
    release = LocalSuppression(requirements=[KAnonymity(k=3)], method=tens).anonymize(data)
    # Tens of years with towns: three people of 20-29, two of 30-39, two of 40-49. One of 20-29 would be missing to
    # them, so the two towns of the four people above 30 stay apart or their cells go.
    assert privacy.profile(release).k >= 3
    assert set(release.recoding("age").texts()) == {"20-29", "*"}
    assert release.notes[0].startswith("Levels: age 1 of")
    assert ALGORITHMS.build(release.algorithm.to_dict()) == release.algorithm


def test_rows_that_the_method_before_left_out_are_one_class_with_those_left_out_here():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.integers(0, 8, 80), "b": rng.integers(0, 8, 80)})
    data = Microdata(frame, dict.fromkeys(frame, "quasi-identifier"))
    for before in (
        Incognito(requirements=[KAnonymity(k=2)], max_suppression=0.5),
        Suppression(method=Mondrian(requirements=[KAnonymity(k=2)]), max_suppression=0.2),
    ):
        release = LocalSuppression(requirements=[KAnonymity(k=5)], method=before).anonymize(data)
        assert len(set(published(release))) == release.partition.n_groups
        assert privacy.profile(release).k >= 5


def test_suppression_of_rows_and_of_cells_make_one_class_of_rows_without_any_cell():
    data = tagged(pd.DataFrame({"a": [1, 1, 1, 2, 3, 4, 5, 1, 1], "b": [1, 1, 1, 5, 6, 7, 8, 1, 1]}))
    model = Suppression(method=LocalSuppression(requirements=[KAnonymity(k=2)]), max_suppression=0.4)
    release = model.anonymize(data)
    assert len(set(published(release))) == release.partition.n_groups


def test_a_release_is_certified_and_judged_like_any_other():
    rng = np.random.default_rng(2)
    frame = household_survey(400)[["urbrur", "roof", "water"]]
    frame["ill"] = rng.choice(["flu", "gout", "asthma"], len(frame))
    data = tagged(frame, "ill")
    wanted = (KAnonymity(k=5), DistinctDiversity(l=2))
    release = LocalSuppression(requirements=wanted).anonymize(data)
    assert 0 < float(utility.two_way_error(release)) < 0.2
    assert float(utility.information_loss(release)) == pytest.approx(n_suppressed(release) / (3 * len(frame)))
    assert attacks.sensitive_posterior(release, "ill").sum(axis=1) == pytest.approx(np.ones(len(frame)))
    assert attacks.reidentification(release).prosecutor.largest <= 0.2
    file = BytesIO()
    write_tables(release.tables(), file, "csv")
    files = {"people.csv": file.getvalue()}
    assert verify(certify(release, new_key(), files), files).holds


def test_wrong_weights_and_methods_are_refused_in_a_sentence():
    data = tagged(pd.DataFrame({"a": [1, 1], "b": ["x", "y"], "ill": ["u", "v"]}), "ill")
    with pytest.raises(DataError, match="Weights are for quasi-identifiers, and 'ill' is none"):
        LocalSuppression(requirements=[KAnonymity(k=2)], weights={"ill": 2}).anonymize(data)
    with pytest.raises(DataError, match="Anatomy publishes no table of generalized cells"):
        LocalSuppression(requirements=[KAnonymity(k=2)], method=Anatomy(l=2)).anonymize(data)
    with pytest.raises(InfeasibleError, match="k = 3 is not possible"):
        LocalSuppression(requirements=[KAnonymity(k=3)]).anonymize(data)
    with pytest.raises(AnonymizationError, match="weights"):
        LocalSuppression(weights={"a": 0})
