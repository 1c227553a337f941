import numpy as np
import pandas as pd
import pytest

from anoncore import DataError, Hierarchy, Microdata
from tests.shared_data import FOLDER, require

ARX = FOLDER / "hierarchies"


def tree_of(hierarchy, values, **settings):
    data = Microdata(pd.DataFrame({"x": values}), {"x": "insensitive"}, hierarchies={"x": hierarchy}, **settings)
    return data.domain["x"].tree


def nodes(tree):
    """Nodes as (label, first code, last code, level), in the tree's order."""
    return list(zip(tree.labels, tree.first.tolist(), tree.last.tolist(), tree.level.tolist(), strict=True))


def children(tree, node):
    return tree.children[tree.child_start[node] : tree.child_start[node + 1]].tolist()


CONTINENTS = {"Asia": ["China", "India"], "Europe": {"North": ["Norway"], "South": ["Greece", "Italy"]}}


def test_a_nested_taxonomy_becomes_paths_of_equal_length():
    hierarchy = Hierarchy.from_nested(CONTINENTS)
    assert hierarchy.height == 3
    assert hierarchy.paths == {
        "China": ("Asia", "Asia", "*"),
        "India": ("Asia", "Asia", "*"),
        "Norway": ("North", "Europe", "*"),
        "Greece": ("South", "Europe", "*"),
        "Italy": ("South", "Europe", "*"),
    }


def test_the_tree_over_a_domain_has_the_tightest_label_for_every_interval_of_codes():
    tree = tree_of(Hierarchy.from_nested(CONTINENTS), ["Italy", "China", "Norway", "Greece", "India"])
    # Codes in depth-first order: China 0, India 1, Norway 2, Greece 3, Italy 4. "North" holds Norway alone, so that it
    # is no node of its own, and a group of one value takes the value's own name at level 0.
    assert nodes(tree) == [
        ("*", 0, 4, 3),
        ("Asia", 0, 1, 1),
        ("Europe", 2, 4, 2),
        ("Norway", 2, 2, 0),
        ("South", 3, 4, 1),
        ("China", 0, 0, 0),
        ("India", 1, 1, 0),
        ("Greece", 3, 3, 0),
        ("Italy", 4, 4, 0),
    ]
    assert tree.parent.tolist() == [-1, 0, 0, 2, 2, 1, 1, 4, 4]
    assert [children(tree, node) for node in range(9)] == [[1, 2], [5, 6], [3, 4], [], [7, 8], [], [], [], []]
    assert tree.leaf.tolist() == [5, 6, 3, 7, 8]
    assert tree.height == 3


def test_common_ancestors():
    tree = tree_of(Hierarchy.from_nested(CONTINENTS), ["Italy", "China", "Norway", "Greece", "India"])
    low, high = np.array([0, 0, 2, 3, 2, 4], dtype=np.int32), np.array([0, 1, 3, 4, 2, 4], dtype=np.int32)
    assert [tree.labels[node] for node in tree.common_ancestor(low, high)] == [
        "China",
        "Asia",
        "Europe",
        "South",
        "Norway",
        "Italy",
    ]
    assert tree.labels[tree.common_ancestor(np.array([1]), np.array([2]))[0]] == "*"


def test_only_values_that_occur_make_nodes():
    tree = tree_of(Hierarchy.from_nested(CONTINENTS), ["Greece", "Italy"])
    assert nodes(tree) == [("South", 0, 1, 1), ("Greece", 0, 0, 0), ("Italy", 1, 1, 0)]


def test_a_single_value_is_its_own_root():
    tree = tree_of(Hierarchy.from_nested(CONTINENTS), ["Greece"])
    assert nodes(tree) == [("Greece", 0, 0, 0)]
    assert children(tree, 0) == []
    assert tree.common_ancestor(np.array([0]), np.array([0])).tolist() == [0]


def test_missing_values_join_the_others_at_the_top_only():
    tree = tree_of(Hierarchy.from_nested(CONTINENTS), ["China", None, "India"])
    assert nodes(tree) == [
        ("*", 0, 2, 3),
        ("Asia", 0, 1, 1),
        ("(missing)", 2, 2, 0),
        ("China", 0, 0, 0),
        ("India", 1, 1, 0),
    ]
    assert nodes(tree_of(Hierarchy.from_nested(CONTINENTS), pd.Series([None, None], dtype=object))) == [
        ("(missing)", 0, 0, 0)
    ]


