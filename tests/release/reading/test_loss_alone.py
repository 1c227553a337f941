"""What published cells lose, told by themselves where they tell the domain, and refused with the reason where not."""

import pandas as pd
import pytest

from anoncore import DataError, Hierarchy, Microdata, Release, ReleaseError, utility
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.release.reading.published_values import ASSUMED
from anoncore.requirements import KAnonymity
from tests.properties.subjects import subjects
from tests.release.reading.round_trips import alone, awkward_table, released
from tests.release.reading.test_round_trips import is_plain

ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "disease": "sensitive"}


def opened(age=("20-29", "20-29", "30-50", "30-50"), town=("{Bonn, Ulm}", "{Bonn, Ulm}", "Trier", "Trier"), **tags):
    columns = {"age": age, "town": town}
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    return Release.from_published(frame.assign(disease=["flu", "cold", "flu", "flu"]), ROLES, **tags)


def test_ranges_and_sets_count_as_shares_of_what_the_cells_span():
    """Ages go from 20 to 50 and there are three towns: (9 + 9 + 20 + 20) / 4 / 30 and (1 + 1 + 0 + 0) / 4 / 2."""
    loss = utility.information_loss(opened())
    assert loss.per_attribute == pytest.approx({"age": 14.5 / 30, "town": 0.25})
    assert float(loss) == pytest.approx((14.5 / 30 + 0.25) / 2)
    assert sorted(loss.per_class) == pytest.approx([20 / 30 / 2, (9 / 30 + 0.5) / 2])
    assert loss.assumed == ASSUMED
    assert ASSUMED in opened().notes[0]


def test_a_hierarchy_says_how_many_values_there_are():
    """Four towns, of which a cell allows two, one, and all of them."""
    tree = Hierarchy.from_nested({"Rhine": ["Bonn", "Cologne"], "South": ["Ulm", "Munich"]})
    loss = utility.information_loss(opened(town=["Rhine", "Rhine", "Ulm", "*"], hierarchies={"town": tree}))
    assert loss.per_attribute["town"] == pytest.approx((1 + 1 + 0 + 3) / 4 / 3)


def test_half_open_ranges_of_whole_numbers_end_before_their_end():
    loss = utility.information_loss(opened(age=["[20, 30)", "[20, 30)", "[30, 51)", "[30, 51)"]))
    assert loss.per_attribute["age"] == pytest.approx(14.5 / 30)


def test_with_the_original_nothing_is_assumed():
    frame = pd.DataFrame({"age": [20, 21, 30, 50], "disease": ["flu", "cold", "flu", "flu"]})
    data = Microdata(frame, {"age": "quasi-identifier", "disease": "sensitive"})
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    assert utility.information_loss(release).assumed == ""
    back = Release.from_published(release.tables(), original=data)
    assert utility.information_loss(back).assumed == ""


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ({"age": ["20-29", "20-29", "*", "*"]}, "some cells of 'age' allow everything"),
        ({"age": ["*"] * 4}, "some cells of 'age' allow everything"),
        ({"age": ["20-29", "20-29", None, None]}, "some cells of 'age' allow everything"),
        ({"town": ["Bonn", "Ulm", "*", "*"]}, "some cells of 'town' allow everything"),
        ({"age": ["20-29", "20-29", ">=60", ">=60"]}, "'age' such as '>=60' do not say at which number they end"),
        ({"age": ["[2.5, 9.5)", "[2.5, 9.5)", "12", "12"]}, "do not say at which number they end"),
        ({"age": ["{20, 30}", "{20, 30}", "40-50", "40-50"]}, "sets and others are ranges"),
        ({"age": ["20-29", "20-29", "30-50 or (missing)", "30-50 or (missing)"]}, "'age' has missing cells"),
        ({"town": ["476**", "476**", "10115", "10115"]}, "'town' such as '476\\*\\*' may stand for several values"),
        ({"town": ["Bonn, Ulm", "Bonn, Ulm", "Bonn", "Ulm"]}, "may stand for several values"),
        ({"age": [20, 20, 30, 50], "town": ["Bonn", "Bonn", "Ulm", "Ulm"]}, "is a single value, and values that were"),
    ],
)
def test_what_the_cells_do_not_tell_is_refused_with_the_reason(cells, why):
    release = opened(**cells)
    with pytest.raises(ReleaseError, match=why):
        utility.information_loss(release)


def test_missing_values_that_count_may_hide_in_cells_that_allow_everything():
    tree = Hierarchy.from_nested({"Rhine": ["Bonn", "Cologne"], "South": ["Ulm", "Munich"]})
    town = ["Rhine", "Rhine", "*", "*"]
    with pytest.raises(ReleaseError, match="may also hide missing values"):
        utility.information_loss(opened(town=town, hierarchies={"town": tree}, missing="value"))
    assert float(utility.information_loss(opened(town=town, hierarchies={"town": tree}))) > 0


