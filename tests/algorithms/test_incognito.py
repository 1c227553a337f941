"""Incognito against the whole lattice by brute force, and ARX's own optima on Adult."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import CancelledError, DataError, Hierarchy, InfeasibleError, Microdata, privacy
from anoncore.algorithms import Incognito
from anoncore.release.partition import Partition
from anoncore.requirements import (
    BetaLikeness,
    CheckSet,
    DistinctDiversity,
    FrequencyDiversity,
    KAnonymity,
    Requirement,
    TCloseness,
)
from anoncore.table.hierarchy_files import read_hierarchy
from anoncore.utility import discernibility, information_loss
from tests.requirements.tables import misleading_index
from tests.shared_data import FOLDER, needs

DATA = FOLDER
needs_data = needs("hierarchies", "adult.csv")

TREE = {"low": ["a", "b"], "high": {"odd": ["c"], "even": ["d", "e"]}}
HIERARCHIES = {"tree": Hierarchy.from_nested(TREE), "age": Hierarchy.by_width(range(8), 2)}
NAMES = ("tree", "age", "plain")
HEIGHTS = (*(HIERARCHIES[name].height for name in NAMES[:2]), 1)
REQUIREMENTS: list[tuple[Requirement, ...]] = [
    (KAnonymity(k=2),),
    (KAnonymity(k=4),),
    (DistinctDiversity(l=2),),
    (FrequencyDiversity(l=2),),
    (TCloseness(t=0.3),),
    (BetaLikeness(beta=0.7),),
    (KAnonymity(k=2), TCloseness(t=0.4)),
]


@st.composite
def tables(draw, several_rows=False):
    """A small table; `several_rows`: of people of whom some have several rows, so that people are counted."""
    n = draw(st.integers(3, 16))
    column = {
        "tree": st.sampled_from("abcde") | st.none(),
        "age": st.integers(0, 7),
        "plain": st.sampled_from(["u", "v", None]),
        "s": st.sampled_from("xyz"),
    }
    cells = {name: draw(st.lists(values, min_size=n, max_size=n)) for name, values in column.items()}
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in cells.items()})
    frame["age"] = frame["age"].astype("int64")
    if frame["tree"].isna().all():
        frame.loc[0, "tree"] = "a"
    frame.index = pd.Index(misleading_index(n))
    roles = dict.fromkeys(NAMES, "quasi-identifier") | {"s": "sensitive"}
    if several_rows:
        frame["who"] = draw(st.lists(st.integers(0, 2 * n // 3), min_size=n, max_size=n))
    return Microdata(frame, roles=roles, hierarchies=HIERARCHIES, unit="who" if several_rows else None)


def label(name, value, level):
    """What a value is at a level, by the hierarchies' own paths; missing joins the others at the top."""
    height = HEIGHTS[NAMES.index(name)]
    if level == height:
        return "*"
    if pd.isna(value):
        return "(missing)"
    return str(value) if level == 0 else HIERARCHIES[name].path_of(value)[level - 1]


def labels(data, node):
    """The labels of every row, (n_rows,) tuples."""
    columns = [
        [label(name, value, level) for value in data.frame[name]] for name, level in zip(NAMES, node, strict=True)
    ]
    return list(zip(*columns, strict=True))


def lowest_codes(data, node):
    """The lowest code of each row's label in the table, attribute by attribute, (n_rows,) tuples."""
    columns = []
    for name, level in zip(NAMES, node, strict=True):
        of_row = [label(name, value, level) for value in data.frame[name]]
        lowest: dict[str, int] = {}
        for shown, code in zip(of_row, data.codes[name].tolist(), strict=True):
            lowest[shown] = min(code, lowest.get(shown, code))
        columns.append([lowest[shown] for shown in of_row])
    return list(zip(*columns, strict=True))


