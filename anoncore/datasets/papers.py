"""Worked examples of the papers on slicing, the foreground-knowledge attack, fragmentation and Rothko as tables."""

from __future__ import annotations

from collections.abc import Mapping

from anoncore.base.errors import DataError
from anoncore.datasets.catalog import IDENTIFIER, NOMINAL, NUMERIC, ORDINAL, QUASI_IDENTIFIER, SENSITIVE, Table
from anoncore.datasets.papers_t_closeness import T_CLOSENESS_GROUPS, T_CLOSENESS_TABLES
from anoncore.datasets.worked import rows, zipcode_taxonomy

_SLICING = "Li, Li, Zhang and Molloy, Slicing: A New Approach to Privacy Preserving Data Publishing, 2009"
_FOREGROUND = "Wong, Fu, Wang, Xu and Yu, Can the Utility of Anonymized Data be used for Privacy Breaches?, 2009"
_FRAGMENTATION = "Zakerzadeh, Aggarwal and Barker, Towards Breaking the Curse of Dimensionality, extended version, 2014"
_ROTHKO = "LeFevre and DeWitt, Scalable Anonymization Algorithms for Large Data Sets, TR 1590, 2007"

_SLICING_ZIPCODES = ("47302", "47304", "47905", "47906")

SLICING_TABLE_1 = Table(
    name="slicing-table-1",
    title="Slicing, table 1 (8 rows)",
    description=(
        "The original table of the slicing paper. Its two buckets of four rows are published with the columns "
        "age and sex, zipcode and disease permuted on their own."
    ),
    source=f"{_SLICING}, table 1(a).",
    load=rows(
        ("age", "sex", "zipcode", "disease"),
        (22, "M", "47906", "dyspepsia"),
        (22, "F", "47906", "flu"),
        (33, "F", "47905", "flu"),
        (52, "F", "47905", "bronchitis"),
        (54, "M", "47302", "flu"),
        (60, "M", "47302", "dyspepsia"),
        (60, "M", "47304", "dyspepsia"),
        (64, "F", "47304", "gastritis"),
    ),
    roles={"age": QUASI_IDENTIFIER, "sex": QUASI_IDENTIFIER, "zipcode": QUASI_IDENTIFIER, "disease": SENSITIVE},
    kinds={"age": NUMERIC, "sex": NOMINAL, "zipcode": ORDINAL, "disease": NOMINAL},
    orders={"zipcode": _SLICING_ZIPCODES},
    taxonomies={
        "zipcode": zipcode_taxonomy(_SLICING_ZIPCODES),
        "disease": {"digestive": ["dyspepsia", "gastritis"], "respiratory": ["flu", "bronchitis"]},
    },
)

FOREGROUND_TABLE_1 = Table(
    name="foreground-table-1",
    title="Foreground knowledge, table 1 (6 rows)",
    description=(
        "The example of the introduction: published in three groups of two it is 2-diverse, yet the many Japanese "
        "without heart disease give Alex away. The paper names two of the six people."
    ),
    source=f"{_FOREGROUND}, table 1.",
    load=rows(
        ("name", "nationality", "disease"),
        ("Alex", "American", "Heart Disease"),
        ("Bob", "Japanese", "Flu"),
        (None, "Japanese", "Flu"),
        (None, "Japanese", "Stomach Virus"),
        (None, "French", "HIV"),
        (None, "Japanese", "Diabetes"),
    ),
    roles={"name": IDENTIFIER, "nationality": QUASI_IDENTIFIER, "disease": SENSITIVE},
    kinds={"nationality": NOMINAL, "disease": NOMINAL},
    taxonomies={"disease": {"Infection": ["Flu", "Stomach Virus", "HIV"], "Chronic": ["Heart Disease", "Diabetes"]}},
)

FOREGROUND_TABLE_5 = Table(
    name="foreground-table-5",
    title="Foreground knowledge, table 5 (4 rows)",
    description=(
        "One group of four people, two of each signature, in which two have the sensitive value x. The paper gives "
        "the group only; here the people of its most likely world (t1 and t2) have x, and y and z stand for any other "
        "value."
    ),
    source=f"{_FOREGROUND}, table 5.",
    load=rows(
        ("tuple", "signature", "X"),
        ("t1", "s1", "x"),
        ("t2", "s1", "x"),
        ("t3", "s2", "y"),
        ("t4", "s2", "z"),
    ),
    roles={"tuple": IDENTIFIER, "signature": QUASI_IDENTIFIER, "X": SENSITIVE},
    kinds={"signature": NOMINAL, "X": NOMINAL},
    sensitive_values={"X": ("x",)},
)

