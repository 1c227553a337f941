"""Published tables of any tool read back: cells, assignments by hand, and what cannot be read."""

import numpy as np
import pandas as pd
import pytest

from anoncore import (
    DataError,
    Exact,
    Generalized,
    Hierarchy,
    Microdata,
    Release,
    ReleaseError,
    attacks,
    privacy,
    utility,
)
from anoncore.algorithms import Mondrian
from anoncore.release.reading.region_texts import set_parts
from anoncore.requirements import KAnonymity

KNOWN = {"age": "quasi-identifier", "disease": "sensitive"}
AGES = [18, 20, 25, 29, 30, 44, 60, 90]


def region(cell, values=AGES, **tags):
    """The values that a cell of a quasi-identifier allows."""
    people = pd.DataFrame({"x": values})
    data = Microdata(people, {"x": "quasi-identifier"}, **tags)
    back = Release.from_published(pd.DataFrame({"x": [cell]}, dtype=object), original=data)
    recoding = back.recoding("x")
    codes = recoding.codes if isinstance(recoding, Exact) else recoding.values(0)
    return [data.domain["x"][int(code)] for code in codes]


@pytest.mark.parametrize(
    ("cell", "allowed"),
    [
        ("20-29", [20, 25, 29]),
        ("20 - 29", [20, 25, 29]),
        ("20–29", [20, 25, 29]),
        ("20..29", [20, 25, 29]),
        ("20 to 29", [20, 25, 29]),
        ("20:29", [20, 25, 29]),
        ("[20, 30)", [20, 25, 29]),
        ("[20, 30[", [20, 25, 29]),
        ("[20;30)", [20, 25, 29]),
        ("(20, 30]", [25, 29, 30]),
        ("]20, 30]", [25, 29, 30]),
        ("[20, 30]", [20, 25, 29, 30]),
        (pd.Interval(20, 30, closed="right"), [25, 29, 30]),
        ("{20, 44}", [20, 44]),
        ("20|44|90", [20, 44, 90]),
        ("20;44", [20, 44]),
        (frozenset({20, 44}), [20, 44]),
        ([20, 44], [20, 44]),
        (">=60", [60, 90]),
        ("≥ 60", [60, 90]),
        ("60+", [60, 90]),
        ("60 and over", [60, 90]),
        (">60", [90]),
        ("<20", [18]),
        ("<=20", [18, 20]),
        ("under 20", [18]),
        ("[60, inf)", [60, 90]),
        ("(-inf, 20)", [18]),
        ("*", AGES),
        ("***", AGES),
        (None, AGES),
        ("", AGES),
        ("44", [44]),
        (44, [44]),
        (44.0, [44]),
        ("44.0", [44]),
    ],
)
def test_cells_are_read_in_the_ways_tools_write_them(cell, allowed):
    assert region(cell) == allowed


@pytest.mark.parametrize(
    ("cell", "allowed"),
    [
        ("{Bonn, Ulm}", ["Bonn", "Ulm"]),
        ("{Bonn,Ulm}", ["Bonn", "Ulm"]),
        ('{"a, b", Ulm}', ["Ulm", "a, b"]),
        ("Bonn|Ulm", ["Bonn", "Ulm"]),
        ("[Bonn, Ulm]", ["Bonn", "Ulm"]),
        ("a, b", ["a, b"]),
        ("Ul*", ["Ulm"]),
        ("any", ["Bonn", "Trier", "Ulm", "a, b", "x-y"]),
        ("x-y", ["x-y"]),
    ],
)
def test_sets_of_categories_are_read(cell, allowed):
    assert region(cell, ["Bonn", "Trier", "Ulm", "a, b", "x-y"]) == allowed


def test_ranges_of_ranked_categories_dates_decimals_and_negative_numbers_are_read():
    grades = ["9th", "10th", "11th", "BSc"]
    assert region("10th..11th", grades, kinds={"x": "ordinal"}, orders={"x": grades}) == ["10th", "11th"]
    days = list(pd.to_datetime(["2020-01-31", "2020-02-03", "2021-05-06"]))
    assert region("2020-01-31 to 2020-02-03", days) == days[:2]
    assert region("[2020-02-01, 2022-01-01)", days) == days[1:]
    assert region("0.1-0.3", [0.1, 0.2, 0.3, 0.4]) == [0.1, 0.2, 0.3]
    assert region("-5 to -1", [-5, -3, 0, 2]) == [-5, -3]
    assert region("-5--1", [-5, -3, 0, 2]) == [-5, -3]
    assert region("-1e+140 to 1e-300", [-1e140, 0.0, 1e-300, 2.0]) == [-1e140, 0.0, 1e-300]