def satisfying(model, data):
    """Every node that satisfies the requirements, with the rows that it suppresses."""
    checks = CheckSet(model.requirements, data).checks

    def holds(rows):
        one = Partition(np.zeros(len(rows), dtype=np.int32))
        return all(check.holds(check.levels(one, rows=np.array(rows)))[0] for check in checks)

    found = {}
    for node in product(*(range(height + 1) for height in HEIGHTS)):
        groups: dict[tuple[str, ...], list[int]] = {}
        places = lowest_codes(data, node)
        for row, key in enumerate(labels(data, node)):
            groups.setdefault(key, []).append(row)
        # Of equally large groups the first by their values joins first.
        good = sorted((rows for rows in groups.values() if holds(rows)), key=lambda rows: (len(rows), places[rows[0]]))
        suppressed = [row for rows in groups.values() if not holds(rows) for row in rows]
        while suppressed and good and not holds(suppressed):
            suppressed += good.pop(0)
        if len(suppressed) <= model.max_suppression * data.n_rows and (not suppressed or holds(suppressed)):
            found[node] = suppressed
    return found


def minimal(nodes):
    def below(one, other):
        return one != other and all(a <= b for a, b in zip(one, other, strict=True))

    return {node for node in nodes if not any(below(other, node) for other in nodes)}


def loss(data, node, suppressed=()):
    """Mean share of the domain that a cell covers, value by value."""
    total = 0.0
    for name, level in zip(NAMES, node, strict=True):
        values = data.frame[name].drop_duplicates().tolist()
        for row, value in enumerate(data.frame[name]):
            alike = [one for one in values if label(name, one, level) == label(name, value, level)]
            covered = len(values) if row in suppressed else len(alike)
            total += (covered - 1) / max(len(values) - 1, 1)
    return total / (data.n_rows * len(NAMES))


@pytest.mark.slow
@settings(max_examples=25)
@given(data=tables(), requirements=st.sampled_from(REQUIREMENTS))
def test_minimal_nodes_are_those_of_the_whole_lattice(data, requirements):
    model = Incognito(requirements=requirements)
    expected = minimal(satisfying(model, data))
    if not expected:
        with pytest.raises(InfeasibleError):
            model.anonymize(data)
        return
    found = model.search(data)
    assert set(found.minimal) == expected
    assert found.loss == pytest.approx(min(loss(data, node) for node in expected))
    assert loss(data, found.levels) == pytest.approx(found.loss)
    release = model.anonymize(data)
    assert information_loss(release) == pytest.approx(found.loss)
    for place, name in enumerate(NAMES):
        cells = release.recoding(name).texts().tolist()
        wanted = [row[place] for row in labels(data, found.levels)]
        assert len(set(cells)) == len(set(wanted)) == len(set(zip(cells, wanted, strict=True)))


@pytest.mark.slow
@settings(max_examples=40)
@given(data=tables(several_rows=True), requirements=st.sampled_from(REQUIREMENTS))
def test_minimal_nodes_are_those_of_the_whole_lattice_where_people_are_counted(data, requirements):
    model = Incognito(requirements=requirements)
    expected = minimal(satisfying(model, data))
    if not expected:
        with pytest.raises(InfeasibleError):
            model.anonymize(data)
        return
    assert set(model.search(data).minimal) == expected
    release = model.anonymize(data)
    if data.people is not None:
        people = data.frame.reset_index(drop=True).groupby(release.partition.group)["who"].nunique()
        assert people.min() >= max((one.k for one in requirements if isinstance(one, KAnonymity)), default=1)


@pytest.mark.slow
@settings(max_examples=20)
@given(data=tables(), k=st.integers(2, 4), share=st.sampled_from([0.1, 0.25, 0.5]))
def test_suppression_against_brute_force(data, k, share):
    model = Incognito(requirements=(KAnonymity(k=k),), max_suppression=share)
    nodes = satisfying(model, data)
    if not nodes:
        with pytest.raises(InfeasibleError):
            model.anonymize(data)
        return
    found = model.search(data)
    assert set(found.minimal) == minimal(nodes)
    assert found.suppressed == len(nodes[found.levels]) <= share * data.n_rows
    release = model.anonymize(data)
    assert information_loss(release) == pytest.approx(found.loss)
    assert release.partition.sizes.min() >= k
    root = np.ones(release.partition.n_groups, dtype=np.bool_)
    for name in NAMES:
        root &= (release.recoding(name).loss() == 1) | (len(data.domain[name]) == 1)
    assert release.partition.sizes[root].sum() >= found.suppressed


