"""What slicing offers where it cannot keep an l: always something that works and protects, or a reason."""

from __future__ import annotations

import time

import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anoncore import InfeasibleError, Microdata, attacks
from anoncore.algorithms import Slicing
from anoncore.algorithms.slicing.columns import sliced_release
from anoncore.algorithms.slicing.offers import OneBucket
from anoncore.algorithms.slicing.slicing import achieved_diversity
from anoncore.release.partition import Partition
from anoncore.requirements.worth import SURE_L
from tests.shared_data import require

KNOWN = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")


def refusal(slicing: Slicing, data: Microdata) -> InfeasibleError | None:
    try:
        slicing.validate_data(data)
    except InfeasibleError as error:
        return error
    return None


@st.composite
def tables(draw):
    n_rows = draw(st.integers(4, 30))
    column = st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)
    frame = pd.DataFrame({name: draw(column) for name in ("q1", "q2", "q3", "x")})
    frame["s"] = draw(st.lists(st.sampled_from("abcd"), min_size=n_rows, max_size=n_rows))
    roles = {"q1": "quasi-identifier", "q2": "quasi-identifier", "q3": "quasi-identifier", "s": "sensitive"}
    only = draw(st.sampled_from([None, None, ["a"]]))
    protected = {"s": set(only)} if only and "a" in set(frame["s"]) else None
    return Microdata(
        frame, {**roles, "*": "insensitive"}, kinds=dict.fromkeys("s", "nominal"), sensitive_values=protected
    )


@st.composite
def slicings(draw):
    by_hand = draw(
        st.sampled_from([None, None, None, [["q1"], ["q2", "x", "q3", "s"]], [["q1", "s"], ["s", "q2", "q3", "x"]]])
    )
    return Slicing(
        l=draw(st.sampled_from([1.5, 2.0, 3.0, 6.0])),
        columns=draw(st.integers(1, 4)),
        diversity=draw(st.sampled_from(["posterior", "distinct"])),
        attribute_columns=by_hand,
    )


@pytest.mark.slow
@settings(max_examples=75)
@given(tables(), slicings())
def test_every_offer_works_and_protects(data, slicing):
    error = refusal(slicing, data)
    assume(error is not None)
    least = 1 if slicing.diversity == "distinct" else SURE_L
    if error.nearest is not None:
        assert least < error.nearest < slicing.l
        slicing.replace(l=error.nearest).anonymize(data)
    if error.instead:
        taken = slicing.replace(**error.instead)
        assert least < taken.l <= slicing.l
        release = taken.anonymize(data)
        assert achieved_diversity(release, "s", slicing.diversity) >= taken.l - 1e-6
        if taken.l < slicing.l:
            # Nothing keeps more: the sensitive attribute alone in one bucket is the best that there is.
            assert OneBucket(data, "s", slicing.diversity == "distinct").reached([]) < taken.l + 0.011
    else:
        assert "cannot be sliced with 's'" in str(error)
        assert error.nearest is None


@settings(max_examples=50)
@given(tables(), st.sets(st.sampled_from(["q1", "q2", "q3", "x"]), max_size=3), st.booleans())
def test_one_bucket_against_the_attack(data, beside, distinct):
    rest = tuple(name for name in ("q1", "q2", "q3", "x") if name not in beside)
    columns = (rest, (*sorted(beside), "s"))
    release = sliced_release(data, Partition([0] * data.n_rows), columns)
    kind = "distinct" if distinct else "posterior"
    assert OneBucket(data, "s", distinct).reached(sorted(beside)) == pytest.approx(
        achieved_diversity(release, "s", kind)
    )


def test_columns_by_hand_stay_as_they_are_where_they_can():
    frame = pd.DataFrame({"a": [0, 1] * 6, "b": [0, 0, 1, 1] * 3, "s": [0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0]}).astype(
        str
    )
    frame["c"] = frame["s"]
    roles = dict.fromkeys("abc", "quasi-identifier") | {"s": "sensitive"}
    error = refusal(Slicing(l=2, attribute_columns=[["a"], ["b", "c", "s"]]), Microdata(frame, roles))
    assert error is not None
    assert error.instead["attribute_columns"][0] == ("a",)
    assert "c" not in error.instead["attribute_columns"][-1]


def test_nothing_is_offered_where_guessing_is_nearly_certain():
    frame = pd.DataFrame({"q": range(40), "s": ["a"] * 38 + ["b"] * 2})
    error = refusal(Slicing(l=2), Microdata(frame, {"q": "quasi-identifier", "s": "sensitive"}))
    assert error is not None
    assert (error.nearest, dict(error.instead)) == (None, {})
    assert str(error).endswith(
        "the table cannot be sliced with 's': 'a' has 95.0% of its rows, so whatever the columns are, an adversary is "
        "nearly certain of it."
    )


def test_adult_with_defaults_is_offered_what_keeps_two():
    frame = pd.read_csv(require("adult.csv"))
    data = Microdata(
        frame[[*KNOWN, "occupation"]], dict.fromkeys(KNOWN, "quasi-identifier") | {"occupation": "sensitive"}
    )
    begin = time.perf_counter()
    error = refusal(Slicing(), data)
    assert time.perf_counter() - begin < 2
    assert error is not None
    assert error.nearest is None, "with these columns l = 1 is the most, which protects nobody"
    taken = Slicing().replace(**error.instead)
    assert taken.l == 2
    release = taken.anonymize(data)
    assert float(attacks.attribute_disclosure(release, "occupation").largest) <= 0.5 + 1e-9
    assert "beside sex, workclass alone" in str(error) or "beside workclass, sex alone" in str(error)
