"""The bound of the two-way error by hand, against all tables that a release allows, and for every method."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product
from math import factorial, prod

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anoncore import AnonymizationError, Hierarchy, Microdata, Partition, Release, ReleaseError, utility
from anoncore.algorithms import Anatomy, LocalSuppression, Mask, Mondrian, Slicing
from anoncore.datasets.adult import load_adult
from anoncore.release.recoding import ColumnRegions, Generalized
from anoncore.release.release import Fragment
from anoncore.requirements import KAnonymity
from tests.privacy.releases import fragment, generalized, sliced, value_sets
from tests.properties.strategies import tagged_tables
from tests.properties.subjects import FOUND_BY_SEARCH, build, subjects
from tests.release.reading.round_trips import alone, released
from tests.shared_data import require
from tests.utility.releases import linked_fragments
from tests.utility.test_two_way import cells, people, reconstructed

ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive"}
MOST_TABLES = 30_000


def allowed(release: Release, first: str, second: str) -> Iterator[list[tuple[int, int]]]:
    """The pairs of codes of the rows of every table that has this release."""
    together = next((one for one in release.fragments if {first, second} <= set(one.attributes)), None)
    if together is not None:
        mine, theirs = cells(together.recodings[first]), cells(together.recodings[second])
        orders = [tuple(range(len(mine)))]
    else:
        a, b = release.fragment_of(first), release.fragment_of(second)
        mine, theirs = cells(a.recodings[first]), cells(b.recodings[second])
        shared = [name for name in a.attributes if name in b.attributes]
        keys = [[cells(one.recodings[name]) for name in shared] for one in (a, b)]
        if release.is_shared:
            group = [(number,) for number in release.partition.group.tolist()]
            keys = [[*key, group] for key in keys]
        # Rows may belong together where their groups and the cells of what both tables publish have a value in common.
        orders = [
            order
            for order in permutations(range(len(mine)))
            if all(
                set(one[row]) & set(other[order[row]])
                for one, other in zip(*keys, strict=True)
                for row in range(len(mine))
            )
        ]
    known: set[tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]] = set()
    for order in orders:
        rows = tuple(sorted((mine[row], theirs[order[row]]) for row in range(len(mine))))
        if rows not in known:
            known.add(rows)
            yield from product(*(product(one, other) for one, other in rows))


def n_allowed(release: Release, first: str, second: str) -> int:
    """At most so many tables `allowed` goes through."""
    sizes = [len(cell) for name in (first, second) for cell in cells(release.recoding(name))]
    return prod(sizes) * factorial(release.data.n_rows)


def largest(release: Release, first: str, second: str) -> float:
    """The largest distance of all tables that have this release."""
    expected = reconstructed(release, first, second)
    fewest = float(release.data.n_rows)
    for pairs in allowed(release, first, second):
        right = sum(min(pairs.count(pair), expected.get(pair, 0.0)) for pair in set(pairs))
        fewest = min(fewest, right)
    return 1 - fewest / release.data.n_rows


def check_against_all_tables(release: Release) -> None:
    found = utility.two_way_error_bound(release)
    for first, second in combinations(found.pairs.index, 2):
        assert found.pairs.loc[first, second] == found.pairs.loc[second, first]
        if n_allowed(release, first, second) <= MOST_TABLES:
            assert found.pairs.loc[first, second] >= largest(release, first, second) - 1e-9, (first, second)


def table(**columns: list[object]) -> Microdata:
    frame = pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})
    return Microdata(frame, roles={name: ROLES[name] for name in columns})


def opened(**columns: list[object]) -> Release:
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    return Release.from_published(frame, {name: ROLES[name] for name in columns})


# -- by hand -------------------------------------------------------------------------------------------------------


def test_two_originals_with_one_release_and_different_errors() -> None:
    """Why the error itself cannot be told: rows with {Bonn, Ulm} are right with 1/2, the others are exact."""
    published = {"town": ["{Bonn, Ulm}", "{Bonn, Ulm}", "Bonn", "Ulm"], "ill": ["flu", "flu", "cold", "cold"]}
    bound = utility.two_way_error_bound(opened(**published))
    # 1/2 + 1/2 + 1 + 1 of 4 rows are right for certain.
    assert float(bound) == pytest.approx(1 / 4)
    errors = []
    for towns in (["Bonn", "Bonn", "Bonn", "Ulm"], ["Bonn", "Ulm", "Bonn", "Ulm"]):
        original = table(town=towns, ill=published["ill"])
        release = Release.from_published(pd.DataFrame(published), original=original)
        errors.append(float(utility.two_way_error(release)))
        assert float(utility.two_way_error_bound(release)) == float(bound)
    # Expected are one row of (Bonn, flu) and one of (Ulm, flu). The first table has two of the former, so that one of
    # four rows lies in the wrong place; the second has just these.
    assert errors == pytest.approx([1 / 4, 0])


def test_cells_of_two_attributes_allow_all_pairs_of_their_values() -> None:
    published = {"age": ["{1, 2}", "{1, 2, 3}", 2], "town": ["{Bonn, Ulm}", "Trier", "Trier"]}
    release = opened(**published)
    # 1/(2 2) + 1/3 + 1 of 3 rows.
    assert float(utility.two_way_error_bound(release)) == pytest.approx(1 - (1 / 4 + 1 / 3 + 1) / 3)


def test_links_of_a_bucket_in_which_every_value_stands_once_are_all_wrong_but_one_of_n() -> None:
    data = table(age=[1, 2, 3, 4], ill=list("abcd"))
    release = sliced(data, [0, 0, 0, 0], [["age"], ["ill"]])
    # Each pair of values is expected 1/4 times, so that every row is right with 1/4, however rows are linked.
    assert float(utility.two_way_error_bound(release)) == pytest.approx(3 / 4)
    assert largest(release, "age", "ill") == pytest.approx(3 / 4)
    assert float(utility.two_way_error(release)) == pytest.approx(3 / 4)


def test_a_value_that_fills_its_bucket_is_right_whatever_it_is_linked_with() -> None:
    # Three of four are flu. Ages 1 and 2 are twice each. Sorted by how many rows have their value: (2, 2, 2, 2) and
    # (1, 3, 3, 3), so that max(2, 1) + 3 max(2, 3) = 11 of 16 are right.
    data = table(age=[1, 1, 2, 2], ill=["flu", "flu", "flu", "cold"])
    release = sliced(data, [0, 0, 0, 0], [["age"], ["ill"]])
    assert float(utility.two_way_error_bound(release)) == pytest.approx(5 / 16)
    # There is but one way to link them: age 1 with two flu (expected 3/2), 2 with one (3/2) and with the cold (1/2).
    assert float(utility.two_way_error(release)) == pytest.approx(1 - (3 / 2 + 1 + 1 / 2) / 4)
    # Linked by the smaller share alone, 10 of 16 would be promised: 1 + 9, as sum of squares.
    alike = table(age=[1, 1, 2, 2], ill=["flu", "flu", "cold", "cold"])
    release = sliced(alike, [0, 0, 0, 0], [["age"], ["ill"]])
    assert float(utility.two_way_error_bound(release)) == pytest.approx(1 / 2)
    assert float(utility.two_way_error(release)) == largest(release, "age", "ill") == pytest.approx(1 / 2)


def test_buckets_count_by_their_rows() -> None:
    data = table(age=[1, 1, 3, 4, 5], ill=["flu", "cold", "a", "b", "c"])
    release = sliced(data, [0, 0, 1, 1, 1], [["age"], ["ill"]])
    # Everybody in the first bucket has one age, so nothing is lost there; in the second every row is right with 1/3.
    assert float(utility.two_way_error_bound(release)) == pytest.approx(1 - (2 + 3 / 3) / 5)


def test_regions_of_a_bucket_cost_in_addition() -> None:
    """All of the bucket have one region of ages, so that only the region counts: 1/2 of each row."""
    data = table(age=[1, 2, 1, 2], ill=["flu", "flu", "cold", "cold"])
    partition = Partition([0, 0, 0, 0])
    parts = (fragment(data, "known", partition, ranges=["age"]), fragment(data, "secret", partition, ["ill"]))
    release = Release(data, parts)
    assert float(utility.two_way_error_bound(release)) == pytest.approx(1 / 2)
    assert largest(release, "age", "ill") == pytest.approx(1 / 2)


def column_regions(data: Microdata, buckets: list[int], classes: list[int]) -> Release:
    """Ages in regions of classes of their own, beside exact illnesses, in the same buckets."""
    partition = Partition(buckets)
    regions = Generalized.of_rows(data.domain["age"], Partition(classes), data.codes["age"])
    ages = ColumnRegions(data.domain["age"], partition, regions)
    secret = fragment(data, "secret", partition, ["ill"])
    return Release(data, (Fragment("known", partition, {"age": ages}), secret))


def test_regions_that_differ_inside_a_bucket() -> None:
    data = table(age=[1, 2, 5, 5], ill=["flu", "flu", "flu", "cold"])
    release = column_regions(data, [0, 0, 0, 0], [0, 0, 1, 1])
    # Rows with ages 1-2 fill half of the bucket and have 2 values, those with 5 fill half and have 1: the products
    # a/p are 1, 1, 2, 2 and b are 1, 3, 3, 3. Three sums: of a/p, which are times 1/q = 1: 6. Of b, ascending, times
    # 1/p, descending: 1 1 + 3 1 + 3 1/2 + 3 1/2 = 7. Of max(a, b), times the smallest 1/p: (2 + 3 + 3 + 3)/2 = 5.5.
    assert float(utility.two_way_error_bound(release)) == pytest.approx(1 - 7 / 16)
    assert largest(release, "age", "ill") <= 1 - 7 / 16


def test_tables_of_their_own_groups_that_share_nothing_are_linked_anyhow() -> None:
    data = table(age=[1, 1, 1, 2], town=["a", "b", "b", "b"])
    one, other = Partition([0, 0, 1, 1]), Partition([0, 1, 0, 1])
    release = Release(data, (fragment(data, "x", one, ["age"]), fragment(data, "y", other, ["town"])))
    # Sorted: (1, 3, 3, 3) and (1, 3, 3, 3), so that 1 + 9 of 16 are right: (2, a) once, and (1, b) three times.
    assert float(utility.two_way_error_bound(release)) == pytest.approx(6 / 16)
    assert largest(release, "age", "town") == pytest.approx(6 / 16)


def test_tables_of_their_own_groups_are_linked_inside_the_values_that_both_publish() -> None:
    data = table(age=[1, 2, 3, 3], town=["a", "b", "a", "b"], ill=["flu", "flu", "cold", "cold"])
    one, other = Partition([0, 0, 1, 1]), Partition([0, 1, 0, 1])
    parts = (fragment(data, "x", one, ["age", "ill"]), fragment(data, "y", other, ["town", "ill"]))
    # The two with flu differ in both, so that each is right with 1/2. The two with a cold have one age.
    assert utility.two_way_error_bound(Release(data, parts)).pairs.loc["age", "town"] == pytest.approx(1 / 4)


def test_links_that_are_sets_of_values() -> None:
    data = table(age=[1, 1, 2, 2], town=["a", "b", "a", "b"], ill=["flu", "cold", "flu", "cold"])
    one, other = Partition([0, 0, 1, 1]), Partition([0, 1, 0, 1])
    first = fragment(data, "x", one, ["age"])
    second = fragment(data, "y", other, ["town", "ill"])
    sets = {**first.recodings, "ill": value_sets(data, "ill", one)}
    release = Release(data, (Fragment("x", one, sets), second))
    # Ages have two rows each, all with {flu, cold}; towns have one row with each illness; each illness has two rows.
    # By ages: each row is right with 2 / (1 2) / 2 = 1/2. By towns it were 1 / (1 1) / 2 / 2 = 1/4.
    assert utility.two_way_error_bound(release).pairs.loc["age", "town"] == pytest.approx(1 / 2)
    assert largest(release, "age", "town") == pytest.approx(1 / 2)


def test_links_that_are_sets_of_values_beside_regions_of_several_sizes() -> None:
    data = table(age=[1, 1, 1, 2], town=["a", "b", "c", "b"], ill=["flu", "cold", "flu", "cold"])
    one, other = Partition([0, 0, 1, 1]), Partition([0, 1, 0, 1])
    first = fragment(data, "x", one, ["age"])
    sets = {**first.recodings, "ill": value_sets(data, "ill", one)}
    release = Release(data, (Fragment("x", one, sets), fragment(data, "y", other, ["ill"], ["town"])))
    # By ages: three rows have 3 / (1 2) / 2 and one has 1 / (1 2) / 2, towns are {a, c}, twice, and b. The least that
    # they come to is 1/4 1 + 3/4 1 + 3/4 1/2 + 3/4 1/2 = 7/4. By towns, which have two rows each with one illness, it
    # is 2 / (2 1) / 2 or 2 / (1 1) / 2 times 1/2 for the two illnesses of each age: (1/2 + 1/2 + 1 + 1) / 2 = 3/2.
    assert utility.two_way_error_bound(release).pairs.loc["age", "town"] == pytest.approx(1 - 7 / 16)
    assert largest(release, "age", "town") <= 1 - 7 / 16


def test_sets_of_numbers_of_a_hierarchy_link_nothing_for_certain() -> None:
    tree = Hierarchy.from_nested({"low": [1, 2], "high": [3, 4]})
    frame = pd.DataFrame({"age": [7, 7, 8, 8], "town": ["a", "b", "a", "b"], "score": [1, 2, 1, 2]})
    roles = dict.fromkeys(frame, "quasi-identifier")
    data = Microdata(frame, roles=roles, kinds={"score": "numeric"}, hierarchies={"score": tree})
    one, other = Partition([0, 0, 1, 1]), Partition([0, 1, 0, 1])
    first = fragment(data, "x", one, ["age"], ["score"])
    release = Release(data, (first, fragment(data, "y", other, ["town", "score"])))
    assert utility.two_way_error_bound(release).pairs.loc["age", "town"] == 1


# -- what the tables alone do not tell ------------------------------------------------------------------------------


def test_cells_that_do_not_tell_how_many_values_they_allow_count_as_wrong() -> None:
    # Nobody knows how many ages lie between 20 and 29, nor which towns there are.
    release = opened(age=["20-29", 31, 32, 33], town=["Bonn", "*", "Ulm", "Ulm"], ill=["a", "b", "c", "d"])
    bound = utility.two_way_error_bound(release)
    assert bound.pairs.loc["age", "ill"] == bound.pairs.loc["town", "ill"] == 1 / 4
    assert bound.pairs.loc["age", "town"] == 1 / 2
    assert bound.uncounted == ("age", "town")
    assert "No value was changed" in bound.assumed


@pytest.mark.parametrize("cell", [">=60", "60+", "<60", "(60, 70]", "[2.5, 9.5)", "20-29", "*"])
def test_a_range_of_numbers_is_never_taken_for_one_number(cell: str) -> None:
    bound = utility.two_way_error_bound(opened(age=[cell, 31, 32, 60], ill=["a", "b", "c", "d"]))
    assert float(bound) == 1 / 4


def test_a_range_without_an_end_does_not_make_the_number_at_which_it_begins_more_frequent() -> None:
    tables = {
        "known": pd.DataFrame({"group": [1, 1], "age": [60, ">=60"]}),
        "secret": pd.DataFrame({"group": [1, 1], "ill": ["flu", "cold"]}),
    }
    release = Release.from_published(tables, {"age": "quasi-identifier", "ill": "sensitive"})
    # One row with 60 is right with 1/2. Nothing is known of the other, whose age may be any of very many.
    assert float(utility.two_way_error_bound(release)) == pytest.approx(3 / 4)


@pytest.mark.parametrize("cell", ["476**", "*"])
def test_a_text_that_may_be_several_categories_is_never_taken_for_one(cell: str) -> None:
    bound = utility.two_way_error_bound(opened(town=[cell, "47601", "{47601, x}", "x"], ill=["a", "b", "c", "d"]))
    assert float(bound) == pytest.approx(1 - (1 / 2 + 2) / 4)


def test_sets_of_numbers_tell_how_many_there_are() -> None:
    bound = utility.two_way_error_bound(opened(age=["{20, 30}", "{20, 30}", "40-40", 50], ill=["a", "b", "c", "d"]))
    assert float(bound) == pytest.approx(1 / 4)
    assert bound.uncounted == ()
    mixed = utility.two_way_error_bound(opened(age=["{20-25, 30}", "{20, 30}", 40, 50], ill=["a", "b", "c", "d"]))
    assert float(mixed) == pytest.approx(1 - (1 / 2 + 2) / 4)


def test_who_knows_all_values_is_told_more() -> None:
    published = pd.DataFrame({"age": ["20-29", "20-29", "30", "31"], "ill": list("abcd")})
    roles = {"age": "quasi-identifier", "ill": "sensitive"}
    assert float(utility.two_way_error_bound(Release.from_published(published, roles))) == 1 / 2
    knowing = Release.from_published(published, roles, values={"age": [20, 24, 29, 30, 31]})
    # Three ages lie between 20 and 29.
    assert float(utility.two_way_error_bound(knowing)) == pytest.approx(1 - (2 / 3 + 2) / 4)


def test_a_hierarchy_tells_how_many_values_a_node_has() -> None:
    tree = Hierarchy.from_nested({"Rhine": ["Bonn", "Cologne"], "South": ["Ulm", "Munich", "Augsburg"]})
    published = pd.DataFrame({"town": ["Rhine", "South", "*", "Ulm"], "ill": list("abcd")})
    roles = {"town": "quasi-identifier", "ill": "sensitive"}
    release = Release.from_published(published, roles, hierarchies={"town": tree})
    assert float(utility.two_way_error_bound(release)) == pytest.approx(1 - (1 / 2 + 1 / 3 + 1 / 5 + 1) / 4)
    missing = Release.from_published(published, roles, hierarchies={"town": tree}, missing="value")
    # Where missing towns count, `*` may also hide one.
    assert float(utility.two_way_error_bound(missing)) == pytest.approx(1 - (1 / 2 + 1 / 3 + 1) / 4)


def test_a_cell_that_is_called_as_missing_ones_are_is_not_taken_for_one_value() -> None:
    tree = Hierarchy.from_nested({"A": ["(missing)"], "B": ["Bonn", "Ulm"]})
    published = pd.DataFrame({"town": ["(missing)", "(missing)", "B", "B"], "ill": list("abcd")})
    roles = {"town": "quasi-identifier", "ill": "sensitive"}
    release = Release.from_published(published, roles, hierarchies={"town": tree})
    assert float(utility.two_way_error_bound(release)) == pytest.approx(1 - (1 / 2 + 1 / 2) / 4)


def test_nothing_is_told_where_no_cell_tells_how_many_values_it_allows() -> None:
    with pytest.raises(ReleaseError, match="the cells of 'age' allow, so any two-way error is possible"):
        utility.two_way_error_bound(opened(age=["20-29", "20-29", "30+"], ill=["a", "b", "c"]))


def test_a_single_table_of_single_values_may_have_been_changed() -> None:
    with pytest.raises(ReleaseError, match="values that were changed look like true ones"):
        utility.two_way_error_bound(opened(age=[20, 30, 40], ill=["a", "b", "c"]))


def test_changed_values_are_refused_where_the_original_shows_them() -> None:
    masked = Mask(k=4, l=2, seed=1).anonymize(people())
    with pytest.raises(ReleaseError, match="of 60 rows do not publish their value of 'ill' but another one"):
        utility.two_way_error_bound(masked)
    # A town that its cell does not allow.
    published = pd.DataFrame({"town": ["{Bonn, Ulm}", "{Bonn, Ulm}", "Trier"], "ill": ["a", "b", "c"]})
    original = table(town=["Bonn", "Trier", "Ulm"], ill=["a", "b", "c"])
    with pytest.raises(ReleaseError, match="2 of 3 rows do not publish their value"):
        utility.two_way_error_bound(Release.from_published(published, original=original))


def test_tables_that_contradict_each_other_show_that_values_were_changed() -> None:
    tables = {
        "one": pd.DataFrame({"age": [20, 20, 30, 30], "ill": ["flu", "flu", "cold", "cold"]}),
        "two": pd.DataFrame({"town": ["a", "a", "b", "b"], "ill": ["flu", "cold", "cold", "cold"]}),
    }
    release = Release.from_published(tables, ROLES)
    with pytest.raises(ReleaseError, match="'ill' does not have the same values in 'one' and 'two'"):
        utility.two_way_error_bound(release)


def test_rows_of_nobody_and_a_single_attribute_have_no_bound() -> None:
    original = table(age=[1, 2, 3], ill=["a", "b", "c"])
    synthetic = Release.from_published(pd.DataFrame({"age": [1], "ill": ["a"]}), original=original, rows="synthetic")
    with pytest.raises(ReleaseError, match="nobody's"):
        utility.two_way_error_bound(synthetic)
    with pytest.raises(ReleaseError, match="fewer than two"):
        utility.two_way_error_bound(opened(age=["1-2", "1-2"]))


def test_the_error_itself_points_to_the_bound() -> None:
    with pytest.raises(ReleaseError, match="How large it can be at most is told by"):
        utility.two_way_error(opened(town=["{Bonn, Ulm}", "Ulm"], ill=["flu", "cold"]))


# -- against all tables, and for every method -----------------------------------------------------------------------


@st.composite
def small_data(draw: st.DrawFn) -> Microdata:
    n = draw(st.integers(2, 4))

    def column(values: str) -> list[str]:
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    frame = pd.DataFrame(
        {
            "age": [ord(one) for one in column("abc")],
            "work": column("uv"),
            "town": column("ABC"),
            "ill": column("xy"),
            "pay": 1,
        }
    )
    roles = {**dict.fromkeys(("age", "work", "town"), "quasi-identifier"), "ill": "sensitive"}
    return Microdata(frame, roles={**roles, "*": "insensitive"})


@st.composite
def small_releases(draw: st.DrawFn) -> Release:
    data = draw(small_data())

    def groups() -> Partition:
        ids = draw(st.lists(st.integers(0, 1), min_size=data.n_rows, max_size=data.n_rows))
        return Partition(np.unique(ids, return_inverse=True)[1].astype(np.int32))

    form = draw(
        st.sampled_from(["generalized", "buckets", "sliced", "regions", "exact", "values", "mixed", "unlinked"])
    )
    partition = groups()
    if form == "generalized":
        return generalized(data, partition.group.tolist())
    if form == "buckets":
        return sliced(data, partition.group.tolist(), [["age", "work"], ["town", "ill"]])
    if form == "sliced":
        return Release(
            data, (fragment(data, "a", partition, ["work"], ["age"]), fragment(data, "b", partition, ["ill"], ["town"]))
        )
    if form == "regions":
        fragments = []
        for names in (["age", "work"], ["town", "ill"]):
            recodings = {
                name: ColumnRegions(
                    data.domain[name], partition, Generalized.of_rows(data.domain[name], groups(), data.codes[name])
                )
                for name in names
            }
            fragments.append(Fragment(names[0], partition, recodings))
        return Release(data, tuple(fragments))
    if form == "unlinked":
        return Release(
            data, (fragment(data, "a", partition, ["age"], ["work"]), fragment(data, "b", groups(), ["ill"], ["town"]))
        )
    return linked_fragments(data, partition, groups(), form, draw(st.booleans()))


@pytest.mark.slow
@given(release=small_releases())
@settings(max_examples=200)
def test_no_table_with_the_release_has_a_larger_error(release: Release) -> None:
    check_against_all_tables(release)


@given(release=small_releases())
@settings(max_examples=30)
def test_no_table_with_the_release_has_a_larger_error_in_few_examples(release: Release) -> None:
    check_against_all_tables(release)


@given(
    regions=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    others=st.lists(st.integers(1, 2), min_size=3, max_size=3),
    rows=st.lists(st.integers(1, 2), min_size=3, max_size=3),
)
@settings(max_examples=20)
def test_the_bound_is_reached_where_groups_have_no_values_in_common(
    regions: list[int], others: list[int], rows: list[int]
) -> None:
    """Group g has cells of `regions[g]` values and `others[g]` others that no other group has, in `rows[g]` rows."""
    towns, ills = [], []
    for group, n_values in enumerate(regions):
        town = "{" + ", ".join(f"{group}t{value}" for value in range(n_values)) + "}"
        ill = "{" + ", ".join(f"{group}i{value}" for value in range(others[group])) + "}"
        towns += [town] * rows[group]
        ills += [ill] * rows[group]
    frame = pd.DataFrame({"town": towns, "ill": ills})
    release = Release.from_published(frame, {"town": "quasi-identifier", "ill": "quasi-identifier"})
    assume(n_allowed(release, "town", "ill") <= 200 * MOST_TABLES)
    assert float(utility.two_way_error_bound(release)) == pytest.approx(largest(release, "town", "ill"))


@given(
    n_values=st.sampled_from([(2, 2, 1), (4, 1, 1), (2, 4, 1), (1, 3, 2), (3, 3, 2), (2, 2, 3)]),
)
def test_the_bound_is_reached_by_links_of_values_that_are_equally_frequent(n_values: tuple[int, int, int]) -> None:
    """In a bucket each value of one attribute has as many rows as each of the other one, or a multiple of them."""
    ages, ills, times = n_values
    n_rows = np.lcm(ages, ills) * (times if np.lcm(ages, ills) * times <= 6 else 1)
    data = table(age=sorted(np.arange(n_rows) % ages), ill=sorted(map(str, np.arange(n_rows) % ills)))
    release = sliced(data, [0] * n_rows, [["age"], ["ill"]])
    assert float(utility.two_way_error_bound(release)) == pytest.approx(largest(release, "age", "ill"))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=0))
@given(data=tagged_tables(max_rows=25))
@settings(max_examples=12)
def test_the_error_of_every_method_is_within_the_bound(name, parameters, data) -> None:
    try:
        release = build(name, parameters).anonymize(data.microdata())
        bound = utility.two_way_error_bound(release)
    except AnonymizationError:
        return
    check_error(release, bound)


def check_error(release: Release, bound: utility.TwoWayErrorBound) -> None:
    error = utility.two_way_error(release)
    assert (bound.pairs.to_numpy() >= error.pairs.to_numpy() - 1e-9).all()
    assert float(bound) >= float(error) - 1e-9
    assert list(bound.pairs.columns) == list(error.pairs.columns)


@pytest.mark.parametrize(("name", "parameters"), subjects(turn=1))
def test_every_method_is_answered_or_changes_values(name, parameters) -> None:
    release = released(name, parameters, people())
    if release is None:
        assert name in FOUND_BY_SEARCH
        return
    try:
        bound = utility.two_way_error_bound(release)
    except ReleaseError:
        with pytest.raises(ReleaseError, match="but another one"):
            utility.two_way_error_bound(release)
        assert name in ("centroid-microaggregation", "mask", "pram", "vertical-fragmentation")
        return
    check_error(release, bound)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        Mondrian(requirements=[KAnonymity(k=10)]),
        Anatomy(l=4, seed=1),
        Slicing(l=4, columns=4, sensitive_column_size=1),
        LocalSuppression(requirements=[KAnonymity(k=3)]),
    ],
    ids=lambda method: method.name,
)
def test_adult_with_and_without_its_original(method) -> None:
    require("adult.csv")
    known = ["age", "sex", "race", "workclass", "marital-status", "education", "native-country"]
    frame = load_adult()[[*known, "occupation"]]
    data = Microdata(frame, {**dict.fromkeys(known, "quasi-identifier"), "occupation": "sensitive"})
    release = method.anonymize(data)
    bound = utility.two_way_error_bound(release)
    check_error(release, bound)
    knowing = utility.two_way_error_bound(alone(release, with_values=True))
    assert float(knowing) == pytest.approx(float(bound))
    assert knowing.pairs.loc[bound.pairs.index, bound.pairs.index].to_numpy() == pytest.approx(bound.pairs.to_numpy())
    told = utility.two_way_error_bound(alone(release))
    assert float(bound) - 1e-9 <= float(told) < 0.3
