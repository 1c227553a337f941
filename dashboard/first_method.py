"""The method that newcomers start with."""

from __future__ import annotations

from anoncore.algorithms import ALGORITHMS

FIRST_METHOD = "mondrian"
"""What a newcomer starts with: it takes any requirement, suits most tables, and is fast."""


def first_method() -> str:
    """Name of the method that is chosen before the visitor chooses."""
    return FIRST_METHOD if FIRST_METHOD in ALGORITHMS else next(iter(ALGORITHMS))
