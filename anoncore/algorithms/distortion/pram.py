"""PRAM: some values are drawn anew, by probabilities that leave every column's shares as they are."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Algorithm, Seed, changed_release
from anoncore.base.errors import DataError
from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Codes, Floats
from anoncore.kernels.grouping import grouped_rows, put_at
from anoncore.release.openness import Minimality, Openness
from anoncore.release.release import Release
from anoncore.requirements import Requirement
from anoncore.table.domain import Domain
from anoncore.table.hierarchy_levels import Levels
from anoncore.table.microdata import Microdata


class Pram(Algorithm):
    """Draws some values anew, so that nobody knows of any published value whether it is its person's own.

    PRAM is the post-randomisation method. Each value of the chosen attributes is drawn anew with probability `change`:
    it becomes the value of a row of the table that is drawn at random. The matrix of the probabilities with which one
    value becomes another is invariant: the shares that a column is expected to have afterwards are those that it has.
    Values that no row has are never published, because no row can be drawn that has them.

    With `level`, a value only becomes one below the same node of its hierarchy at that level, and all other moves have
    probability zero. As a row is drawn among those below that node, no such move ever happens.

    It promises nothing of classes, and k, l and t of its release are those of rows that happen to be published alike.
    What it hides is measured by the attacks, which take every published value for true, as its readers would.

    Notes
    -----
    Assumes: readers correct their statistics for the probabilities, which may be published; values are drawn
      independently, so that associations between attributes fade.
    Cost: O(n) for every attribute.
    Use: the release is to be compared with what statistical offices do with categories.
    Avoid: a class of people has to be promised, or single rows must be true.

    References
    ----------
    Gouweleeuw, Kooiman, Willenborg and de Wolf, Journal of Official Statistics 14(4), 1998, section 3 (invariant PRAM).

    Examples
    --------
    A third of the people is from Ulm. A quarter of the values is drawn anew, of which a third become Ulm again:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Pram
    >>> people = pd.DataFrame({"town": ["Bonn", "Bonn", "Ulm"] * 100})
    >>> data = Microdata(people, roles={"town": "quasi-identifier"})
    >>> pram = Pram(change=0.25, seed=1)
    >>> pram.transition(data, "town").round(3).tolist()
    [[0.917, 0.083], [0.167, 0.833]]
    >>> pram.anonymize(data).notes
    ("36 of 300 values of 'town' (12.00%) were changed.",)
    """

    name = "pram"
    title = "PRAM"
    source = "Gouweleeuw et al., Journal of Official Statistics 1998"
    family = "distortion"
    group_word = "rows published alike"
    summary = "Draws some values of each column anew, so that no single published value can be relied on."
    counts_rows = "it draws the values of every row by themselves, so those of one person would tell more"
    minimality = Minimality(
        Openness.NOT_OPEN,
        "Chance alone decides which values are drawn anew and what they become, whatever else is known of a row, "
        "so knowing the method and its probabilities tells nothing more than what these say.",
    )

    attributes: Annotated[
        Literal["quasi-identifiers", "sensitive", "both"],
        Field(title="Attributes", description="Whose values are drawn anew."),
    ] = "quasi-identifiers"
    change: Annotated[
        float, Field(ge=0, le=1, title="Drawn anew", description="Probability with which a value is drawn anew.")
    ] = 0.2
    level: Annotated[
        int,
        Field(
            ge=0,
            title="Within level",
            description="Draw among the values below the same node at this level of the hierarchy; 0: among all.",
        ),
    ] = 0
    seed: Seed = None

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """Nothing: values change by chance, and no class is made."""
        return ()

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError where no attribute is left whose values could be drawn anew."""
        super().validate_data(data)
        if not self._names(data):
            raise DataError("No attribute is tagged as sensitive; let quasi-identifiers be drawn anew instead.")

    def _names(self, data: Microdata) -> tuple[str, ...]:
        """The attributes whose values are drawn anew."""
        known = data.quasi_identifiers if self.attributes != "sensitive" else ()
        return (*known, *(data.sensitive if self.attributes != "quasi-identifiers" else ()))

    def transition(self, data: Microdata, attribute: str) -> Floats:
        """The probabilities with which the values of an attribute become each other.

        Parameters
        ----------
        data : Microdata
            The table.
        attribute : str
            Name of the attribute.

        Returns
        -------
        ndarray of float, shape (domain size, domain size)
            In row v and column w the probability that value v is published as w, in order of their codes.

        Raises
        ------
        DataError
            For an attribute that the table does not have.

        Examples
        --------
        Values below different nodes of level 1 never become each other:

        >>> import pandas as pd
        >>> from anoncore import Hierarchy, Microdata
        >>> from anoncore.algorithms import Pram
        >>> ages = pd.DataFrame({"age": [21, 22, 35, 38]})
        >>> tens = Hierarchy.by_width(ages["age"], width=10)
        >>> data = Microdata(ages, {"age": "quasi-identifier"}, hierarchies={"age": tens})
        >>> Pram(change=0.5, level=1).transition(data, "age").tolist()
        [[0.75, 0.25, 0.0, 0.0], [0.25, 0.75, 0.0, 0.0], [0.0, 0.0, 0.75, 0.25], [0.0, 0.0, 0.25, 0.75]]
        """
        domain = data.require_domain(attribute)
        block = self._blocks(domain)
        counts = np.bincount(data.codes[attribute], minlength=len(domain)).astype(np.float64)
        among = np.where(block[:, None] == block[None, :], counts, 0.0)
        drawn: Floats = self.change * among / np.maximum(among.sum(axis=1, keepdims=True), 1)
        return drawn + (1 - self.change) * np.eye(len(domain))

    def _blocks(self, domain: Domain) -> Codes:
        """The node among whose values each code is drawn anew, int32 (domain size,)."""
        if self.level == 0 or domain.tree is None:
            return np.zeros(len(domain), np.int32)
        levels = Levels.of(domain)
        return levels.node[min(self.level, levels.height)]

    def _release(self, data: Microdata, progress: Progress) -> Release:
        rng = np.random.default_rng(self.seed)
        names, drawn = self._names(data), {}
        for number, name in enumerate(names):
            progress(0.1 + 0.8 * number / len(names), f"Drawing values of '{name}' anew")
            drawn[name] = self._drawn(data, name, rng)
        notes = []
        for name in names:
            changed = int((drawn[name] != data.codes[name]).sum())
            share = changed / data.n_rows
            notes.append(f"{changed:,} of {data.n_rows:,} values of '{name}' ({share:.2%}) were changed.")
        return changed_release(self, data, drawn, tuple(notes))

    def _drawn(self, data: Microdata, name: str, rng: np.random.Generator) -> Codes:
        """The values of an attribute with some drawn anew, int32 (n_rows,)."""
        # In order of content, so that a seed draws the same for any order of the table.
        codes = data.codes[name][data.canonical_order]
        block = self._blocks(data.domain[name])[codes]
        by_block, begins = grouped_rows(block)
        # A value is never drawn by its share, which rounding could turn into that of a value that no row has: a row is.
        row = by_block[begins[block] + rng.integers(0, np.diff(begins)[block])]
        own = rng.random(len(codes)) >= self.change
        return put_at(data.canonical_order, np.where(own, codes, codes[row]))
