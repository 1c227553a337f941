"""RothkoSampling: Mondrian on a sample, for tables that do not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Seed
from anoncore.algorithms.rothko.rothko import Rothko
from anoncore.algorithms.rothko.rothko_tree import unsuited
from anoncore.algorithms.rothko.rows import Rows
from anoncore.algorithms.rothko.sampling_growth import Sampling, sampling_parts
from anoncore.algorithms.rothko.setting import Counters, Part, Setting
from anoncore.release.openness import Minimality, Openness
from anoncore.release.release import Release


class RothkoSampling(Rothko):
    """Mondrian (strict) for tables larger than memory, with the first cuts chosen on a sample.

    While a part of the table is larger than memory, it is cut where every side passes a hypothesis test for every
    requirement on the sample; the sides share the level `alpha`. Then one pass divides the rows and counts those of
    every node, and cuts that turn out wrong are undone: their parts are put together again. Each part goes on alone.
    So the requirements hold exactly, and parts that fit in memory are finished exactly. A part without a confident cut
    is handed to RothkoTree. Where that does not apply, it stays one class, and the notes of the release say so. All
    splits and requirements of Mondrian may be used.

    Notes
    -----
    Assumes: simple random samples of the rows can be drawn, and a part of `memory_rows` rows fits in memory.
    Cost: rows read |R| (2 p + 1) and written |R| p times for p divisions (section 4), beside the work in memory.
    Use: a table does not fit in memory, also for regression, loss and variance diversity.
    Avoid: the table fits in memory (Mondrian), or the very partition of Mondrian is wanted (RothkoTree).

    References
    ----------
    LeFevre and DeWitt, Rothko (TR 1590), section 3.

    Examples
    --------
    Six rows of which three fit in memory are cut by a sample, and every class has at least two rows:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import RothkoSampling
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier"})
    >>> release = RothkoSampling(requirements=[KAnonymity(k=2)], memory_rows=3, seed=0).anonymize(data)
    >>> release.recoding("age").group_texts.tolist()
    ['21-23', '44-46']
    """

    name: ClassVar[str] = "rothko-sampling"
    title: ClassVar[str] = "Rothko (sampling)"
    summary: ClassVar[str] = (
        "Mondrian for tables larger than memory: cuts by a sample first, checks every row, then finishes each part."
    )
    minimality: ClassVar[Minimality] = Minimality(
        Openness.DEPENDS,
        "Apart from the first cuts, which a sample decides, its classes are those of Mondrian with `strict`: "
        "readers know that every cut of a class that was left whole would have broken a requirement. With "
        "l-diversity, t-closeness or variance diversity that tells about the sensitive values; with k-anonymity "
        "alone cuts depend on sizes, which everybody can count.",
    )

    # Smaller parts cost no further scan here, because one division by the tree of the sample makes all of them: a
    # quarter of the rows that the tree by counts keeps in memory takes the same time and a quarter less memory.
    memory_rows: Annotated[
        int,
        Field(ge=1, title="Rows in memory", description="Parts of at most so many rows are finished in memory."),
    ] = 500_000

    alpha: Annotated[
        float,
        Field(gt=0, le=0.5, title="alpha", description="Chance of a wrong cut that a test on the sample may take."),
    ] = 0.05
    sample_rows: Annotated[
        int,
        Field(ge=1, title="Rows in the sample", description="Size of a sample; at most the rows in memory."),
    ] = 200_000
    growth: Annotated[
        Literal["memory", "confident"],
        Field(
            title="Growth",
            description="Cut by the sample until parts should fit in memory, or as far as the tests are confident.",
        ),
    ] = "memory"
    seed: Seed = None

    def refusals(self, release: Release) -> None:
        """Nothing: where a sample gave no confident cut, a class may be left whole though a cut was allowed."""

    def cell_knowledge(self, release: Release) -> None:
        """Nothing, for the same reason."""

    def parts(self, setting: Setting, rows: Rows) -> Iterator[Part]:
        """The parts of the rows that fit in memory or are one class."""
        sampling = Sampling(
            size=min(self.sample_rows, self.memory_rows),
            alpha=self.alpha,
            until_memory=self.growth == "memory",
            by_tree=unsuited(self) is None,
            generator=np.random.default_rng(self.seed),
        )
        return sampling_parts(setting, sampling, rows, setting.region)

    def account(self, counters: Counters) -> str:
        """Minimality, prunes and divisions."""
        minimal = (
            "No allowable cut is left in any class"
            if counters.minimal
            else "A part larger than memory had no confident cut, so an allowable one may be left"
        )
        return (
            f"{minimal}; {counters.prunes:,} nodes of the samples' trees violated a requirement and were undone, "
            f"{counters.repartitions:,} divisions of the rows, {counters.handed_to_tree:,} parts finished by counts."
        )
