"""The estimate of the weighted F: exact for small tables, and an interval that keeps its promise for larger ones."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from anoncore import CancelledError, Microdata, Release
from anoncore.base.errors import ParameterError
from anoncore.utility import classification, classification_estimate, learning_estimate
from anoncore.utility.cross_validation import _tables_of_rows, runs_of_original, runs_of_release
from anoncore.utility.learning_estimate import weighted_f
from tests.utility.releases import generalized, sliced

FORMS = ("regions", "linked")


def people(seed: int, n: int = 1_500) -> Microdata:
    """Three classes of unlike size that follow from age and town, with noise."""
    rng = np.random.default_rng(seed)
    age, town = rng.integers(20, 60, n), rng.integers(0, 4, n)
    noise = rng.random(n)
    kind = np.where(noise < 0.3, rng.choice(3, n, p=[0.1, 0.3, 0.6]), (age // 12 + town) % 3)
    frame = pd.DataFrame({"age": age, "town": town.astype(str), "class": kind.astype(str)})
    return Microdata(frame, roles={"age": "quasi-identifier", "town": "quasi-identifier", "class": "sensitive"})


def release_of(data: Microdata, form: str) -> Release:
    if form == "regions":
        return generalized(data, (data.codes["age"] // 5).tolist())
    # Buckets of people of like age, as a method makes them.
    place = np.argsort(np.argsort(data.codes["age"], kind="stable"))
    return sliced(data, (place // 4).tolist(), [["age", "town"], ["class"]])


def limit(monkeypatch: pytest.MonkeyPatch, largest: int, sampled: int) -> None:
    """Let tables count as large from so many cells on."""
    for name, cells in (("LARGEST_TRAINING", largest), ("SAMPLED_TRAINING", sampled)):
        held = dict.fromkeys(learning_estimate.LARGEST_TRAINING, cells)
        monkeypatch.setattr(learning_estimate, name, MappingProxyType(held))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("classifier", ["tree", "naive-bayes", "knn"])
def test_a_small_table_is_judged_exactly(form: str, classifier: str) -> None:
    release = release_of(people(0, 300), form)
    found = classification_estimate(release, "class", classifier, folds=4, repeats=2)
    exact = classification(release, "class", classifier, folds=4, repeats=2)
    assert found.low == found.value == found.high == pytest.approx(exact.weighted_f)
    assert found.original == pytest.approx(exact.original.weighted_f)
    assert found.majority == pytest.approx(exact.majority.weighted_f)
    assert found.is_exact
    assert found.n_trained == found.n_all == (4 if form == "regions" else 8)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("classifier", ["tree", "naive-bayes"])
def test_three_trainings_tell_the_weighted_f(form: str, classifier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, 3_000, 3_000)
    held, half = [], []
    for seed in range(15):
        release = release_of(people(seed), form)
        found = classification_estimate(release, "class", classifier, seed=seed, repeats=3)
        exact = classification(release, "class", classifier, seed=seed, repeats=3)
        assert (found.n_trained, found.n_all) == (3, 10 if form == "regions" else 30)
        assert found.original == pytest.approx(exact.original.weighted_f)
        assert found.how == f"from 3 of {found.n_all} trainings"
        held.append(found.low <= exact.weighted_f <= found.high)
        half.append((found.high - found.low) / 2)
    assert np.mean(held) >= 0.9
    assert 0.01 < np.median(half) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("n_rows", "widest"), [(2_000, 0.12), (700, 0.18)])
def test_a_sample_of_the_rows_tells_the_weighted_f(
    form: str, n_rows: int, widest: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of groups, where the sample is most of the table, and else of rows from all over it."""
    limit(monkeypatch, 10_000, 2 * n_rows)
    held, half = [], []
    for seed in range(12):
        release = release_of(people(seed, 6_000), form)
        found = classification_estimate(release, "class", "naive-bayes", seed=seed, repeats=2)
        exact = classification(release, "class", "naive-bayes", seed=seed, repeats=2)
        assert (found.n_trained, found.n_rows) == (3, n_rows)
        assert found.how == f"from 3 trainings on {n_rows:,} of 6,000 rows"
        held.append(found.low <= exact.weighted_f <= found.high)
        half.append((found.high - found.low) / 2)
    assert np.mean(held) >= 0.9
    assert np.median(half) < widest


