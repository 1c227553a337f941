"""The page Privacy shows the measures' own numbers, what was asked, and what does not hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import attacks, privacy
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.algorithms.base import Algorithm, generalized_release
from anoncore.base.texts import share_text
from anoncore.release.partition import Partition
from anoncore.requirements import DistinctDiversity, KAnonymity, RecursiveDiversity, TCloseness, VarianceDiversity
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import ROLES, add_run, figure, loaded, metrics, people, table_of

STRICT = Mondrian(requirements=(KAnonymity(k=5), TCloseness(t=0.35, ground="equal")))


class Careless(Mondrian):
    """Puts every pair of rows into a group, whatever was asked."""

    def anonymize(self, data, progress=None):
        return generalized_release(self, data, Partition(np.arange(data.n_rows, dtype=np.int32) // 2))


def test_reached_levels_are_those_of_the_groups(visitor: Visitor) -> None:
    run = add_run(visitor, STRICT, roles={name: role for name, role in ROLES.items() if role != "insensitive"})
    visitor.open("privacy")
    found = metrics(visitor)
    illness = run.data.frame["illness"].groupby(run.release.partition.group)
    assert found["k"] == str(illness.size().min())
    assert found["Distinct l"] == str(illness.nunique().min())
    assert found["Largest share"] == share_text(illness.value_counts(normalize=True).max())
    assert found["t (equal)"] == f"{privacy.emd(run.release, 'illness', 'equal').max():.3f}"
    notes = {metric.label: metric.delta for metric in visitor.at.metric}
    assert notes["k"] == "asked at least 5: holds"
    assert notes["t (equal)"] == "asked at most 0.35: holds"
    assert "Everything that was asked holds." in visitor.at.success[0].value.replace("\\", "")


def test_distances_and_beliefs_are_drawn(visitor: Visitor) -> None:
    run = add_run(visitor, STRICT)
    visitor.open("privacy")
    curve, line = figure(visitor, "privacy-distances")
    distances = privacy.emd(run.release, "illness", "equal")
    assert curve["x"][1:] == pytest.approx(np.sort(distances))
    assert line["x"] == [0.35, 0.35]
    bars, guess = figure(visitor, "privacy-beliefs")
    beliefs = attacks.attribute_disclosure(run.release, "illness").belief
    assert sum(bars["y"]) == pytest.approx(1)
    assert bars["y"] == pytest.approx(np.histogram(beliefs, bins=25, range=(0, 1))[0] / len(beliefs))
    assert guess["x"][0] == pytest.approx(run.data.frame["illness"].value_counts(normalize=True).max())


def test_risks_stand_beside_those_of_the_original(visitor: Visitor) -> None:
    run = add_run(visitor, STRICT)
    visitor.open("privacy")
    original, release = figure(visitor, "privacy-risks")
    known = run.data.frame.groupby(["age", "sex", "town"]).size()
    assert original["x"][0] == pytest.approx(1 / known.min())
    assert original["x"][1] == pytest.approx(len(known) / run.data.n_rows)
    assert release["x"][0] == pytest.approx(float(attacks.reidentification(run.release).prosecutor.largest))
    assert "No population was given" in visitor.texts()


def test_what_does_not_hold_is_listed_in_sentences(visitor: Visitor) -> None:
    broken = Careless(requirements=(KAnonymity(k=3), DistinctDiversity(l=1)))
    run = add_run(visitor, broken)
    visitor.open("privacy")
    assert "This does not hold" in visitor.errors[0]
    assert "k-anonymity (k = 3) fails" in visitor.errors[0]
    assert "This holds:" in visitor.at.success[0].value
    table = table_of(visitor, "number", "rows", "what fails")
    assert len(table) == run.release.partition.n_groups
    assert table["rows"].tolist() == [2] * len(table)
    assert table["what fails"].str.contains("asks for at least 3").all()
    assert {metric.label: metric.delta for metric in visitor.at.metric}["k"] == "asked at least 3: does not hold"


def test_what_the_board_asks_and_no_method_promised_is_listed_as_well(visitor: Visitor) -> None:
    """Anatomy promises nothing of the distance of its groups."""
    visitor.here.load(*loaded(people(), ROLES, "people.csv"))
    release = visitor.make("anatomy", l=2, t=0.3).here.runs[0].release
    visitor.open("privacy")
    distances = privacy.emd(release, "illness", "equal")
    table = table_of(visitor, "number", "rows", "what fails")
    assert table["number"].tolist() == np.flatnonzero(distances > 0.3).tolist()
    far = release.fragments[0].partition.sizes[distances > 0.3].sum() / 240
    assert f"{share_text(far)} of all rows are in such a group." in visitor.texts()
    assert figure(visitor, "privacy-distances")[1]["x"] == [0.3, 0.3]


def test_recursive_and_variance_have_their_asked_thresholds(visitor: Visitor) -> None:
    roles = {**ROLES, "illness": "insensitive", "visits": "sensitive"}
    asked = (KAnonymity(k=6), RecursiveDiversity(c=2.0, l=3), VarianceDiversity(v=5.0))
    run = add_run(visitor, Mondrian(requirements=asked), roles=roles)
    visitor.open("privacy")
    notes = {metric.label: metric.delta for metric in visitor.at.metric}
    assert notes["Recursive c"] == "asked below 2: holds"
    assert notes["Variance"] == "asked at least 5"
    variance = run.data.frame["visits"].groupby(run.release.partition.group).var(ddof=0).min()
    assert metrics(visitor)["Variance"] == f"{variance:,.4g}"
    assert "t (ordered)" in notes


def test_the_ground_distance_can_be_chosen(visitor: Visitor) -> None:
    roles = {**ROLES, "illness": "insensitive", "visits": "sensitive"}
    run = add_run(visitor, Mondrian(requirements=(KAnonymity(k=6),)), roles=roles)
    visitor.open("privacy")
    visitor.at.selectbox(key=f"privacy-ground-{run.id}-visits").set_value("equal")
    visitor.run()
    curve = figure(visitor, "privacy-distances")[0]
    assert curve["x"][1:] == pytest.approx(np.sort(privacy.emd(run.release, "visits", "equal")))


def test_one_of_several_sensitive_attributes_is_shown(visitor: Visitor) -> None:
    run = add_run(visitor, Mondrian(requirements=(KAnonymity(k=6),)), roles={**ROLES, "visits": "sensitive"})
    visitor.open("privacy")
    visitor.at.selectbox(key="privacy-attribute").set_value("visits")
    visitor.run()
    worst = run.data.frame["visits"].groupby(run.release.partition.group).nunique().min()
    assert metrics(visitor)["Distinct l"] == str(worst)
    visitor.open("groups").open("privacy")
    assert visitor.at.selectbox(key="privacy-attribute").value == "visits"


@pytest.mark.parametrize("algorithm", [Mondrian(requirements=(KAnonymity(k=6),)), Mondrian(requirements=())])
def test_without_sensitive_attribute_only_k_and_risk_are_measured(visitor: Visitor, algorithm: Algorithm) -> None:
    run = add_run(visitor, algorithm, roles={**ROLES, "illness": "insensitive"})
    visitor.open("privacy")
    assert metrics(visitor)["k"] == str(run.release.partition.sizes.min())
    assert "No sensitive attribute" in visitor.texts()
    figure(visitor, "privacy-risks")


def test_buckets_hide_values_but_not_people(visitor: Visitor) -> None:
    run = add_run(visitor, Anatomy(l=2))
    visitor.open("privacy")
    assert "not who is in the table" in visitor.texts()
    assert float(metrics(visitor)["Largest belief"].rstrip("%")) <= 50
    unique = people().groupby(["age", "sex", "town"]).size()
    release = figure(visitor, "privacy-risks")[1]
    assert release["x"][0] == pytest.approx(1 / unique.min())
    assert run.release.group_word == "bucket"


def test_constant_sensitive_attribute_and_one_group(visitor: Visitor) -> None:
    frame = pd.DataFrame({"age": [1, 2, 3], "illness": ["flu", "flu", "flu"]})
    add_run(
        visitor, Mondrian(requirements=(KAnonymity(k=3),)), frame, {"age": "quasi-identifier", "illness": "sensitive"}
    )
    visitor.open("privacy").open("groups").open("utility").open("publish")
