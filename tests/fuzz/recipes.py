"""Fuzzed recipes and hierarchies: valid ones with text, keys, types or values changed."""

from __future__ import annotations

import atexit
import tempfile
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from anoncore import Hierarchy, Microdata, Recipe
from anoncore.base.toml import dumps
from anoncore.recipes.source import HierarchySpec
from anoncore.table.hierarchy_files import read_hierarchy
from tests.fuzz.case import Case, RefutedError
from tests.fuzz.mutations import CELLS, mutated_bytes, mutated_text, mutated_value, nested

PEOPLE = """name,age,town,illness
Ann,31,Rome,flu
Ben,32,Rome,cold
Cid,33,Bonn,flu
Dan,44,Bonn,gout
Eve,45,Rome,cold
Fay,46,Bonn,gout
"""
RECIPE: dict[str, Any] = {
    "source": {"path": "people.csv"},
    "roles": {"name": "identifier", "age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"},
    "kinds": {"age": "numeric", "town": "nominal"},
    "orders": {"illness": ["cold", "flu", "gout"]},
    "sensitive_values": {"illness": ["gout"]},
    "algorithm": {"name": "mondrian", "requirements": [{"name": "k-anonymity", "k": 2}]},
    "hierarchies": {"town": {"taxonomy": {"South": ["Rome"], "North": ["Bonn"]}}, "age": {"width": 5.0, "start": 30.0}},
    "measures": [{"name": "utility.information_loss"}],
}
ALGORITHMS: tuple[dict[str, Any], ...] = (
    {"name": "anatomy", "l": 2},
    {"name": "slicing", "l": 1.5, "sensitive_column_size": 1},
    {"name": "mask", "k": 2},
    {"name": "microaggregation", "k": 2, "t": 0.5},
    {"name": "incognito", "requirements": [{"name": "distinct-diversity", "l": 2}]},
    {"name": "vertical-fragmentation", "k": 2},
)
BUILTIN = (
    {"builtin": "census", "rows": 30, "seed": 2},
    {"builtin": "rothko-synthetic", "rows": 20},
    {"path": "no.csv"},
)


@cache
def folder() -> Path:
    """A folder with the recipe's table and a hierarchy, removed when the process ends."""
    made = tempfile.TemporaryDirectory(prefix="fuzz-recipes-")
    atexit.register(made.cleanup)
    path = Path(made.name)
    (path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (path / "town.csv").write_text("Rome;South;*\nBonn;North;*\n", encoding="utf-8")
    return path


def recipe(case: Case) -> None:
    """A recipe, changed as values or as text; read, written again, and run on its small table."""
    values = dict(RECIPE)
    if case.chance(0.5):
        values["algorithm"] = case.pick(ALGORITHMS)
    if case.chance(0.2):
        values["source"] = case.pick(BUILTIN)
    if case.chance(0.2):
        values["hierarchies"] = {"town": "town.csv"}
    for name in list(values)[1:]:
        if name != "algorithm" and case.chance(0.4):
            del values[name]
    if case.chance(0.5):
        for _ in range(case.pick((0, 1, 1, 2, 3))):
            part = case.pick(list(values)) if isinstance(values, dict) and values and case.chance(0.85) else None
            values = mutated_value(case, values) if part is None else values | {part: mutated_value(case, values[part])}
        case.keep("values", values)
        read = Recipe.from_dict(values, folder()) if isinstance(values, dict) else Recipe.from_dict({}, folder())
    else:
        text = dumps(values)
        text = case.keep("text", mutated_text(case, text, case.pick((1, 1, 3))) if case.chance(0.8) else text)
        read = Recipe.loads(text, folder())
    _written_again(read)
    if (read.source.rows or 0) > 1_000:
        read.source.replace(rows=1_000)
        return
    read.run()


def _written_again(read: Recipe) -> None:
    text = read.dumps(with_seed=True)
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RefutedError(f"a written recipe is no TOML: {error}") from None
    if Recipe.loads(text, read.folder).dumps(with_seed=True) != text:
        raise RefutedError("a written recipe reads as another one")


def hierarchy(case: Case) -> None:
    """A hierarchy from a file, nested groups, levels or intervals, laid over the values of a column."""
    kind = case.random.randrange(4)
    values = case.keep("column", [case.pick(CELLS) for _ in range(case.random.randint(1, 8))])
    if case.chance(0.3):
        values = case.keep(
            "column",
            [case.random.choice((0.5, 1.0, 2.0, -3.0, 12.5, 40.0, 1e300 if case.chance(0.1) else 7.0)) for _ in values],
        )
    if kind == 0:
        separator = case.pick(";,")
        lines = [
            [str(value), case.pick("ABC"), *(["*"] if case.chance(0.9) else [])] for value in dict.fromkeys(values)
        ]
        data = "\n".join(separator.join(f'"{cell}"' for cell in line) for line in lines).encode(errors="replace")
        data = case.keep("file", mutated_bytes(case, data) if case.chance(0.5) else data)
        found = read_hierarchy(data, case.pick((None, "town.csv", "../x")))
    elif kind == 1:
        taxonomy: Any = {"A": list(dict.fromkeys(values)), "B": {"C": ["z"]}}
        taxonomy = case.keep("taxonomy", mutated_value(case, taxonomy) if case.chance(0.6) else taxonomy)
        found = HierarchySpec(taxonomy=taxonomy).build(pd.Series(values), folder())
    elif kind == 2:
        levels: Any = [[value, case.pick("AB"), "*"] for value in dict.fromkeys(values)]
        levels = case.keep("levels", mutated_value(case, levels) if case.chance(0.6) else levels)
        found = HierarchySpec(levels=levels).build(pd.Series(values), folder())
    else:
        fields = {case.pick(("width", "quantiles")): case.pick((1, 2, 0.1, 5.0, 1e-9, 1e300, nested(case)))}
        if case.chance(0.3):
            fields[case.pick(("start", "fanout", "path"))] = case.pick((0, 2, 3, 10.0, nested(case)))
        found = HierarchySpec(**case.keep("fields", fields)).build(pd.Series(values), folder())
    _check_hierarchy(found, values)


def _check_hierarchy(found: Hierarchy, values: list[Any]) -> None:
    """Every value has its path in the tree that the table gets, from itself to the top."""
    data = Microdata(pd.DataFrame({"v": values}), {"v": "quasi-identifier"}, hierarchies={"v": found})
    domain = data.domain["v"]
    tree = domain.tree
    if tree is None:
        raise RefutedError("the hierarchy is lost")
    for code in range(len(domain)):
        node = int(tree.leaf[code])
        while node != 0:
            above = int(tree.parent[node])
            if not tree.first[above] <= tree.first[node] <= code <= tree.last[node] <= tree.last[above]:
                raise RefutedError(f"value {domain.text(code)!r} lies outside the group {tree.labels[above]!r}")
            node = above
    if (tree.first[0], tree.last[0]) != (0, len(domain) - 1):
        raise RefutedError("the top does not hold every value")