def test_an_arx_table_may_repeat_a_label_over_levels():
    lines = [["a", "A", "A", "top"], ["b", "B", "BC", "top"], ["c", "C", "BC", "top"]]
    tree = tree_of(Hierarchy.from_table(lines), ["c", "b", "a"])
    assert nodes(tree) == [("top", 0, 2, 3), ("a", 0, 0, 0), ("BC", 1, 2, 2), ("b", 1, 1, 0), ("c", 2, 2, 0)]


def test_a_table_without_a_common_top_gets_one():
    assert Hierarchy.from_table([["a", "A"], ["b", "B"]]).paths == {"a": ("A", "*"), "b": ("B", "*")}
    assert Hierarchy.from_table([["a"], ["b"]]).paths == {"a": ("*",), "b": ("*",)}
    assert Hierarchy.from_table(pd.DataFrame({"value": ["a"], "group": ["A"]})).paths == {"a": ("A",)}


def test_lines_for_missing_values_are_not_needed_and_left_out():
    assert Hierarchy.from_table([["a", "*"], [None, "*"], [float("nan"), "*"], []]).paths == {"a": ("*",)}


def test_numbers_as_text_match_a_numeric_domain():
    hierarchy = Hierarchy.from_table([["1", "1-2", "*"], ["2", "1-2", "*"], ["10", "10", "*"]])
    for values in ([10, 2, 1], [10.0, None, 2.0, 1.0], pd.Series([10, 2, 1], dtype="Int64")):
        tree = tree_of(hierarchy, values)
        assert tree.labels[tree.common_ancestor(np.array([0]), np.array([1]))[0]] == "1-2"


def test_numbers_of_a_hierarchy_match_text_values():
    hierarchy = Hierarchy.from_table(pd.DataFrame({"value": [2, 1], "group": ["odd or even", "odd or even"]}))
    assert tree_of(hierarchy, ["1", "2"]).labels == ("odd or even", "2", "1")


def test_ages_of_arx_cover_numbers():
    path = require("hierarchies/adult_hierarchy_age.csv")
    hierarchy = Hierarchy.from_table(pd.read_csv(path, header=None, dtype=str))
    tree = tree_of(hierarchy, [17, 18, 19, 23, 24, 90])
    assert tree.labels[tree.common_ancestor(np.array([0]), np.array([2]))[0]] == "15-19"
    assert tree.labels[tree.common_ancestor(np.array([3]), np.array([4]))[0]] == "20-24"


@pytest.mark.parametrize("path", sorted(ARX.glob("*.csv")) or [None], ids=lambda path: path.stem if path else "none")
def test_every_arx_hierarchy_is_a_tree_of_nested_intervals(path):
    require("hierarchies")
    hierarchy = Hierarchy.from_table(pd.read_csv(path, header=None, dtype=str, keep_default_na=False))
    tree = tree_of(hierarchy, list(hierarchy.paths))
    for node in range(1, len(tree.labels)):
        parent = tree.parent[node]
        assert tree.first[parent] <= tree.first[node] <= tree.last[node] <= tree.last[parent]
        assert tree.level[node] < tree.level[parent]
        assert node in children(tree, parent)
    assert sorted(tree.leaf.tolist()) == [
        node for node in range(len(tree.labels)) if tree.first[node] == tree.last[node]
    ]


def test_an_order_that_tears_a_group_is_refused():
    hierarchy = Hierarchy.from_table([["a", "A"], ["b", "B"], ["c", "A"]])
    with pytest.raises(DataError, match=r"The order of 'x' tears the group 'A' of its hierarchy apart at 'c'"):
        tree_of(hierarchy, ["a", "b", "c"], orders={"x": ["a", "b", "c"]})
    assert nodes(tree_of(hierarchy, ["a", "b", "c"]))[1][0] == "A"
    numbers = Hierarchy.from_table([[1, "odd"], [2, "even"], [3, "odd"]])
    with pytest.raises(DataError, match=r"tears the group 'odd'"):
        tree_of(numbers, [1, 2, 3])


