"""Broken versions of the attack by foreground knowledge, and the statements that each must break."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np

from anoncore import Microdata, attacks
from anoncore.algorithms import Anatomy
from anoncore.attacks.foreground import attack as foreground_attack
from anoncore.attacks.foreground import mining
from tests.papers import theorems, worked
from tests.papers.broken import EVERY, NEVER, Broken, examples, grouped_by, never_splits


@contextmanager
def shuffled_secrets() -> Iterator[None]:
    """Everybody has the sensitive value of the row before them."""
    load = worked.builtin

    def other(name: str) -> Microdata:
        data = load(name)
        frame = data.frame.copy()
        for secret in data.sensitive:
            frame[secret] = np.roll(frame[secret].to_numpy(), 1)
        kinds = {one: data.domain[one].kind for one in data.attributes}
        return Microdata(frame, roles=data.roles, kinds=kinds, sensitive_values=data.sensitive_values)

    with patch.object(worked, "builtin", other):
        yield


@contextmanager
def nothing_learned() -> Iterator[None]:
    """Every signature keeps the overall share."""
    solve = mining.solve

    def ignorant(cases: Any, held: Any, rows: Any, start: Any, *rest: Any) -> Any:
        found = solve(cases, held, rows, start, *rest)
        return replace(found, shares=np.repeat(start[:, None], len(rows) + 1, axis=1))

    with patch.object(mining, "solve", ignorant):
        yield


@contextmanager
def beliefs_of_groups_alone() -> Iterator[None]:
    """Every possible world is as likely, whatever is known."""
    worlds = attacks.possible_worlds

    def even(f: Any, n: int) -> Any:
        found = worlds(f, n)
        return replace(found, share=np.full(len(found.share), 1 / len(found.share)))

    with (
        patch.object(attacks, "group_probabilities", lambda f, n: np.full(len(f), n / len(f))),
        patch.object(attacks, "possible_worlds", even),
    ):
        yield


@contextmanager
def one_row_is_enough() -> Iterator[None]:
    """One tuple is taken for a sample that is large enough."""
    with patch.object(foreground_attack, "minimum_signature_rows", lambda epsilon, sigma: 1.0):
        yield


EXAMPLES = examples(worked.foreground)
PROVEN = examples(theorems.foreground)
MUTANTS = (
    Broken("foreground-knowledge", NEVER, EXAMPLES, grouped_by(Anatomy, never_splits), {"table 1": EVERY}),
    Broken("foreground-knowledge", "sensitive values are shuffled", EXAMPLES, shuffled_secrets, {"table 7": EVERY}),
    Broken(
        "foreground-knowledge", "nothing is learned from other groups", EXAMPLES, nothing_learned,
        {"table 2": ("the other groups",), "table 8": EVERY},
    ),
    Broken(
        "foreground-knowledge", "every world is equally likely", EXAMPLES, beliefs_of_groups_alone,
        {"table 3": EVERY, "table 5": EVERY},
    ),
    Broken(
        "foreground-knowledge", "one tuple is enough", PROVEN, one_row_is_enough,
        {"theorem 1": EVERY, "algorithm 1": ("the signatures found",)},
    ),
)  # fmt: skip
