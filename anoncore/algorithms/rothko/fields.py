"""The parameters that both Rothko algorithms have beside those of Mondrian."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator

from anoncore.algorithms.mondrian import Mondrian

MEGABYTE = 1_000_000


MemoryRows = Annotated[
    int, Field(ge=1, title="Rows in memory", description="Parts of at most so many rows are finished in memory.")
]


class RothkoFields(Mondrian):
    """Mondrian's parameters, and how much of the table and of its counts may be in memory."""

    strict: Annotated[
        bool,
        Field(
            title="Strict",
            description=(
                "Always on: rows of equal values stay together. Which of them go to either side of a shared median "
                "cannot be told from counts or a sample."
            ),
        ),
    ] = True
    refine: Annotated[
        bool,
        Field(
            title="Refine",
            description="Always off: rows cannot move between groups that are not in memory at the same time.",
        ),
    ] = False
    memory_rows: MemoryRows = 2_000_000

    frontier_memory: Annotated[
        float,
        Field(
            gt=0,
            allow_inf_nan=False,
            title="Frontier memory",
            description="Megabytes for the counts of the open nodes; beyond it the rows are divided into files.",
        ),
    ] = 256.0

    @property
    def frontier_bytes(self) -> int:
        """Bytes for frequency sets."""
        return int(self.frontier_memory * MEGABYTE)

    @field_validator("strict")
    @classmethod
    def _stays_strict(cls, strict: bool) -> bool:
        if not strict:
            raise ValueError("strict stays on: counts and samples cannot tell rows of a shared median apart.")
        return strict

    @field_validator("refine")
    @classmethod
    def _stays_unrefined(cls, refine: bool) -> bool:
        if refine:
            raise ValueError("refine stays off: groups that are not in memory at the same time cannot exchange rows.")
        return refine
