"""Classification: what is learned, what it is compared with, and that lost information shows."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support

from anoncore import CancelledError, Distorted, Fragment, Microdata, Partition, Release, ReleaseError
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.base.errors import AnonymizationError, ParameterError
from anoncore.kernels.arrays import Codes
from anoncore.requirements import KAnonymity
from anoncore.utility import classification, classifiers
from anoncore.utility.classifiers import Bounds, Features, NaiveBayes, NearestNeighbours, PrunedTree, Tree, pruned
from anoncore.utility.cross_validation import Predicted, released_tables, runs_of_original, runs_of_release
from anoncore.utility.outcome import judge
from tests.privacy.releases import reordered, value_sets
from tests.utility.releases import adult, fragment, generalized, published_values, random_releases, sliced

CLASSIFIERS = ["tree", "naive-bayes", "knn"]


@pytest.fixture
def people() -> Microdata:
    """The class follows from the age; the town tells nothing."""
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, 300)
    frame = pd.DataFrame(
        {"age": age, "town": rng.choice(list("ABC"), 300), "class": np.where(age < 35, "young", "old")}
    )
    return Microdata(frame, roles={"age": "quasi-identifier", "town": "quasi-identifier", "class": "sensitive"})


@given(st.integers(0, 10_000), st.integers(10, 400), st.sampled_from([0.001, 0.01, 0.03, 0.1, 1.0]))
@settings(max_examples=30, deadline=None)
def test_pruning_is_that_of_scikit_learn(seed: int, n: int, cost: float) -> None:
    trees = pytest.importorskip("sklearn.tree")
    rng = np.random.default_rng(seed)
    features = rng.integers(0, 9, (n, 3))
    labels = np.where(rng.random(n) < 0.6, features[:, 0] // 3, rng.integers(0, 4, n))
    shape = {"criterion": "entropy", "min_samples_leaf": 2, "random_state": 0}
    wanted = trees.DecisionTreeClassifier(ccp_alpha=cost, **shape).fit(features, labels)
    grown = trees.DecisionTreeClassifier(**shape).fit(features, labels)
    # Where a cut brings just what it costs, rounding decides, there and here.
    below, above = (pruned(grown.tree_, cost * (1 + change))[0] for change in (-1e-9, 1e-9))
    assume((below == above).all())
    found = PrunedTree(grown, *pruned(grown.tree_, cost))
    assert found.classes_.tolist() == wanted.classes_.tolist()
    assert found.predict_proba(features) == pytest.approx(wanted.predict_proba(features), abs=1e-12)
    assert len(np.unique(found.predicting[grown.apply(features)])) == wanted.get_n_leaves()


@pytest.mark.parametrize("seed", range(20))
def test_rows_that_are_alike_enter_a_tree_once_and_it_stays_the_same(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    features = rng.integers(0, rng.integers(2, 6), (int(rng.integers(10, 400)), 3)).astype(np.int32)
    labels = ((features[:, 0] + rng.integers(0, 3, len(features))) % 3).astype(np.int32)
    data = Microdata(pd.DataFrame({"class": labels}), roles={"class": "sensitive"})
    trees = []
    for few_alike in (-1.0, 1.0):
        monkeypatch.setattr(classifiers, "FEW_ALIKE", few_alike)
        trees.append(Tree(data).train(features, labels, {}, seed))
    one_by_one, weighted = trees
    assert weighted.grown.tree_.n_node_samples[0] <= len(np.unique(np.column_stack((features, labels)), axis=0))
    assert (weighted.predict_proba(features) == one_by_one.predict_proba(features)).all()


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_an_exact_release_teaches_as_much_as_the_original(people: Microdata, classifier: str) -> None:
    result = classification(sliced(people, [0] * 300, [people.attributes]), "class", classifier)
    assert float(result) == result.accuracy == result.baseline == result.original.accuracy
    assert result.weighted_f == result.original.weighted_f
    assert result.accuracy > 0.93
    assert result.fold_accuracy.shape == (1, 10)
    assert result.higher_is_better is True


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_one_group_teaches_only_the_majority(people: Microdata, classifier: str) -> None:
    result = classification(generalized(people, [0] * 300), "class", classifier, folds=5)
    share = max((people.codes["class"] == code).mean() for code in (0, 1))
    assert result.accuracy == result.majority.accuracy == pytest.approx(share)
    assert result.majority.weighted_f == pytest.approx(share * 2 * share / (1 + share))
    assert result.baseline is not None
    assert result.baseline > 0.93


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_age_ranges_that_keep_the_class_apart_teach_it(people: Microdata, classifier: str) -> None:
    decades = np.unique((people.frame["age"] - 20) // 5, return_inverse=True)[1]
    result = classification(generalized(people, decades.tolist()), "class", classifier)
    assert result.accuracy > 0.9


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_random_linking_in_one_bucket_teaches_nothing(people: Microdata, classifier: str) -> None:
    release = sliced(people, [0] * 300, [["age", "town"], ["class"]])
    result = classification(release, "class", classifier, folds=4, repeats=3)
    assert result.fold_accuracy.shape == (3, 4)
    assert result.fold_accuracy.mean() == pytest.approx(result.accuracy)
    assert result.accuracy < 0.75
    alone = classification(sliced(people, list(range(300)), [["age", "town"], ["class"]]), "class", classifier, folds=4)
    assert alone.accuracy == alone.baseline


def test_a_generalized_target_takes_values_of_its_region(people: Microdata) -> None:
    # Inside a group every town is as likely, so a town can be guessed at best by chance.
    release = generalized(people, (people.codes["class"]).tolist())
    result = classification(release, "town", "tree", folds=3)
    assert result.fold_accuracy.shape == (5, 3)
    assert result.accuracy == pytest.approx(1 / 3, abs=0.08)


def test_distorted_classes_are_learned_as_published(people: Microdata) -> None:
    partition = Partition(np.arange(300, dtype=np.int32))
    domain, codes = people.domain["class"], people.codes["class"]
    swapped = Distorted(domain, partition, 1 - codes, codes)
    parts = Fragment(
        "release", partition, {"age": fragment(people, "x", partition, ["age"]).recodings["age"], "class": swapped}
    )
    assert classification(Release(people, (parts,)), "class").accuracy < 0.07


def test_fragments_with_their_own_groups_vote(people: Microdata) -> None:
    first, second = Partition(np.arange(300, dtype=np.int32)), Partition(np.arange(300, dtype=np.int32)[::-1] // 2)
    parts = (
        fragment(people, "one", first, ["age", "class"]),
        fragment(people, "two", second, ["class"], ["town"]),
    )
    result = classification(Release(people, parts), "class")
    assert result.accuracy > 0.9
    lost = (parts[1], fragment(people, "one", first, ["age"]))
    majority = classification(Release(people, lost), "class")
    assert majority.accuracy == pytest.approx(majority.majority.accuracy, abs=0.02)


def test_a_seed_repeats_the_result(people: Microdata) -> None:
    release = sliced(people, (np.arange(300) // 3).tolist(), [["age", "town"], ["class"]])
    first, again, other = (classification(release, "class", seed=seed, folds=3) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.fold_accuracy, again.fold_accuracy)
    pd.testing.assert_frame_equal(first.released.confusion, again.released.confusion)
    assert (first.fold_accuracy != other.fold_accuracy).any()


def test_progress_reaches_one_and_can_cancel(people: Microdata) -> None:
    release = generalized(people, [0] * 300)
    seen: list[float] = []
    classification(release, "class", folds=3, progress=lambda share, text: seen.append(share))
    assert seen == sorted(seen)
    assert len(seen) == 6
    assert seen[-1] == 1

    def stop(share: float, text: str) -> None:
        raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        classification(release, "class", folds=3, progress=stop)


def test_the_original_table_is_learned_from_once(people: Microdata, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[int] = []
    train = Tree.train

    def counted(self: Tree, features: Features, labels: Codes, *rest: Any) -> Any:
        trained.append(len(labels))
        return train(self, features, labels, *rest)

    monkeypatch.setattr(Tree, "train", counted)
    release, other = (generalized(people, groups) for groups in ([0] * 300, (np.arange(300) // 100).tolist()))
    first = classification(release, "class", folds=4)
    assert len(trained) == 8
    second = classification(other, "class", folds=4)
    assert len(trained) == 12
    pd.testing.assert_frame_equal(first.original.confusion, second.original.confusion)
    classification(other, "class", folds=4, seed=1)
    assert len(trained) == 20
    # Fragments in another order publish the same attributes.
    turned = sliced(people, list(range(300)), [["class", "town"], ["age"]])
    assert float(classification(turned, "class", folds=4, repeats=1)) == first.baseline
    assert len(trained) == 24
    copy = Microdata(people.frame, roles=people.roles)
    assert classification(generalized(copy, [0] * 300), "class", folds=4).baseline == first.baseline
    assert len(trained) == 32


def test_what_a_cancelled_measure_learned_from_the_original_stays(people: Microdata) -> None:
    release = generalized(people, [0] * 300)
    expected = classification(generalized(Microdata(people.frame, roles=people.roles), [0] * 300), "class", folds=5)
    for stop_at in (2, 6, 9):

        def stop(share: float, text: str, stop_at: int = stop_at) -> None:
            if share * 10 >= stop_at:
                raise CancelledError("stopped")

        with pytest.raises(CancelledError):
            classification(release, "class", folds=5, progress=stop)
    pd.testing.assert_frame_equal(
        classification(release, "class", folds=5).original.confusion, expected.original.confusion
    )


def test_a_table_that_nobody_holds_is_not_kept_with_what_it_predicts(people: Microdata) -> None:
    data = Microdata(people.frame, roles=people.roles)
    classification(generalized(data, [0] * 300), "class", "naive-bayes", folds=2)
    held = weakref.ref(data)
    del data
    gc.collect()
    assert held() is None


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"classifier": "forest"}, ParameterError, "classifier is 'forest'; use one of 'tree', 'naive-bayes', 'knn'"),
        ({"folds": 1}, ParameterError, "2 to 300 folds"),
        ({"folds": 301}, ParameterError, "not 301"),
        ({"repeats": 0}, ParameterError, "repeats must be at least 1"),
        ({"target": "weight"}, ReleaseError, "does not publish 'weight'"),
    ],
)
def test_numbers_out_of_range(
    people: Microdata, arguments: dict[str, object], error: type[AnonymizationError], words: str
) -> None:
    with pytest.raises(error, match=words):
        classification(generalized(people, [0] * 300), **({"target": "class"} | arguments))


def test_questions_without_an_answer(people: Microdata) -> None:
    partition = Partition(np.zeros(300, dtype=np.int32))
    with pytest.raises(ReleaseError, match="nothing together with 'class'"):
        classification(Release(people, (fragment(people, "class", partition, ["class"]),)), "class")
    many = Microdata(
        pd.DataFrame({"id": np.arange(101), "x": np.arange(101) % 2}),
        roles={"x": "quasi-identifier", "*": "insensitive"},
    )
    with pytest.raises(ParameterError, match="'id' has 101 values"):
        classification(generalized(many, [0] * 101), "id")


def test_a_table_of_a_few_rows_is_judged() -> None:
    frame = pd.DataFrame({"age": [1, 2, None], "class": ["a", None, "b"]})
    data = Microdata(frame, roles={"age": "quasi-identifier", "class": "sensitive"})
    for classifier in CLASSIFIERS:
        result = classification(generalized(data, [0, 0, 1]), "class", classifier, folds=3)
        assert 0 <= result.accuracy <= 1
        assert result.released.per_class.index.tolist() == ["a", "b", "(missing)"]


@pytest.mark.slow
@given(random_releases(min_rows=2))
@settings(max_examples=20)
def test_training_rows_are_what_is_published(release: Release) -> None:
    """Cells of row i in the first fragment are those of original row i; linked cells come from the same group."""
    for table in released_tables(release, "ill", np.random.default_rng(0)):
        assert len(table.labels) == release.data.n_rows
        for name, cells in table.cells.items():
            part = release.fragment_of(name)
            published = [published_values(release, name, row, part) for row in range(release.data.n_rows)]
            bounds = [(codes[0], codes[-1]) for codes in published]
            found = list(zip(cells.low.tolist(), cells.high.tolist(), strict=True))
            if part is release.fragments[0] or not release.is_shared:
                assert found == bounds
                continue
            group = release.partition.group
            for g in range(release.partition.n_groups):
                rows = np.flatnonzero(group == g)
                assert sorted(found[row] for row in rows) == sorted(bounds[row] for row in rows)


def test_outcome_equals_scikit_learn() -> None:
    rng = np.random.default_rng(5)
    data = Microdata(pd.DataFrame({"class": list("abcd") * 25}), {"*": "insensitive"})
    truth = data.codes["class"]
    guess = np.where(rng.random(100) < 0.4, truth, rng.integers(0, 3, 100)).astype(np.int32)
    outcome = judge(truth, guess, data.domain["class"])
    assert outcome.accuracy == pytest.approx(accuracy_score(truth, guess))
    assert outcome.weighted_f == pytest.approx(f1_score(truth, guess, average="weighted", zero_division=0))
    precision, recall, f, _ = precision_recall_fscore_support(truth, guess, zero_division=0)
    np.testing.assert_allclose(outcome.per_class[["precision", "recall", "f"]].to_numpy().T, [precision, recall, f])
    assert outcome.per_class["share"] @ outcome.per_class["f"] == pytest.approx(outcome.weighted_f)


def test_naive_bayes_by_hand() -> None:
    # Class x: a row of age 1 and one anywhere in 1..2; class y: one row of age 2. Laplace adds 1 to each of 2 ages.
    data = Microdata(
        pd.DataFrame({"age": [1, 2, 2], "class": ["x", "x", "y"]}),
        roles={"age": "quasi-identifier", "*": "insensitive"},
    )
    low, high = np.array([0, 0, 1], dtype=np.int32), np.array([0, 1, 1], dtype=np.int32)
    table = {"age": Bounds(low, high, single=False)}
    method = NaiveBayes(data)
    model = method.train(method.features(table), data.codes["class"], table, 0)
    test = {"age": Bounds(np.array([0, 1], dtype=np.int32), np.array([0, 1], dtype=np.int32), single=False)}
    x = 2 / 3 * np.array([2.5 / 4, 1.5 / 4])
    y = 1 / 3 * np.array([1 / 3, 2 / 3])
    np.testing.assert_allclose(model.predict_proba(method.features(test))[:, 0], x / (x + y))


def test_nearest_neighbours_by_hand() -> None:
    # Ages 0..9: the five nearest of age 2 are 0..4; three rows at age 9 count whole once one of them is needed.
    frame = pd.DataFrame({"age": [0, 1, 2, 3, 4, 7, 8, 9, 9, 9], "class": list("xxyyyxyxxx")})
    data = Microdata(frame, roles={"age": "quasi-identifier", "*": "insensitive"})
    table = {"age": Bounds(data.codes["age"], data.codes["age"], single=True)}
    method = NearestNeighbours(data)
    features = method.features(table)
    np.testing.assert_allclose(features[:, 0], frame["age"] / 9)
    votes = method.train(features, data.codes["class"], table, 0).predict_proba(features[[2, 9]])
    np.testing.assert_allclose(votes, [[2 / 5, 3 / 5], [4 / 5, 1 / 5]])


def test_every_attribute_weighs_the_same_in_distances() -> None:
    frame = pd.DataFrame({"age": [10, 50], "town": ["A", "B"], "size": ["S", "L"]})
    data = Microdata(frame, {"*": "insensitive"}, orders={"size": ["S", "L"]})
    for single in (True, False):
        table = {name: Bounds(codes, codes, single) for name, codes in data.codes.items()}
        for name in table:
            points = NearestNeighbours(data).features({name: table[name]})
            assert np.linalg.norm(points[0] - points[1]) == pytest.approx(1.0)
        assert Tree(data).features(table).shape == (2, 3 if single else 6)


@pytest.mark.slow
def test_adult_teaches_less_in_larger_groups() -> None:
    """Original data teach best, small classes more than large ones."""
    data = adult(["age", "workclass", "education", "marital-status", "race", "sex"], "salary-class")
    small, large = (
        classification(Mondrian(requirements=[KAnonymity(k=k)]).anonymize(data), "salary-class", folds=3)
        for k in (5, 1000)
    )
    assert small.baseline == large.baseline
    assert large.accuracy < small.accuracy < small.original.accuracy + 0.005
    assert small.accuracy > small.majority.accuracy + 0.04
    data = adult(["age", "workclass", "education", "sex"], "occupation")
    buckets = classification(Anatomy(l=2, seed=1).anonymize(data), "occupation", folds=3, repeats=2)
    assert buckets.majority.accuracy < buckets.accuracy < buckets.original.accuracy


@pytest.mark.parametrize("classifier", ["tree", "naive-bayes", "knn"])
@pytest.mark.parametrize("form", ["generalized", "sliced", "sets"])
def test_the_order_of_the_rows_changes_nothing(classifier: str, form: str) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"age": rng.integers(0, 7, 60), "town": rng.choice(list("ABC"), 60)})
    frame["ill"] = np.where(rng.random(60) < 0.6, frame["town"], rng.choice(list("ABC"), 60))
    data = Microdata(frame, {"age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive"})
    # Classes of five by content, so that some equal rows are in different ones.
    group = np.empty(60, dtype=np.int32)
    group[data.canonical_order] = np.arange(60) // 5
    release = generalized(data, group) if form != "sliced" else sliced(data, group, [["age", "town"], ["ill"]])
    if form == "sets":
        (whole,) = release.fragments
        release = Release(
            data,
            (
                Fragment(
                    "release",
                    whole.partition,
                    {**whole.recodings, "ill": value_sets(data, "ill", whole.partition)},
                ),
            ),
        )
    found = classification(release, "ill", classifier, folds=4, repeats=2)

    def sampled(of: Release) -> list[list[Predicted]]:
        asked = "ill", classifier, 4
        return [runs_of_release(of, *asked, 2, 20, 0, None), runs_of_original(of, *asked, 20, 0, None)]

    estimated = sampled(release)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(60)
        other = reordered(release, order)
        again = classification(other, "ill", classifier, folds=4, repeats=2)
        assert (again.accuracy, again.weighted_f) == (found.accuracy, found.weighted_f)
        assert again.fold_accuracy.tolist() == found.fold_accuracy.tolist()
        assert again.original.confusion.equals(found.original.confusion)
        assert again.majority.confusion.equals(found.majority.confusion)
        for one, same in zip(estimated, sampled(other), strict=True):
            for (_, first, half), (_, again_first, again_half) in zip(one, same, strict=True):
                assert (first.tolist(), half.tolist()) == (again_first.tolist(), again_half.tolist())
