"""How many random tables a fast way and its slow twin are compared on."""

from __future__ import annotations

import os
from typing import Any

import pytest

MANY = int(os.environ.get("ANONCORE_TABLES", "60"))
"""Every change is checked on so many; whoever changes an attack or a method sets 300."""
ALL = 300
"""From so many on, nothing that takes turns is left out."""


def few_and_many(few: int) -> list[Any]:
    """Seeds of tables, the first few of which are always tried and the rest with the slow tests."""
    return [*range(few), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(few, MANY))]