def test_a_run_on_a_sample_predicts_rows_that_it_does_not_learn_from(monkeypatch: pytest.MonkeyPatch) -> None:
    data = people(1, 2_000)
    release = release_of(data, "regions")
    released = runs_of_release(release, "class", "tree", 3, 1, 400, 0, None)
    original = runs_of_original(release, "class", "tree", 3, 400, 0, None)
    for runs in (released, original):
        rows = [found[0] for found in runs]
        assert len(np.unique(np.concatenate(rows))) == sum(len(one) for one in rows) == 300
        shares = [np.bincount(data.codes["class"][one], minlength=3) / 100 for one in rows]
        assert np.abs(np.array(shares) - np.bincount(data.codes["class"]) / 2_000).max() < 0.011
    again = runs_of_original(release_of(data, "linked"), "class", "tree", 3, 400, 0, None)
    assert again is original, "it is worked out once for all releases of a table"


def few_large_groups(seed: int, n: int = 12_000) -> Release:
    """Large buckets, in each of which a town goes with a class by chance; in the whole table it does not."""
    rng = np.random.default_rng(seed)
    town = rng.integers(0, 30, n)
    frame = pd.DataFrame({"town": town.astype(str), "age": rng.integers(0, 50, n), "class": rng.choice(["a", "b"], n)})
    data = Microdata(frame, roles={"town": "quasi-identifier", "age": "quasi-identifier", "class": "sensitive"})
    order = np.lexsort((rng.random(n), town, data.codes["class"]))
    group = np.empty(n, np.int64)
    group[order] = np.arange(n) // 200
    return sliced(data, group.tolist(), [["town", "age"], ["class"]])


def test_few_large_groups_do_not_pass_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a few groups alone the classifier would learn what holds in these few and in no others."""
    limit(monkeypatch, 10_000, 2_000)
    for seed in range(4):
        release = few_large_groups(seed)
        found = classification_estimate(release, "class", "naive-bayes", seed=seed)
        exact = classification(release, "class", "naive-bayes", seed=seed)
        assert found.low <= exact.weighted_f <= found.high


@pytest.mark.parametrize("form", FORMS)
def test_rows_from_all_over_the_table_are_linked_inside_their_groups(form: str) -> None:
    release = release_of(people(4, 2_000), form)
    rows = np.random.default_rng(1).permutation(2_000)[:500]
    (table,) = _tables_of_rows(release, "class", rows, np.random.default_rng(0))
    group, codes = release.partition.group, release.data.codes
    for row, label in zip(rows.tolist(), table.labels.tolist(), strict=True):
        assert label in codes["class"][group == group[row]]
    if form == "regions":
        assert (table.cells["age"].low <= codes["age"][rows]).all()
        assert (table.cells["age"].high >= codes["age"][rows]).all()
        assert (table.labels == codes["class"][rows]).all()
    else:
        assert (table.cells["age"].low == codes["age"][rows]).all()
        assert (table.labels != codes["class"][rows]).any(), "links are random"


def test_a_seed_repeats_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for cells in (3_000, 1_000):
        limit(monkeypatch, cells, 800)
        release = release_of(people(1), "linked")
        first, again, other = (classification_estimate(release, "class", seed=seed) for seed in (1, 1, 2))
        assert first == again
        assert first != other


def test_the_variance_of_a_weighted_f_is_that_of_rows_drawn_again() -> None:
    rng = np.random.default_rng(0)
    counts = np.array([[300, 60, 10], [80, 200, 30], [20, 40, 60]])
    drawn = rng.multinomial(counts.sum(), (counts / counts.sum()).ravel(), 4_000).reshape(-1, 3, 3)
    drawn_again = np.var([weighted_f(one) for one in drawn])
    assert learning_estimate._row_variance(counts) == pytest.approx(drawn_again, rel=0.1)


def test_it_reports_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    release = release_of(people(2, 300), "regions")

    def stop(share: float, text: str) -> None:
        raise CancelledError("stopped")

    for largest in (10_000, 100):
        limit(monkeypatch, largest, 100)
        seen: dict[float, str] = {}
        classification_estimate(release, "class", folds=3, progress=seen.__setitem__)
        assert list(seen) == sorted(seen)
        assert max(seen) == 1
        with pytest.raises(CancelledError):
            classification_estimate(release, "class", folds=3, progress=stop)


def test_it_refuses_what_the_measure_refuses() -> None:
    with pytest.raises(ParameterError, match="2 to 300 folds"):
        classification_estimate(release_of(people(3, 300), "regions"), "class", folds=1)
