"""Where to begin: methods by what they do to a table, and what is asked for usual purposes, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from anoncore.algorithms import ALGORITHMS

FAMILIES: Mapping[str, str] = {
    "generalization": "Coarsen values, group by group",
    "full-domain generalization": "Coarsen values, alike in the whole table",
    "bucketization": "Keep values, cut the link to the secret",
    "slicing": "Keep values, shuffle columns inside buckets",
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


@dataclass(frozen=True)
class Purpose:
    """Levels that are usual for a purpose, and why."""

    title: str
    levels: Mapping[str, float]
    reason: str


PURPOSES: Mapping[str, Purpose] = MappingProxyType(
    {
        "open": Purpose(
            "Open data",
            {"k": 20, "l": 3, "t": 0.2},
            "Anybody may try to find people in it, as often as they like, and nothing can be taken back: nobody is "
            "found with more than one chance in twenty.",
        ),
        "hospital": Purpose(
            "Health data",
            {"k": 11, "l": 2, "t": 0.3},
            "Eleven is what health agencies use: the EMA's policy 0070 accepts a risk of 0.09, which is 1/11, and the "
            "US agency CMS publishes no cell of fewer than eleven people.",
        ),
        "research": Purpose(
            "Research under contract",
            {"k": 5, "l": 2, "t": 0.4},
            "Readers are known and bound by a contract, so a group of five, the smallest that statistical offices "
            "commonly use, is held to be enough.",
        ),
        "teaching": Purpose(
            "Teaching",
            {"k": 3, "l": 2},
            "Groups are small enough to be read, and large enough that nobody stands alone. Not meant for people who "
            "exist.",
        ),
    }
)
"""In the order in which they are offered; an l that a table cannot keep is left out."""
