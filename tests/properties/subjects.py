"""Every registered algorithm, ready to run on small tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from anoncore import AnonymizationError
from anoncore.algorithms import ALGORITHMS, Algorithm, Anatomy, LocalRecoding, Mondrian, StackAndDeal
from anoncore.requirements import DistinctDiversity, KAnonymity
from tests.many_tables import ALL, MANY

SEED = (1 << 127) + 7
"""As long as those that are drawn: a release with a seed that can be guessed gets no certificate."""

PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "anatomy": [{"l": 2}, {"l": 3}, {"l": 2, "refine": True}],
    "attack-safe": [
        {"method": Mondrian(requirements=(KAnonymity(k=2),)), "attacks": ("attribute_disclosure",), "at_most": 0.5},
        {"method": Anatomy(l=2, seed=SEED), "attacks": ("foreground_knowledge",), "epsilon": 0.2, "at_most": 0.95},
    ],
    "foreground-safe": [
        {},
        {"epsilon": 0.35, "unreliable": "both", "tolerance": 0.9},
        {"l": 3, "epsilon": 0.2, "tolerance": 0.2},
    ],
    "local-recoding": [{}, {"most_nodes": 1}, {"refine": True}, {"start": "best"}],
    "local-suppression": [
        {},
        {"requirements": (KAnonymity(k=3), DistinctDiversity(l=2))},
        {"requirements": (KAnonymity(k=3),), "method": Mondrian(requirements=(KAnonymity(k=2),))},
        {"requirements": (KAnonymity(k=2),), "suppressed": "any"},
    ],
    "mondrian": [
        {},
        {"strict": True},
        {"split": "loss"},
        {"split": "loss", "refine": True},
        {"recoding": "regions"},
        {"requirements": (KAnonymity(k=2), DistinctDiversity(l=2))},
    ],
    "optimal-recoding": [
        {"max_suppression": 0.5},
        {"requirements": (KAnonymity(k=2), DistinctDiversity(l=2)), "max_suppression": 0.0},
        {"recoding": "ranges", "max_suppression": 0.3, "most_checked": 50},
    ],
    "random-buckets": [{"size": 5}, {"size": 4, "columns": 3, "grouping": "spread"}],
    "rothko-sampling": [{}, {"memory_rows": 8, "growth": "confident"}],
    "rothko-tree": [{"memory_rows": 3}],
    "slicing": [
        {"sensitive_column_size": 1},
        {"l": 1.2, "columns": 3, "sensitive_column_size": 1, "retry_splits": False},
        {"diversity": "distinct", "sensitive_column_size": 1},
        {"l": 1.2, "sensitive_column_size": 1, "column_requirements": (KAnonymity(k=3),)},
        {"l": 1.2, "sensitive_column_size": 1, "requirements": (), "refine": True},
    ],
    "suppression": [
        {"method": Mondrian(requirements=(KAnonymity(k=2),)), "max_suppression": 0.3},
        {
            "method": Mondrian(requirements=(KAnonymity(k=3), DistinctDiversity(l=2)), split="loss"),
            "max_suppression": 0.5,
        },
        {"method": LocalRecoding(requirements=(KAnonymity(k=3),)), "max_suppression": 0.4, "rounds": 3},
        {"method": StackAndDeal(k=3, seed=SEED), "max_suppression": 0.4},
    ],
    "vertical-fragmentation": [
        {"k": 3, "enforce": "naive"},
        {"k": 2, "enforce": "dependency"},
        {"k": 3, "enforce": "selectivity"},
        {"k": 2, "l": 2},
        {"k": 2, "t": 0.4, "segmentation": "full"},
    ],
}
"""What an algorithm needs beyond its defaults to run on tables of a few rows, one entry per variant to test."""

FOUND_BY_SEARCH = {"attack-safe", "foreground-safe", "injector"}
"""Methods that can only say after their search that a table does not allow what was asked."""


EVERYWHERE = [name for name, kind in ALGORITHMS.items() if not kind.extra]
"""The methods that run wherever anoncore does; one that needs an extra has tests of its own."""


def subjects(turn: int | None = None) -> list[Any]:
    """One pytest parameter per variant of every registered algorithm: its name and its parameters.

    With a `turn`, 0 or 1, every change is tried on the first variant of each algorithm and on every second of the
    others, which are even or odd; whoever changes an algorithm tries all (`ANONCORE_TABLES=300`).
    """
    return [
        pytest.param(name, parameters, id=f"{name}-{number}")
        for name in EVERYWHERE
        for number, parameters in enumerate(PARAMETERS.get(name, [{}]))
        if number == 0 or turn is None or number % 2 == turn or MANY >= ALL
    ]


def build(name: str, parameters: dict[str, Any]) -> Algorithm:
    """The algorithm with small requirements and a fixed seed where it has such fields.

    Fails the test, saying what to add, for one that cannot be built so.
    """
    fields = dict(_small(ALGORITHMS[name]))
    try:
        return ALGORITHMS[name](**{**fields, **parameters})
    except AnonymizationError as error:
        return pytest.fail(
            f"'{name}' cannot be built for a small table ({error}); add what it needs to PARAMETERS in "
            "tests/properties/subjects.py."
        )


def _small(algorithm: type[Algorithm]) -> Iterator[tuple[str, Any]]:
    if "requirements" in algorithm.model_fields:
        yield "requirements", (KAnonymity(k=2),)
    if "seed" in algorithm.model_fields:
        yield "seed", SEED
