"""Three people who explain a number: the worst off by it, one in the middle, and the best off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anoncore import attacks, privacy, utility
from dashboard.closer.one_person import NUMBERS, WHO, three_rows
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import people

PAGES = {"hides": "groups", "distance": "closeness", "belief": "privacy", "lost": "utility", "given": "attack"}


def test_of_equal_rows_the_first_stands_for_them() -> None:
    values = np.array([3.0, 1.0, 2.0, 3.0, 1.0])
    assert three_rows(values, largest_is_worst=True) == (0, 2, 1)
    assert three_rows(values, largest_is_worst=False) == (1, 2, 0)
    assert three_rows(np.array([5.0]), largest_is_worst=True) == (0, 0, 0)
    # Whoever has no number is neither safe nor at risk.
    assert three_rows(np.array([np.nan, 0.2, 0.4, np.nan]), largest_is_worst=True) == (2, 1, 1)


@pytest.fixture
def made(visitor: Visitor) -> Visitor:
    """Two columns on a table of 240 people."""
    visitor.upload("people.csv", people().to_csv(index=False).encode())
    visitor.tag(age="quasi-identifier", sex="quasi-identifier", illness="sensitive")
    return visitor.make("mondrian", "anatomy", k=5, l=2)


def plain(run: Any, name: str) -> list[float]:
    """The number of each row, by looking at the rows of its group."""
    release, data = run.release, run.data
    group = release.fragments[0].partition.group
    if name == "hides":
        return [float(np.sum(group == own)) for own in group]
    if name == "distance":
        return [float(distance) for distance in privacy.emd(release, "illness", "equal")[group]]
    if name == "given":
        return attacks.foreground_knowledge(release, "illness", 2.0).own_probability.tolist()
    if name == "belief":
        return attacks.attribute_disclosure(release, "illness").confidence.tolist()
    span = data.frame["age"].max() - data.frame["age"].min()
    ages, sexes = data.frame["age"].to_numpy(), data.frame["sex"].to_numpy()
    return [float((np.ptp(ages[group == own]) / span + (len(set(sexes[group == own])) - 1)) / 2) for own in group]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_the_three_people_are_told_with_their_number_and_what_each_column_publishes(made: Visitor, name: str) -> None:
    run = next(run for run in made.here.runs if run.title == "Mondrian")
    numbers = np.array(plain(run, name))
    about = NUMBERS[name]
    wanted = three_rows(numbers, about.largest_is_worst)
    made.open(PAGES[name])
    assert "Row " not in made.texts().split("Explain")[0]
    made.at.session_state[f"three-{name}"] = True
    made.run()
    # The attack is worked out behind the page.
    made.until(lambda: any(one.key == f"three-{name}-who" for one in made.at.segmented_control))
    for who, row in zip(WHO, wanted, strict=True):
        next(one for one in made.at.segmented_control if one.key == f"three-{name}-who").set_value(who)
        made.run()
        assert f"Row {row + 1:,} of the table {about.told(numbers[row])} in " in made.texts()
        published = next(item.value for item in made.at.dataframe if "attribute" in item.value)
        assert published.set_index("attribute").loc["age", "original"] == str(run.data.frame["age"].iloc[row])
        assert len(published.columns) == 4, "what was there, and what both columns of the board publish"


@pytest.mark.slow
def test_a_bucket_is_never_called_a_crowd_in_which_somebody_hides(made: Visitor) -> None:
    said = "It hides whose secret is whose, and not who somebody is"
    for title, is_said in (("Anatomy", True), ("Mondrian", False)):
        made.here.select_run(next(run.id for run in made.here.runs if run.title == title))
        made.open("groups")
        made.at.session_state["three-hides"] = True
        made.run()
        assert (f"{said}." in made.texts()) is is_said


@pytest.mark.slow
def test_whose_class_is_missed_because_of_the_release_is_told_with_what_is_predicted(made: Visitor) -> None:
    run = next(run for run in made.here.runs if run.title == "Anatomy")
    made.here.select_run(run.id)
    found = utility.classification(run.release, "sex", "tree", 10)
    truth = run.data.codes["sex"]
    right, right_before = found.predicted == truth, found.from_original == truth
    assert right.mean() == pytest.approx(found.released.accuracy)
    assert right_before.mean() == pytest.approx(found.original.accuracy)
    wanted = three_rows(right.mean(axis=0) - right_before, largest_is_worst=False)
    made.open("utility")
    made.at.session_state["utility-target"] = "sex"
    made.at.session_state[f"_trained-{run.id}"] = (("sex", "tree"),)
    made.at.session_state["three-predictable"] = True
    made.at.session_state["_utility-tab"] = made.at.session_state["tabs-utility-tab"] = "Predictions"
    made.run()
    made.until(lambda: "Who" in [one.label for one in made.at.segmented_control])
    texts = run.data.domain["sex"].texts
    for who, row in zip(WHO, wanted, strict=True):
        next(one for one in made.at.segmented_control if one.key == "three-predictable-who").set_value(who)
        made.run()
        assert f"Row {row + 1:,} of the table is predicted " in made.texts()
        assert (
            f"The value of 'sex' is '{texts[truth[row]]}'; learned from this release it is predicted as" in made.texts()
        )
        assert f"from the original table as '{texts[found.from_original[row]]}'." in made.texts()
    assert NUMBERS["predictable"].told(-1.0) == "is predicted wrongly, and rightly from the original table"