def test_nodes_of_a_hierarchy_are_read_at_every_level_and_lose_what_they_cover():
    towns = Hierarchy({"Ulm": ["south", "D"], "Bonn": ["west", "D"], "Trier": ["west", "D"], "Graz": ["Styria", "A"]})
    values = ["Ulm", "Bonn", "Trier", "Graz"]
    assert set(region("west", values, hierarchies={"x": towns})) == {"Bonn", "Trier"}
    assert set(region("D", values, hierarchies={"x": towns})) == {"Ulm", "Bonn", "Trier"}
    assert region("A", values, hierarchies={"x": towns}) == ["Graz"]
    data = Microdata(pd.DataFrame({"x": values}), {"x": "quasi-identifier"}, hierarchies={"x": towns})
    back = Release.from_published(pd.DataFrame({"x": ["south", "west", "west", "*"]}), original=data)
    assert sorted(back.recoding("x").loss().round(6).tolist()) == [0.0, round(1 / 3, 6), 1.0]


def test_missing_cells_are_suppressed_unless_the_original_has_as_many():
    roles = {"x": "quasi-identifier"}
    data = Microdata(pd.DataFrame({"x": ["a", "b", None]}), roles)
    suppressed = Release.from_published(pd.DataFrame({"x": ["a", None, None]}), original=data)
    assert sorted(suppressed.recoding("x").sizes.tolist()) == [1, 3]
    assert suppressed.suppressed_rows.sum() == 2
    kept = Release.from_published(pd.DataFrame({"x": [None, "b", "a"]}), original=data)
    assert kept.recoding("x").codes.tolist() == data.codes["x"].tolist()


def test_rounded_numbers_are_ranges_and_changed_numbers_are_not():
    ages = [18, 21, 22, 34, 36, 38, 41, 44, 47]
    data = Microdata(pd.DataFrame({"age": ages}), {"age": "quasi-identifier"})
    rounded = Release.from_published(pd.DataFrame({"age": [20, 20, 20, 30, 40, 40, 40, 40, 50]}), original=data)
    recoding = rounded.recoding("age")
    assert isinstance(recoding, Generalized)
    assert any("rounded to multiples of 10" in note for note in rounded.notes)
    assert rounded.partition.sizes.tolist() == [3, 1, 4, 1]
    changed = Release.from_published(pd.DataFrame({"age": [18, 21, 22, 34, 36, 38, 41, 44, 44]}), original=data)
    assert changed.recoding("age").n_changed == 1
    unknown = Release.from_published(pd.DataFrame({"age": [18, 21, 22, 34, 36, 38, 41, 44, 46.5]}), original=data)
    assert unknown.recoding("age").codes.tolist() == data.codes["age"].tolist()
    assert any("46.5" in note for note in unknown.notes)


def test_what_cannot_be_read_is_said_with_column_row_and_cell():
    data = Microdata(pd.DataFrame({"age": [20, 30], "disease": ["flu", "cold"]}), KNOWN)
    with pytest.raises(DataError, match="Column 'age' of the table 'release' holds 'young' in row 2"):
        Release.from_published(pd.DataFrame({"age": ["20", "young"], "disease": ["flu", "cold"]}), original=data)
    with pytest.raises(DataError, match="'50-60' in row 1"):
        Release.from_published(pd.DataFrame({"age": ["50-60", "30"], "disease": ["flu", "cold"]}), original=data)
    with pytest.raises(DataError, match="'gout' in row 1"):
        Release.from_published(pd.DataFrame({"age": [20, 30], "disease": ["gout", "cold"]}), original=data)


def test_rows_are_assigned_so_that_all_lines_fit():
    """Only one assignment is possible: 25 has to leave the class that fits both, or nobody is left for it."""
    people = pd.DataFrame({"age": [25, 21, 34], "disease": ["flu", "flu", "flu"]})
    published = pd.DataFrame({"age": ["20-34", "25-30", "20-22"], "disease": ["flu", "flu", "flu"]})
    back = Release.from_published(published, KNOWN, Microdata(people, KNOWN))
    texts = back.recoding("age").texts().tolist()
    assert texts == ["25-30", "20-22", "20-34"]