def test_a_value_that_is_called_as_missing_cells_are_is_not_counted_twice():
    """Readers cannot tell whether there are three towns here, or three and missing ones."""
    tree = Hierarchy.from_nested({"A": ["(missing)"], "B": ["Bonn", "Ulm"]})
    release = opened(town=["(missing)", "(missing)", "B", "B"], hierarchies={"town": tree})
    with pytest.raises(ReleaseError, match="a value called '\\(missing\\)'"):
        utility.information_loss(release)


def test_only_what_is_known_to_others_has_to_tell():
    """A secret with suppressed cells changes nothing of the loss, unless an adversary knows it too."""
    frame = pd.DataFrame({"age": ["20-29", "20-29", "30-50"], "disease": ["{a, b}", "{a, b}", "*"]})
    roles = {"age": "quasi-identifier", "disease": "quasi-identifier"}
    release = Release.from_published(frame, roles)
    with pytest.raises(ReleaseError, match="'disease'"):
        utility.information_loss(release)
    only_age = Release.from_published(frame[["age"]], {"age": "quasi-identifier"})
    assert float(utility.information_loss(only_age)) == pytest.approx((9 + 9 + 20) / 3 / 30)


def test_joined_tables_publish_exactly_on_purpose():
    frame = pd.DataFrame({"age": [20, 21, 30, 50], "disease": ["flu", "cold", "flu", "cold"]})
    data = Microdata(frame, {"age": "quasi-identifier", "disease": "sensitive"})
    back = Release.from_published(Anatomy(l=2).anonymize(data).tables(), data.roles)
    assert float(utility.information_loss(back)) == 0


def test_the_two_way_error_says_that_it_compares_with_the_original():
    with pytest.raises(ReleaseError, match="compares with how often values occur together in the original"):
        utility.two_way_error(opened())


TOLD = ("microaggregation", "mondrian", "slicing", "anatomy", "vertical-fragmentation", "suppression")


@pytest.mark.slow
@pytest.mark.parametrize("name", TOLD)
def test_the_loss_of_awkward_tables_is_often_told_and_then_that_of_the_release(name):
    """One that always refused would pass the round trips."""
    told = 0
    for parameters in (one.values[1] for one in subjects() if one.values[0] == name):
        for number in range(8):
            data = awkward_table(number)
            release = released(name, parameters, data) if is_plain(data) else None
            if release is None:
                continue
            try:
                loss = utility.information_loss(alone(release))
            except ReleaseError:
                continue
            assert loss.per_attribute == pytest.approx(utility.information_loss(release).per_attribute)
            told += 1
    assert told


def test_a_table_that_others_may_be_joined_with_says_so():
    frame = pd.DataFrame({"Group-ID": [1, 1, 2], "age": [20, 21, 30]})
    (*_, note) = Release.from_published(frame, {"age": "quasi-identifier"}).notes
    assert "'Group-ID' is called like a column that joins several tables" in note
    known = Release.from_published(frame, {"age": "quasi-identifier", "Group-ID": "quasi-identifier"}).notes
    assert not any("joins several" in one for one in known)


def test_who_knows_all_values_is_told_what_any_cell_loses():
    """Ages are 20, 30, 40 and 60, five towns: `*` costs all of both, `>=40` one of two steps, 476** two of four."""
    release = opened(
        age=["20-30", "20-30", ">=40", "*"],
        town=["476**", "476**", "*", "10115"],
        values={"age": [20, 30, 40, 60], "town": ["47601", "47602", "47603", "10115", "20095"]},
    )
    loss = utility.information_loss(release)
    assert loss.per_attribute == pytest.approx({"age": (10 + 10 + 20 + 40) / 4 / 40, "town": (2 + 2 + 4 + 0) / 4 / 4})


def test_missing_numbers_have_their_place_where_all_values_are_known():
    # Missing lies a mean step, 10, above the largest number, so that the domain is 40 wide.
    age = ["20-30", "20-30", "40-50 or (missing)", "40-50 or (missing)"]
    loss = utility.information_loss(opened(age=age, values={"age": [20, 30, 40, 50, None]}, missing="value"))
    assert loss.per_attribute["age"] == pytest.approx((10 + 10 + 20 + 20) / 4 / 40)


def test_values_that_are_stated_have_to_be_those_of_the_table():
    with pytest.raises(DataError, match="values lists nothing for 'age'"):
        opened(values={"age": []})
    with pytest.raises(DataError, match="Leipzig"):
        opened(town=["Bonn", "Ulm", "Leipzig", "Trier"], values={"town": ["Bonn", "Ulm", "Trier"]})
    with pytest.raises(DataError, match="No published table has the columns 'height'"):
        opened(values={"height": [1, 2]})
    with pytest.raises(ReleaseError, match="is a single value, and values that were"):
        utility.information_loss(
            opened(age=[20, 20, 30, 50], town=["Bonn", "Bonn", "Ulm", "Ulm"], values={"age": [20, 30, 50]})
        )
