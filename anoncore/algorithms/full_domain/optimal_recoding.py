"""Optimal recoding: full-domain generalization with suppression, and the proof that no combination loses less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import ByRequirements, MostSuppressed
from anoncore.algorithms.full_domain.best_first import MOST_NODES, BestFirst, Optimum, Proven
from anoncore.algorithms.full_domain.lattice import require_searchable
from anoncore.algorithms.full_domain.published_levels import release_at, release_of
from anoncore.algorithms.full_domain.range_search import OptimalRanges, RangeSearch
from anoncore.algorithms.full_domain.refused_levels import refused_levels
from anoncore.base.errors import ReleaseError
from anoncore.base.progress import Progress, silent
from anoncore.base.shared_work import cached
from anoncore.privacy.cell_knowledge import CellKnowledge
from anoncore.privacy.refusals import Refusals
from anoncore.release.openness import Minimality, Openness
from anoncore.release.recoding import Generalized
from anoncore.release.release import Release
from anoncore.requirements import Requirement
from anoncore.table.microdata import Microdata

CUT_SHORT = (
    "The search ended before it had proven that nothing of the kind loses less. By how much at most something may lose "
    "less is not published, because it depends on the sensitive values; whoever has the table can repeat the search."
)


class OptimalRecoding(ByRequirements):
    """Publishes each quasi-identifier at one level of its hierarchy, with the least information loss there is.

    At a combination of levels, rows with equal generalized quasi-identifiers are a class. Classes that break a
    requirement are suppressed: they become one class in which every quasi-identifier is `*`. Where that class itself
    breaks a requirement, those other classes join it that lose least. At most the share `max_suppression` of the rows
    may be suppressed. Of all combinations at which that is enough, the one that loses least is published, which
    `Incognito` with suppression need not find: it publishes the best of the combinations that have none below them, and
    a coarser combination may lose less because it suppresses fewer rows.

    Combinations are looked at from the top of the lattice down, after one that loses little was found by always
    lowering the level that pays most. Every combination has a lower bound: the loss if no row were suppressed. Rows
    in classes smaller than any requirement allows are in such classes at all finer combinations too, so that what
    suppressing them costs is added to the bounds of these. A combination whose bound is above the least loss known is
    left out. Where too many rows are in such classes, everything below is ruled out: coarser classes are never smaller.
    Without suppression and with requirements that are monotone under merging the same is done where any class breaks
    any requirement. All other requirements, which a coarser class may break though finer ones satisfy them, rule out
    nothing but their own combination.

    Which other classes join is tried by what they lose, the cheapest choice first. With k-anonymity one class is always
    enough; with other requirements it may take several, and after 500 choices at one combination the smallest join. A
    search in which that leaves open whether less might be lost ends without a proof, and so does one that has grouped
    the table `most_checked` times, with the best combination it has. `search` then says by how much at most its loss is
    above the least, and so do the notes of the release where nothing but sizes of classes is asked for; with other
    requirements that would tell about the sensitive values.

    With `recoding="ranges"` every attribute is cut into ranges instead, the same for all rows, at whichever points of
    its order lose least; of a hierarchy only the order of its values counts. Cuts are decided one after the other, and
    a branch is left out where what its rows lose at least is above the least loss known: rows in too small classes are
    suppressed below as well, and all others stand in a range with enough rows of their class. There are as many sets of
    ranges as sets of cut points, so that a table of many values ends at `most_checked`.

    Notes
    -----
    Assumes: hierarchies that say how values are coarsened; that loss is the mean share of the domain that a cell
      covers.
    Cost: O(d n) for every combination looked at, over n different rows and d quasi-identifiers at most; usually a few
      percent of the combinations are looked at. Of ranges, `most_checked` sets unless there are few cut points.
    Use: readers need one level of detail for all rows, and it shall be the finest on average that the promise allows.
    Avoid: readers need no common level of detail: Mondrian and local recoding then lose much less.

    References
    ----------
    Samarati, IEEE TKDE 2001 (full-domain generalization with suppression); Kohlmayer, Prasser, Eckert, Kemper and Kuhn,
    Flash, PASSAT 2012 (an optimal node of the lattice); Hart, Nilsson and Raphael, IEEE TSSC 1968 (search by a lower
    bound); Bayardo and Agrawal, Data privacy through optimal k-anonymization, ICDE 2005 (ranges, by the tree of all
    sets of cut points with bounds of what is below).

    Examples
    --------
    At intervals of ten years, 75 is alone. One person is no class of two, so 58 and 59, with whom least is lost, are
    suppressed with them. Intervals of twenty years would lose more:

    >>> import pandas as pd
    >>> from anoncore import Hierarchy, Microdata
    >>> from anoncore.algorithms import OptimalRecoding
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 33, 34, 34, 58, 59, 75]})
    >>> ages = Hierarchy.by_width(people["age"], width=10)
    >>> data = Microdata(people, roles={"age": "quasi-identifier"}, hierarchies={"age": ages})
    >>> release = OptimalRecoding(requirements=[KAnonymity(k=2)], max_suppression=0.4).anonymize(data)
    >>> release.recoding("age").texts().tolist()
    ['20-29', '20-29', '20-29', '30-39', '30-39', '30-39', '*', '*', '*']

    Ranges of any width, the best ones, where nobody may be suppressed:

    >>> ranges = OptimalRecoding(requirements=[KAnonymity(k=2)], max_suppression=0.0, recoding="ranges")
    >>> ranges.anonymize(data).recoding("age").texts().tolist()
    ['21-23', '21-23', '21-23', '33-34', '33-34', '33-34', '58-75', '58-75', '58-75']
    """

    name = "optimal-recoding"
    title = "Optimal recoding"
    source = "Samarati, IEEE TKDE 2001; Kohlmayer et al., PASSAT 2012"
    family = "full-domain generalization"
    summary = (
        "Publishes every value of an attribute at the same level of its hierarchy, with the least loss there is; "
        "a few people may be suppressed for it."
    )
    minimality = Minimality(
        Openness.DEPENDS,
        "Optimal recoding publishes the combination of levels with the least loss, so readers know that each "
        "combination which would lose less has groups that break a requirement. With l-diversity, t-closeness or "
        "variance diversity that tells about the sensitive values of the whole table together; with k-anonymity alone "
        "it is a matter of sizes, which everybody can count. The same goes for sets of ranges.",
    )

    max_suppression: MostSuppressed = 0.04
    most_checked: Annotated[
        int,
        Field(
            ge=1,
            le=1_000_000,
            title="Most combinations",
            description="Group the table at this many combinations of levels at most; then publish the best so far.",
        ),
    ] = 20_000
    recoding: Annotated[
        Literal["levels", "ranges"],
        Field(
            title="Recoding",
            description="One level of the hierarchy per attribute, or ranges that are cut wherever least is lost.",
        ),
    ] = "levels"

    @property
    def takes_long(self) -> bool:
        """Where it looks for ranges, of which there are many."""
        return self.recoding == "ranges"

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError for a lattice that is too large, InfeasibleError for a requirement that the table fails."""
        super().validate_data(data)
        if self.recoding == "levels":
            require_searchable(data, MOST_NODES)

    def cell_knowledge(self, release: Release) -> CellKnowledge:
        """Nothing of a cell: that a lower level lost more tells of the whole table."""
        return CellKnowledge(np.ones(release.partition.n_groups, np.bool_))

    def refusals(self, release: Release) -> Refusals:
        """The combinations of levels with less loss than the published one.

        Raises ReleaseError for suppression, for ranges, and for a search that ended before it had looked at all.
        """
        if self.recoding == "ranges":
            raise ReleaseError(
                "Of ranges it is not measured what readers learn from those that lose less and were refused; choose "
                "levels to have it measured."
            )
        if self.max_suppression > 0:
            raise ReleaseError(
                "Where rows may be suppressed, a combination of levels with less loss may have been refused for "
                "several reasons, so what readers learn from the refusal is not measured; choose no suppression."
            )
        found = optimum_behind(release)
        if not found.optimal:
            raise ReleaseError(
                "The search for this release ended before it had looked at all combinations of levels with less loss, "
                "so readers do not know that these were refused; allow more combinations."
            )
        # A search that may end early may end before it has looked at all combinations that lose as much.
        return refused_levels(release, self.requirements, ties_are_refused=found.n_nodes <= self.most_checked)

    def search(self, data: Microdata, progress: Progress | None = None) -> Optimum | OptimalRanges:
        """Find the combination of levels, or the ranges, that lose least.

        Parameters
        ----------
        data : Microdata
            The table.
        progress : callable, optional
            Called with the share done and what is being done. If it raises CancelledError after a combination that
            keeps the promise was found, the best one so far is returned.

        Returns
        -------
        Optimum or OptimalRanges
            The combination or the ranges, and how far from the least loss they may be.

        Raises
        ------
        DataError
            Where the lattice is too large to search.
        InfeasibleError
            Where no combination satisfies the requirements.
        CancelledError
            Where `progress` raises it before any combination was found.
        """
        report = progress if progress is not None else silent
        return self._of_levels(data).run(report) if self.recoding == "levels" else self._of_ranges(data).run(report)

    def _of_levels(self, data: Microdata) -> BestFirst:
        """The search of a table for levels, before anything was looked at."""
        return BestFirst(data, self.requirements, self.max_suppression, self.most_checked)

    def _of_ranges(self, data: Microdata) -> RangeSearch:
        """The search of a table for ranges, before anything was looked at."""
        return RangeSearch(data, self.requirements, self.max_suppression, self.most_checked)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        if self.recoding == "ranges":
            return self._release_of_ranges(data, progress)
        search = self._of_levels(data)
        found = search.run(progress)
        notes = _notes(found, self.requirements, f"of {found.n_nodes:,} combinations of levels none loses")
        return release_at(self, search, found, notes)

    def _release_of_ranges(self, data: Microdata, progress: Progress) -> Release:
        search = self._of_ranges(data)
        found = search.run(progress)
        partition, codes = search.classes(search.best_groups())
        ranges = zip(search.domains, search.first, search.last, strict=True)
        published = {
            domain.name: Generalized(domain, partition, "interval", first[1][codes[:, a]], last[codes[:, a]])
            for a, (domain, first, last) in enumerate(ranges)
        }
        notes = _notes(found, self.requirements, "no ranges lose")
        return release_of(self, data, published, partition, found.suppressed, notes)