def test_unordered_categories_follow_the_hierarchy_and_ordered_ones_their_own_order():
    hierarchy = Hierarchy.from_table([["a", "A"], ["b", "B"], ["c", "A"]])
    values = pd.Categorical(["a", "b", "c"])
    assert tree_of(hierarchy, values).labels[1] == "A"
    with pytest.raises(DataError, match="tears"):
        tree_of(hierarchy, pd.Categorical(["a", "b", "c"], ordered=True))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hierarchy({}), "at least one value"),
        (lambda: Hierarchy.from_table([["a", "A", "*"], ["b", "*"]]), r"same number of levels; found \[1, 2\]"),
        (lambda: Hierarchy.from_table([["a", "A"], ["a", "B"]]), "'a' twice"),
        (lambda: Hierarchy.from_table([["a", None, "*"]]), "no label for 'a' at level 1"),
        (lambda: Hierarchy.from_table([["a", "G", "P"], ["b", "G", "Q"]]), "puts 'G' under both 'P' and 'Q'"),
        (lambda: Hierarchy({"a": "ABC"}), "must be a list of labels"),
        (lambda: Hierarchy.from_nested({"A": ["a"], "B": ["a"]}), "'a' twice"),
        (lambda: Hierarchy.from_nested({"A": []}), r"group 'A' of the hierarchy is empty"),
        (lambda: Hierarchy.from_nested({}), r"is empty"),
        (lambda: Hierarchy.from_nested({"A": "abc"}), "must hold a list of values, not 'abc'"),
        (lambda: Hierarchy.from_nested({"A": 3}), "must hold a list of values, not 3"),
        (lambda: Hierarchy.by_width([1, 2], 0), "must be a positive number, not 0"),
        (lambda: Hierarchy.by_width([1, 2], float("nan")), "must be a positive number"),
        (lambda: Hierarchy.by_width([1, 2], 1, start=2), "start at 2, above the smallest value 1"),
        (lambda: Hierarchy.by_width([1, 2], 1, fanout=1), "at least 2 intervals"),
        (lambda: Hierarchy.by_width([], 1), "at least one value"),
        (lambda: Hierarchy.by_width([None], 1), "at least one value"),
        (lambda: Hierarchy.by_width([0, 1e12], 1), "choose a larger width"),
        (lambda: Hierarchy.by_width([0, float("inf")], 1), "finite numbers, not 'inf'"),
        (lambda: Hierarchy.by_width(pd.to_datetime(["2020-01-01"]), 1), "finite numbers, not '2020-01-01'"),
        (lambda: Hierarchy.by_width([0, 10**400], 1), "choose a larger width"),
        (lambda: Hierarchy.by_width([0, "a"], 1), "finite numbers, not 'a'"),
        (lambda: Hierarchy.by_quantile([1, 2], 0), "at least 1, not 0"),
        (lambda: Hierarchy.by_quantile([1, "a"], 2), "values of one kind that have an order"),
        (lambda: Hierarchy([([1], ["A"])]), "cannot be compared"),
        (lambda: Hierarchy([(1, ["A"]), (1.0, ["A"])]), "'1' twice"),
    ],
)
def test_bad_hierarchies_get_one_sentence(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_a_truth_and_the_number_that_python_takes_for_it_are_two_values():
    lines = [(True, "truth"), (1, "number"), ("1", "text"), (False, "truth"), (0, "number")]
    values = [value for value, _ in lines]
    nested: dict[str, list[object]] = {}
    for value, group in lines:
        nested.setdefault(group, []).append(value)
    for hierarchy in (Hierarchy.from_table(lines), Hierarchy.from_nested(nested)):
        assert [hierarchy.path_of(value) for value in values] == [(group, "*") for _, group in lines]
        assert list(map(repr, hierarchy.order(values))) == ["True", "False", "1", "0", "'1'"]
        assert sorted(map(repr, hierarchy.leaves)) == sorted(map(repr, values))
        data = Microdata(
            pd.DataFrame({"x": pd.Series(values, dtype=object)}), {"*": "insensitive"}, hierarchies={"x": hierarchy}
        )
        assert {label for label, *_ in nodes(data.domain["x"].tree)} == {
            "*",
            "truth",
            "number",
            "True",
            "False",
            "1",
            "0",
        }


def test_values_that_the_hierarchy_lacks_are_named():
    hierarchy = Hierarchy.from_nested({"A": ["a"]})
    with pytest.raises(DataError, match=r"'x': The hierarchy lacks 'b', 'c'; add a line for each"):
        tree_of(hierarchy, ["a", "b", "c"])
    with pytest.raises(DataError, match=r"The hierarchy of 'x' lacks '1', '2'"):
        tree_of(hierarchy, [1, 2])
    with pytest.raises(DataError, match="make it a Hierarchy first"):
        Microdata(pd.DataFrame({"x": ["a"]}), hierarchies={"x": {"A": ["a"]}})


def test_whole_numbers_by_width_read_as_closed_ranges():
    assert Hierarchy.by_width([20, 29, 30, 51], 10).paths == {
        20: ("20-29", "20-39", "*"),
        29: ("20-29", "20-39", "*"),
        30: ("30-39", "20-39", "*"),
        51: ("50-59", "40-59", "*"),
    }
    assert Hierarchy.by_width([1, 2, 3], 1).paths == {1: ("1", "1-2", "*"), 2: ("2", "1-2", "*"), 3: ("3", "3", "*")}


def test_negative_numbers_by_width():
    assert Hierarchy.by_width([-7, -1, 4], 5).paths == {
        -7: ("-10 to -6", "-10 to -1", "*"),
        -1: ("-5 to -1", "-10 to -1", "*"),
        4: ("0-4", "0-4", "*"),
    }


def test_fractions_by_width_fall_into_the_interval_that_their_label_names():
    # In doubles 0.3 / 0.1 is below 3 and 3 * 0.1 above 0.3.
    assert {number: path[0] for number, path in Hierarchy.by_width([0.1, 0.3, 0.35, 0.7], 0.1).paths.items()} == {
        0.1: "[0.1, 0.2)",
        0.3: "[0.3, 0.4)",
        0.35: "[0.3, 0.4)",
        0.7: "[0.7, 0.8)",
    }
    assert Hierarchy.by_width([-0.25, 0.25], 0.5).paths == {-0.25: ("[-0.5, 0)", "*"), 0.25: ("[0, 0.5)", "*")}


def test_the_start_and_the_fanout_of_intervals():
    paths = Hierarchy.by_width([5, 14, 24, 34], 10, fanout=3, start=5).paths
    assert paths == {5: ("5-14", "*"), 14: ("5-14", "*"), 24: ("15-24", "*"), 34: ("25-34", "*")}


def test_quantiles_hold_about_the_same_number_of_rows():
    # Ten rows, five of them 1: two halves of five.
    rows = [1, 1, 1, 1, 1, 2, 3, 4, 5, None, 6]
    assert Hierarchy.by_quantile(rows, 2).paths == {
        1: ("1", "*"),
        **dict.fromkeys((2, 3, 4, 5, 6), ("2-6", "*")),
    }
    assert Hierarchy.by_quantile([-1.5, 2, 2, 3.25], 2).paths == {
        -1.5: ("-1.5 to 2", "*"),
        2: ("-1.5 to 2", "*"),
        3.25: ("3.25", "*"),
    }
    assert Hierarchy.by_quantile([1, 2, 3], 1).paths == {1: ("*",), 2: ("*",), 3: ("*",)}


def test_quantiles_of_dates():
    days = pd.to_datetime(["2020-01-01", "2020-01-02", "2020-03-01", "2020-03-02"])
    tree = tree_of(Hierarchy.by_quantile(days, 2), days)
    assert tree.labels[1:3] == ("2020-01-01 to 2020-01-02", "2020-03-01 to 2020-03-02")


def test_intervals_match_the_columns_that_they_are_made_of():
    for column in (pd.Series([1, 5, None, 9]), pd.Series([1, 5, None, 9], dtype="Int64"), pd.Series([0.5, 1.25])):
        assert tree_of(Hierarchy.by_width(column, 2), column).height >= 1
        assert tree_of(Hierarchy.by_quantile(column, 2), column).height >= 1
