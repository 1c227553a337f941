"""Broken versions of vertical fragmentation, and the statements that each must break."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from anoncore import Microdata
from anoncore.algorithms import VerticalFragmentation
from anoncore.algorithms.vertical import enforcement, strategies
from anoncore.privacy.selectivity import Selectivity
from tests.papers import theorems, worked
from tests.papers.broken import EVERY, Broken, examples, replaced


@contextmanager
def nothing_changed() -> Iterator[None]:
    """Class values stay as they are, whatever the joins."""

    def unchanged(counts: Any, *_: Any) -> Any:
        return counts

    with (
        patch.object(enforcement, "enforce", unchanged),
        patch.object(enforcement, "majority_values", unchanged),
        patch.object(strategies, "enforce", unchanged),
        patch.object(strategies, "majority_values", unchanged),
    ):
        yield


@contextmanager
def fragments_by_name() -> Iterator[None]:
    """Attributes are put into fragments in turn."""
    made = theorems.fragment_attributes

    def in_turn(data: Microdata, common: str, number: int) -> Any:
        names = data.quasi_identifiers
        return replace(made(data, common, number), fragments=tuple(names[place::number] for place in range(number)))

    with patch.object(theorems, "fragment_attributes", in_turn):
        yield


@contextmanager
def fragmented_without(name: str, value: Any) -> Iterator[None]:
    """A parameter of vertical fragmentation is ignored."""
    with patch.object(
        theorems, "VerticalFragmentation", lambda **fields: VerticalFragmentation(**{**fields, name: value})
    ):
        yield


@contextmanager
def no_eta() -> Iterator[None]:
    """eta is 0 for all classes."""
    counted = Selectivity.eta
    with patch.object(Selectivity, "eta", lambda *of: 0 * counted(*of)):
        yield


EXAMPLES = examples(worked.vertical)
PROVEN = examples(theorems.vertical)
ENFORCED, JOINED = examples(theorems.enforced), examples(theorems.joined)
VERTICAL = "vertical-fragmentation"
MUTANTS = (
    Broken(VERTICAL, "zeros are published", EXAMPLES, replaced(worked, "versions", lambda *_: 0), {"table 3": EVERY}),
    Broken(
        VERTICAL, "nothing is changed", ENFORCED, nothing_changed,
        {"section 4.2.2": EVERY, "algorithm 3": ("no two classes",), "algorithm 4": EVERY},
    ),
    Broken(VERTICAL, "nothing is changed", JOINED, nothing_changed, {"theorem 4.1": EVERY}),
    Broken(VERTICAL, "fragments in turn", ENFORCED, fragments_by_name, {"algorithm 1": EVERY}),
    Broken(VERTICAL, "l is ignored", JOINED, lambda: fragmented_without("l", None), {"theorem 5.1": EVERY}),
    Broken(
        VERTICAL, "always two fragments", JOINED, lambda: fragmented_without("fragments", 2), {"section 5.1": EVERY}
    ),
    Broken(VERTICAL, "zeros are published", ENFORCED, no_eta, {"appendix C": EVERY}),
)  # fmt: skip
