"""Downcoding: what is said of cells is true of every release, and beliefs are those of all ways to fill a class."""

from __future__ import annotations

from itertools import product
from math import factorial

import numpy as np
import pandas as pd
import pytest

from anoncore import Hierarchy, Microdata, ReleaseError, attacks
from anoncore.algorithms import Anatomy, Incognito, LocalRecoding, Mondrian, RothkoSampling
from anoncore.attacks.downcoding import expected_shares
from anoncore.base.errors import CancelledError
from anoncore.privacy.cell_knowledge import CellKnowledge
from anoncore.release.recoding import Generalized
from anoncore.requirements import DistinctDiversity, KAnonymity

ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "sex": "quasi-identifier", "disease": "sensitive"}


def table(seed: int, n: int = 60) -> Microdata:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "town": rng.choice(["Ulm", "Bonn", "Köln", "Jena", "Bern", "Graz"], n),
            "sex": rng.choice(["f", "m"], n),
            "disease": rng.choice(["flu", "cold", "HIV"], n),
        }
    )
    lands = {"Ulm": "D", "Bonn": "D", "Köln": "D", "Jena": "D", "Bern": "CH", "Graz": "A"}
    paths = pd.DataFrame([[town, land, "*"] for town, land in lands.items()])
    hierarchies = {"age": Hierarchy.by_width(frame["age"], width=5), "town": Hierarchy.from_table(paths)}
    return Microdata(frame, ROLES, kinds={"town": "nominal"}, hierarchies=hierarchies)


def plain_shares(shares: np.ndarray, size: int, known: CellKnowledge) -> np.ndarray:
    """The expected shares by going through all numbers of rows per child."""
    total, weighed = 0.0, np.zeros(len(shares))
    for numbers in product(range(size + 1), repeat=len(shares)):
        counts = np.array(numbers)
        if counts.sum() != size:
            continue
        present = counts[counts > 0]
        if known.is_lowest and len(present) < 2:
            continue
        if known.some_below and not (present < known.some_below).any():
            continue
        if known.all_below and not (counts < known.all_below).all():
            continue
        weight = factorial(size) * np.prod(shares**counts) / np.prod([factorial(count) for count in numbers])
        total, weighed = total + weight, weighed + weight * counts
    return weighed / total / size


@pytest.mark.parametrize("size", [2, 3, 5, 7])
@pytest.mark.parametrize(
    "rules", [(True, 0, 0), (True, 3, 0), (True, 0, 3), (False, 2, 0), (False, 0, 4), (True, 9, 0)]
)
def test_expected_shares_are_those_of_all_numbers_of_rows(size: int, rules: tuple[bool, int, int]) -> None:
    known = CellKnowledge(np.ones(1, dtype=bool), *rules)
    if not known.some_below and not known.is_lowest and size > 9:
        pytest.skip("nothing is ruled out")
    if known.all_below and 3 * (known.all_below - 1) < size:
        assert expected_shares(np.array([0.6, 0.3, 0.1]), size, known).tolist() == [0.6, 0.3, 0.1]
        return
    if known.some_below == 2 and size == 2 and not known.is_lowest:
        # Two rows below two children: one of each.
        assert expected_shares(np.array([0.6, 0.4]), 2, known) == pytest.approx([0.5, 0.5])
    for shares in ([0.6, 0.3, 0.1], [0.5, 0.5], [0.05, 0.95]):
        if known.all_below and len(shares) * (known.all_below - 1) < size:
            continue
        expected = plain_shares(np.array(shares), size, known)
        assert expected_shares(np.array(shares), size, known) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_said_of_cells_is_true(seed: int) -> None:
    data = table(seed)
    for method in (
        Mondrian(requirements=[KAnonymity(k=4)]),
        Mondrian(requirements=[KAnonymity(k=4)], split="loss", strict=True),
        Mondrian(requirements=[DistinctDiversity(l=2)]),
        LocalRecoding(requirements=[KAnonymity(k=4)]),
        LocalRecoding(requirements=[KAnonymity(k=4)], most_nodes=2),
        LocalRecoding(requirements=[KAnonymity(k=2), DistinctDiversity(l=3)]),
    ):
        release = method.anonymize(data)
        known = method.cell_knowledge(release)
        assert known.applies.any()
        for name in ("age", "town"):
            recoding, tree = release.recoding(name), data.domain[name].tree
            assert isinstance(recoding, Generalized)
            for group in np.flatnonzero(known.applies):
                node = recoding.node[group]
                children = tree.children[tree.child_start[node] : tree.child_start[node + 1]]
                codes = data.codes[name][release.partition.rows(group)]
                counts = np.array([((tree.first[c] <= codes) & (codes <= tree.last[c])).sum() for c in children])
                present = counts[counts > 0]
                if len(children) < 2:
                    continue
                assert len(present) >= 2
                if known.some_below:
                    assert present.min() < known.some_below
                if known.all_below:
                    assert present.max() < known.all_below


