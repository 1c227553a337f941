"""The estimator: what scikit-learn asks of one, and that its cells are true, hide among enough people, and refuse."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import check_estimator

from anoncore import Anonymizer, DataError, Hierarchy, ParameterError, ReleaseError, datasets
from anoncore.algorithms import (
    Anatomy,
    CentroidMicroaggregation,
    Incognito,
    LocalRecoding,
    LocalSuppression,
    Mask,
    Mondrian,
    OptimalRecoding,
    Pram,
    Slicing,
    Suppression,
)
from anoncore.requirements import DistinctDiversity, FrequencyDiversity, KAnonymity, TCloseness

ARITHMETIC = "it subtracts cells from each other, and with numbers='text' cells are texts such as 20-29"
NO_ARRAY_API = "it needs SCIPY_ARRAY_API=1 and arrays of other libraries, which the methods do not compute with"
DOES_NOT_APPLY = {
    "text": dict.fromkeys(
        (
            "check_estimators_pickle",
            "check_fit_idempotent",
            "check_methods_sample_order_invariance",
            "check_methods_subset_invariance",
            "check_pipeline_consistency",
            "check_transformer_data_not_an_array",
            "check_transformer_general",
        ),
        ARITHMETIC,
    ),
    "small groups": {
        "check_fit_idempotent": "it transforms rows that were not fitted, and outside='refuse' refuses those that no "
        "group holds"
    },
}
"""The checks of scikit-learn that do not apply to an estimator of `CHECKED`, each with the reason."""
SKIPPED = {"check_array_api_input": NO_ARRAY_API}
CHECKED = {
    "default": Anonymizer(),
    "bounds": Anonymizer(numbers="bounds"),
    "text": Anonymizer(numbers="text"),
    "nearest": Anonymizer(outside="nearest"),
    "local recoding": Anonymizer(LocalRecoding(requirements=[KAnonymity(k=3)])),
    "small groups": Anonymizer(Mondrian(requirements=[KAnonymity(k=3)])),
    "target": Anonymizer(protect_target=True, outside="suppress"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CHECKED))
def test_scikit_learn_finds_an_estimator(name: str) -> None:
    expected = DOES_NOT_APPLY.get(name, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of every check that it leaves out
        results = check_estimator(CHECKED[name], expected_failed_checks=expected, on_fail=None)
    by_status: dict[str, set[str]] = {}
    for one in results:
        by_status.setdefault(one["status"], set()).add(one["check_name"])
    assert by_status.pop("skipped") == set(SKIPPED)
    assert by_status.pop("xfail", set()) == set(expected), "a check that passes need not be left out"
    assert len(by_status.pop("passed")) > 30
    assert by_status == {}


def people(n: int = 200, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"p{number}" for number in range(n)],
            "age": rng.integers(18, 80, n),
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice(["Ulm", "Bonn", "Trier"], n),
            "income": rng.normal(3_000, 900, n).round(),
            "illness": rng.choice(["flu", "cold", "gout"], n),
        }
    )


ROLES = {
    "name": "identifier",
    "age": "quasi-identifier",
    "sex": "quasi-identifier",
    "town": "quasi-identifier",
    "illness": "sensitive",
}
MONDRIAN = Mondrian(requirements=[KAnonymity(k=5)])


def test_rows_keep_their_order_and_columns_their_roles() -> None:
    frame = people().set_index(pd.Index(range(900, 1_100)))
    anonymizer = Anonymizer(MONDRIAN, roles={**ROLES, "*": "insensitive"}, numbers="bounds").fit(frame)
    table = anonymizer.transform(frame)
    assert list(table) == ["age_low", "age_high", "sex", "town", "income", "illness"]
    assert list(table) == anonymizer.get_feature_names_out().tolist()
    assert table.index.equals(frame.index)
    assert table[["income", "illness"]].equals(frame[["income", "illness"]])
    assert ((table["age_low"] <= frame["age"]) & (frame["age"] <= table["age_high"])).all()
    assert all(sex in text for sex, text in zip(frame["sex"], table["sex"], strict=True))
    assert table.groupby(["age_low", "age_high", "sex", "town"]).size().min() >= 5
    assert anonymizer.n_features_in_ == 6
    without = Anonymizer(MONDRIAN, roles=ROLES, numbers="bounds").fit(frame)
    assert list(without.transform(frame)) == ["age_low", "age_high", "sex", "town", "illness"], "income has no role"
    assert list(without.transform(frame)) == without.get_feature_names_out().tolist()


SMALL = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from("abc"), st.sampled_from(["x", "y"])), min_size=6, max_size=40
)
METHODS = {
    "mondrian": Mondrian(requirements=[KAnonymity(k=3)]),
    "local recoding": LocalRecoding(requirements=[KAnonymity(k=3)]),
    "suppression": Suppression(method=Mondrian(requirements=[KAnonymity(k=3)]), max_suppression=0.2),
}
KNOWN = {"age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive"}


@pytest.mark.slow
@pytest.mark.parametrize("method", list(METHODS))
@settings(max_examples=30)
@given(rows=SMALL, new=st.lists(st.tuples(st.integers(-1, 8), st.sampled_from("abcd")), min_size=1, max_size=8))
def test_cells_are_those_of_the_finest_class_that_holds_a_row(
    method: str, rows: list[tuple[int, str, str]], new: list[tuple[int, str]]
) -> None:
    """Against all classes one by one: of those whose cells allow the values, the one that loses least."""
    frame = pd.DataFrame(rows, columns=["age", "town", "ill"])[["age", "town"]]
    kinds = {"age": "numeric"}
    anonymizer = Anonymizer(METHODS[method], kinds=kinds, numbers="bounds", outside="suppress").fit(frame)
    release = anonymizer.release_
    age, town = release.recoding("age"), release.recoding("town")
    loss = age.loss() + town.loss()
    ages, towns = release.data.domain["age"].values, release.data.domain["town"].values
    own: dict[tuple[Any, ...], int] = {}
    for row, group in zip(rows, release.partition.group.tolist(), strict=True):
        assert own.setdefault(row[:2], group) == group, "equal rows share a group"
    known = [*own, *(one for one in new if one not in own)]
    table = anonymizer.transform(pd.DataFrame(known, columns=["age", "town"]))
    for one, cells in zip(known, table.itertuples(index=False), strict=True):
        holding = [
            group
            for group in range(release.partition.n_groups)
            if ages[age.low[group]] <= one[0] <= ages[age.high[group]]
            and one[1] in [towns[code] for code in town.values(group)]
        ]
        if not holding:
            assert np.isnan([cells.age_low, cells.age_high]).all()
            assert cells.town == "*"
            continue
        finest = own.get(one, min(holding, key=lambda group: (round(loss[group], 12), group)))
        assert finest in holding
        assert (cells.age_low, cells.age_high) == (ages[age.low[finest]], ages[age.high[finest]])
        assert cells.town == town.group_texts[finest]


@pytest.mark.slow
@settings(max_examples=50)
@given(rows=SMALL, t=st.sampled_from([0.1, 0.3, 0.6]))
def test_every_promise_holds_where_equal_rows_share_a_class(rows: list[tuple[int, str, str]], t: float) -> None:
    frame = pd.DataFrame(rows, columns=["age", "town", "ill"])
    requirements = [KAnonymity(k=3), TCloseness(t=t, ground="equal")]
    anonymizer = Anonymizer(Mondrian(requirements=requirements), roles=KNOWN, kinds={"age": "numeric"}).fit(frame)
    group = pd.Series(anonymizer.release_.partition.group)
    assert group.groupby([frame["age"], frame["town"]]).nunique().max() == 1
    assert group.value_counts().min() >= 3
    whole = (frame["ill"] == "x").mean()
    assert ((frame["ill"] == "x").groupby(group).mean() - whole).abs().max() <= t + 1e-9
    assert anonymizer.transform(frame)["ill"].equals(frame["ill"])


def test_a_row_that_no_class_holds_is_refused_left_out_or_given_to_the_nearest() -> None:
    frame = pd.DataFrame({"age": [20, 22, 40, 44], "sex": ["f", "f", "m", "m"]})
    new = pd.DataFrame({"age": [21, 30, 43], "sex": ["f", "f", "m"]})
    method = Mondrian(requirements=[KAnonymity(k=2)])
    with pytest.raises(ReleaseError, match=r"1 row of 3 lies in no group .* the first is row 1 \(age = 30, sex = f\)"):
        Anonymizer(method).fit(frame).transform(new)
    left_out = Anonymizer(method, outside="suppress").fit(frame).transform(new)
    assert left_out["age"].tolist()[::2] == [21.0, 42.0]
    assert np.isnan(left_out["age"][1])
    assert left_out["sex"].tolist() == ["f", "*", "m"]
    nearest = Anonymizer(method, outside="nearest").fit(frame).transform(new)
    assert nearest.to_dict("list") == {"age": [21.0, 21.0, 42.0], "sex": ["f", "f", "m"]}


def test_labels_of_a_hierarchy_hold_values_that_did_not_occur() -> None:
    frame = pd.DataFrame({"age": [21, 24, 41, 47], "town": ["Ulm", "Ulm", "Bonn", "Bonn"]})
    towns = Hierarchy.from_nested({"south": ["Ulm", "Passau"], "west": ["Bonn", "Trier", "Aachen"]})
    trees = {"age": Hierarchy.by_width(frame["age"], 10, fanout=3), "town": towns}
    anonymizer = Anonymizer(Incognito(requirements=[KAnonymity(k=2)]), hierarchies=trees, numbers="bounds").fit(frame)
    assert anonymizer.transform(frame).iloc[0].tolist() == [20, 29, "Ulm"]
    assert anonymizer.transform(pd.DataFrame({"age": [29], "town": ["Ulm"]})).iloc[0].tolist() == [20, 29, "Ulm"]
    with pytest.raises(ReleaseError, match="lies in no group"):
        anonymizer.transform(pd.DataFrame({"age": [30], "town": ["Ulm"]}))
    by_region = frame.assign(town=["Ulm", "Passau", "Bonn", "Trier"])
    anonymizer = Anonymizer(Incognito(requirements=[KAnonymity(k=2)]), hierarchies=trees).fit(by_region)
    assert anonymizer.transform(pd.DataFrame({"age": [41], "town": ["Aachen"]}))["town"].tolist() == ["west"]
    with pytest.raises(ReleaseError, match="lies in no group"):
        anonymizer.transform(pd.DataFrame({"age": [41], "town": ["Rome"]}))


def test_missing_cells_are_held_by_classes_that_have_some() -> None:
    frame = pd.DataFrame({"age": [20, 22, np.nan, np.nan, 60, 61]})
    anonymizer = Anonymizer(Mondrian(requirements=[KAnonymity(k=2)]), numbers="bounds").fit(frame)
    assert anonymizer.transform(pd.DataFrame({"age": [np.nan]}))["age_or_missing"].tolist() == [True]
    with pytest.raises(ReleaseError, match=r"age = \(missing\)"):
        Anonymizer(Mondrian(requirements=[KAnonymity(k=2)])).fit(frame.dropna()).transform(frame)


def test_new_rows_that_break_a_promise_beside_the_fitted_ones_are_refused() -> None:
    frame = pd.DataFrame({"age": [20, 21, 40, 41], "ill": ["flu", "cold", "gout", "cold"]})
    roles = {"age": "quasi-identifier", "ill": "sensitive"}
    method = Mondrian(requirements=[FrequencyDiversity(l=2)])
    anonymizer = Anonymizer(method, roles=roles, kinds={"age": "numeric"}).fit(frame)
    assert anonymizer.release_.partition.n_groups == 2
    assert anonymizer.transform(frame)["ill"].tolist() == frame["ill"].tolist()
    assert len(anonymizer.transform(frame.iloc[[0]])) == 1, "a row that was fitted is no further one"
    balanced = pd.DataFrame({"age": [20, 21], "ill": ["cold", "flu"]})
    assert anonymizer.transform(balanced)["age"].tolist() == [20.5, 20.5]
    with pytest.raises(ReleaseError, match=r"may not be published beside .* would fail in 1 group"):
        anonymizer.transform(balanced.iloc[[0]])
    with pytest.raises(ReleaseError, match=r"may not be published beside"):
        anonymizer.transform(pd.concat([frame.iloc[[0]], frame.iloc[[0]]]))


def test_equal_rows_that_a_method_keeps_apart_come_together_and_every_promise_holds() -> None:
    """Relaxed cuts put people of the same age into two classes; a function of the age cannot."""
    frame = pd.DataFrame({"age": [20] * 5 + [21] * 2 + [22] * 5, "ill": ["flu", "cold"] * 6})
    roles = {"age": "quasi-identifier", "ill": "sensitive"}
    for requirements in ([KAnonymity(k=4)], [KAnonymity(k=3), TCloseness(t=0.2)]):
        method = Mondrian(requirements=requirements)
        release = Anonymizer(method, roles=roles, kinds={"age": "numeric"}).fit(frame).release_
        assert frame.groupby("age")["ill"].size().sum() == 12
        assert pd.Series(release.partition.group).groupby(frame["age"]).nunique().max() == 1
        assert release.partition.sizes.min() >= requirements[0].k
        assert len(release.partition.sizes) >= 2


def test_the_target_may_be_what_is_protected() -> None:
    frame, target = people()[["age", "sex", "town"]], people()["illness"]
    method = Mondrian(requirements=[KAnonymity(k=5), DistinctDiversity(l=3)])
    anonymizer = Anonymizer(method, protect_target=True)
    table = anonymizer.fit(frame, target).transform(frame)
    assert list(table) == ["age", "sex", "town"]
    assert anonymizer.get_feature_names_out().tolist() == list(table)
    assert target.groupby([table[name] for name in table]).nunique().min() == 3
    with pytest.raises(ParameterError, match="requires y to be passed"):
        anonymizer.fit(frame)
    with pytest.raises(DataError, match="y has 3 values and the table 200 rows"):
        anonymizer.fit(frame, target[:3])


def test_a_person_with_several_rows_counts_once() -> None:
    frame = people(60).assign(name=lambda table: table.index // 3)
    frame[["age", "sex", "town"]] = frame.groupby("name")[["age", "sex", "town"]].transform("first")
    table = Anonymizer(MONDRIAN, roles=ROLES, unit="name").fit_transform(frame)
    assert "name" not in table
    assert frame["name"].groupby([table[name] for name in ("age", "sex", "town")]).nunique().min() >= 5


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "arrow", "array"])
@pytest.mark.parametrize("asked", ["default", "pandas", "polars"])
def test_tables_come_out_in_the_kind_that_came_in_or_that_was_asked_for(kind: str, asked: str) -> None:
    frame = people()[["age", "sex", "illness"]]
    given: Any = {
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "lazy": lambda: pl.from_pandas(frame).lazy(),
        "arrow": lambda: pa.Table.from_pandas(frame, preserve_index=False),
        "array": lambda: frame.to_numpy(),
    }[kind]()
    anonymizer = Anonymizer(MONDRIAN).set_output(transform=asked)
    table = anonymizer.fit_transform(given)
    kinds = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "lazy": pl.LazyFrame, "arrow": pa.Table}
    assert isinstance(table, kinds.get(kind if asked == "default" else asked, np.ndarray))
    names = ["x0", "x1", "x2"] if kind == "array" else ["age", "sex", "illness"]
    expected = Anonymizer(MONDRIAN).fit_transform(frame)
    if asked != "default":
        assert list(table.columns) == names
    if kind == "lazy" and asked == "default":
        table = table.collect()
    values = (
        table if isinstance(table, np.ndarray) else table.to_pandas() if not isinstance(table, pd.DataFrame) else table
    )
    assert np.array_equal(np.asarray(values, dtype=object), expected.to_numpy(dtype=object))


@pytest.mark.slow
def test_it_works_in_pipelines_and_searches() -> None:
    table = datasets.table("census")
    frame = table.load(n_rows=400, seed=1)
    known = ["age", "education", "sex", "hours-per-week"]
    model = make_pipeline(
        Anonymizer(outside="nearest"),
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
            remainder="passthrough",
        ),
        LogisticRegression(max_iter=2_000),
    )
    methods = [Mondrian(requirements=[KAnonymity(k=k)]) for k in (5, 50)]
    search = GridSearchCV(model, {"anonymizer__algorithm": methods}, cv=3, error_score="raise")
    is_rich = frame["income"] > frame["income"].median()
    search.fit(frame[known], is_rich)
    assert search.best_params_["anonymizer__algorithm"] in methods
    assert (search.predict(frame[known]) == is_rich).mean() > 0.6


def test_levels_and_fields_of_the_method_are_parameters_of_their_own() -> None:
    both = (KAnonymity(k=5), DistinctDiversity(l=2))
    model = make_pipeline(Anonymizer(Mondrian(requirements=both)))
    model.set_params(anonymizer__algorithm__k=7, anonymizer__algorithm__split="loss")
    changed = model.named_steps["anonymizer"].algorithm
    assert changed == Mondrian(requirements=(KAnonymity(k=7), DistinctDiversity(l=2)), split="loss")
    assert model.get_params()["anonymizer__algorithm__l"] == 2
    # A method and its level are set in this order, whatever the order of the words.
    model.set_params(anonymizer__algorithm__k=3, anonymizer__algorithm=Mondrian(requirements=[KAnonymity(k=9)]))
    assert model.named_steps["anonymizer"].algorithm.requirements == (KAnonymity(k=3),)
    with pytest.raises(
        ParameterError, match="Mondrian has no field 't', and none of its requirements has such a level"
    ):
        model.set_params(anonymizer__algorithm__t=0.2)
    with pytest.raises(ParameterError, match="k should be greater than or equal to 1, not 0"):
        model.set_params(anonymizer__algorithm__k=0)
    assert clone(model).get_params()["anonymizer__algorithm__k"] == 3


def test_parameters_are_cloned_and_pickled() -> None:
    anonymizer = Anonymizer(MONDRIAN, roles=ROLES, numbers="bounds")
    again = clone(anonymizer)
    assert again.get_params()["algorithm"] == MONDRIAN
    assert again.set_params(numbers="text").numbers == "text"
    with pytest.raises(NotFittedError):
        again.transform(people())
    fitted = anonymizer.fit(people())
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(fitted)).transform(people()), fitted.transform(people()))


@pytest.mark.parametrize(
    "method",
    [
        Anatomy(l=2),
        Slicing(l=1.5, sensitive_column_size=1),
        Mask(k=2, l=2),
        Pram(attributes="both"),
        CentroidMicroaggregation(k=3),
    ],
    ids=lambda one: one.name,
)
def test_methods_that_do_not_recode_by_class_are_refused(method: Any) -> None:
    with pytest.raises(ParameterError, match="does not recode known values group by group"):
        Anonymizer(method, roles=ROLES).fit(people())


@pytest.mark.parametrize("method", [OptimalRecoding(), LocalSuppression(), Incognito()], ids=lambda one: one.name)
def test_methods_with_hierarchies_or_single_cells_are_learned(method: Any) -> None:
    frame = people()[["sex", "town", "illness"]]
    trees = {
        "town": Hierarchy.from_nested({"south": ["Ulm"], "west": ["Bonn", "Trier"]}),
        "sex": Hierarchy.from_nested(["f", "m"]),
    }
    roles = {"sex": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}
    anonymizer = Anonymizer(method.replace(requirements=(KAnonymity(k=20),)), roles=roles, hierarchies=trees)
    table = anonymizer.fit_transform(frame)
    assert table.groupby(["sex", "town"]).size().min() >= 20


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"algorithm": "mondrian"}, "algorithm is 'mondrian'; give a method such as Mondrian"),
        ({"numbers": "words"}, "numbers is 'words'; use one of 'text', 'bounds', 'midpoints'"),
        ({"outside": None}, "outside is None; use one of 'refuse', 'suppress', 'nearest'"),
    ],
)
def test_wrong_parameters_are_told_when_it_is_fitted(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Anonymizer(**wrong).fit(people())


def test_other_columns_and_types_are_refused() -> None:
    anonymizer = Anonymizer(MONDRIAN, roles=ROLES).fit(people())
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing"):
        anonymizer.transform(people().drop(columns="age"))
    with pytest.raises(DataError, match="'age' is tagged numeric but holds 'old'"):
        anonymizer.transform(people(3).assign(age="old"))
    with pytest.raises(ParameterError, match="input_features is 'age'; fitted were 'name', 'age'"):
        anonymizer.get_feature_names_out(["age"])


@pytest.mark.slow
def test_importing_the_package_does_not_import_scikit_learn() -> None:
    code = "import sys, anoncore, anoncore.cli; assert 'sklearn' not in sys.modules; anoncore.Anonymizer()"
    subprocess.run([sys.executable, "-c", code], check=True)