def test_suppressed_rows_are_one_class_of_stars_that_keeps_the_promise():
    # Two people alone at every level but the top; two more must join them for k = 3.
    frame = pd.DataFrame({"tree": list("aaaabbbde"), "s": list("xyxyxyxyx")})
    data = Microdata(
        frame, roles={"tree": "quasi-identifier", "s": "sensitive"}, hierarchies={"tree": HIERARCHIES["tree"]}
    )
    release = Incognito(requirements=(KAnonymity(k=3),), max_suppression=0.6).anonymize(data)
    assert release.recoding("tree").texts().tolist() == ["a"] * 4 + ["*"] * 5
    assert privacy.check(release, [KAnonymity(k=3)]) == ()
    assert "5 of 9 rows (55.56%) are suppressed" in release.notes[1]
    table = release.tables()["release"]
    assert sorted(table["tree"]) == ["*"] * 5 + ["a"] * 4
    assert Incognito(requirements=(KAnonymity(k=3),)).search(data).levels == (3,)


def test_an_attribute_without_hierarchy_is_exact_or_a_star():
    frame = pd.DataFrame({"n": [1, 2, 3, 4], "c": ["a", "a", "b", "b"], "one": [7] * 4, "s": ["x", "y", "x", "y"]})
    data = Microdata(frame, roles=dict.fromkeys(["n", "c", "one"], "quasi-identifier") | {"s": "sensitive"})
    release = Incognito(requirements=(KAnonymity(k=2),)).anonymize(data)
    assert release.recoding("n").texts().tolist() == ["*"] * 4
    assert release.recoding("c").texts().tolist() == ["a", "a", "b", "b"]
    assert release.recoding("one").texts().tolist() == ["7"] * 4


def test_the_order_of_the_rows_does_not_matter():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"tree": rng.choice(list("abcde"), 40), "age": rng.integers(0, 8, 40), "s": rng.choice(list("xyz"), 40)}
    )
    roles = {"tree": "quasi-identifier", "age": "quasi-identifier", "s": "sensitive"}
    shuffled = rng.permutation(40)
    tables = [
        Incognito(requirements=(KAnonymity(k=3), DistinctDiversity(l=2)), max_suppression=0.1)
        .anonymize(Microdata(one, roles=roles, hierarchies=HIERARCHIES))
        .tables()["release"]
        for one in (frame, frame.iloc[shuffled])
    ]
    pd.testing.assert_frame_equal(*tables)


def test_what_cannot_be_searched_says_so():
    frame = pd.DataFrame(np.arange(60).reshape(3, 20) % 7, columns=[f"q{i}" for i in range(20)])
    data = Microdata(frame, roles=dict.fromkeys(frame.columns, "quasi-identifier"))
    with pytest.raises(DataError, match="1,048,576 combinations of levels"):
        Incognito(requirements=(KAnonymity(k=2),)).anonymize(data)

    def stop(share, text):
        if share > 0.2:
            raise CancelledError("stopped")

    small = Microdata(frame[["q0", "q1"]], roles=dict.fromkeys(["q0", "q1"], "quasi-identifier"))
    with pytest.raises(CancelledError):
        Incognito(requirements=(KAnonymity(k=2),)).anonymize(small, stop)


ARX_ORDER = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]


def arx_adult(names, sensitive=None):
    frame = pd.read_csv(DATA / "adult.csv").head(30_162)
    roles = dict.fromkeys(names, "quasi-identifier") | ({sensitive: "sensitive"} if sensitive else {})
    files = {name: read_hierarchy(DATA / "hierarchies" / f"adult_hierarchy_{name}.csv") for name in ARX_ORDER}
    return Microdata(frame[ARX_ORDER], roles=roles, hierarchies=files)