@pytest.mark.parametrize("seed", range(6))
def test_no_row_fits_a_class_with_one_finer_cell(seed: int) -> None:
    data = table(seed, 200)
    n_finer = 0
    for requirements in ([KAnonymity(k=2)], [KAnonymity(k=5)], [DistinctDiversity(l=2)]):
        release = LocalRecoding(requirements=requirements).anonymize(data)
        known = release.algorithm.cell_knowledge(release)
        partition = release.partition
        first = [partition.rows(group)[0] for group in range(partition.n_groups)]
        low, high = (
            np.column_stack(ends)[first]
            for ends in zip(*(release.recoding(name).bounds() for name in ROLES if name != "disease"), strict=True)
        )
        codes = np.column_stack([data.codes[name] for name in ROLES if name != "disease"])
        for coarse in np.flatnonzero(known.applies):
            for finer in np.flatnonzero(known.applies):
                differ = (low[coarse] != low[finer]) | (high[coarse] != high[finer])
                inside = (low[coarse] <= low[finer]) & (high[finer] <= high[coarse])
                if differ.sum() == 1 and inside.all() and not differ[2]:
                    n_finer += 1
                    rows = codes[partition.rows(coarse)]
                    assert not ((low[finer] <= rows) & (rows <= high[finer])).all(axis=1).any()
        found = attacks.downcoding(release)
        bottom, top = found.interval
        assert bottom <= found.lift <= top
        assert found.lift == pytest.approx(float(found.right) - found.right.baseline)
    assert n_finer


def test_a_finer_class_took_all_rows_that_fit_it() -> None:
    people = pd.DataFrame({"age": ["31", "32", "33", "24", "45"], "sex": list("fffff")})
    paths = pd.DataFrame([[age, f"{age[0]}0s", "*"] for age in people["age"]])
    data = Microdata(
        people,
        dict.fromkeys(people, "quasi-identifier"),
        kinds={"age": "nominal"},
        hierarchies={"age": Hierarchy.from_table(paths)},
    )
    found = attacks.downcoding(LocalRecoding(requirements=[KAnonymity(k=2)]).anonymize(data))
    # Of the five cells all are generalized: three to 30s, whose children are the ages, and two to *. Of the ages in the
    # thirties each has a third, which guessing has too. By the table * is most likely 30s, which is wrong twice.
    assert found.n_cells == 5
    assert found.right == pytest.approx((3 * 1 / 3 + 2 * 1 / 2) / 5)
    assert found.right.baseline == pytest.approx(3 * 1 / 3 / 5)
    assert found.lift == pytest.approx(1 / 5)
    assert found.undone == 0.0


def test_one_level_for_all_tells_nothing_of_a_cell_and_other_methods_are_not_measured() -> None:
    data = table(1)
    found = attacks.downcoding(Incognito(requirements=[KAnonymity(k=4)]).anonymize(data))
    assert found.n_cells > 0
    assert found.lift == 0.0
    assert found.interval == (0.0, 0.0)
    boxes = attacks.downcoding(Mondrian(requirements=[KAnonymity(k=4)], recoding="regions").anonymize(data))
    assert boxes.lift == 0.0
    for method in (RothkoSampling(requirements=[KAnonymity(k=4)], seed=1), Anatomy(l=2, seed=1)):
        with pytest.raises(ReleaseError, match="does not say it"):
            attacks.downcoding(method.anonymize(data))


def test_without_hierarchies_there_is_nothing_to_undo() -> None:
    frame = pd.DataFrame({"age": range(20, 30)})
    data = Microdata(frame, {"age": "quasi-identifier"})
    found = attacks.downcoding(Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data))
    assert (found.n_cells, found.attributes, float(found.right), float(found.lift)) == (0, (), 0.0, 0.0)


def test_it_says_how_far_it_is_and_can_be_stopped() -> None:
    people = pd.DataFrame({"town": ["Ulm", "Bonn", "Bern", "Basel"] * 3, "age": range(12)})
    towns = Hierarchy({"Ulm": ["D"], "Bonn": ["D"], "Bern": ["CH"], "Basel": ["CH"]})
    data = Microdata(people, dict.fromkeys(people, "quasi-identifier"), hierarchies={"town": towns})
    release = Mondrian(requirements=[KAnonymity(k=4)]).anonymize(data)
    told: list[float] = []
    attacks.downcoding(release, progress=lambda share, _: told.append(share))
    assert told == sorted(told) != []

    def stop(_share: float, _text: str) -> None:
        raise CancelledError

    with pytest.raises(CancelledError):
        attacks.downcoding(release, progress=stop)
