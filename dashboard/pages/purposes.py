"""What is asked for usual purposes, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


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