def non_uniform_entropy(data, node):
    """Bits lost: -log2 of each value's share of its region, over all cells (ARX's entropy metric)."""
    bits = 0.0
    for name, level in node.items():
        counts = data.frame[name].value_counts()
        region = [one if level == 0 else data.hierarchies[name].path_of(one)[level - 1] for one in counts.index]
        bits -= float((counts * np.log2(counts / counts.groupby(region).transform("sum"))).sum())
    return bits


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize(
    ("requirements", "sensitive", "levels", "bits"),
    [
        ((KAnonymity(k=5),), None, [1, 2, 1, 1, 3, 2, 2, 1, 1], 407289.5388925293),
        ((KAnonymity(k=100),), None, [0, 4, 1, 1, 3, 2, 2, 1, 1], 453196.8932458743),
        (
            (KAnonymity(k=5), TCloseness(t=0.2, ground="hierarchical")),
            "occupation",
            [0, 4, 1, 1, 3, 2, 2, 1],
            398400.0741806447,
        ),
    ],
)
def test_the_optimum_of_arx_is_the_best_minimal_node_by_its_measure(requirements, sensitive, levels, bits):
    """Levels and loss (non-uniform entropy) as ARX's own tests state them for its Adult extract and hierarchies."""
    names = [name for name in ARX_ORDER if name != sensitive]
    data = arx_adult(names, sensitive)
    found = Incognito(requirements=requirements).search(data)
    scores = {node: non_uniform_entropy(data, dict(zip(found.attributes, node, strict=True))) for node in found.minimal}
    best = min(scores, key=scores.__getitem__)
    assert [best[found.attributes.index(name)] for name in names] == levels
    assert scores[best] == pytest.approx(bits, rel=1e-12)
    assert found.n_checked < 30


@pytest.mark.slow
@needs_data
def test_equal_t_closeness_as_arx_has_it():
    """ARX's own tests: t = 0.2 on occupation with k = 5 leads to one node, whose discernibility is 456,853,172."""
    names = [name for name in ARX_ORDER if name != "occupation"]
    data = arx_adult(names, "occupation")
    model = Incognito(requirements=(KAnonymity(k=5), TCloseness(t=0.2, ground="equal")))
    release = model.anonymize(data)
    found = model.search(data)
    assert [found.levels[found.attributes.index(name)] for name in names] == [1, 4, 1, 1, 3, 2, 2, 1]
    assert discernibility(release) == 456_853_172


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("share", [0.0, 0.03], ids=["every row", "some suppressed"])
def test_on_adult_the_minimal_nodes_are_those_of_every_node_counted(share):
    """The plain way on a real table: the rows of every group are counted at each of 1,440 nodes."""
    names = ["sex", "age", "race", "marital-status", "education", "workclass"]
    data = arx_adult(names)
    sizes = [data.domain[name].tree.height + 1 for name in names]
    passing = {}
    frame = data.frame
    shown = {
        (name, level): frame[name].map(
            {
                value: value if level == 0 else data.hierarchies[name].path_of(value)[level - 1]
                for value in frame[name].unique()
            }
        )
        for name, size in zip(names, sizes, strict=True)
        for level in range(size)
    }
    codes = {key: pd.factorize(column)[0].astype(np.int64) for key, column in shown.items()}
    for node in product(*(range(size) for size in sizes)):
        key = np.zeros(len(frame), dtype=np.int64)
        for name, level in zip(names, node, strict=True):
            key = key * 100 + codes[name, level]
        counts = np.unique(key, return_counts=True)[1]
        suppressed = int(counts[counts < 10].sum())
        # Fewer suppressed rows than k are no class: further groups join them.
        if 0 < suppressed < 10:
            for count in np.sort(counts[counts >= 10]):
                suppressed += int(count)
                if suppressed >= 10:
                    break
        if suppressed <= share * len(frame):
            passing[node] = suppressed
    found = Incognito(requirements=(KAnonymity(k=10),), max_suppression=share).search(data)
    assert found.attributes == tuple(sorted(names, key=list(frame.columns).index))
    order = [names.index(name) for name in found.attributes]
    assert set(found.minimal) == {tuple(node[a] for a in order) for node in minimal(passing)}
    assert found.suppressed == passing[tuple(found.levels[found.attributes.index(name)] for name in names)]
    assert found.n_checked + found.n_checked_parts < found.n_nodes