def test_an_ambiguous_assignment_is_said_and_a_certain_one_is_not():
    data = Microdata(pd.DataFrame({"age": [20, 22, 27, 30], "disease": ["flu"] * 4}), KNOWN)
    published = pd.DataFrame({"age": ["20-27", "22-30"] * 2, "disease": ["flu"] * 4})
    doubtful = Release.from_published(published, original=data)
    assert any(note.startswith("2 of 4 rows (50.0%) fit several groups") for note in doubtful.notes)
    assert doubtful.partition.group[0] != doubtful.partition.group[3]
    published = pd.DataFrame({"age": ["20-25", "26-30"] * 2, "disease": ["flu"] * 4})
    certain = Release.from_published(published, original=data)
    assert certain.notes == ()


def test_changed_sensitive_values_are_found_with_the_fewest_changes():
    people = pd.DataFrame({"age": [20, 21, 40, 41], "disease": ["flu", "flu", "cold", "gout"]})
    published = pd.DataFrame({"age": ["20-21"] * 2 + ["40-41"] * 2, "disease": ["flu", "gout", "cold", "gout"]})
    back = Release.from_published(published, KNOWN, Microdata(people, KNOWN))
    assert back.recoding("disease").n_changed == 1
    assert any(note.startswith("1 of 4 rows differ from the original") for note in back.notes)


def test_rows_that_were_left_out_are_said_and_the_others_judged():
    people = pd.DataFrame({"age": [20, 21, 90], "disease": ["flu", "cold", "gout"]})
    published = pd.DataFrame({"age": ["20-21"] * 2, "disease": ["cold", "flu"]})
    back = Release.from_published(published, KNOWN, Microdata(people, KNOWN))
    assert back.data.n_rows == 2
    assert any(note.startswith("1 of 3 rows of the original are not in the release") for note in back.notes)
    assert float(privacy.profile(back).k) == 2


def test_an_identifier_finds_the_rows_and_is_left_out():
    roles = {"name": "identifier", **KNOWN}
    people = pd.DataFrame({"name": ["Ann", "Bob"], "age": [22, 27], "disease": ["flu", "flu"]})
    published = pd.DataFrame({"name": ["Bob", "Ann"], "age": ["20-27", "22-30"], "disease": ["flu", "flu"]})
    back = Release.from_published(published, original=Microdata(people, roles))
    assert back.recoding("age").texts().tolist() == ["22-30", "20-27"]
    assert "name" not in back.attributes
    assert any("identifier 'name'" in note for note in back.notes)


def test_joined_tables_are_assigned_together():
    """Only groups say who has what: both 20 have the flu in one group and the cold in another, whoever they are."""
    people = pd.DataFrame({"age": [20, 20, 30, 40], "disease": ["flu", "cold", "gout", "ache"]})
    tables = {
        "known": pd.DataFrame({"group": [1, 1, 2, 2], "age": [20, 30, 20, 40]}),
        "secret": pd.DataFrame({"group": [2, 1, 2, 1], "disease": ["flu", "cold", "ache", "gout"]}),
    }
    back = Release.from_published(tables, original=Microdata(people, KNOWN))
    assert back.is_shared
    group = back.partition.group
    assert group[1] == group[2] != group[0] == group[3]
    assert attacks.sensitive_posterior(back, "disease")[2].tolist() == [0.0, 0.5, 0.0, 0.5]


def test_groups_of_joined_tables_have_to_match():
    tables = {
        "known": pd.DataFrame({"group": [1, 1, 2, 2], "age": [20, 30, 20, 40]}),
        "secret": pd.DataFrame({"group": [1, 1, 1, 2], "disease": ["flu", "cold", "ache", "gout"]}),
    }
    with pytest.raises(DataError, match="'group' 1 has 3 rows in the table 'secret' and 2 in 'known'"):
        Release.from_published(tables, KNOWN)


def test_tables_of_the_wrong_people_are_refused():
    data = Microdata(pd.DataFrame({"age": [20, 30], "disease": ["flu", "cold"]}), KNOWN)
    published = pd.DataFrame({"age": [20, 30, 30], "disease": ["flu", "cold", "cold"]})
    with pytest.raises(DataError, match="3 rows, more than the 2 of the original"):
        Release.from_published(published, original=data)
    with pytest.raises(DataError, match="the columns 'zip', which the original lacks"):
        Release.from_published(published.rename(columns={"age": "zip"}).iloc[:2], original=data)
    with pytest.raises(DataError, match="'age' is quasi-identifier in the original and sensitive in roles"):
        Release.from_published(published.iloc[:2], {"age": "sensitive"}, data)
    with pytest.raises(DataError, match="The original says what its attributes are; leave out 'kinds'"):
        Release.from_published(published.iloc[:2], None, data, kinds={"age": "nominal"})


