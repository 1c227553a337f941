"""What levels do to classes: by hand, and against counting rows with pandas."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, Hierarchy, Microdata
from anoncore.table.level_effects import LevelEffect, level_effects, level_groups

PEOPLE = pd.DataFrame({"age": [21, 24, 35, 38, None], "sex": list("ffmff"), "who": list("abcde")})
KNOWN = dict.fromkeys(["age", "sex"], "quasi-identifier")
TENS = Hierarchy.by_width([21, 24, 35, 38], 10)


def test_by_hand():
    data = Microdata(PEOPLE, KNOWN)
    # Level 0: every row alone. Tens: (20-29, f) has two rows. Top: four women and one man.
    assert level_effects(data, "age", 2, TENS) == (
        LevelEffect(0, 5, 1, 5, 1.0),
        LevelEffect(1, 3, 1, 3, 0.6),
        LevelEffect(2, 1, 1, 1, 0.2),
    )
    assert level_effects(data, "age", 1, TENS)[0].n_below == 0
    assert level_effects(data, "sex", 2) == (LevelEffect(0, 2, 1, 5, 1.0),)
    coded = Microdata(PEOPLE, KNOWN, hierarchies={"age": TENS})
    assert level_effects(coded, "age", 2) == level_effects(data, "age", 2, TENS)


def test_people_are_counted_where_one_may_have_several_rows():
    visits = pd.DataFrame({"who": ["a", "a", "b", "c"], "age": [21, 24, 35, 38]})
    data = Microdata(visits, {"age": "quasi-identifier"}, unit="who")
    # The twenties are two rows of one person, the thirties two people.
    assert level_effects(data, "age", 2, TENS)[1] == LevelEffect(1, 2, 1, 2, 0.5)
    assert level_effects(data, "age", 3, TENS)[2] == LevelEffect(2, 1, 3, 0, 0.0)


def test_what_does_not_fit_is_said():
    data = Microdata(PEOPLE, KNOWN)
    with pytest.raises(DataError, match="no attribute 'shoe'; the table has 'age'"):
        level_effects(data, "shoe", 2)
    with pytest.raises(DataError, match="k must be a whole number, 1 or more, not 0"):
        level_effects(data, "age", 0)
    with pytest.raises(DataError, match="'age' lacks '24', '35', '38'"):
        level_effects(data, "age", 2, Hierarchy({21: ["x"]}))


LABELS = st.sampled_from(["x", "y", "(missing)", None])


@pytest.mark.slow
@given(
    rows=st.lists(st.tuples(st.sampled_from(["a", "b", "c", "d", None]), LABELS, LABELS), min_size=1, max_size=30),
    groups=st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from(["P", "(missing)"])), min_size=4, max_size=4),
    k=st.integers(1, 4),
    by_people=st.booleans(),
    role=st.sampled_from(["quasi-identifier", "insensitive"]),
)
@settings(max_examples=100)
def test_against_pandas(rows, groups, k, by_people, role):
    # One upper group per group of the lower one, so that levels nest.
    upper = dict(groups)
    hierarchy = Hierarchy({value: (low, upper[low], "*") for value, (low, _) in zip("abcd", groups, strict=True)})
    frame = pd.DataFrame(rows, columns=["v", "p", "q"], dtype=object).assign(
        who=[place // 2 for place in range(len(rows))]
    )
    roles = {"v": role, "p": "quasi-identifier", "q": "quasi-identifier", "who": "identifier"}
    data = Microdata(frame, roles, hierarchies={"v": hierarchy}, unit="who" if by_people else None)
    effects = level_effects(data, "v", k)
    assert [effect.level for effect in effects] == [0, 1, 2, 3]
    for effect in effects:
        texts = [_text(hierarchy, value, effect.level) for value in frame["v"]]
        coded = pd.DataFrame({name: data.codes[name] for name in ("p", "q")}).assign(v=texts, who=frame["who"])
        classes = coded.groupby(["p", "q", "v"])
        sizes = classes["who"].transform("nunique" if by_people else "size")
        assert effect.n_values == len(set(texts))
        assert effect.smallest == sizes.min()
        assert effect.n_below == (sizes < k).sum()
        assert effect.share_below == (sizes < k).mean()
    groups_of = level_groups(data.domain["v"], hierarchy)
    for lower, higher in pairwise(groups_of):
        assert len({*zip(lower.tolist(), higher.tolist(), strict=True)}) == len({*lower.tolist()}), "levels nest"


def _text(hierarchy: Hierarchy, value: object, level: int) -> str:
    if level == hierarchy.height:
        return "*"
    if value is None:
        return "a missing cell"
    return hierarchy.path_of(value)[level - 1] if level else f"value {value}"
