"""Slicing: columns of correlated attributes, permuted within buckets in which everyone keeps l-diversity."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from anoncore.algorithms.attribute_proposal import AttributeProposal
from anoncore.algorithms.base import Algorithm, Requirements, require_feasible
from anoncore.algorithms.slicing.columns import (
    GROUPING_FIELDS,
    AttributeColumns,
    ColumnCount,
    Intervals,
    SensitiveColumnSize,
    choose_columns,
    column_classes,
    propose_columns,
    sliced_release,
)
from anoncore.algorithms.slicing.offers import Offer, OneBucket, find_offer, offer_for_several
from anoncore.algorithms.slicing.refined_buckets import refined_buckets
from anoncore.algorithms.slicing.tuple_partition import TupleSearch
from anoncore.attacks.disclosure import attribute_disclosure
from anoncore.attacks.posterior import signature_posterior
from anoncore.base.errors import AnonymizationError, DataError, InfeasibleError
from anoncore.base.progress import Progress, part_of
from anoncore.base.shared_work import shared
from anoncore.base.texts import listing, plural, share_text
from anoncore.kernels.rounding import ACCUMULATED, reaches
from anoncore.privacy.check import group_violations
from anoncore.privacy.guarantees import PersonalGuarantee
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.recoding import Generalized
from anoncore.release.release import Release
from anoncore.requirements import Requirement
from anoncore.requirements.worth import SURE_L
from anoncore.table.microdata import Microdata
from anoncore.utility.associations import INTERVALS
from anoncore.utility.two_way import two_way_error

Diversity = Literal["posterior", "distinct"]
STEP = 4_000_000
"""Rows and signatures visited between two reports of progress: a fraction of a second."""
SPLIT_WHERE_POSSIBLE = (
    "A group is split wherever the sliced table stays l-diverse, so readers know that every split of a group that "
    "was left whole would have given somebody away."
)


class Slicing(Algorithm):
    """Publishes exact values in columns of correlated attributes; in each bucket every column is permuted on its own.

    The attributes are clustered into columns by phi squared (see `partition_attributes`), or put there by hand. Then
    buckets are split in turn as Mondrian would: at the median of the widest quasi-identifier. A split stays if the
    whole sliced table is still l-diverse. Otherwise the next widest is tried, until none is left and the bucket is
    final. (Without `retry_splits` only the widest is tried, as in the paper.) The check is exact, and it touches only
    people who match the bucket that is split.

    With `refine`, rows then change places between buckets. Each tries exchanges with rows that are like others of its
    own bucket, in the cell of a column or in one value. An exchange stays where it brings the joint frequencies of the
    attributes that no column shows together nearer to the table, as a reader reconstructs them, and the sliced table is
    still l-diverse. The buckets keep their sizes, and the two-way error is never larger than without. It needs one
    sensitive attribute and no `requirements`.

    `diversity` says what l bounds. `posterior`: an adversary who knows all quasi-identifiers of a person and that the
    person is in the table gives no sensitive value a probability above 1/l. `distinct`: at least l values are possible
    for everybody. Values may first be generalized in each column until the column satisfies `column_requirements`.

    Several sensitive attributes may stand in columns of their own or together in one. Each keeps its own bound, `l` or
    what `levels` says for it, which bounds the belief in any combination of their values as well. `requirements` hold
    in every bucket besides: t-closeness, for example, or a smallest number of rows.

    Notes
    -----
    Assumes: the adversary knows all quasi-identifiers of a person who is in the table, and no sensitive value.
    Cost: a split is judged by the people who match its bucket alone; judging everybody anew, as the paper does, takes
      O(n^2 log n). With `refine` O(d^2 b n) more in each of a few dozen rounds, for d attributes and buckets of b rows.
    Use: values and associations inside a column must stay exact, and membership should be hidden as well.
    Avoid: readers need rows whose columns belong together, or k-anonymity by classes is prescribed.

    References
    ----------
    Li et al., Slicing, 2009 (TKDE 2012), sections 3 and 4; where its figure 2 refuses p = 1/l, its definition, which
    allows it, counts.

    Examples
    --------
    The eight people of the paper, whose buckets of two have two diseases each:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Slicing
    >>> people = pd.DataFrame(
    ...     {
    ...         "age": [22, 22, 33, 52, 54, 60, 60, 64],
    ...         "sex": list("MFFFMMMF"),
    ...         "disease": ["dyspepsia", "flu", "flu", "bronchitis", "flu", "dyspepsia", "dyspepsia", "gastritis"],
    ...     }
    ... )
    >>> roles = {"age": "quasi-identifier", "sex": "quasi-identifier", "disease": "sensitive"}
    >>> data = Microdata(people, roles)
    >>> slicing = Slicing(l=2, attribute_columns=[["age", "sex"], ["disease"]])
    >>> release = slicing.anonymize(data)
    >>> release.partition.sizes.tolist()
    [2, 2, 2, 2]
    >>> (guarantee,) = slicing.personal_guarantees(release)
    >>> guarantee.reached
    2.0
    """

    name = "slicing"
    title = "Slicing"
    source = "Li, Li, Zhang and Molloy, Slicing, 2009, sections 3 and 4"
    family = "slicing"
    grouping_fields = GROUPING_FIELDS
    group_word = "bucket"
    summary = "Keeps every value and what belongs together exact, and shuffles sets of attributes against each other."
    minimality = Minimality(
        Openness.OPEN,
        f"{SPLIT_WHERE_POSSIBLE} With `refine` it is the exchanges that readers know of: one that brought them nearer "
        "to the table and was not made would have given somebody away.",
    )

    counts_rows = (
        "its diversity is about the groups that a row matches, and a person with several rows matches more of them"
    )

    l: Annotated[
        float,
        Field(ge=1, allow_inf_nan=False, title="l", description="Nobody's value is more likely than 1/l."),
    ] = 2.0
    levels: Annotated[
        dict[str, Annotated[float, Field(ge=1, allow_inf_nan=False)]],
        Field(
            title="l per attribute",
            description="The l of sensitive attributes that need another one than the others.",
        ),
    ] = Field(default_factory=dict)
    columns: ColumnCount = 2
    requirements: Annotated[
        Requirements,
        Field(title="Group requirements", description="What every group must satisfy besides."),
    ] = ()
    diversity: Annotated[
        Diversity,
        Field(title="Diversity", description="Bound each value's probability, or only count the possible values."),
    ] = "posterior"
    sensitive_column_size: SensitiveColumnSize = None
    column_requirements: Annotated[
        Requirements,
        Field(title="Column requirements", description="Generalize each column on its own until it satisfies these."),
    ] = ()
    retry_splits: Annotated[
        bool,
        Field(title="Retry splits", description="Try every attribute before a group is final, not only the widest."),
    ] = True
    attribute_columns: AttributeColumns = None
    intervals: Intervals = INTERVALS
    refine: Annotated[
        bool,
        Field(
            title="Refine",
            description="Afterwards exchange people between groups, as long as more pairs of values are kept.",
        ),
    ] = False

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """The requirements of every bucket; l is about people, who match several buckets (see `achieved_diversity`)."""
        return tuple(self.requirements)

    def levels_of(self, data: Microdata) -> dict[str, float]:
        """The l of every sensitive attribute.

        Parameters
        ----------
        data : Microdata
            The table.

        Returns
        -------
        dict of str to float
            What `levels` names, and `l` for the others.

        Raises
        ------
        DataError
            Where the table has no sensitive attribute, or `levels` names another one.
        """
        names = data.require_sensitive()
        for name in self.levels:
            if name not in names:
                raise DataError(f"'{name}' is not tagged as sensitive; there is {listing(names)}.")
        return {name: self.levels.get(name, self.l) for name in names}

    def personal_guarantees(self, release: Release) -> tuple[PersonalGuarantee, ...]:
        """l-diverse slicing in every sensitive attribute, by the chosen reading of diversity."""
        return tuple(self._guarantee(release, name, l) for name, l in self.levels_of(release.data).items())

    def _guarantee(self, release: Release, name: str, l: float) -> PersonalGuarantee:
        reached = achieved_diversity(release, name, self.diversity)
        holds = bool(reaches(reached, l, 2 * ACCUMULATED))
        if self.diversity == "posterior":
            detail = f"the likeliest value of '{name}' of anyone has p = {1 / reached:.4g} (asked: at most 1/l = "
            detail += f"{1 / l:.4g})"
        else:
            detail = f"at least {reached:.0f} values of '{name}' are possible for everyone (asked: {l:g})"
        state = "holds for every person" if holds else "does not hold"
        sentence = f"{self.diversity.capitalize()} l-diverse slicing, l = {l:g}, {state}: {detail}."
        return PersonalGuarantee(name, l, reached, holds, sentence)

    @property
    def minimality_here(self) -> Minimality:
        """What readers know of the splits, and where rows change places, of the exchanges."""
        return self.minimality if self.refine else Minimality(Openness.OPEN, SPLIT_WHERE_POSSIBLE)

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError for columns or roles that do not fit, InfeasibleError for an l that one bucket fails."""
        self.require_countable(data)
        data.require_quasi_identifiers()
        if self.refine and (len(data.sensitive) > 1 or self.requirements):
            raise DataError(
                "Rows change places where one sensitive attribute has to stay l-diverse and nothing else is asked of "
                "the groups; turn refine off, or tag one sensitive attribute and leave the requirements empty."
            )
        columns, levels = self.resolve_columns(data), self.levels_of(data)
        require_feasible(self.requirements, data)
        if len(columns) == 1:
            self._require_of_column(data, columns)
        reached = {name: self._reached_by_one_bucket(data, columns, name) for name in levels}
        failing = [name for name, l in levels.items() if not reaches(reached[name], l, ACCUMULATED)]
        if not failing:
            return
        name = failing[0]
        l, best = levels[name], reached[name]
        nearest = int(best * 100 + 1e-6) / 100
        distinct = self.diversity == "distinct"
        own = [other for column in columns if name in column for other in column if other in data.quasi_identifiers]
        beside = f" beside {', '.join(dict.fromkeys(own))}" if own else ""
        if distinct:
            what = f"leaves somebody {best:.4g} possible {plural('value', round(best))}"
        else:
            what = f"makes somebody's value {share_text(1 / best)} likely (l = {best:.4g})"
        # An l that lets an adversary be sure of a value protects nobody, so it is not offered.
        worth = nearest > (1 if distinct else SURE_L) and nearest < l
        offer = self._offer(data, columns, name, levels)
        smaller = f" With these columns l is at most {nearest:g}." if worth and bool(offer.changes) else ""
        raise InfeasibleError(
            f"l = {l:g} is not possible: with all rows in one group, '{name}'{beside} {what}; {offer.advice}.{smaller}",
            nearest=nearest if worth and len(levels) == 1 else None,
            instead=offer.changes,
        )

    def _require_of_column(self, data: Microdata, columns: tuple[tuple[str, ...], ...]) -> None:
        """Raise InfeasibleError where the groups of a single column, which no bucket can join, break a requirement."""
        violations = group_violations(self._one_bucket(data, columns), self.requirements)
        if violations:
            raise InfeasibleError(
                f"A single column has no buckets that could hide people among others: {violations[0].sentence} Choose "
                "two columns or more, or ask the same of the columns (column requirements)."
            )

    def _one_bucket(self, data: Microdata, columns: tuple[tuple[str, ...], ...]) -> Release:
        """The release with all rows in one bucket."""
        classes = column_classes(data, columns, self.column_requirements)
        return sliced_release(data, Partition(np.zeros(data.n_rows, np.int32)), columns, self, classes)

    def _offer(
        self, data: Microdata, columns: tuple[tuple[str, ...], ...], name: str, levels: dict[str, float]
    ) -> Offer:
        """What to choose where an attribute does not keep its l in these columns."""
        distinct = self.diversity == "distinct"
        if len(levels) > 1:
            return offer_for_several(data, levels, distinct, self.levels)
        by_hand = self.attribute_columns is not None
        asked = name, levels[name], distinct, columns, by_hand, self.intervals
        # Whoever asks what is possible instead asks for it more than once.
        offer = shared(data, ("offer", *asked), lambda: find_offer(data, *asked))
        if name in self.levels and "l" in offer.changes:
            changes = {**offer.changes, "levels": {name: offer.changes["l"]}}
            del changes["l"]
            return Offer(offer.advice, changes)
        return offer

    def _reached_by_one_bucket(self, data: Microdata, columns: tuple[tuple[str, ...], ...], name: str) -> float:
        """The l that everybody has with all rows in one bucket, the largest that these columns can keep."""

        def reached() -> float:
            names = [other for column in columns for other in column]
            if self.column_requirements or len(set(names)) < len(names):
                return achieved_diversity(self._one_bucket(data, columns), name, self.diversity)
            beside = next(column for column in columns if name in column)
            return OneBucket(data, name, self.diversity == "distinct").reached(beside)

        # It is the same for every l, so runs with several levels share it.
        return shared(data, ("one bucket", columns, repr(self.column_requirements), self.diversity, name), reached)

    def resolve_columns(self, data: Microdata) -> tuple[tuple[str, ...], ...]:
        """The columns into which the attributes of a table are put.

        Parameters
        ----------
        data : Microdata
            The table.

        Returns
        -------
        tuple of tuple of str
            The attributes of each column, in published order.

        Raises
        ------
        DataError
            Where columns given by hand do not fit the table.
        """
        return choose_columns(data, self.attribute_columns, self.columns, self.sensitive_column_size, self.intervals)

    def proposed_groups(self, data: Microdata) -> AttributeProposal:
        """The columns of the clustering, the one with the sensitive attribute last."""
        return propose_columns(data, self.columns, self.sensitive_column_size, self.intervals)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        columns = self.resolve_columns(data)
        progress(0.02, "Generalizing columns" if self.column_requirements else "Choosing columns")
        classes = column_classes(data, columns, self.column_requirements)
        search = self._search(data, columns, classes)
        while search.step(STEP):
            done = (0.2 if self.refine else 0.75) * search.done / data.n_rows
            progress(0.1 + done, f"{search.done:,} of {data.n_rows:,} rows in final groups")
        progress(0.3 if self.refine else 0.85, "Checking what everybody's probabilities are")
        release = sliced_release(data, Partition(search.group), columns, self, classes)
        for name, l in self.levels_of(data).items():
            reached = achieved_diversity(release, name, self.diversity)
            if not reaches(reached, l, 2 * ACCUMULATED):
                raise AnonymizationError(
                    f"{self.title} broke its promise: l = {l:g}, reached {reached:.6g} in '{name}'."
                )
        if self.refine and len(search.tables) == 1 and not self.requirements:
            return self._refined(release, search, columns, classes, progress)
        return release

    def _refined(
        self,
        release: Release,
        search: TupleSearch,
        columns: tuple[tuple[str, ...], ...],
        classes: dict[str, Generalized],
        progress: Progress,
    ) -> Release:
        """The release after rows have changed places; as it was where that brings a reader no nearer to the table."""
        data = release.data
        partition = refined_buckets(release, search, columns, part_of(progress, 0.31, 0.95))
        other = sliced_release(data, partition, columns, self, classes)
        if float(two_way_error(other)) >= float(two_way_error(release)):
            return release
        return other if all(one.holds for one in self.personal_guarantees(other)) else release

    def _search(
        self, data: Microdata, columns: tuple[tuple[str, ...], ...], classes: dict[str, Generalized]
    ) -> TupleSearch:
        cells = [
            {name: classes[name].content() if name in classes else (data.codes[name],) for name in column}
            for column in columns
        ]
        levels, distinct = self.levels_of(data), self.diversity == "distinct"
        return TupleSearch.of(data, cells, levels, distinct, self.retry_splits, self.requirements)


def achieved_diversity(release: Release, attribute: str, diversity: Diversity = "posterior") -> float:
    """The largest l for which the release is an l-diverse slicing.

    `posterior`: 1 / the largest p(t, s) over all people t and protected values s. `distinct`: the smallest number of
    values s with p(t, s) > 0 that any t has, where a protected set counts as one value. Source: Li et al., slicing,
    definition 3.2.
    """
    if diversity == "posterior":
        return 1.0 / float(attribute_disclosure(release, attribute).largest)
    protected = release.data.sensitive_values.get(attribute, ())
    codes = [release.data.domain[attribute].code_of(value) for value in protected]
    fewest = np.inf
    for _, entries in signature_posterior(release, attribute).parts():
        in_set = np.isin(entries.code, codes)
        n_protected = np.add.reduceat(in_set, entries.start[:-1], dtype=np.int64)
        fewest = min(fewest, int((entries.sizes - np.maximum(n_protected - 1, 0)).min()))
    return float(fewest)