def test_without_the_original_a_table_shows_its_groups_and_nothing_of_costs():
    published = pd.DataFrame(
        {"age": ["[20, 30)", "[20, 30)", "*", "*", "*"], "disease": ["flu", "cold", "a", "b", "b"]}
    )
    back = Release.from_published(published, KNOWN)
    profile = privacy.profile(back)
    assert float(profile.k) == 2
    assert float(profile.score("distinct-l")) == 2
    assert float(attacks.reidentification(back).prosecutor.largest) == 0.5
    assert float(attacks.population_uniqueness(back).share) == 0
    assert back.suppressed_rows.tolist() == [False, False, True, True, True]
    for measure in (utility.information_loss, utility.two_way_error, utility.query_error):
        with pytest.raises(ReleaseError, match="Give the table that it was made of"):
            measure(back)


def test_without_the_original_nobody_knows_who_shows_what_in_two_tables():
    tables = {
        "one": pd.DataFrame({"group": [1, 1], "age": [20, 30]}),
        "two": pd.DataFrame({"group": [1, 1], "zip": [1, 2], "disease": ["flu", "cold"]}),
    }
    back = Release.from_published(tables, {**KNOWN, "zip": "quasi-identifier"})
    assert float(privacy.profile(back).k) == 2
    for measure in (attacks.reidentification, attacks.membership):
        with pytest.raises(ReleaseError, match="several tables"):
            measure(back)
    with pytest.raises(ReleaseError, match="several tables"):
        attacks.sensitive_posterior(back, "disease")


def test_regions_that_allow_the_same_by_chance_are_groups_of_their_own():
    """Nobody is between 26 and 29, but readers tell 20-25 from 20-29; two ways of writing a range are one."""
    published = pd.DataFrame({"age": ["20-25", "20-29", "20..29"], "disease": ["flu"] * 3})
    people = pd.DataFrame({"age": [20, 22, 25], "disease": ["flu"] * 3})
    for original in (None, Microdata(people, KNOWN)):
        back = Release.from_published(published, KNOWN, original)
        assert sorted(back.partition.sizes.tolist()) == [1, 2]


def test_columns_of_bounds_are_ranges():
    people = pd.DataFrame({"age": [20, 21, 30, 31, None, 40, 50, 50], "disease": list("abcabcab")})
    data = Microdata(people, KNOWN)
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    back = Release.from_published(release.tables(numbers="bounds"), original=data)
    assert sorted(back.recoding("age").loss()) == sorted(release.recoding("age").loss())
    assert sorted(back.partition.sizes) == sorted(release.partition.sizes)
    alone = Release.from_published(release.tables(numbers="bounds"), KNOWN)
    assert sorted(alone.partition.sizes) == sorted(release.partition.sizes)


def test_protected_values_count_as_far_as_they_are_published():
    published = pd.DataFrame({"age": ["20-29"] * 3, "disease": ["flu", "HIV", "cold"]})
    back = Release.from_published(published, KNOWN, sensitive_values={"disease": {"HIV", "cancer"}})
    assert back.data.sensitive_values == {"disease": ("HIV",)}
    with pytest.raises(DataError, match="None of the values of 'disease' that need protection"):
        Release.from_published(published, KNOWN, sensitive_values={"disease": {"cancer"}})


def test_files_lose_empty_texts_and_gain_apostrophes():
    """A text file writes "" as a missing cell, and =1 behind an apostrophe, which another town's name begins with."""
    roles = {"town": "quasi-identifier"}
    data = Microdata(pd.DataFrame({"town": ["", "=A", "'=A", "Ulm"]}), roles)
    back = Release.from_published(pd.DataFrame({"town": ["Ulm", "''=A", "'=A", None]}), original=data)
    assert np.array_equal(back.recoding("town").codes, data.codes["town"])


def test_what_is_given_is_not_changed_and_labels_play_no_part():
    published = pd.DataFrame({"age": ["20-29", "20-29"], "disease": ["flu", "cold"]}, index=[7, 7])
    before = published.copy(deep=True)
    people = pd.DataFrame({"age": [20, 29], "disease": ["cold", "flu"]}, index=["x", "x"])
    back = Release.from_published(published, KNOWN, Microdata(people, KNOWN))
    pd.testing.assert_frame_equal(published, before)
    assert np.array_equal(back.recoding("disease").codes, back.data.codes["disease"])


@pytest.mark.parametrize(
    ("text", "parts"),
    [("{a, b}", ["a", "b"]), ('{"a, b", c}', ["a, b", "c"]), ('{"say ""x"""}', ['say "x"']), ("a", None), ("{}", [""])],
)
def test_sets_are_taken_apart(text, parts):
    assert set_parts(text) == parts