def optimum_behind(release: Release, progress: Progress = silent) -> Optimum:
    """What the search for a release found; it is kept with the partition, and made again for any other.

    Raises ReleaseError where the release was not made by OptimalRecoding, or has ranges instead of levels.
    """
    model = release.algorithm
    if not isinstance(model, OptimalRecoding):
        raise ReleaseError("Only a release that optimal recoding made has a proven optimum.")
    if model.recoding == "ranges":
        raise ReleaseError("Ranges are cut at any points, so no combination of levels was looked at for this release.")
    return cached(release.fragments[0].partition, "search", (), lambda: model._of_levels(release.data).run(progress))


def _notes(found: Proven, requirements: Sequence[Requirement], none_loses: str) -> tuple[str, ...]:
    """What is proven of the levels or ranges; `none_loses` begins what is said of all others.

    How many were looked at is not published, and neither is the bound of a search that was cut short where requirements
    look at sensitive values: both depend on which of them break the promise, and so would tell readers about these
    values.
    """
    if found.optimal:
        return (f"Optimal: {none_loses} less, whichever of its groups are suppressed.",)
    if not all(requirement.attribute_free for requirement in requirements):
        return (CUT_SHORT,)
    if not np.isfinite(found.gap):
        return ()
    return (f"At most {found.gap:.2%} above the optimum: {none_loses} less than {found.bound:.4f}.",)
