"""Where to begin: methods by what they do to a table."""

from __future__ import annotations

from collections.abc import Mapping

from anoncore.algorithms import ALGORITHMS

FAMILIES: Mapping[str, str] = {
    "generalization": "Coarsen values, group by group",
    "full-domain generalization": "Coarsen values, alike in the whole table",
    "bucketization": "Keep values, cut the link to the secret",
    "slicing": "Keep values, shuffle columns inside groups",
    "fragmentation": "Publish several narrow tables",
    "generalization with distortion": "Coarsen values and distort some",
    "distortion": "Publish other values than people have",
    "synthesis": "Draw new rows from noisy counts, with differential privacy",
    "defence": "Join groups of another method until attacks fail",
}
"""What the families of methods do, in plain words."""
SHORTLY: Mapping[str, str] = {
    "generalization": "coarsens by group",
    "full-domain generalization": "coarsens alike everywhere",
    "bucketization": "cuts the link",
    "slicing": "shuffles columns",
    "fragmentation": "several tables",
    "generalization with distortion": "coarsens and distorts",
    "distortion": "publishes other values",
    "synthesis": "draws nobody's rows",
    "defence": "joins until attacks fail",
}
"""The same in two or three words, for lists of all methods."""
RECOMMENDED = ("mondrian", "anatomy", "slicing", "stack-and-deal", "vertical-fragmentation", "incognito")
"""Methods to begin with: at least one of each family that has several."""
BEGIN = "begin with this one"


def by_family() -> dict[str, list[str]]:
    """Names of the methods by family; in each of them those to begin with come first."""
    families: dict[str, list[str]] = {name: [] for name in FAMILIES}
    for name, kind in ALGORITHMS.items():
        families.setdefault(kind.family, []).append(name)
    for names in families.values():
        names.sort(key=lambda name: (name not in RECOMMENDED, ALGORITHMS[name].title))
    return {family: names for family, names in families.items() if names}


def in_order() -> list[str]:
    """Names of all methods, family by family."""
    return [name for names in by_family().values() for name in names]


def option(name: str) -> str:
    """A method as a list of all methods names it: its title, what it does, and whether it is the one to begin with."""
    kind = ALGORITHMS[name]
    hint = " (usual)" if name in RECOMMENDED else ""
    return f"{kind.title}{hint} · {SHORTLY.get(kind.family, kind.family)}"
