"""Local suppression where `*` counts as any value: by hand, against slow counts, and what it never claims."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, InfeasibleError, Microdata, attacks, privacy
from anoncore.algorithms import Incognito, LocalSuppression, Mondrian, Suppression, VerticalFragmentation
from anoncore.privacy.wildcards import CellsAlike, agreeing_rows
from anoncore.publishing import certify, new_key, verify, write_tables
from anoncore.requirements import DistinctDiversity, KAnonymity
from tests.algorithms.test_local_suppression import SDC_MICRO, n_suppressed, published, tagged

TOWNS = pd.DataFrame({"age": [30, 30, 40, 50, 50], "town": ["Ulm", "Ulm", "Ulm", "Bonn", "Bonn"]})


def any_value(k, **more):
    return LocalSuppression(requirements=[KAnonymity(k=k)], suppressed="any", **more)


def agree(one, other):
    """Whether two rows of texts agree wherever neither is suppressed."""
    return all(a == b or "*" in (a, b) for a, b in zip(one, other, strict=True))


def fewest(rows, k):
    """The fewest cells of all rows together, so that each fits k rows of the table, by trying every set for each."""
    total = 0
    for row in rows:
        sizes = (
            size
            for size in range(len(row) + 1)
            for lost in combinations(range(len(row)), size)
            if sum(all(a in lost or row[a] == other[a] for a in range(len(row))) for other in rows) >= k
        )
        total += next(sizes)
    return total


def shown(release):
    """The published quasi-identifiers, a tuple of texts per row."""
    (table,) = release.tables().values()
    names = list(release.data.quasi_identifiers)
    return [tuple(map(str, row)) for row in table[names].itertuples(index=False)]


def originals(data):
    """The own quasi-identifiers of all people, as texts."""
    columns = [data.domain[name].texts for name in data.quasi_identifiers]
    codes = [data.codes[name] for name in data.quasi_identifiers]
    return [tuple(texts[code] for texts, code in zip(columns, row, strict=True)) for row in zip(*codes, strict=True)]


def test_one_cell_is_enough_but_who_knows_her_finds_her():
    data = tagged(TOWNS)
    release = any_value(2).anonymize(data)
    assert published(release) == [
        ("*", "Ulm"),
        ("30", "Ulm"),
        ("30", "Ulm"),
        ("50", "Bonn"),
        ("50", "Bonn"),
    ]
    assert release.notes == (
        "1 of 10 cells (10.00%) are suppressed, in 1 of 5 rows: age 1.",
        "A suppressed cell counts as any value: every row fits the own values of at least 2 people.",
        "This is no k-anonymity with k = 2: the smallest group of rows with equal cells has 1, and 1 of 5 rows are in "
        "groups below 2.",
        "Of 1 of 5 people an adversary who knows their values finds fewer than 2 rows that fit, and of 1 a single one.",
    )
    strict = LocalSuppression(requirements=[KAnonymity(k=2)]).anonymize(data)
    assert n_suppressed(strict) == 3


def test_it_never_claims_the_k_of_equal_rows():
    release = any_value(2).anonymize(tagged(TOWNS))
    assert release.algorithm.promises(release.data) == ()
    assert privacy.guarantees(release) == ()
    assert float(privacy.profile(release).k) == 1
    assert len(privacy.check(release, [KAnonymity(k=2)])) == 1
    assert float(attacks.reidentification(release).prosecutor.largest) == 1
    (promise,) = privacy.personal_guarantees(release)
    assert (promise.attribute, promise.asked, promise.reached, promise.holds) == (None, 2, 2, True)


def test_as_few_cells_as_sdcmicro_on_its_own_table():
    assert n_suppressed(any_value(2).anonymize(tagged(SDC_MICRO))) == 4


def test_a_few_rows_without_cells_are_no_company():
    # Where the count of rows that agree is all that is asked, two rows without any cell are enough for k = 3, and four
    # people are published whole who are alone. Here everybody loses what makes them rare.
    codes = np.arange(12, dtype=np.int32).reshape(6, 2)
    suppressed = np.zeros((6, 2), dtype=bool)
    suppressed[:2] = True
    cells = CellsAlike.of_rows(codes, suppressed)[0]
    assert agreeing_rows(cells, cells).min() == 3
    release = any_value(3).anonymize(tagged(pd.DataFrame(codes, columns=["a", "b"])))
    assert set(shown(release)) == {("*", "*")}


def test_weights_choose_which_attribute_loses_its_cells():
    data = tagged(pd.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}))
    for kept, lost in (("a", "b"), ("b", "a")):
        release = any_value(2, weights={kept: 3}).anonymize(data)
        assert set(release.tables()["release"][lost]) == {"*"}
        assert "*" not in set(release.tables()["release"][kept])


def test_of_equally_cheap_sets_rows_choose_the_same():
    # (x, 1) and (x, 2) may lose either cell, (x, 3) the number only: so all three lose the number and are alike.
    rows = [("x", 1), ("x", 2), ("x", 3), *[("y", 1)] * 3, *[("y", 2)] * 3]
    release = any_value(3).anonymize(tagged(pd.DataFrame(rows, columns=["a", "b"])))
    assert published(release)[:3] == [("x", "*")] * 3
    assert float(privacy.profile(release).k) == 3


def random_cells(rng):
    n, d = int(rng.integers(1, 25)), int(rng.integers(1, 5))
    return rng.integers(0, 3, (n, d)).astype(np.int32), rng.random((n, d)) < rng.random()


def test_agreeing_rows_are_those_of_a_slow_count():
    rng = np.random.default_rng(7)
    for _ in range(100):
        codes, suppressed = random_cells(rng)
        n, d = codes.shape
        others, gone = rng.integers(0, 3, (17, d)).astype(np.int32), rng.random((17, d)) < 0.3
        asked, number = CellsAlike.of_rows(codes, suppressed)
        among, _ = CellsAlike.of_rows(others, gone)
        slow = [int((((others == codes[row]) | gone | suppressed[row]).all(axis=1)).sum()) for row in range(n)]
        assert agreeing_rows(asked, among)[number].tolist() == slow


@st.composite
def tables(draw):
    n, d = draw(st.integers(4, 25)), draw(st.integers(1, 4))
    few = st.sampled_from(["u", "v", "w", "x", None])
    columns = {f"q{a}": draw(st.lists(few, min_size=n, max_size=n)) for a in range(d)}
    return Microdata(pd.DataFrame(columns), dict.fromkeys(columns, "quasi-identifier"))


def keeps_the_count(data, k):
    """Whether no row is a violator by slow counts, and no release with fewer cells would do."""
    release = any_value(k).anonymize(data)
    rows, people = shown(release), originals(data)
    for row in rows:
        assert sum(agree(row, other) for other in rows) >= k
        assert sum(agree(row, person) for person in people) >= k
    if all(len(data.domain[name]) > 1 for name in data.quasi_identifiers):
        # A suppressed cell of an attribute that has a single value is published as that value.
        assert sum(row.count("*") for row in rows) == fewest(people, k)
    (promise,) = privacy.personal_guarantees(release)
    assert promise.reached == min(sum(agree(row, other) for other in rows) for row in rows)
    few = sum(sum(agree(row, person) for row in rows) < k for person in people)
    assert f"Of {few:,} of {data.n_rows:,} people" in release.notes[-1]


@settings(max_examples=25)
@given(data=tables(), k=st.integers(2, 4))
def test_no_row_is_a_violator_and_none_loses_a_cell_too_many(data, k):
    keeps_the_count(data, k)


@pytest.mark.slow
@settings(max_examples=150)
@given(data=tables(), k=st.integers(2, 4))
def test_no_row_of_many_tables_is_a_violator(data, k):
    keeps_the_count(data, k)


def test_the_order_of_rows_plays_no_part():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.integers(0, 4, (60, 4)), columns=list("abcd"))
    once, again = (any_value(3).anonymize(tagged(one)) for one in (frame, frame.sample(frac=1, random_state=1)))
    assert published(once) == published(again)


def written(release):
    file = BytesIO()
    write_tables(release.tables(), file, "csv")
    return {"people.csv": file.getvalue()}


def test_the_certificate_says_what_was_counted_and_the_file_shows_it():
    release = any_value(2).anonymize(tagged(TOWNS))
    files = written(release)
    certificate = certify(release, new_key(), files)
    assert certificate.requirements == []
    (promise,) = certificate.people
    assert promise.rechecked
    assert promise.attribute is None
    assert promise.sentence == (
        "Counting a suppressed cell as any value holds: every published row agrees with at least 2 rows, itself among "
        "them, wherever neither cell is suppressed (asked: at least 2)."
    )
    found = verify(certificate, files)
    assert found.holds
    (row,) = [one for one in found.findings if one.check.startswith("number of rows that agree")]
    assert row.outcome == "holds"
    assert certificate.tables[0].group_sizes == {"1": 1, "2": 2}


def test_a_certificate_that_asks_for_more_fails():
    release = any_value(2).anonymize(tagged(TOWNS))
    files = written(release)
    certificate = certify(release, new_key(), files)
    more = certificate.model_copy(update={"people": [certificate.people[0].model_copy(update={"asked": 4.0})]})
    (row,) = [one for one in verify(more, files).findings if one.check.startswith("number of rows that agree")]
    assert row.outcome == "fails"
    assert "agrees with at least 2 rows" in row.sentence


def test_numbers_in_place_of_suppressed_cells_are_not_rechecked():
    frame = pd.DataFrame({"age": [30, 30, 40, 50, 50], "town": ["Ulm", "Ulm", "Ulm", "Bonn", "Bonn"]})
    data = Microdata(frame, dict.fromkeys(frame, "quasi-identifier"))
    release = any_value(2).anonymize(data)
    for numbers in ("bounds", "midpoints"):
        other = replace(release, numbers=numbers)
        files = written(other)
        certificate = certify(other, new_key(), files)
        assert not certificate.people[0].rechecked
        assert any("numbers stand in place of cells that are suppressed" in one for one in certificate.not_checked)
        assert verify(certificate, files).code == 3


def test_what_cannot_be_counted_so_is_refused_in_a_sentence():
    data = tagged(TOWNS)
    with pytest.raises(DataError, match="k-anonymity can be asked for and nothing else"):
        LocalSuppression(requirements=[KAnonymity(k=2), DistinctDiversity(l=2)], suppressed="any").anonymize(data)
    with pytest.raises(DataError, match="leave out the method before"):
        any_value(2, method=Incognito(requirements=[KAnonymity(k=2)])).anonymize(data)
    with pytest.raises(InfeasibleError, match="k = 6 is not possible"):
        any_value(6).anonymize(data)
    with pytest.raises(DataError, match="asks nothing of groups"):
        Suppression(method=any_value(2)).anonymize(data)
    with pytest.raises(DataError, match="readers would take for any value"):
        any_value(2).anonymize(tagged(pd.DataFrame({"a": ["*", "x", "x"], "b": [1, 1, 1]})))
    people = pd.DataFrame({"who": [1, 1, 2, 3], "age": [1, 1, 1, 2]})
    units = Microdata(people, {"who": "identifier", "age": "quasi-identifier"}, unit="who")
    with pytest.raises(DataError, match="rows are counted and not people"):
        any_value(2).anonymize(units)


def test_no_wide_table_is_made_of_it():
    frame = pd.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "class": ["u", "v", "u", "v"]})
    data = Microdata(frame, {"a": "quasi-identifier", "b": "quasi-identifier", "class": "sensitive"})
    with pytest.raises(DataError, match="asks nothing of groups"):
        VerticalFragmentation(k=2, generalization=any_value(2)).anonymize(data)
    assert Mondrian(requirements=[KAnonymity(k=2)]).judged_by_groups