FOREGROUND_TABLE_8 = Table(
    name="foreground-table-8",
    title="Foreground knowledge, table 8 (6 rows)",
    description=(
        "Example 2: the raw table 7 in the row order of the published table 8, three groups of two. The groups alone "
        "tell that two thirds of s1 and nobody of s2 have x. y and z stand for any other value."
    ),
    source=f"{_FOREGROUND}, tables 7 and 8.",
    load=rows(
        ("tuple", "signature", "X"),
        ("t1", "s1", "x"),
        ("t2", "s2", "y"),
        ("t3", "s1", "x"),
        ("t4", "s1", "z"),
        ("t5", "s2", "y"),
        ("t6", "s2", "z"),
    ),
    roles={"tuple": IDENTIFIER, "signature": QUASI_IDENTIFIER, "X": SENSITIVE},
    kinds={"signature": NOMINAL, "X": NOMINAL},
    sensitive_values={"X": ("x",)},
)

FRAGMENTATION_TABLE_3 = Table(
    name="fragmentation-table-3",
    title="Vertical fragmentation, table 3 (5 rows)",
    description=(
        "One equivalence class of a 5-anonymous fragment. Published per class instead of per row, its three class "
        "values leave two ambiguous slots, which makes six possible versions."
    ),
    source=f"{_FRAGMENTATION}, appendix C, table 3(a).",
    load=rows(
        ("age", "sex", "disease"),
        (23, "M", "flu"),
        (23, "M", "pneumonia"),
        (23, "M", "dyspepsia"),
        (23, "M", "pneumonia"),
        (23, "M", "flu"),
    ),
    roles={"age": QUASI_IDENTIFIER, "sex": QUASI_IDENTIFIER, "disease": SENSITIVE},
    kinds={"age": NUMERIC, "sex": NOMINAL, "disease": NOMINAL},
    taxonomies={"disease": {"respiratory": ["flu", "pneumonia"], "digestive": ["dyspepsia"]}},
)

ROTHKO_FIGURE_2 = Table(
    name="rothko-figure-2",
    title="Rothko, figures 1 and 2 (11 rows)",
    description=(
        "Made-up people for the partition tree of figure 2 (the paper prints the tree and the hierarchy of "
        "nationalities, no rows): Mondrian with k = 3 splits age at 40, then the younger half into Asian and European."
    ),
    source=f"{_ROTHKO}, figures 1 and 2.",
    load=rows(
        ("age", "nationality"),
        (22, "Chinese"),
        (31, "Indian"),
        (38, "Chinese"),
        (25, "French"),
        (29, "Greek"),
        (40, "French"),
        (45, "Indian"),
        (52, "Greek"),
        (58, "Chinese"),
        (63, "French"),
        (70, "Greek"),
    ),
    roles={"age": QUASI_IDENTIFIER, "nationality": QUASI_IDENTIFIER},
    kinds={"age": NUMERIC, "nationality": NOMINAL},
    taxonomies={"nationality": {"Asian": ["Chinese", "Indian"], "European": ["Greek", "French"]}},
)

PAPER_TABLES = (
    SLICING_TABLE_1,
    FOREGROUND_TABLE_1,
    FOREGROUND_TABLE_5,
    FOREGROUND_TABLE_8,
    *T_CLOSENESS_TABLES,
    FRAGMENTATION_TABLE_3,
    ROTHKO_FIGURE_2,
)

_GROUPS: Mapping[str, tuple[int, ...]] = {
    "slicing-table-1": (0, 0, 0, 0, 1, 1, 1, 1),
    "foreground-table-1": (0, 0, 1, 1, 2, 2),
    "foreground-table-5": (0, 0, 0, 0),
    "foreground-table-8": (0, 0, 1, 1, 2, 2),
    "fragmentation-table-3": (0, 0, 0, 0, 0),
    "rothko-figure-2": (0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2),
    **T_CLOSENESS_GROUPS,
}


def published_groups(name: str) -> tuple[int, ...]:
    """The group of each row in the paper's own anonymization of a worked example, shape (n_rows,).

    Raises DataError for a table whose paper publishes no groups.
    """
    if name not in _GROUPS:
        raise DataError(f"The table '{name}' has no published groups; those that have: {', '.join(_GROUPS)}.")
    return _GROUPS[name]
